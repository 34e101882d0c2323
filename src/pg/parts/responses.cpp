#include "pg/parts/responses.hpp"

#include <memory>
#include <utility>

#include "data/hashed_rows.hpp"
#include "pg/input/column_checks.hpp"
#include "pg/input/record_fields.hpp"
#include "pg/server/encoding.hpp"
#include "regression/terms.hpp"

namespace bayes::pg {

ResponseArguments::ResponseArguments(const ResponseColumns &columns, std::span<const Oid> types)
    : columns_(std::max<std::size_t>(1, columns.names.size())) {
  form_.values = 2;
  form_.weighted = columns.weighted;
  if (types.size() != 1 + columns_ + std::size_t(form_.weighted)) PassReader::refuse();
  form_.type = types[0];
  form_.second_type = columns.names.empty() ? types[1] : RECORDOID;
  guarded([this, types] {
    response_ = getBaseType(form_.type);
    if (form_.weighted) weight_type_ = getBaseType(types.back());
  });
  if (!columns.names.empty())
    record_.emplace(description_of(columns.names, types.subspan(1, columns_)));
}

Item ResponseArguments::item(const NullableDatum *values) {
  values_[0] = values[0];
  if (record_) fields_.assign(values + 1, values + 1 + columns_);
  values_[1] = record_ ? NullableDatum{record_->of(fields_), false} : values[1];
  if (!form_.weighted) return {values_, nullptr};
  weight_ = values[1 + columns_];
  if (!weight_.isnull) weight_.value = Float8GetDatum(number_of(weight_.value, weight_type_));
  return {values_, &weight_};
}

std::vector<int> PushedResponse::begin(TupleDesc description, std::string &reason) {
  const ResponseLayout layout(description, given_, objects_, hint_);
  std::vector<int> out = {layout.columns[0]};
  const auto add = [&](TupleDesc of, int attribute, int number) {
    columns.names.push_back(utf8_of_server(NameStr(TupleDescAttr(of, attribute)->attname)));
    out.push_back(number);
  };
  const Oid row = layout.form.second_type;
  if (!layout.whole) {
    for (std::size_t j = 1; j < layout.columns.size(); ++j)
      add(description, layout.columns[j], layout.columns[j]);
  } else if (!is_record_type(guarded([row] { return getBaseType(row); }))) {
    out.push_back(layout.columns[1]);
  } else {
    const RecordColumn *const record = record_at(records_, layout.columns[1], reason);
    if (!record) return {};
    for (int i = 0; i < record->fields->natts; ++i) add(record->fields, i, record->first + i);
  }
  columns.weighted = layout.weight >= 0;
  if (columns.weighted) out.push_back(layout.weight);
  form = layout.form;
  if (!columns.names.empty()) form.second_type = RECORDOID;
  return out;
}

// ---- the rows of a part ----

namespace {

const RegisterKind<ResponsesInParts> responses_in_parts;

}  // namespace

ResponsesInParts::Part::Part(MemoryContext context, const KeptPart &which, Keep keep,
                             std::span<const Oid> types)
    : arguments_(keep.columns, types),
      collector_(context, arguments_.form()),
      part_{collector_.rows, std::size_t(which.part)} {
  collector_.begin_part(keep.family.c_str(), keep.policy);
}

PackedHead ResponsesInParts::Part::head() {
  collector_.progress.end();
  return collector_.head();
}

ResponsesInParts::Facts ResponsesInParts::Part::arrange(Common common, Control &control) {
  collector_.recode(common.columns, common.levels.value_or(std::vector<std::string>()));
  collector_.rows.arrange(control);
  return {response_facts(collector_.rows)};
}

std::uint64_t ResponsesInParts::Part::hash(Control &control) {
  DataHash hash;
  hash.add(collector_.rows, false, control);
  return hash.value();
}

// ---- the server of the fit ----

std::vector<int> PushedResponses::begin(TupleDesc columns, std::string &reason) {
  std::vector<int> out = query_.begin(columns, reason);
  if (out.empty()) return out;
  const CurrentContext current(context_);
  data_.emplace(context_, query_.form);
  data_->begin(request_, check_);
  shape_.weighted = query_.form.weighted;
  return out;
}

ResponsesInParts::Keep PushedResponses::request_to_keep() {
  return {request_.family, query_.columns, collector().policy()};
}

void PushedResponses::hear_head(PackedHead head, const std::string &place) {
  collector().hear(head, !query_.columns.names.empty());
  if (head.rows == 0) return;
  if (head.dimension > max_predictors) PassReader::refuse();
  length_.hear(head.dimension, place);
  shape_.dimension = 1 + int(length_.value());
}

CommonColumns PushedResponses::common() {
  collector().sort_labels();
  CommonColumns out;
  if (!query_.columns.names.empty()) out.columns = collector().columns();
  if (std::vector<std::string> levels = collector().levels(); !levels.empty())
    out.levels = std::move(levels);
  return out;
}

ResponsesInParts::Facts PushedResponses::no_facts() const {
  return {{.predictors = std::size_t(shape_.dimension) - 1}};
}

void PushedResponses::hear_facts(ResponsesInParts::Facts facts) {
  facts_ ? facts_->add(facts.of) : void(facts_ = std::move(facts.of));
}

void PushedResponses::take(PushedRows &rows) {
  ResponseCollector &to = collector();
  if (facts_) {
    note_positions(to.columns());
    report_names_of_rows(to.columns());
    check_predictors(*facts_, rows.rows(), to.columns());
  }
  to.remote =
      std::make_unique<RowsOfParts>(rows, shape_, to.names_of_elements(shape_.dimension - 1));
}

}  // namespace bayes::pg
