#include "document/option_table.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/message.hpp"
#include "document/members.hpp"

namespace bayes {
namespace {

std::string quoted(std::string_view text) { return Document(std::string(text)).to_json(); }

/// The names with commas between them.
template <class Names> std::string listed(const Names &names, std::string_view prefix = {}) {
  std::string result;
  for (const auto &name : names) {
    if (!result.empty()) result += ", ";
    result += prefix;
    result += name;
  }
  return result;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string did_you_mean(std::string_view word, const std::vector<std::string_view> &candidates,
                         const std::string &prefix = {}) {
  const std::string_view near = nearest(word, candidates);
  return near.empty() ? "" : message("Did you mean {}?", quoted(message("{}{}", prefix, near)));
}

}  // namespace

std::string_view nearest(std::string_view word, const std::vector<std::string_view> &candidates) {
  std::string_view best;
  std::size_t best_distance = 0;
  for (const std::string_view candidate : candidates) {
    // Two neighbouring letters exchanged count as one edit (restricted Damerau-Levenshtein
    // distance).
    const std::size_t n = word.size(), m = candidate.size();
    const std::size_t allowed = std::min<std::size_t>(3, (m + 1) / 3);
    if (n > m + allowed || m > n + allowed) continue;
    std::vector<std::size_t> before(m + 1), last(m + 1), now(m + 1);
    for (std::size_t j = 0; j <= m; ++j) last[j] = j;
    for (std::size_t i = 1; i <= n; ++i) {
      now[0] = i;
      for (std::size_t j = 1; j <= m; ++j) {
        const bool same = lower(word[i - 1]) == lower(candidate[j - 1]);
        now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
        if (i > 1 && j > 1 && word[i - 1] == candidate[j - 2] && word[i - 2] == candidate[j - 1])
          now[j] = std::min(now[j], before[j - 2] + 1);
      }
      std::swap(before, last);
      std::swap(last, now);
    }
    if (last[m] <= allowed && (best.empty() || last[m] < best_distance)) {
      best = candidate;
      best_distance = last[m];
    }
  }
  return best;
}

OptionReader::OptionReader(const Document &options, std::string path)
    : options_(options),
      path_(std::move(path)) {
  if (options_.is_null() || options_.as<Document::Object>()) return;
  std::string name = path_;
  if (!name.empty() && name.back() == '.') name.pop_back();
  if (name.empty())
    throw Error(Errc::invalid_argument,
                message("the options are {}, but must be an object", describe(options_)));
  throw Error(Errc::invalid_argument,
              message("option {} is {}, but must be an object", quoted(name), describe(options_)));
}

void OptionReader::reject(std::string_view key, const Document &value,
                          const std::string &constraint) const {
  throw Error(Errc::invalid_argument,
              message("{} is {}, but must be {}", name_of(key), describe(value), constraint));
}

std::string OptionReader::name_of(std::string_view key) const {
  return message("option {}", quoted(message("{}{}", path_, key)));
}

const Document *OptionReader::find(std::string_view key) {
  if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) asked_.emplace_back(key);
  return given(key);
}

const Document *OptionReader::given(std::string_view key) const {
  const Document *value = options_.find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

const Document *OptionReader::raw(std::string_view key) { return find(key); }

double OptionReader::number(std::string_view key, double fallback, double low, double high,
                            bool low_open) {
  const Document *value = find(key);
  if (value == nullptr) return fallback;
  const std::optional<double> x = to_number(*value, false);
  if (x && std::isfinite(*x) && *x >= low && *x <= high && !(low_open && *x == low)) return *x;
  std::string constraint = "a number";
  const bool has_low = std::isfinite(low), has_high = std::isfinite(high);
  if (has_low && low_open) constraint += message(" greater than {}", describe_number(low));
  if (has_low && !low_open)
    constraint +=
        has_high ? " from " + describe_number(low) : " of at least " + describe_number(low);
  if (has_high)
    constraint += (has_low && !low_open ? " to "
                   : has_low            ? " and at most "
                                        : " of at most ") +
                  describe_number(high);
  reject(key, *value, constraint);
}

std::int64_t OptionReader::integer(std::string_view key, std::int64_t fallback, std::int64_t low,
                                   std::int64_t high) {
  const Document *value = find(key);
  if (value == nullptr) return fallback;
  const std::optional<std::int64_t> x = to_integer(*value);
  if (x && *x >= low && *x <= high) return *x;
  std::string constraint = "a whole number";
  const bool has_low = low > std::numeric_limits<std::int64_t>::min();
  const bool has_high = high < std::numeric_limits<std::int64_t>::max();
  if (has_low) constraint += (has_high ? " from " : " of at least ") + std::to_string(low);
  if (has_high) constraint += (has_low ? " to " : " of at most ") + std::to_string(high);
  reject(key, *value, constraint);
}

bool OptionReader::boolean(std::string_view key, bool fallback) {
  const Document *value = find(key);
  if (value == nullptr) return fallback;
  if (const bool *given = value->as<bool>()) return *given;
  reject(key, *value, "true or false");
}

std::string OptionReader::choice(std::string_view key, std::string_view fallback,
                                 const std::vector<std::string_view> &choices) {
  const Document *value = find(key);
  if (value == nullptr) return std::string(fallback);
  const auto *x = value->as<std::string>();
  if (x != nullptr && std::find(choices.begin(), choices.end(), *x) != choices.end()) return *x;
  const std::string hint = x == nullptr ? std::string() : did_you_mean(*x, choices);
  throw Error(
      Errc::invalid_argument,
      message("{} is {}, but must be one of {}", name_of(key), describe(*value), listed(choices)),
      {}, hint);
}

std::vector<std::string> OptionReader::choices(std::string_view key, std::string_view fallback,
                                               const std::vector<std::string_view> &choices) {
  const Document *value = find(key);
  if (value == nullptr || value->as<std::string>()) return {choice(key, fallback, choices)};
  const auto *list = value->as<Document::List>();
  if (list == nullptr || list->empty())
    reject(key, *value, message("one of {}, or an array of them", listed(choices)));
  std::vector<std::string> result;
  for (const Document &element : *list) {
    const auto *x = element.as<std::string>();
    if (x == nullptr || std::find(choices.begin(), choices.end(), *x) == choices.end())
      throw Error(Errc::invalid_argument,
                  message("{} contains {}, but its elements must be among {}", name_of(key),
                          describe(element), listed(choices)),
                  {}, x == nullptr ? std::string() : did_you_mean(*x, choices));
    if (std::find(result.begin(), result.end(), *x) != result.end())
      throw Error(Errc::invalid_argument,
                  message("{} contains {} twice", name_of(key), quoted(*x)));
    result.push_back(*x);
  }
  return result;
}

std::optional<Tensor> OptionReader::tensor(std::string_view key,
                                           const std::vector<std::int64_t> &shape) {
  const Document *value = find(key);
  if (value == nullptr) return std::nullopt;
  std::optional<Tensor> result = to_tensor(*value, false);
  if (!result) reject(key, *value, describe_shape(shape));
  bool fits = result->shape.size() == shape.size();
  for (std::size_t i = 0; fits && i < shape.size(); ++i)
    fits = shape[i] < 0 ? result->shape[i] >= 1 : result->shape[i] == shape[i];
  if (!fits) reject(key, *result, describe_shape(shape));
  const auto bad = std::find_if(result->values.begin(), result->values.end(),
                                [](double x) { return !std::isfinite(x); });
  if (bad != result->values.end())
    throw Error(Errc::invalid_argument, message("{} contains {}, but its numbers must be finite",
                                                name_of(key), describe(*bad)));
  return result;
}

std::optional<Tensor> OptionReader::number_or_tensor(std::string_view key) {
  const Document *value = find(key);
  if (value == nullptr) return std::nullopt;
  if (const auto number = to_number(*value, false); number && std::isfinite(*number))
    return Tensor{{}, {*number}};
  std::optional<Tensor> result = to_tensor(*value, false);
  if (!result || result->shape.empty() || result->shape.size() > 2 ||
      !std::all_of(result->values.begin(), result->values.end(),
                   [](double x) { return std::isfinite(x); }))
    reject(key, *value, "a number or an array of numbers");
  return result;
}

void OptionReader::finish(std::string_view setting,
                          const std::vector<std::string_view> &elsewhere) const {
  const auto *object = options_.as<Document::Object>();
  if (object == nullptr) return;
  std::vector<std::string_view> known(asked_.begin(), asked_.end());
  std::sort(known.begin(), known.end());
  for (const auto &[key, value] : *object) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const std::string name = name_of(key);
    const std::string allowed = known.empty()
                                    ? "No options are valid here."
                                    : message("The options are {}.", listed(known, path_));
    if (std::find(elsewhere.begin(), elsewhere.end(), key) != elsewhere.end())
      throw Error(Errc::invalid_argument,
                  setting.empty() ? message("{} does not apply here", name)
                                  : message("{} does not apply to {}", name, setting),
                  {}, allowed);
    std::vector<std::string_view> candidates = known;
    candidates.insert(candidates.end(), elsewhere.begin(), elsewhere.end());
    const std::string near = did_you_mean(key, candidates, path_);
    throw Error(Errc::invalid_argument, message("unknown {}", name), {},
                near.empty() ? allowed : near);
  }
}

namespace {

thread_local OptionListing *listing = nullptr;

std::string any_of(std::span<const std::string_view> names) {
  std::string out;
  for (const std::string_view name : names)
    out += message("{}\"{}\"", out.empty() ? "" : ", ", name);
  return out;
}

/// A number in which powers of ten are written as such.
std::string shown(double x) {
  const double power = std::log10(x);
  if (x >= 1e6 && power == std::floor(power)) return message("1e{}", int(power));
  return describe_number(x);
}

/// A default outside of its range is found from the data.
std::string number_or_found(double value, double low, double high) {
  if (std::isinf(value) && value > high) return "none";
  return value >= low && value <= high ? shown(value) : "by the data";
}

}  // namespace

OptionListing::OptionListing() { listing = this; }
OptionListing::~OptionListing() { listing = nullptr; }

OptionTable OptionTable::reading(const Document &options, std::string path) {
  OptionTable out;
  out.reader_.emplace(options, path);
  out.path_ = std::move(path);
  return out;
}

OptionTable OptionTable::writing(Document given) {
  OptionTable out;
  out.written_ = std::move(given);
  return out;
}

const Document *OptionTable::given(std::string_view key) const {
  return reader_ ? reader_->given(key) : nullptr;
}

template <class V, class S>
bool OptionTable::skips(const OptionKey &key, bool applies, V values, S standard) {
  if (!applies && reader_) inapplicable_keys_.push_back(key.key);
  if (applies && reader_ && listing)
    listing->lines.push_back({path_ + std::string(key.key), std::string(key.meaning),
                              key.values.empty() ? values() : std::string(key.values),
                              key.standard.empty() ? standard() : std::string(key.standard)});
  return !applies;
}

void OptionTable::choice(const OptionKey &key, std::string &member, Names names, bool applies) {
  if (skips(
          key, applies,
          [&] {
            return any_of({names.begin(), names.size()});
          },
          [&] { return message("\"{}\"", member); }))
    return;
  if (reader_)
    member = reader_->choice(key.key, member, names);
  else
    written_.set(key.key, member);
}

void OptionTable::choice(const OptionKey &key, Method &member, std::span<const Method> methods,
                         bool applies) {
  std::vector<std::string_view> names;
  for (const Method each : methods) names.push_back(method_name(each));
  if (skips(
          key, applies, [&] { return any_of(names); },
          [&] { return message("\"{}\"", method_name(member)); }))
    return;
  if (reader_)
    member = *method_of(reader_->choice(key.key, method_name(member), names));
  else
    written_.set(key.key, std::string(method_name(member)));
}

void OptionTable::either(const OptionKey &key, bool &member, std::string_view no,
                         std::string_view yes, bool applies) {
  std::string name(member ? yes : no);
  choice(key, name, {no, yes}, applies);
  member = name == yes;
}

void OptionTable::flag(const OptionKey &key, bool &member, bool applies) {
  if (!reader_ && !member) return;
  boolean(key, member, applies);
}

void OptionTable::boolean(const OptionKey &key, bool &member, bool applies) {
  if (skips(
          key, applies, [] { return "true or false"; }, [&] { return member ? "true" : "false"; }))
    return;
  if (reader_)
    member = reader_->boolean(key.key, member);
  else
    written_.set(key.key, member);
}

void OptionTable::choices(const OptionKey &key, std::vector<std::string> &member,
                          std::span<const std::string_view> names, bool several, bool applies) {
  if (skips(
          key, applies, [&] { return any_of(names); },
          [&] { return message("\"{}\"", member[0]); }))
    return;
  const std::vector<std::string_view> all(names.begin(), names.end());
  if (!reader_)
    written_.set(key.key, member.size() == 1 ? Document(member[0])
                                             : Document::List(member.begin(), member.end()));
  else if (several)
    member = reader_->choices(key.key, member[0], all);
  else
    member = {reader_->choice(key.key, member[0], all)};
}

void OptionTable::integer(const OptionKey &key, int &member, int low, int high, bool applies) {
  std::int64_t value = member;
  integer(key, value, low, high, applies);
  member = int(value);
}

void OptionTable::integer(const OptionKey &key, std::int64_t &member, std::int64_t low,
                          std::int64_t high, bool applies) {
  if (skips(
          key, applies,
          [&] {
            return high == std::numeric_limits<std::int64_t>::max()
                       ? message("a whole number, at least {}", low)
                       : message("a whole number from {} to {}", low, shown(double(high)));
          },
          [&] { return number_or_found(double(member), double(low), double(high)); }))
    return;
  if (reader_)
    member = reader_->integer(key.key, member, low, high);
  else
    written_.set(key.key, member);
}

void OptionTable::seed(const OptionKey &key, std::uint64_t &member) {
  std::int64_t value = std::int64_t(member);
  integer(key, value, 0, std::numeric_limits<std::int64_t>::max());
  member = std::uint64_t(value);
}

void OptionTable::number(const OptionKey &key, double &member, OptionRange range, bool applies) {
  if (skips(
          key, applies,
          [&] {
            return range.low_open
                       ? message("above {}, at most {}", shown(range.low), shown(range.high))
                       : message("from {} to {}", shown(range.low), shown(range.high));
          },
          [&] { return number_or_found(member, range.low, range.high); }))
    return;
  if (reader_)
    member = reader_->number(key.key, member, range.low, range.high, range.low_open);
  else if (std::isfinite(member))
    written_.set(key.key, member);
}

void OptionTable::number(const OptionKey &key, std::optional<double> &member, OptionRange range,
                         bool applies) {
  double value = member.value_or(std::numeric_limits<double>::infinity());
  number(key, value, range, applies);
  if (std::isfinite(value)) member = value;
}

void OptionTable::tensor(const OptionKey &key, std::optional<Tensor> &member,
                         const std::vector<std::int64_t> &shape, bool applies) {
  if (skips(
          key, applies, [&] { return shape.size() == 1 ? "an array" : "an array of arrays"; },
          [] { return "none"; }))
    return;
  if (!reader_) {
    if (member) written_.set(key.key, *member);
  } else if (auto given = reader_->tensor(key.key, shape)) {
    member = std::move(given);
  }
}

void OptionTable::number_or_tensor(const OptionKey &key, std::optional<Tensor> &member,
                                   bool applies) {
  if (skips(
          key, applies, [] { return "a number, or an array"; }, [] { return "none"; }))
    return;
  if (!reader_) {
    if (member)
      written_.set(key.key,
                   member->shape.empty() ? Document(member->values[0]) : Document(*member));
  } else if (auto given = reader_->number_or_tensor(key.key)) {
    member = std::move(given);
  }
}

void OptionTable::other(const OptionKey &key, const std::function<void(const Document &)> &read,
                        const std::function<Document()> &write, bool applies) {
  if (skips(
          key, applies, [] { return "any"; },
          [&] {
            const Document value = write ? write() : Document();
            return value.is_null() ? std::string("none") : value.to_json();
          }))
    return;
  if (reader_) {
    if (const Document *value = reader_->raw(key.key)) read(*value);
  } else if (write) {
    Document value = write();
    if (!value.is_null()) written_.set(key.key, std::move(value));
  }
}

void OptionTable::finish(const std::string &setting) const {
  if (reader_) reader_->finish(setting, inapplicable_keys_);
}

}  // namespace bayes
