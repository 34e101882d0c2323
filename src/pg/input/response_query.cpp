#include "pg/input/response_query.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "base/message.hpp"
#include "pg/input/feature_reader.hpp"
#include "pg/input/row_reader.hpp"

namespace bayes::pg {
namespace {

class ResponseColumns {
 public:
  ResponseColumns(TupleDesc columns, const QueryColumns &given, bool objects, const char *hint) {
    std::vector<int> others;
    if (given.id) others.push_back(column_named(columns, *given.id, "id", hint));
    if (given.weight) {
      weight_ = column_named(columns, *given.weight, "weight", hint);
      weight_type_ = base_of(columns, weight_);
      if (!is_number_type(weight_type_))
        wrong_column(columns, weight_, "A weight must be a number.", hint);
      others.push_back(weight_);
    }
    for (int i = 0; i < columns->natts; ++i)
      if (std::find(others.begin(), others.end(), i) == others.end()) rest_.push_back(i);
    if (rest_.size() < 2)
      throw Error(Errc::invalid_argument,
                  rest_.empty() ? "query returns no columns" : "query returns one column",
                  "The first column is the response, the others are the predictors.", hint);
    form.values = 2;
    form.weighted = weight_ >= 0;
    form.type = TupleDescAttr(columns, rest_[0])->atttypid;
    const int row = rest_[1];
    form.second_type = TupleDescAttr(columns, row)->atttypid;
    whole_ = rest_.size() == 2 && is_row(columns, row, objects);
    if (!whole_) form.second_type = RECORDOID;
    if (!whole_) describe(columns);
  }

  ItemForm form;

  /// Valid while the row in the slot is.
  Item item(TupleTableSlot *slot) {
    const auto value = [slot](int i) {
      return NullableDatum{slot->tts_values[i], slot->tts_isnull[i]};
    };
    values_[0] = value(rest_[0]);
    values_[1] = whole_ ? value(rest_[1]) : NullableDatum{record(slot), false};
    if (weight_ < 0) return {values_, nullptr};
    weight_value_ = value(weight_);
    if (!weight_value_.isnull)
      weight_value_.value = Float8GetDatum(number_of(weight_value_.value, weight_type_));
    return {values_, &weight_value_};
  }

 private:
  static Oid base_of(TupleDesc columns, int index) {
    const Oid declared = TupleDescAttr(columns, index)->atttypid;
    return guarded([declared] { return getBaseType(declared); });
  }

  /// Is the column a row by itself?
  static bool is_row(TupleDesc columns, int index, bool objects) {
    const Oid type = base_of(columns, index);
    if (is_record_type(type) || (objects && FeatureReader::reads(type))) return true;
    if (is_number_type(type)) return false;
    return guarded([type] { return OidIsValid(get_element_type(type)); }) ||
           OidIsValid(cast_to_array(type));
  }

  /// The row type of the columns that follow the response.
  void describe(TupleDesc columns) {
    fields_.resize(rest_.size() - 1);
    nulls_ = std::make_unique<bool[]>(fields_.size());
    description_ = guarded([this, columns] {
      const TupleDesc made = CreateTemplateTupleDesc(int(fields_.size()));
      for (std::size_t j = 0; j < fields_.size(); ++j)
        TupleDescCopyEntry(made, AttrNumber(j + 1), columns, AttrNumber(rest_[j + 1] + 1));
      return BlessTupleDesc(made);
    });
  }

  Datum record(TupleTableSlot *slot) {
    for (std::size_t j = 0; j < fields_.size(); ++j) {
      fields_[j] = slot->tts_values[rest_[j + 1]];
      nulls_[j] = slot->tts_isnull[rest_[j + 1]];
    }
    return guarded([this] {
      return HeapTupleGetDatum(heap_form_tuple(description_, fields_.data(), nulls_.get()));
    });
  }

  /// the response, and the columns or the row that follow
  std::vector<int> rest_;
  bool whole_ = false;
  int weight_ = -1;
  Oid weight_type_ = InvalidOid;
  TupleDesc description_ = nullptr;
  std::vector<Datum> fields_;
  std::unique_ptr<bool[]> nulls_;
  NullableDatum values_[2] = {}, weight_value_ = {};
};

}  // namespace

void read_responses(const char *text, const char *hint, const QueryColumns &given, bool objects,
                    const std::function<void(const ItemForm &form)> &begin,
                    const std::function<void(const Item &item)> &take) {
  std::optional<ResponseColumns> columns;
  run_query(
      text, hint,
      [&](TupleDesc description) {
        columns.emplace(description, given, objects, hint);
        begin(columns->form);
      },
      [&](TupleTableSlot *row) { take(columns->item(row)); });
}

}  // namespace bayes::pg
