// Values that are rows of numbers though their types are no arrays, such as those of pgvector:
// vector and halfvec, which have casts to real[], and sparsevec.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pg/server/boundary.hpp"
#include "pg/server/context.hpp"

namespace bayes::pg {

/// Has a type a cast to real[], be it one that must be written?
bool has_array_cast(Oid base);

/// The function of a type's cast to real[] that may run unasked, that of an implicit cast, as
/// pgvector's vector has, or of pgvector's halfvec, whose cast is one of assignments; InvalidOid if
/// there is none. Another function is code of the type's owner, which must not run with the rights
/// of a caller who has only asked for a score.
Oid cast_to_array(Oid base);

/// Makes arrays of the values of a type that has such a cast, or of literals without a type.
class ArrayCast {
 public:
  /// Returns false if the type, a base type, has no such cast. `context` must outlive this.
  bool open(MemoryContext context, Oid base);
  bool opened() const { return literal_ || OidIsValid(function_.fn_oid); }
  /// In CurrentMemoryContext. Raises.
  Datum array_of(Datum value);

 private:
  bool literal_ = false;
  FmgrInfo function_ = {};
};

/// Is this pgvector's sparsevec?
bool is_sparse_vector(Oid base);

/// Are values of this type, or domain, rows of numbers: arrays, or of a type of pgvector?
bool is_row_of_numbers(Oid type);

/// A value of sparsevec, whose numbers are 0 but for some.
class SparseVector {
 public:
  /// Throws Error for bytes that are not laid out as pgvector 0.7 and later do it.
  explicit SparseVector(Datum value);
  std::int32_t dimension() const { return dimension_; }
  /// indices from 0, ascending, and their numbers, which are not 0
  std::span<const std::int32_t> indices() const { return indices_; }
  std::span<const float> numbers() const { return numbers_; }
  /// All numbers, with the zeros.
  void expand(std::vector<double> &out) const;

 private:
  Detoasted plain_;
  std::int32_t dimension_ = 0;
  std::span<const std::int32_t> indices_;
  std::span<const float> numbers_;
};

}  // namespace bayes::pg
