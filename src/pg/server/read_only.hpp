// Code of users that must not write.
#pragma once

#include "pg/server/postgres.hpp"

namespace bayes::pg {

/// While this lives the transaction is read-only: functions that a statement calls can change
/// nothing but temporary tables.
class ReadOnly {
 public:
  ReadOnly() { XactReadOnly = true; }
  ~ReadOnly() { XactReadOnly = before_; }
  ReadOnly(const ReadOnly &) = delete;
  ReadOnly &operator=(const ReadOnly &) = delete;

 private:
  const bool before_ = XactReadOnly;
};

}  // namespace bayes::pg
