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
  // of any attribute
  bool null(std::size_t attribute) const { return !places_[attribute]; }
  /// Where the value lies; nullptr for NULL.
  const char *place(std::size_t attribute) const { return places_[attribute]; }
  /// of one that is not NULL
  Datum value(std::size_t attribute) const {
    const Attribute &a = layout_[attribute];
    return fetch_att(places_[attribute], a.by_value, a.length);
  }

 private:
  struct Attribute {
    std::int16_t length;
    bool by_value;
    char align;
    /// of the first `fixed_` ones, in a record without NULLs
    std::size_t offset;
  };
  bool known() const;
  bool look_up();
  void lay_out();
  void locate();
  void deform();
  void locate_added();

  MemoryContext context_;
  /// a copy of the last record's
  TupleDesc description_ = nullptr;
  /// of that description, by PostgreSQL's cache of types
  std::uint64_t identifier_ = 0;
  /// of relations, when that was asked for
  std::uint64_t changes_ = 0;
  Oid type_ = InvalidOid;
  std::int32_t modifier_ = -1;
  /// of the row type, which the record has been checked against
  std::uint64_t version_ = 0;
  std::vector<Attribute> layout_;
  /// so many attributes come before the first one of variable length, and end there
  std::size_t fixed_ = 0, fixed_end_ = 0;
  HeapTupleHeader header_ = nullptr;
  /// of the record, if it is not where it was
  void *copy_ = nullptr;
  /// the same of one so small that it was stored without alignment
  alignas(MAXIMUM_ALIGNOF) char aligned_[VARATT_SHORT_MAX + VARHDRSZ];
  std::vector<const char *> places_;
  // of the last record that PostgreSQL has read
  std::vector<Datum> values_;
  std::unique_ptr<bool[]> nulls_;
};

/// Is a value of this type a record? Domains over row types are.
bool is_record_type(Oid type);

/// "text", "character varying(10)", for messages
std::string name_of_type(Oid type);

}  // namespace bayes::pg
