// Access to the fields of records.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pg/server/boundary.hpp"

namespace bayes::pg {

/// Reads records one after another, mostly of the same row type.
class RecordFields {
 public:
  /// PostgreSQL's allocations go below `context`, which must outlive this.
  explicit RecordFields(MemoryContext context) : context_(context) {}
  RecordFields(const RecordFields &) = delete;
  RecordFields &operator=(const RecordFields &) = delete;

  /// Opens a record that is not NULL; its fields are valid until close(). True if its row type
  /// differs from that of the previous record.
  bool open(Datum record);
  /// Frees the copy of a record that was compressed or stored out of line: a window function reads
  /// a whole partition in one memory context.
  void close() {
    if (copy_) pfree(std::exchange(copy_, nullptr));
  }

  /// Makes the next record count as one of another row type, until remember() is called with what
  /// was returned.
  std::uint64_t forget() { return std::exchange(identifier_, 0); }
  void remember(std::uint64_t identifier) { identifier_ = identifier; }

  TupleDesc description() const { return description_; }
  bool null(std::size_t attribute) const { return !places_[attribute]; }
  /// The address of the value; nullptr for NULL.
  const char *place(std::size_t attribute) const { return places_[attribute]; }
  /// The value of an attribute that is not NULL.
  Datum value(std::size_t attribute) const {
    const Attribute &a = layout_[attribute];
    return fetch_att(places_[attribute], a.by_value, a.length);
  }

 private:
  struct Attribute {
    std::int16_t length;
    bool by_value;
    char align;
    /// of the first `fixed_` attributes: offset in a record without NULLs
    std::size_t offset;
  };
  bool known() const;
  bool look_up();
  void lay_out();
  void locate();
  void deform();
  void locate_added();

  MemoryContext context_;
  /// copy of the row description of the last record
  TupleDesc description_ = nullptr;
  /// identifier of that description in PostgreSQL's type cache; 0 if unknown
  std::uint64_t identifier_ = 0;
  /// relation_changes at the last lookup
  std::uint64_t changes_ = 0;
  Oid type_ = InvalidOid;
  std::int32_t modifier_ = -1;
  /// version of the row type of the last record that deform() has checked
  std::uint64_t version_ = 0;
  std::vector<Attribute> layout_;
  /// number of attributes before the first one of variable length, and the offset where they end
  std::size_t fixed_ = 0, fixed_end_ = 0;
  HeapTupleHeader header_ = nullptr;
  /// detoasted copy of the record; nullptr if there is none
  void *copy_ = nullptr;
  /// aligned copy of a record that is so small that it was stored without alignment
  alignas(MAXIMUM_ALIGNOF) char aligned_[VARATT_SHORT_MAX + VARHDRSZ];
  std::vector<const char *> places_;
  // values of the last record that deform() has read
  std::vector<Datum> values_;
  std::unique_ptr<bool[]> nulls_;
};

/// Is this a row type, or a domain over one?
bool is_record_type(Oid type);

/// "text", "character varying(10)", for messages
std::string name_of_type(Oid type);

}  // namespace bayes::pg
