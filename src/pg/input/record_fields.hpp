// Access to the fields of records.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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

// NOTICEs about names in rows that a model does not know (a misspelt label, a column with another
// name), which would otherwise count as missing in silence.

/// The known name (UTF-8) with the smallest edit distance; nullopt if there is none, or none within
/// `farthest`. The first of equally near ones. Names are compared to a length of 255 bytes.
std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> known,
                                        int farthest);

/// NOTICE, once in a statement for each place, that a row has a label that the model does not know,
/// with the nearest one that it does. `place`: "column \"a\"".
void report_unknown_label(const std::string &place, std::string_view label,
                          const std::function<std::vector<std::string>()> &known);

/// NOTICE, once in a statement, that rows lack a column of the model, if one of their `others`,
/// which the model does not know, is called nearly so.
void report_misspelt_column(const std::string &column, std::span<const std::string> others);

}  // namespace bayes::pg
