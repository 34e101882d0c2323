#include "pg/models/factor.hpp"

#include <algorithm>
#include <cmath>

#include "base/message.hpp"
#include "pg/bind/query_rows.hpp"
#include "pg/parts/table.hpp"
#include "pg/server/argument_type.hpp"
#include "pg/server/encoding.hpp"
#include "pg/values/array_elements.hpp"
#include "pg/values/json.hpp"

namespace bayes::pg {
namespace {

constexpr const char *table_hint =
    "Select row, column and number of each cell (SELECT customer, item, amount FROM ...), or an "
    "array of numbers for each row, with or without a key before it (SELECT id, x FROM ...).";

Oid base_of_column(TupleDesc columns, int index) {
  const Oid declared = TupleDescAttr(columns, index)->atttypid;
  return guarded([declared] { return getBaseType(declared); });
}

/// The columns of the query: row, column and number, and possibly a weight; or an array; or a key
/// and an array.
class TableColumns {
 public:
  TableColumns(TupleDesc columns, bool weights) : count_(std::min(columns->natts, 3)) {
    if (columns->natts < 1 || columns->natts > (weights ? 4 : 3))
      throw Error(Errc::invalid_argument,
                  message("query returns {} columns, but must return one to {}", columns->natts,
                          weights ? "four" : "three"),
                  weights ? "The fourth column is the weight of a cell." : "", table_hint);
    form.weighted = columns->natts > 3;
    form.values = count_;
    form.type = TupleDescAttr(columns, 0)->atttypid;
    form.second_type = count_ > 1 ? TupleDescAttr(columns, 1)->atttypid : InvalidOid;
    const Oid last = base_of_column(columns, count_ - 1);
    number_ = last;
    if (form.weighted)
      require(columns, 3, is_number_type(weight_ = base_of_column(columns, 3)),
              "The fourth column is the weight of a cell.");
    if (count_ == 3)
      require(columns, 2, is_number_type(last), "The third column is the number in a cell.");
    else
      require(columns, count_ - 1, is_row_of_numbers(last),
              "The last column is a row of the table, an array of numbers.");
  }

  ItemForm form;

  /// Valid while the row is.
  bayes::pg::Item item(TupleTableSlot *row) {
    for (int i = 0; i < count_; ++i) values_[i] = {row->tts_values[i], row->tts_isnull[i]};
    if (count_ == 3 && !values_[2].isnull)
      values_[2].value = Float8GetDatum(number_of(values_[2].value, number_));
    if (!form.weighted) return {values_, nullptr};
    values_[3] = {row->tts_values[3], row->tts_isnull[3]};
    if (!values_[3].isnull) values_[3].value = Float8GetDatum(number_of(values_[3].value, weight_));
    return {values_, &values_[3]};
  }

 private:
  /// Throws Error unless `suits`: the column is not of the type `expected`.
  static void require(TupleDesc columns, int index, bool suits, const char *expected) {
    if (suits) return;
    const Form_pg_attribute column = TupleDescAttr(columns, index);
    const Oid type = column->atttypid;
    const char *const name = guarded([type] { return format_type_be(type); });
    throw Error(Errc::invalid_argument,
                message("column \"{}\" of the query is of type {}", NameStr(column->attname), name),
                expected, table_hint);
  }

