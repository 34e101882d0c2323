#include "pg/input/remote_collected_rows.hpp"

#include <utility>

#include "base/message.hpp"
#include "document/members.hpp"

namespace bayes::pg {
namespace {

/// Where the family sets no limit; an array has no more.
constexpr int most_elements = 1 << 27;

}  // namespace

std::string RemoteCollectedRows::name_of_element(int element) const {
  return names_.empty() ? RowSource::name_of_element(element)
                        : message("column {}", names_[std::size_t(element)]);
}

void PushedCollectedRows::records(std::span<const RecordColumn> records) {
  records_.assign(records.begin(), records.end());
}

std::string PushedCollectedRows::choose_minibatches() {
  const Document *const method = request_.options.find("method");
  const bool stochastic = method && !method->is_null()
                              ? method->as<std::string>() && *method->as<std::string>() == "svi"
                              : request_.start && request_.start->info.method == Method::svi;
  if (!stochastic) return {};
  const Document *const given = request_.options.find("minibatch");
  if (!given || given->is_null()) request_.options.set("minibatch", "hash");
  // What is no choice at all is refused with the other options.
  else if (given->as<std::string>() && *given->as<std::string>() == "groups")
    return "option minibatch is \"groups\"; elsewhere it is \"hash\"";
  return {};
}

std::vector<int> PushedCollectedRows::begin(TupleDesc columns, std::string &reason) {
  options_ = request_.options;  // before any reason to collect rows here
  const CurrentContext current(context_);
  QueryLayout layout = layout_of(columns, given_, false, check_.use != ColumnUse::numbers);
  const int weight = layout.weight;
  int first = 0;
  const Oid type = layout.type;
  if (layout.whole && is_record_type(guarded([type] { return getBaseType(type); }))) {
    const RecordColumn *const record = record_at(records_, layout.row, reason);
    if (!record) return {};
    // The fields take the place of the columns; the weight comes from outside.
    first = record->first;
    columns = record->fields;
    layout.whole = false;
    layout.type = InvalidOid;
    layout.others.clear();
  }
  const QueryForm form = form_of(layout, columns);
  whole_ = layout.whole;
  shape_.weighted = form.item.weighted;
  reason = choose_minibatches();
  data_.emplace(context_, form.item);
  data_->begin(request_, check_, form.columns);
  std::vector<int> out;
  if (whole_) out.push_back(layout.row);
  for (const int attribute : whole_ ? std::vector<int>() : (*data_)->attributes())
    out.push_back(first + attribute);
  if (weight >= 0) out.push_back(weight);
  return out;
}

void PushedCollectedRows::undo() {
  data_.reset();
  request_.options = options_;
}

Document PushedCollectedRows::keep() {
  Document::List names;
  if (!whole_)  // else a start model may have columns, but rows have none
    for (const RowColumn &column : (*data_)->columns()) names.emplace_back(column.name);
  const RowPolicy &policy = (*data_)->policy();
  Document out = pass_request("keep");
  out.set("kind", "rows").set("family", request_.family).set("columns", std::move(names));
  out.set("weighted", shape_.weighted).set("missing", int(policy.missing));
  out.set("max_dimension", policy.max_dimension);
  return out;
}

void PushedCollectedRows::hear(const PassReader &part, const std::string &place) {
  const int limit = (*data_)->policy().max_dimension;
  hear_rows(**data_, part, place, !whole_, limit ? limit : most_elements, length_);
  if (length_.known() && length_.value() == 0) PassReader::refuse();
  shape_.dimension = int(length_.value());
}

Document PushedCollectedRows::settle() {
  RowCollector &to = **data_;
  to.sort_labels();
  names_ = quoted_names(to.columns());
  Document out = pass_request("settle");
  out.set("columns", columns_message(to.columns()));
  return out;
}

void PushedCollectedRows::settled(const PassReader &part) {
  if (whole_) return;
  const ColumnFacts facts = ColumnFacts::from_message(part.member("facts"), names_.size());
  const NumberFacts numbers = NumberFacts::from_message(part.member("numbers"), names_.size());
  facts_ ? facts_->add(facts) : void(facts_ = facts);
  numbers_ ? numbers_->add(numbers) : void(numbers_ = numbers);
}

void PushedCollectedRows::take(PushedRows &rows) {
  RowCollector &to = **data_;
  if (facts_) to.check_remote(*facts_, *numbers_, rows.rows());
  to.remote = std::make_unique<RemoteCollectedRows>(rows, shape_, std::move(names_));
}

}  // namespace bayes::pg
