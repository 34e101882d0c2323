#include "document/option_table.hpp"

#include <cmath>

#include "base/message.hpp"
#include "document/members.hpp"

namespace bayes {
namespace {

thread_local OptionListing *listing = nullptr;

std::string any_of(std::span<const std::string_view> names) {
  std::string out;
  for (const std::string_view name : names)
    out += message("{}\"{}\"", out.empty() ? "" : ", ", name);
  return out;
}

/// With powers of ten as such.
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
