#include "pg/bind/filled_row.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "base/message.hpp"
#include "document/members.hpp"
#include "pg/server/encoding.hpp"

namespace bayes::pg {
namespace {

bool is_whole_type(Oid base) { return base == INT2OID || base == INT4OID || base == INT8OID; }

/// The largest number of a type of whole numbers.
double limit_of(Oid base) {
  return base == INT2OID ? 32767 : base == INT4OID ? 2147483647 : 9223372036854774784.0;
}

}  // namespace

FilledRows::FilledRows(Oid type, const RowReader &reader, const RowDistribution &rows, Datum row)
    : type_(type),
      reader_(reader),
      rows_(rows),
      row_(row) {
  if (!reader.records() && is_array_type(type))
    length_ = guarded([row] {
      const ArrayType *const array = DatumGetArrayTypeP(row);
      return ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
    });
}

bool FilledRows::has_place(int element) const {
  return reader_.records() ? reader_.attribute_of(std::size_t(element)) >= 0 : element < length_;
}

Datum FilledRows::row(std::span<const int> elements, std::span<const double> values) const {
  const Datum out = reader_.records() ? record(elements, values) : array(elements, values);
  // PostgreSQL takes a value that a function returns as one of its type: nobody else checks it.
  guarded([this, out] {
    if (get_typtype(type_) == TYPTYPE_DOMAIN)
      domain_check(out, false, type_, nullptr, CurrentMemoryContext);
  });
  return out;
}

Datum FilledRows::record(std::span<const int> elements, std::span<const double> values) const {
  const TupleDesc description = reader_.description();
  const std::size_t size = std::size_t(description->natts);
  std::vector<Datum> fields(size);
  const auto nulls = std::make_unique<bool[]>(size);
  guarded([this, description, fields = fields.data(), nulls = nulls.get()] {
    const HeapTupleHeader header = DatumGetHeapTupleHeader(row_);
    HeapTupleData tuple = {};
    tuple.t_len = HeapTupleHeaderGetDatumLength(header);
    tuple.t_data = header;
    heap_deform_tuple(&tuple, description, fields, nulls);
  });
  for (const int element : elements) {
    const int at = reader_.attribute_of(std::size_t(element));
    const Form_pg_attribute attribute = TupleDescAttr(description, at);
    fields[std::size_t(at)] =
        value_of(element, values[std::size_t(element)], attribute->atttypid, attribute->atttypmod);
    nulls[std::size_t(at)] = false;
  }
  return guarded([description, fields = fields.data(), nulls = nulls.get()] {
    return HeapTupleGetDatum(heap_form_tuple(description, fields, nulls));
  });
}

Datum FilledRows::array(std::span<const int> elements, std::span<const double> values) const {
  struct Parts {
    Oid type;
    std::int16_t length;
    bool by_value;
    char align;
    ArrayType *array;
    Datum *fields;
    bool *nulls;
    int size;
  };
  const Parts parts = guarded([this] {
    Parts out = {};
    out.array = DatumGetArrayTypeP(row_);
    out.type = ARR_ELEMTYPE(out.array);
    get_typlenbyvalalign(out.type, &out.length, &out.by_value, &out.align);
    deconstruct_array(out.array, out.type, out.length, out.by_value, out.align, &out.fields,
                      &out.nulls, &out.size);
    return out;
  });
  for (const int element : elements) {
    parts.fields[element] = value_of(element, values[std::size_t(element)], parts.type, -1);
    parts.nulls[element] = false;
  }
  return guarded([&parts] {
    return PointerGetDatum(construct_md_array(
        parts.fields, parts.nulls, ARR_NDIM(parts.array), ARR_DIMS(parts.array),
        ARR_LBOUND(parts.array), parts.type, parts.length, parts.by_value, parts.align));
  });
}

Datum FilledRows::value_of(int element, double x, Oid type, std::int32_t modifier) const {
  if (type == FLOAT8OID) return guarded([x] { return Float8GetDatum(x); });
  const Oid base = guarded([type] { return getBaseType(type); });
  if (is_whole_type(base)) {
    x = std::rint(x);
    if (!(std::abs(x) <= limit_of(base)))
      throw Error(
          Errc::numeric, message("{} is out of the range of type {}", x, name_of_type(type)),
          message("It is a value of {}.",
                  rows_.columns().empty()
                      ? message("element {}", element + 1)
                      : message("column {}",
                                describe(Document(rows_.columns()[std::size_t(element)].name)))));
  }
  // In the order of how often they occur; others by the text of the value, which also checks
  // domains and rounds to the scale of a numeric.
  const std::int64_t whole = is_whole_type(base) || base == BOOLOID ? std::int64_t(x) : 0;
  switch (type) {
    case INT2OID: return Int16GetDatum(std::int16_t(whole));
    case INT4OID: return Int32GetDatum(std::int32_t(whole));
    case INT8OID: return guarded([whole] { return Int64GetDatum(whole); });
    case BOOLOID: return BoolGetDatum(x >= 0.5);
    default: break;
  }
  const bool label = !is_number_type(base) && base != BOOLOID;
  const std::string text = label                 ? rows_.label(element, x)
                           : is_whole_type(base) ? message("{}", whole)
                           : base == BOOLOID     ? std::string(x >= 0.5 ? "true" : "false")
                                                 : message("{}", x);
  return guarded([type, modifier, data = text.c_str(), size = text.size()] {
    Oid input, parameter;
    getTypeInputInfo(type, &input, &parameter);
    char *const own = pstrdup(server_of_utf8(data, size));
    return OidInputFunctionCall(input, own, parameter, modifier);
  });
}

}  // namespace bayes::pg
