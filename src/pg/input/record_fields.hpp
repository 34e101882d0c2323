// The fields of records, one after another.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pg/server/boundary.hpp"

namespace bayes::pg {

/// Reads records whose row types are mostly the same.
class RecordFields {
 public:
  /// PostgreSQL's allocations go below `context`, which must outlive this.
  explicit RecordFields(MemoryContext context) : context_(context) {}
  RecordFields(const RecordFields &) = delete;
  RecordFields &operator=(const RecordFields &) = delete;

  /// Reads a record that is not NULL, whose fields are valid until close(). True if its row type is
  /// not that of the record before.
  bool open(Datum record);
  /// Gives back what a record that was stored elsewhere or compressed takes in memory: a window
  /// function reads a whole partition in one memory context.
  void close() {
    if (copy_) pfree(std::exchange(copy_, nullptr));
  }

  TupleDesc description() const { return description_; }
  const Datum *values() const { return values_.data(); }
  const bool *nulls() const { return nulls_.get(); }

 private:
  MemoryContext context_;
  /// a copy of the last record's
  TupleDesc description_ = nullptr;
  /// of that description, by PostgreSQL's cache of types
  std::uint64_t identifier_ = 0;
  /// of the record, if it is not where it was
  void *copy_ = nullptr;
  std::vector<Datum> values_;
  std::unique_ptr<bool[]> nulls_;
};

/// Is a value of this type a record? Domains over row types are.
bool is_record_type(Oid type);

/// "text", "character varying(10)", for messages
std::string name_of_type(Oid type);

}  // namespace bayes::pg