  int count_;
  Oid number_ = InvalidOid, weight_ = InvalidOid;
  NullableDatum values_[4] = {};
};

const char *name_of(Side side) { return side == Side::row ? "row" : "column"; }

const char *allowed_numbers(bool non_negative) {
  return non_negative ? "Numbers are finite and not negative." : "Numbers are finite.";
}

void check_number(double number, std::string_view key, const CellReading &how) {
  if (std::isfinite(number) && !(how.non_negative && number < 0)) return;
  throw Error(Errc::invalid_argument,
              message("the number in {} \"{}\" is {}", name_of(how.keys), abbreviated(key),
                      format_number(number)),
              allowed_numbers(how.non_negative));
}

std::string form_of_object(const CellReading &how) {
  return message(
      "Cells given as jsonb are an object of {} keys and numbers: {\"index\": 3, \"scan\": 1}.",
      name_of(how.keys));
}

constexpr const char *object_hint =
    "For a model with other keys, give the cells as jsonb: {\"index\": 3, \"scan\": 1}.";

}  // namespace

void refuse_number(double number, bool non_negative) {
  throw Error(Errc::invalid_argument, message("the number in a cell is {}", format_number(number)),
              allowed_numbers(non_negative));
}

Side side_argument(FunctionCallInfo fcinfo, int argument) {
  const text *const given = guarded([fcinfo, argument] { return PG_GETARG_TEXT_PP(argument); });
  const std::string_view name(VARDATA_ANY(given), std::size_t(VARSIZE_ANY_EXHDR(given)));
  if (name != "row" && name != "column")
    throw Error(Errc::invalid_argument,
                message("side is \"{}\", but must be \"row\" or \"column\"", name.substr(0, 40)));
  return name == "row" ? Side::row : Side::column;
}

void collect_table(FunctionCallInfo fcinfo, MemoryContext context,
                   std::optional<FitData<TripleCollector>> &data,
                   const std::function<void(FitData<TripleCollector> &table)> &begin,
                   const PushedFit *push, bool weights) {
  std::optional<TableColumns> columns;
  const char *const sql = query_text(fcinfo, table_hint);
  if (push) {
    PushedTable table(data, push->request, [&](TupleDesc description, std::string &reason) {
      const ItemForm form = TableColumns(description, weights).form;
      if (form.values == 3) reason = "a row may have cells on several servers";
      if (push->request.start) reason = "the fit begins at a model, whose rows are here";
      data.emplace(context, form);
      begin(*data);
      return form.values;
    });
    if (push->push.collect(fcinfo, sql, push->request, push->methods, table_hint, table)) return;
  }
  run_query(
      sql, table_hint,
      [&](TupleDesc description) {
        columns.emplace(description, weights);
        data.emplace(context, columns->form);
        begin(*data);
      },
      [&](TupleTableSlot *row) { data->add(columns->item(row)); });
}

std::unique_ptr<Model> fit_table(FunctionCallInfo fcinfo, const Binding<TripleCollector> &binding,
                                 std::span<const Role> roles, std::string *bytes,
                                 const PushedMethods &pushed) {
  FitRequest request = query_request(fcinfo, binding.family, roles);
  const ScopedContext context(CurrentMemoryContext, "pg_bayes query");
  PushDown push;
  std::optional<FitData<TripleCollector>> data;
  const PushedFit how{push, request, pushed};
  const auto begin = [&request, &binding](FitData<TripleCollector> &table) {
    table.begin(request, binding.check);
  };
  collect_table(fcinfo, context, data, begin, pushed.methods.empty() ? nullptr : &how,
                pushed.methods.empty());
  auto model = fit_model(binding, request, *data, bytes);
  push.end();
  return model;
}

std::optional<std::string_view> FactorCallSite::key(FunctionCallInfo fcinfo, int argument,
                                                    int index) {
  ElementType &type = types_[index];
  type.use(argument_type(fcinfo, argument));
  return type.text(fcinfo->args[argument].value);
}

DocumentTerms FactorCallSite::cells(FunctionCallInfo fcinfo, int argument, const CellReading &how,
                                    const std::vector<std::string> &keys,
                                    const std::function<std::int32_t(std::string_view key)> &code) {
  const Oid type = argument_type(fcinfo, argument);
  entries_.clear();
  any_unknown_ = any_known_ = false;
  if (guarded([type] { return getBaseType(type); }) == JSONBOID)
    read_object(fcinfo->args[argument].value, how, code);
  else if (type == row_type_ || is_row_of_numbers(type))
    read_row(fcinfo->args[argument].value, type, how, keys.size(), code);
  else
    throw SqlError(
        ERRCODE_DATATYPE_MISMATCH, message("cells are of type {}", name_of_type(type)),
        "Cells are a jsonb object of keys and numbers, or an array of numbers.",
        type == UNKNOWNOID ? "A literal has no type of its own: '{\"scan\": 1}'::jsonb." : "");
  if (any_unknown_ && !any_known_ && !warned_) {
    warned_ = true;
    report(WARNING, message("the model knows none of the {}s of the cells", name_of(how.keys)),
           message("The first unknown key is \"{}\"; one key of the model is \"{}\". Cells of "
                   "unknown {}s are ignored.",
                   abbreviated(unknown_), keys.empty() ? "" : abbreviated(keys[0]),
                   name_of(how.keys)));
  }
  std::sort(entries_.begin(), entries_.end());
  codes_.clear();
  numbers_.clear();
  for (const auto &[column, number] : entries_) {
    if (number == 0 && !how.keep_zeros) continue;
    codes_.push_back(column);
    numbers_.push_back(number);
  }
  return {codes_, numbers_};
}

void FactorCallSite::read_object(Datum cells, const CellReading &how,
                                 const std::function<std::int32_t(std::string_view key)> &code) {
  const JsonbObject object(cells);
  if (!object.is_object())
    throw Error(Errc::invalid_argument, message("cells are {}", object.form()),
                form_of_object(how));
  std::string buffer;
  object.each([&](std::string_view raw, const JsonbValue &value) {
    const std::string_view key = utf8_view(raw, buffer);
    if (value.type == jbvNull) return;
    const std::optional<double> number = number_in(value);
    if (!number)
      throw Error(Errc::invalid_argument,
                  message("the number in {} \"{}\" is {}", name_of(how.keys), abbreviated(key),
                          form_of(value)),
                  form_of_object(how));
    check_number(*number, key, how);
    const std::int32_t index = code(key);
    if (index >= 0)
      entries_.emplace_back(index, *number);
    else if (!any_unknown_)
      unknown_ = key;
    (index >= 0 ? any_known_ : any_unknown_) = true;
  });
}

void FactorCallSite::read_row(Datum cells, Oid type, const CellReading &how, std::size_t keys,
                              const std::function<std::int32_t(std::string_view key)> &code) {
  if (row_type_ != type) {
    const Oid base = guarded([type] { return getBaseType(type); });
    sparse_ = is_sparse_vector(base);
    make_array_ = {};
    if (!sparse_ && !is_array_type(base)) make_array_.open(context_, base);
    row_type_ = type;
  }
  if (sparse_) {
    const SparseVector vector(cells);
    check_length(std::size_t(vector.dimension()), keys, how);
    vector.expand(numbers_);
    return add_numbers(nullptr, how, code);
  }
  if (make_array_.opened()) cells = guarded([this, cells] { return make_array_.array_of(cells); });
  const OpenArray array(cells);
  if (array.dimensions() > 1)
    throw Error(Errc::array_shape,
                message("the array of cells has {} dimensions", array.dimensions()),
                "The numbers of a row or column are a one-dimensional array.");
  const std::size_t length = array.empty() ? 0 : std::size_t(array.size(0));
  check_length(length, keys, how);
  types_[0].use(array.element_type());
  numbers_.resize(length);
  ArrayWalk(array, types_[0], nullptr).next(numbers_);
  add_numbers(array.null_bitmap(), how, code);
}

/// Throws Error unless a row has a number for each of the keys.
void FactorCallSite::check_length(std::size_t length, std::size_t keys, const CellReading &how) {
  const char *const side = name_of(how.keys);
  if (length != keys)
    throw Error(
        Errc::array_shape,
        message("the array has {} elements, but the model has {} {}s", length, keys, side),
        message("An array has one number for each of the {}s '1', '2', ... of a model that was "
                "fitted to arrays.",
                side),
        object_hint);
}

/// Adds numbers_, but for those that are NULL.
void FactorCallSite::add_numbers(const std::uint8_t *nulls, const CellReading &how,
                                 const std::function<std::int32_t(std::string_view key)> &code) {
  const char *const side = name_of(how.keys);
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    poll_in_loop(i);
    if (nulls && !(nulls[i / 8] & (1 << (i % 8)))) continue;
    const std::string key = std::to_string(i + 1);
    check_number(numbers_[i], key, how);
    const std::int32_t index = code(key);
    if (index < 0)
      throw Error(
          Errc::invalid_argument, message("the model has no {} \"{}\"", side, key),
          message(
              "The elements of an array belong to {}s '1', '2', ... of a model that was fitted to "
              "arrays.",
              side),
          object_hint);
    entries_.emplace_back(index, numbers_[i]);
  }
}

}  // namespace bayes::pg
