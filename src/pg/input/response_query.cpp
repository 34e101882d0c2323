#include "pg/input/response_query.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/message.hpp"
#include "pg/input/column_checks.hpp"
#include "pg/input/row_reader.hpp"
#include "pg/server/encoding.hpp"
#include "pg/server/versions.hpp"
#include "pg/values/convert.hpp"
#include "pg/values/json.hpp"

namespace bayes::pg {
namespace {

constexpr const char *object_of_features =
    "A row as jsonb is an object of names and numbers, booleans, strings or nulls: {\"money\": 3, "
    "\"html\": true}.";

}  // namespace

std::string name_of_feature(std::string_view name, std::int64_t row) {
  const std::string feature = message("feature \"{}\"", abbreviated(name));
  return row > 0 ? message("{} of row {}", feature, row) : feature;
}

void FeatureReader::require_type(Oid base) {
  const Oid element = guarded([base] { return get_element_type(base); });
  if (element == TEXTOID || element == VARCHAROID || element == BPCHAROID)
    throw SqlError(ERRCODE_DATATYPE_MISMATCH, "features are an array of texts",
                   "Words that are counted are a tsvector, or a jsonb object of words and numbers.",
                   "Write to_tsvector(array_to_string(words, ' ')) for an array of words, or a "
                   "record for one of labels: ROW(a[1], a[2]).");
}

FeatureReader::FeatureReader(Oid type) {
  object_ = guarded([type] { return getBaseType(type); }) == JSONBOID;
  if (!object_) lexemes_.emplace(CurrentMemoryContext, type);  // unused by a tsvector
}

void FeatureReader::read(Datum row, std::int64_t number, const Take &take) {
  if (object_) return read_object(row, number, take);
  lexemes_->read(row, number, [&take](std::string_view term, double count) {
    take({term, ValueKind::number, count});
  });
}

void FeatureReader::read_object(Datum row, std::int64_t number, const Take &take) {
  const JsonbObject object(row);
  if (!object.is_object())
    throw Error(
        Errc::invalid_argument,
        message("{} is {}", number > 0 ? message("row {}", number) : "the row", object.form()),
        object_of_features);
  object.each([&](std::string_view key, const JsonbValue &value) {
    NamedFeature feature{utf8_view(key, key_), ValueKind::number};
    if (feature.name.empty())
      throw Error(Errc::invalid_argument,
                  message("{} has an empty name", name_of_feature("", number)), object_of_features);
    switch (value.type) {
      case jbvNull: feature.kind.reset(); break;
      case jbvBool:
        feature.kind = ValueKind::boolean;
        feature.number = value.val.boolean ? 1 : 0;
        break;
      case jbvString:
        feature.kind = ValueKind::label;
        feature.label =
            utf8_view({value.val.string.val, std::size_t(value.val.string.len)}, label_);
        break;
      default:
        const std::optional<double> x = number_in(value);
        if (!x)
          throw Error(Errc::invalid_argument,
                      message("{} is {}", name_of_feature(feature.name, number), form_of(value)),
                      object_of_features, "Give each of its members a name in the object itself.");
        if (!(std::fabs(*x) <= max_abs_element))
          refuse_value(x, name_of_feature(feature.name, number), number);
        feature.number = *x;
    }
    take(feature);
  });
}

namespace {

Oid base_of(TupleDesc columns, int index) {
  const Oid declared = TupleDescAttr(columns, index)->atttypid;
  return guarded([declared] { return getBaseType(declared); });
}

/// Is the column a row by itself?
bool is_row(TupleDesc columns, int index, bool objects) {
  const Oid type = base_of(columns, index);
  if (is_record_type(type) || (objects && FeatureReader::reads(type))) return true;
  if (is_number_type(type)) return false;
  return guarded([type] { return OidIsValid(get_element_type(type)); }) ||
         OidIsValid(cast_to_array(type));
}

/// The row type of the columns that follow the response.
TupleDesc description_of_predictors(TupleDesc columns, const ResponseLayout &layout) {
  return guarded([&] {
    const int count = int(layout.columns.size()) - 1;
    const TupleDesc made = CreateTemplateTupleDesc(count);
    for (int j = 0; j < count; ++j)
      TupleDescCopyEntry(made, AttrNumber(j + 1), columns,
                         AttrNumber(layout.columns[std::size_t(j) + 1] + 1));
    TupleDescFinalize(made);
    return made;
  });
}

/// The items in the rows of a query.
class ResponseItems {
 public:
  ResponseItems(TupleDesc columns, ResponseLayout layout) : layout_(std::move(layout)) {
    if (!layout_.whole) record_.emplace(description_of_predictors(columns, layout_));
  }

