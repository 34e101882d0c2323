#include "pg/input/remote_responses.hpp"

#include <memory>

#include "base/message.hpp"
#include "pg/input/record_fields.hpp"
#include "pg/input/remote_collected_rows.hpp"
#include "pg/input/unlikely_numbers.hpp"
#include "pg/server/encoding.hpp"
#include "regression/terms.hpp"

namespace bayes::pg {

std::vector<int> PushedResponses::begin(TupleDesc columns, std::string &reason) {
  const ResponseLayout layout(columns, given_, objects_, hint_);
  std::vector<int> out = {layout.columns[0]};
  const auto add = [&](TupleDesc description, int attribute, int number) {
    names_.emplace_back(utf8_of_server(NameStr(TupleDescAttr(description, attribute)->attname)));
    out.push_back(number);
  };
  const Oid row = layout.form.second_type;
  if (!layout.whole) {
    for (std::size_t j = 1; j < layout.columns.size(); ++j)
      add(columns, layout.columns[j], layout.columns[j]);
  } else if (!is_record_type(guarded([row] { return getBaseType(row); }))) {
    out.push_back(layout.columns[1]);
  } else {
    const RecordColumn *const record = record_at(records_, layout.columns[1], reason);
    if (!record) return {};
    for (int i = 0; i < record->fields->natts; ++i) add(record->fields, i, record->first + i);
  }
  if (layout.weight >= 0) out.push_back(layout.weight);
  weighted_ = layout.weight >= 0;
  ItemForm form = layout.form;
  if (!names_.empty()) form.second_type = RECORDOID;
  begin_data(form);
  return out;
}

Document PushedResponses::keep_of(const char *kind) const {
  Document out = pass_request("keep");
  out.set("kind", kind).set("columns", names_).set("weighted", weighted_);
  return out;
}

void PushedCollectedResponses::begin_data(const ItemForm &form) {
  const CurrentContext current(context_);
  data_.emplace(context_, form);
  data_->begin(request_, check_);
  shape_.weighted = form.weighted;
}

Document PushedCollectedResponses::keep() {
  const ResponsePolicy &policy = (*data_)->policy();
  Document out = keep_of("responses");
  out.set("family", request_.family).set("skip_missing", policy.skip_missing);
  return out.set("max_dimension", policy.max_dimension);
}

void PushedCollectedResponses::hear(const PassReader &part, const std::string &place) {
  hear_rows(**data_, part, place, described(), max_predictors, length_);
  if (length_.known()) shape_.dimension = 1 + int(length_.value());
}

Document PushedCollectedResponses::settle() {
  (*data_)->sort_labels();
  return pass_request("settle").set("columns", columns_message((*data_)->columns()));
}

void PushedCollectedResponses::settled(const PassReader &part) {
  const ResponseFacts facts =
      ResponseFacts::from_message(part.member("facts"), std::size_t(shape_.dimension) - 1);
  facts_ ? facts_->add(facts) : void(facts_ = facts);
}

void PushedCollectedResponses::take(PushedRows &rows) {
  ResponseCollector &to = **data_;
  if (facts_) {
    note_positions(to.columns());
    report_names_of_rows(to.columns());
    check_predictors(*facts_, rows.rows(), to.columns());
  }
  to.remote = std::make_unique<RemoteCollectedRows>(rows, shape_,
                                                    to.names_of_elements(shape_.dimension - 1));
}

}  // namespace bayes::pg
