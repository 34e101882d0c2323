#include "pg/values/results.hpp"

#include "pg/server/encoding.hpp"
#include "pg/server/versions.hpp"

namespace bayes::pg {
namespace {

/// A varlena. Raises.
Datum bytes(const void *data, std::size_t size) {
  auto *const value = static_cast<struct varlena *>(palloc(size + VARHDRSZ));
  SET_VARSIZE(value, size + VARHDRSZ);
  if (size) std::memcpy(VARDATA(value), data, size);
  return PointerGetDatum(value);
}

/// A float8[] that is NULL where a number is NaN. Raises.
Datum array_with_nulls(const double *numbers, int size) {
  auto *const values = static_cast<Datum *>(palloc(std::size_t(size) * sizeof(Datum)));
  auto *const nulls = static_cast<bool *>(palloc(std::size_t(size)));
  for (int i = 0; i < size; ++i) {
    nulls[i] = numbers[i] != numbers[i];
    values[i] = Float8GetDatum(nulls[i] ? 0 : numbers[i]);
  }
  int sizes[] = {size}, first[] = {1};
  return PointerGetDatum(construct_md_array(values, nulls, 1, sizes, first, FLOAT8OID,
                                            sizeof(double), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/// Is this the type bayes_model? It has no fixed OID and may be in any schema, so its output
/// function identifies it. Raises.
bool is_model_type(Oid type) {
  Oid output;
  bool varlena;
  getTypeOutputInfo(type, &output, &varlena);
  const char *const name = get_func_name(output);
  return name && std::strcmp(name, "_bayes_model_out") == 0;
}

/// Fills arrays for PostgreSQL's tuple-forming functions, checking the columns. Raises.
void fill(TupleDesc description, Cells cells, Datum *values, bool *nulls) {
  if (std::size_t(description->natts) != cells.size())
    elog(ERROR, "pg_bayes: function returns %d columns where %d are declared", int(cells.size()),
         description->natts);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Form_pg_attribute column = TupleDescAttr(description, int(i));
    if (!cells[i].fits(column->atttypid))
      elog(ERROR, "pg_bayes: column \"%s\" of the result is declared as %s, but the value is not",
           NameStr(column->attname), format_type_be(column->atttypid));
    nulls[i] = cells[i].is_null();
    values[i] = nulls[i] ? Datum(0) : cells[i].to_datum();
  }
}

constexpr int max_columns = 32;

}  // namespace

// Raises.
ArrayType *new_float8_array(int dimensions, const int *sizes, double **elements) {
  std::size_t count = 1;
  for (int i = 0; i < dimensions; ++i) count *= std::size_t(sizes[i]);
  const std::size_t size = std::size_t(ARR_OVERHEAD_NONULLS(dimensions)) + count * sizeof(double);
  auto *const array = static_cast<ArrayType *>(palloc0(size));
  SET_VARSIZE(array, size);
  array->ndim = dimensions;
  array->dataoffset = 0;
  array->elemtype = FLOAT8OID;
  for (int i = 0; i < dimensions; ++i) {
    ARR_DIMS(array)[i] = sizes[i];
    ARR_LBOUND(array)[i] = 1;
  }
  *elements = reinterpret_cast<double *>(ARR_DATA_PTR(array));
  return array;
}

bool Cell::fits(Oid column_type) const {
  switch (kind_) {
    case Kind::null: return true;
    case Kind::integer: return column_type == INT4OID;
    case Kind::bigint: return column_type == INT8OID;
    case Kind::number: return column_type == FLOAT8OID;
    case Kind::boolean: return column_type == BOOLOID;
    case Kind::text: return column_type == TEXTOID;
    case Kind::vector:
    case Kind::vector_with_nulls:
    case Kind::matrix: return column_type == FLOAT8ARRAYOID;
    case Kind::datum: return column_type == type_;
    case Kind::model: return is_model_type(column_type);
  }
  return false;
}

// Raises.
Datum Cell::to_datum() const {
  switch (kind_) {
    case Kind::integer: return Int32GetDatum(scalar_.integer);
    case Kind::bigint: return Int64GetDatum(scalar_.bigint);
    case Kind::number: return Float8GetDatum(scalar_.number);
    case Kind::boolean: return BoolGetDatum(scalar_.boolean);
    case Kind::datum: return scalar_.datum;
    case Kind::text: {
      const char *const text = server_of_utf8(static_cast<const char *>(data_), size_);
      return bytes(text, text == data_ ? size_ : std::strlen(text));
    }
    case Kind::model: return bytes(data_, size_);
    case Kind::vector_with_nulls:
      return array_with_nulls(static_cast<const double *>(data_), int(size_));
    case Kind::vector:
    case Kind::matrix: {
      const bool matrix = kind_ == Kind::matrix;
      const int sizes[2] = {int(matrix ? size_ / columns_ : size_), int(columns_)};
      double *elements;
      ArrayType *const array = new_float8_array(matrix ? 2 : 1, sizes, &elements);
      std::memcpy(elements, data_, size_ * sizeof(double));
      return PointerGetDatum(array);
    }
    case Kind::null: break;
  }
  return Datum(0);
}

TupleDesc result_row(FunctionCallInfo fcinfo) {
  return guarded([fcinfo] {
    TupleDesc description;
    if (get_call_result_type(fcinfo, nullptr, &description) != TYPEFUNC_COMPOSITE)
      elog(ERROR, "return type must be a row type");
    return BlessTupleDesc(CreateTupleDescCopy(description));
  });
}

Datum composite(TupleDesc description, Cells cells) {
  return guarded([description, cells] {
    Datum values[max_columns];
    bool nulls[max_columns];
    fill(description, cells, values, nulls);
    return HeapTupleGetDatum(heap_form_tuple(description, values, nulls));
  });
}

namespace {

/// The same for a function that may return rows or single values; for single values it describes a
/// row of one column. Raises.
TupleDesc result_row_or_value(FunctionCallInfo fcinfo) {
  Oid type;
  TupleDesc description;
  if (get_call_result_type(fcinfo, &type, &description) != TYPEFUNC_SCALAR)
    return result_row(fcinfo);
  description = CreateTemplateTupleDesc(1);
  TupleDescInitEntry(description, 1, "value", type, -1, 0);
  TupleDescFinalize(description);
  return description;
}

}  // namespace

ResultRows::ResultRows(FunctionCallInfo fcinfo) {
  guarded([this, fcinfo] { begin(fcinfo, nullptr); });
}

ResultRows::ResultRows(FunctionCallInfo fcinfo, TupleDesc description) : composite_(true) {
  guarded([this, fcinfo, description] { begin(fcinfo, description); });
}

// Raises.
void ResultRows::begin(FunctionCallInfo fcinfo, TupleDesc description) {
  auto *const info = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
  if (!info || !IsA(info, ReturnSetInfo) || !(info->allowedModes & SFRM_Materialize))
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("set-valued function called in context that cannot accept a set")));
  // The row type is looked up in short-lived memory, and only a copy of its description lives until
  // the query ends: the function may be called once for every row.
  if (!description) description = result_row_or_value(fcinfo);
  const MemoryContext before = MemoryContextSwitchTo(info->econtext->ecxt_per_query_memory);
  description_ = CreateTupleDescCopy(description);
  store_ =
      tuplestore_begin_heap((info->allowedModes & SFRM_Materialize_Random) != 0, false, work_mem);
  MemoryContextSwitchTo(before);
  info->returnMode = SFRM_Materialize;
  info->setResult = store_;
  info->setDesc = description_;
  scratch_ =
      AllocSetContextCreate(CurrentMemoryContext, "pg_bayes result row", ALLOCSET_DEFAULT_SIZES);
}

void ResultRows::value(Datum value) {
  guarded([this, value] {
    if (!composite_) {
      Datum values[] = {value};
      bool nulls[] = {false};
      tuplestore_putvalues(store_, description_, values, nulls);
      return;
    }
    const HeapTupleHeader header = DatumGetHeapTupleHeader(value);
    HeapTupleData tuple = {};
    tuple.t_len = HeapTupleHeaderGetDatumLength(header);
    tuple.t_data = header;
    tuplestore_puttuple(store_, &tuple);
  });
}

void ResultRows::row(Cells cells) {
  guarded([this, cells] {
    const MemoryContext before = MemoryContextSwitchTo(scratch_);
    Datum values[max_columns];
    bool nulls[max_columns];
    fill(description_, cells, values, nulls);
    tuplestore_putvalues(store_, description_, values, nulls);
    MemoryContextSwitchTo(before);
    MemoryContextReset(scratch_);
  });
}

CompositeArray::CompositeArray(FunctionCallInfo fcinfo) : context_(CurrentMemoryContext) {
  guarded([this, fcinfo] {
    type_ = get_element_type(get_fn_expr_rettype(fcinfo->flinfo));
    if (!OidIsValid(type_)) elog(ERROR, "return type must be an array of a row type");
    description_ = lookup_rowtype_tupdesc_copy(type_, -1);
  });
}

void CompositeArray::add(Cells cells) {
  const Datum row = composite(description_, cells);
  guarded([this, row] { state_ = accumArrayResult(state_, row, false, type_, context_); });
}

Datum CompositeArray::finish() {
  return guarded([this] { return makeArrayResult(state_, context_); });
}

}  // namespace bayes::pg
