// Detoasted varlena values: decompressed, and fetched if they are stored out of line.
#pragma once

#include "pg/server/boundary.hpp"

namespace bayes::pg {

/// A detoasted value, freed on destruction if it is a copy.
class Detoasted {
 public:
  explicit Detoasted(Datum value) : original_(DatumGetPointer(value)) {
    plain_ = guarded([value] { return PG_DETOAST_DATUM(value); });
  }
  ~Detoasted() {
    if (reinterpret_cast<Pointer>(plain_) != original_) pfree(plain_);
  }
  Detoasted(const Detoasted &) = delete;
  Detoasted &operator=(const Detoasted &) = delete;
  struct varlena *get() const {
    return plain_;
  }

 private:
  Pointer original_;
  struct varlena *plain_;
};

}  // namespace bayes::pg
