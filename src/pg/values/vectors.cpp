#include "pg/values/vectors.hpp"

#include "pg/values/convert.hpp"

namespace bayes::pg {
namespace {

/// The function by which a type is cast to real[] in this context; InvalidOid if there is none.
/// Raises.
Oid function_of_cast(Oid base, CoercionContext context) {
  Oid function = InvalidOid;
  const CoercionPathType path = find_coercion_pathway(FLOAT4ARRAYOID, base, context, &function);
  return path == COERCION_PATH_FUNC ? function : InvalidOid;
}

/// Is this a type of pgvector with that name? Only a superuser makes base types, so nobody else can
/// have made a type that passes for one of pgvector's, though owners of extensions may add to them.
/// Raises.
bool is_of_pgvector(Oid base, const char *wanted) {
  const HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(base));
  if (!HeapTupleIsValid(tuple)) return false;
  const auto *const type = reinterpret_cast<Form_pg_type>(GETSTRUCT(tuple));
  const bool named = std::strcmp(NameStr(type->typname), wanted) == 0 &&
                     type->typtype == TYPTYPE_BASE && type->typlen == -1;
  ReleaseSysCache(tuple);
  const Oid extension = named ? getExtensionOfObject(TypeRelationId, base) : InvalidOid;
  const char *const name = OidIsValid(extension) ? get_extension_name(extension) : nullptr;
  return name && std::strcmp(name, "vector") == 0;
}

}  // namespace

bool has_array_cast(Oid base) {
  return guarded([base] { return OidIsValid(function_of_cast(base, COERCION_EXPLICIT)); });
}

Oid cast_to_array(Oid base) {
  return guarded([base] {
    const Oid implicit = function_of_cast(base, COERCION_IMPLICIT);
    if (OidIsValid(implicit)) return implicit;
    return is_of_pgvector(base, "halfvec") ? function_of_cast(base, COERCION_ASSIGNMENT)
                                           : InvalidOid;
  });
}

bool ArrayCast::open(MemoryContext context, Oid base) {
  literal_ = base == UNKNOWNOID;
  if (literal_) return true;
  const Oid function = cast_to_array(base);
  if (!OidIsValid(function)) return false;
  guarded([this, function, context] {
    require_execute(function);
    fmgr_info_cxt(function, &function_, context);
  });
  return true;
}

Datum ArrayCast::array_of(Datum value) {
  if (literal_) return OidInputFunctionCall(F_ARRAY_IN, DatumGetCString(value), FLOAT8OID, -1);
  // a cast may also take the type modifier and isExplicit
  return function_.fn_nargs == 1
             ? FunctionCall1(&function_, value)
             : FunctionCall3(&function_, value, Int32GetDatum(-1), BoolGetDatum(false));
}

bool is_sparse_vector(Oid base) {
  return guarded([base] { return is_of_pgvector(base, "sparsevec"); });
}

bool is_row_of_numbers(Oid type) {
  const Oid base = guarded([type] { return getBaseType(type); });
  const Oid element = guarded([base] {
    const Oid of = get_element_type(base);
    return OidIsValid(of) ? getBaseType(of) : InvalidOid;
  });
  if (OidIsValid(element)) return is_number_type(element);
  return !is_number_type(base) && (OidIsValid(cast_to_array(base)) || is_sparse_vector(base));
}

SparseVector::SparseVector(Datum value) : plain_(value) {
  // dimension, number of entries, an unused 0, then all indices, then all numbers
  constexpr std::size_t head = 3 * sizeof(std::int32_t);
  const auto *const at = reinterpret_cast<const std::int32_t *>(VARDATA(plain_.get()));
  const std::size_t size = VARSIZE(plain_.get()) - VARHDRSZ;
  const std::size_t entry = sizeof(std::int32_t) + sizeof(float);
  bool known = size >= head && at[0] >= 1 && at[1] >= 0 && at[1] <= at[0] && at[2] == 0 &&
               size - head == std::size_t(at[1]) * entry;
  if (known) {
    dimension_ = at[0];
    const std::size_t count = std::size_t(at[1]);
    indices_ = {at + 3, count};
    numbers_ = {reinterpret_cast<const float *>(at + 3 + count), count};
    for (std::size_t i = 0; i < count; ++i)
      known &= indices_[i] > (i > 0 ? indices_[i - 1] : -1) && indices_[i] < dimension_;
  }
  if (!known)
    throw SqlError(ERRCODE_DATA_CORRUPTED, "a value of type sparsevec has an unknown layout",
                   "It is not that of pgvector 0.7 and later.");
}

void SparseVector::expand(std::vector<double> &out) const {
  out.assign(std::size_t(dimension_), 0);
  for (std::size_t i = 0; i < indices_.size(); ++i) out[std::size_t(indices_[i])] = numbers_[i];
}

}  // namespace bayes::pg
