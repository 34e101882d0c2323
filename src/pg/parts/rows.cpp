#include "pg/parts/rows.hpp"

#include <memory>
#include <numeric>
#include <utility>

#include "base/message.hpp"
#include "data/hashed_rows.hpp"
#include "document/members.hpp"
#include "pg/input/column_checks.hpp"

namespace bayes::pg {

void CommonLength::hear(std::int64_t length, const std::string &place) {
  if (length_ && *length_ != length)
    throw Error(Errc::array_shape,
                message("rows have different lengths: {} and {} elements", *length_, length),
                message("Those of {} differ from the others.", place));
  length_ = length;
}

std::string RowsOfParts::name_of_element(int element) const {
  return names_.empty() ? RowSource::name_of_element(element)
                        : message("column {}", names_[std::size_t(element)]);
}

// ---- the rows of a part ----

namespace {

const RegisterKind<RowsInParts> rows_in_parts;

}  // namespace

ItemForm RowsInParts::Part::form_of(const Keep &keep, std::span<const Oid> types) {
  if (types.size() != std::max<std::size_t>(1, keep.columns.size()) + std::size_t(keep.weighted))
    PassReader::refuse();
  return {.weighted = keep.weighted, .type = keep.columns.empty() ? types[0] : InvalidOid};
}

RowsInParts::Part::Part(MemoryContext context, const KeptPart &which, Keep keep,
                        std::span<const Oid> types)
    : collector_(context, form_of(keep, types)),
      part_{collector_.rows, std::size_t(which.part)},
      columns_(std::max<std::size_t>(1, keep.columns.size())) {
  if (keep.weighted) weight_type_ = guarded([types] { return getBaseType(types.back()); });
  collector_.begin_part(
      keep.family.c_str(), keep.policy,
      keep.columns.empty() ? nullptr : description_of(keep.columns, types.first(columns_)));
}

void RowsInParts::Part::take(const NullableDatum *values) {
  const bool whole = !collector_.described();
  NullableDatum weight = {Datum(0), true};
  const bool weighted = OidIsValid(weight_type_);
  if (weighted && !values[columns_].isnull && !(whole && values[0].isnull))
    weight = {Float8GetDatum(number_of(values[columns_].value, weight_type_)), false};
  if (whole) return collector_.add({values, weighted ? &weight : nullptr});
  std::vector<Datum> fields;
  std::unique_ptr<bool[]> nulls(new bool[columns_]);
  for (std::size_t j = 0; j < columns_; ++j) {
    fields.push_back(values[j].value);
    nulls[j] = values[j].isnull;
  }
  collector_.add_fields(fields.data(), nulls.get(), weighted ? &weight : nullptr);
}

PackedHead RowsInParts::Part::head() {
  collector_.progress.end();
  return collector_.head();
}

RowsInParts::Facts RowsInParts::Part::arrange(Common common, Control &control) {
  collector_.recode(common.columns);
  RowStore &rows = collector_.rows;
  rows.arrange(control);
  rows.set_incomplete(count_incomplete(rows, control));
  if (!collector_.described()) return {};
  const RowColumns columns = collector_.columns();
  std::vector<std::size_t> all(columns.size()), numbers;
  std::iota(all.begin(), all.end(), std::size_t(0));
  for (const std::size_t j : all)
    if (columns[j].kind == ValueKind::number) numbers.push_back(j);
  return {column_facts(rows, all.size(), all), number_facts(rows, all.size(), numbers)};
}

std::uint64_t RowsInParts::Part::hash(Control &control) {
  DataHash hash;
  hash.add(collector_.rows, false, control);
  return hash.value();
}

// ---- the server of the fit ----

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
  // An invalid value is refused with the other options.
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
  PushedCollector::undo();
  request_.options = options_;
}

RowsInParts::Keep PushedCollectedRows::request_to_keep() {
  std::vector<std::string> names;
  if (!whole_)  // else a start model may have columns, but rows have none
    for (const RowColumn &column : collector().columns()) names.push_back(column.name);
  return {request_.family, std::move(names), shape_.weighted, collector().policy()};
}

void PushedCollectedRows::hear_head(PackedHead head, const std::string &place) {
  collector().hear(head, !whole_);
  if (head.rows == 0) return;
  const int limit = collector().policy().max_dimension;
  if (head.dimension == 0 || (limit && head.dimension > limit)) PassReader::refuse();
  length_.hear(head.dimension, place);
  shape_.dimension = int(length_.value());
}

CommonColumns PushedCollectedRows::common() {
  collector().sort_labels();
  names_ = quoted_names(collector().columns());
  if (whole_) return {};
  return {collector().columns()};
}

RowsInParts::Facts PushedCollectedRows::no_facts() const {
  if (whole_) return {};
  const std::size_t n = names_.size();
  return {ColumnFacts{.value = std::vector<double>(n)},
          NumberFacts{.columns = std::vector<NumberFacts::Column>(n)}};
}

void PushedCollectedRows::hear_facts(RowsInParts::Facts facts) {
  if (!facts_.columns) {
    facts_ = std::move(facts);
  } else {
    facts_.columns->add(*facts.columns);
    facts_.numbers->add(*facts.numbers);
  }
}

void PushedCollectedRows::take(PushedRows &rows) {
  if (facts_.columns) collector().check_remote(*facts_.columns, *facts_.numbers, rows.rows());
  collector().remote = std::make_unique<RowsOfParts>(rows, shape_, std::move(names_));
}

}  // namespace bayes::pg
