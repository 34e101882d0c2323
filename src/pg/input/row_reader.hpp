// Rows as numbers: from arrays, from records with named columns of several types, or from single
// values.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "document/model.hpp"
#include "pg/input/column_labels.hpp"
#include "pg/input/record_fields.hpp"
#include "pg/values/array_elements.hpp"
#include "pg/values/convert.hpp"

namespace bayes::pg {

/// The function that makes an array of real of a type, as pgvector has for its own; InvalidOid if
/// there is none.
Oid cast_to_array(Oid base);

/// What a label is that a model does not know.
enum class UnknownLabels : char {
  /// a missing value, or an error if values must not be missing
  missing,
  /// one more label
  added
};

/// Reads the rows of one SQL type. What the columns of records are is known from a model (expect)
/// or from the first record.
class RowReader {
 public:
  /// `type`: of the rows, InvalidOid for arrays; throws Error for one that rows cannot have.
  /// PostgreSQL's allocations go below `context`, which must outlive this.
  RowReader(MemoryContext context, Oid type);

  /// Rows have the columns of this model, and must be as long.
  void expect(const ModelInfo &info, UnknownLabels unknown = UnknownLabels::missing);
  /// Messages call a record so, by its number, instead of "row 2".
  void name_rows(std::function<std::string(std::int64_t number)> name) {
    name_row_ = std::move(name);
  }
  /// Rows are records of this description, from its attribute `first` (from 0) on.
  void describe(TupleDesc description, int first = 0);

  /// Opens the next row, if rows are records: then columns() are known.
  void open(Datum row);
  /// The numbers of the row (that was opened), each checked; valid until the next row is read.
  /// nullopt if one is missing or infinite and `missing` is skip. `number`: of the row, from 1, for
  /// messages; 0 for the only one of a scalar function.
  std::optional<std::span<const double>> read(Datum row, std::int64_t number, Missing missing);
  /// The same from the attributes of a described record.
  std::optional<std::span<const double>> read_fields(const Datum *values, const bool *nulls,
                                                     std::int64_t number, Missing missing);

  /// Are rows records?
  bool records() const { return form_ == Form::record; }
  /// of records, as far as they are known; labels in the order of their codes
  RowColumns columns() const;
  bool described() const { return !columns_.empty(); }

  /// Gives labels codes in the order of their bytes. The new codes of every column by the old ones,
  /// empty for a column whose codes stay; nothing if all do.
  std::vector<std::vector<double>> sort_labels();
  /// How rows that another process has read become rows as they are read here.
  struct Merged {
    /// of each column, where it is there
    std::vector<std::size_t> places;
    /// of each column, the codes of labels here by their codes there; empty without labels
    std::vector<std::vector<double>> codes;
  };
  /// Takes the columns of such rows, with their labels. Throws as for a record of other columns.
  Merged merge(const RowColumns &columns);

 private:
  enum class Form : char {
    array,
    record,
    value,
    /// a literal without a type: the text of an array
    literal,
    /// a type that a function makes an array of, as pgvector's
    cast
  };
  /// Where a column is in a record.
  struct Field {
    std::size_t index = 0;
    Oid base = InvalidOid;
    /// of labels
    std::unique_ptr<ElementType> type;
  };
  void define(TupleDesc description, int first);
  void match(TupleDesc description, int first);
  std::vector<std::size_t> find_columns(const RowColumns &given) const;
  [[noreturn]] void refuse_positions(bool given) const;
  void place(std::size_t column, TupleDesc description, int index);
  void add_column(RowColumn column, const std::vector<std::string> &labels, bool closed);
  std::optional<std::span<const double>> read_array(Datum array, std::int64_t number,
                                                    Missing missing);
  template <class Source>
  std::optional<std::span<const double>> read_from(const Source &source, std::int64_t number,
                                                   Missing missing);
  template <class IsNull>
  std::optional<std::span<const double>> checked(IsNull is_null, std::int64_t number,
                                                 Missing missing);
  std::string place_of(std::size_t column, std::int64_t number) const;
  [[noreturn]] void refuse(std::size_t column, bool null, std::int64_t number) const;

  void find_cast(Oid type);
  Datum array_of(Datum row);

  MemoryContext context_;
  Form form_;
  Oid base_ = InvalidOid;
  FmgrInfo make_array_ = {};
  ArrayReader array_;
  RecordFields record_;
  /// with no labels in it: those are in labels_
  RowColumns columns_;
  /// one for each column; null unless it has labels
  std::vector<std::unique_ptr<ColumnLabels>> labels_;
  std::vector<Field> fields_;
  /// the columns that have labels
  std::vector<std::size_t> of_labels_;
  /// columns are those of a model
  bool from_model_ = false;
  /// codes in arrays must be those of labels
  bool only_labels_ = false;
  std::function<std::string(std::int64_t number)> name_row_;
  std::vector<double> x_;
};

}  // namespace bayes::pg