  /// Valid while the row in the slot is.
  Item item(TupleTableSlot *slot) {
    const auto value = [slot](int i) {
      return NullableDatum{slot->tts_values[i], slot->tts_isnull[i]};
    };
    values_[0] = value(layout_.columns[0]);
    if (record_) {
      fields_.clear();
      for (std::size_t j = 1; j < layout_.columns.size(); ++j)
        fields_.push_back(value(layout_.columns[j]));
    }
    values_[1] = record_ ? NullableDatum{record_->of(fields_), false} : value(layout_.columns[1]);
    if (layout_.weight < 0) return {values_, nullptr};
    weight_ = value(layout_.weight);
    if (!weight_.isnull)
      weight_.value = Float8GetDatum(number_of(weight_.value, layout_.weight_type));
    return {values_, &weight_};
  }

 private:
  const ResponseLayout layout_;
  std::optional<PredictorRecord> record_;
  std::vector<NullableDatum> fields_;
  NullableDatum values_[2] = {}, weight_ = {};
};

}  // namespace

ResponseLayout::ResponseLayout(TupleDesc description, const QueryColumns &given, bool objects,
                               const char *hint) {
  std::vector<int> others;
  if (given.id) others.push_back(column_named(description, *given.id, "id", hint));
  if (given.weight) {
    weight = column_named(description, *given.weight, "weight", hint);
    weight_type = base_of(description, weight);
    if (!is_number_type(weight_type))
      wrong_column(description, weight, "A weight must be a number.", hint);
    others.push_back(weight);
  }
  for (int i = 0; i < description->natts; ++i)
    if (std::find(others.begin(), others.end(), i) == others.end()) columns.push_back(i);
  if (columns.size() < 2)
    throw Error(Errc::invalid_argument,
                columns.empty() ? "query returns no columns" : "query returns one column",
                "The first column is the response, the others are the predictors.", hint);
  report_name_of_response(NameStr(TupleDescAttr(description, columns[0])->attname), objects, hint);
  form.values = 2;
  form.weighted = weight >= 0;
  form.type = TupleDescAttr(description, columns[0])->atttypid;
  const int row = columns[1];
  form.second_type = TupleDescAttr(description, row)->atttypid;
  whole = columns.size() == 2 && is_row(description, row, objects);
  if (!whole) form.second_type = RECORDOID;
}

void note_rows_left_out(const Model &model) {
  const ModelInfo &info = model.info;
  if (info.skipped > 0)
    report_once(NOTICE,
                message("{} of {} rows {} left out", info.skipped, info.rows + info.skipped,
                        info.skipped == 1 ? "is" : "are"),
                "A column of the query is NULL there, or the weight is NULL or 0.",
                "Select the columns that are needed, or fill in values with coalesce(); a WHERE "
                "clause that leaves out these rows avoids this message.");
}

PredictorRecord::PredictorRecord(TupleDesc made)
    : description_(guarded([made] { return BlessTupleDesc(made); })),
      nulls_(std::make_unique<bool[]>(std::size_t(made->natts))) {}

Datum PredictorRecord::of(const std::vector<NullableDatum> &fields) {
  values_.clear();
  for (std::size_t j = 0; j < fields.size(); ++j) {
    values_.push_back(fields[j].value);
    nulls_[j] = fields[j].isnull;
  }
  return guarded([this] {
    return HeapTupleGetDatum(heap_form_tuple(description_, values_.data(), nulls_.get()));
  });
}

void read_responses(const char *text, const char *hint, const QueryColumns &given, bool objects,
                    const std::function<void(const ItemForm &form)> &begin,
                    const std::function<void(const Item &item)> &take) {
  std::optional<ResponseItems> items;
  run_query(
      text, hint,
      [&](TupleDesc description) {
        ResponseLayout layout(description, given, objects, hint);
        const ItemForm form = layout.form;
        items.emplace(description, std::move(layout));
        begin(form);
      },
      [&](TupleTableSlot *row) { take(items->item(row)); });
}

}  // namespace bayes::pg
