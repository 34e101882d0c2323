#include "document/option_table.hpp"

#include <cmath>

namespace bayes {

OptionTable OptionTable::reading(const Document &options, std::string path) {
  OptionTable out;
  out.reader_.emplace(options, std::move(path));
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

bool OptionTable::skips(std::string_view key, bool applies) {
  if (!applies && reader_) inapplicable_keys_.push_back(key);
  return !applies;
}

void OptionTable::choice(std::string_view key, std::string &member, Names names, bool applies) {
  if (skips(key, applies)) return;
  if (reader_)
    member = reader_->choice(key, member, names);
  else
    written_.set(key, member);
}

void OptionTable::choice(std::string_view key, Method &member, std::span<const Method> methods,
                         bool applies) {
  if (skips(key, applies)) return;
  if (!reader_) {
    written_.set(key, std::string(method_name(member)));
    return;
  }
  std::vector<std::string_view> names;
  for (const Method each : methods) names.push_back(method_name(each));
  member = *method_of(reader_->choice(key, method_name(member), names));
}

void OptionTable::either(std::string_view key, bool &member, std::string_view no,
                         std::string_view yes, bool applies) {
  std::string name(member ? yes : no);
  choice(key, name, {no, yes}, applies);
  member = name == yes;
}

void OptionTable::flag(std::string_view key, bool &member, bool applies) {
  if (skips(key, applies)) return;
  if (reader_)
    member = reader_->boolean(key, member);
  else if (member)
    written_.set(key, member);
}

void OptionTable::boolean(std::string_view key, bool &member, bool applies) {
  if (skips(key, applies)) return;
  if (reader_)
    member = reader_->boolean(key, member);
  else
    written_.set(key, member);
}

void OptionTable::choices(std::string_view key, std::vector<std::string> &member,
                          std::span<const std::string_view> names, bool several, bool applies) {
  if (skips(key, applies)) return;
  const std::vector<std::string_view> all(names.begin(), names.end());
  if (!reader_)
    written_.set(key, member.size() == 1 ? Document(member[0])
                                         : Document::List(member.begin(), member.end()));
  else if (several)
    member = reader_->choices(key, member[0], all);
  else
    member = {reader_->choice(key, member[0], all)};
}

void OptionTable::integer(std::string_view key, int &member, int low, int high, bool applies) {
  std::int64_t value = member;
  integer(key, value, low, high, applies);
  member = int(value);
}

void OptionTable::integer(std::string_view key, std::int64_t &member, std::int64_t low,
                          std::int64_t high, bool applies) {
  if (skips(key, applies)) return;
  if (reader_)
    member = reader_->integer(key, member, low, high);
  else
    written_.set(key, member);
}

void OptionTable::seed(std::string_view key, std::uint64_t &member) {
  std::int64_t value = std::int64_t(member);
  integer(key, value, 0, std::numeric_limits<std::int64_t>::max());
  member = std::uint64_t(value);
}

void OptionTable::number(std::string_view key, double &member, OptionRange range, bool applies) {
  if (skips(key, applies)) return;
  if (reader_)
    member = reader_->number(key, member, range.low, range.high, range.low_open);
  else if (std::isfinite(member))
    written_.set(key, member);
}

void OptionTable::number(std::string_view key, std::optional<double> &member, OptionRange range,
                         bool applies) {
  double value = member.value_or(std::numeric_limits<double>::infinity());
  number(key, value, range, applies);
  if (std::isfinite(value)) member = value;
}

void OptionTable::tensor(std::string_view key, std::optional<Tensor> &member,
                         const std::vector<std::int64_t> &shape, bool applies) {
  if (skips(key, applies)) return;
  if (!reader_) {
    if (member) written_.set(key, *member);
  } else if (auto given = reader_->tensor(key, shape)) {
    member = std::move(given);
  }
}

void OptionTable::number_or_tensor(std::string_view key, std::optional<Tensor> &member,
                                   bool applies) {
  if (skips(key, applies)) return;
  if (!reader_) {
    if (member)
      written_.set(key, member->shape.empty() ? Document(member->values[0]) : Document(*member));
  } else if (auto given = reader_->number_or_tensor(key)) {
    member = std::move(given);
  }
}

void OptionTable::other(std::string_view key, const std::function<void(const Document &)> &read,
                        const std::function<Document()> &write, bool applies) {
  if (skips(key, applies)) return;
  if (reader_) {
    if (const Document *value = reader_->raw(key)) read(*value);
  } else if (write) {
    Document value = write();
    if (!value.is_null()) written_.set(key, std::move(value));
  }
}

void OptionTable::finish(const std::string &setting) const {
  if (reader_) reader_->finish(setting, inapplicable_keys_);
}

}  // namespace bayes
