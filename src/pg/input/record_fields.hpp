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
  /// not that of the record before. `settled`: no type can have been altered since that one, as
  /// both are elements of one array.
  bool open(Datum record, bool settled = false);
  /// Gives back what a record that was stored elsewhere or compressed takes in memory: a window
  /// function reads a whole partition in one memory context.
  void close() {
    if (copy_) pfree(std::exchange(copy_, nullptr));
  }

  TupleDesc description() const { return description_; }
  /// of all attributes
  const Datum *values() {
    if (plain_) deform();
    return values_.data();
  }
  const bool *nulls() {
    if (plain_) deform();
    return nulls_.get();
  }
  /// The bytes of the fields, if each lies where fixed_offsets() says and none is NULL, else
  /// nullptr: then nothing has to be looked for.
  const char *plain() const { return plain_; }

 private:
  bool known(bool settled) const;
  void deform();

  MemoryContext context_;
  /// a copy of the last record's
  TupleDesc description_ = nullptr;
  /// of that description, by PostgreSQL's cache of types
  std::uint64_t identifier_ = 0;
  Oid type_ = InvalidOid;
  std::int32_t modifier_ = -1;
  /// Do all attributes lie at fixed offsets?
  bool fixed_ = false;
  HeapTupleHeader header_ = nullptr;
  const char *plain_ = nullptr;
  /// of the record, if it is not where it was
  void *copy_ = nullptr;
  std::vector<Datum> values_;
  std::unique_ptr<bool[]> nulls_;
};

/// Where each attribute begins among the bytes of a record that has no NULLs; -1 behind one of
/// variable length.
std::vector<int> fixed_offsets(TupleDesc description);

/// Is a value of this type a record? Domains over row types are.
bool is_record_type(Oid type);

/// "text", "character varying(10)", for messages
std::string name_of_type(Oid type);

}  // namespace bayes::pg
