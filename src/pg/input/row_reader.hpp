// Rows as numbers: from arrays, from records with named columns of several types, or from single
// values.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "document/model.hpp"
#include "pg/input/record_fields.hpp"
#include "pg/input/term_dictionary.hpp"
#include "pg/values/array_elements.hpp"
#include "pg/values/convert.hpp"
#include "pg/values/vectors.hpp"

namespace bayes::pg {

// The labels of columns of records, and the codes that stand for them in rows of numbers.

/// The labels of one column, and their codes.
class ColumnLabels final : public SymbolCodes {
 public:
  /// `column`: its name, for messages; `known`: labels with the codes 0, 1, ...; `closed`: no other
  /// labels get a code
  ColumnLabels(std::string column, const std::vector<std::string> &known, bool closed);

  /// The code of a label. A new label gets the next code or, if the labels are closed,
  /// unseen_category (a NaN).
  double code(std::string_view label) override;
  /// the last label asked for that has no code
  const std::string &unknown() const { return unknown_; }
  std::int32_t size() const { return labels_.size(); }
  /// all labels in the order of their codes
  std::vector<std::string> all() const;

 private:
  TermDictionary labels_;
  bool closed_;
  std::string unknown_;
};

/// Throws Error unless `code` is a whole number from 0 to labels - 1, or NaN. `where`: the place
/// for messages, as "row 2".
void require_label(double code, std::int64_t labels, const std::string &column,
                   const std::string &where);

/// Throws Error for a type whose values are no labels: an array or a record.
void require_label_type(Oid type);

/// Have two columns the same name?
bool names_repeat(const RowColumns &columns);

/// Treatment of a label that a model does not know.
enum class UnknownLabels : char {
  /// a missing value, or an error if values must not be missing
  missing,
  /// a new label
  added
};

/// Reads the rows of one SQL type. A model (expect) or the first record determines the columns of
/// records.
class RowReader {
 public:
  /// `type`: of the rows, InvalidOid for arrays; throws Error for one that rows cannot have.
  /// PostgreSQL's allocations go below `context`, which must outlive this. `one_label`: the rows of
  /// the model have a single element, a label; then single values of any type are rows, by their
  /// text.
  RowReader(MemoryContext context, Oid type, bool one_label = false);

  /// Rows must have the columns of this model.
  void expect(const ModelInfo &info, UnknownLabels unknown = UnknownLabels::missing);
  /// From now on records may lack columns, whose values then count as NULL, though not all; if
  /// columns are matched by position, only the last `trailing` of them.
  void allow_absent(std::size_t trailing) {
    absent_allowed_ = true;
    trailing_ = trailing;
  }
  /// From now on a NOTICE tells of a label that the model does not know.
  void report_unknown() { reports_unknown_ = true; }
  /// Sets what messages call a record, by its number, instead of "row 2".
  void name_rows(std::function<std::string(std::int64_t number)> name) {
    name_row_ = std::move(name);
  }
  /// Rows are records of this description; columns begin at its attribute `first` (from 0).
  void describe(TupleDesc description, int first = 0);

  /// Opens the next row, if rows are records: then columns() are known.
  void open(Datum row);
  /// The numbers of the row (that was opened), each checked; valid until the next row is read.
  /// nullopt if the row is to be skipped because of `missing`. `number`: of the row, from 1, for
  /// messages; 0 for the only row of a scalar function.
  std::optional<std::span<const double>> read(Datum row, std::int64_t number, Missing missing);
  /// The same from the attributes of a described record.
  std::optional<std::span<const double>> read_fields(const Datum *values, const bool *nulls,
                                                     std::int64_t number, Missing missing);

  /// Are rows records?
  bool records() const { return form_ == Form::record; }
  /// Are they labels?
  bool labels() const { return form_ == Form::label; }
  /// The description of the last record, and the attribute of a column in it; -1: the record lacks
  /// it.
  TupleDesc description() const { return record_.description(); }
  int attribute_of(std::size_t column) const {
    const std::size_t index = fields_[column].index;
    return index == absent ? -1 : int(index);
  }
  /// the columns of records, empty while unknown; labels in the order of their codes
  RowColumns columns() const;
  bool described() const { return !columns_.empty(); }

  /// Which of two labels comes first.
  using Before = bool (*)(std::string_view, std::string_view);
  static bool by_bytes(std::string_view a, std::string_view b) { return a < b; }
  /// Gives labels codes in this order. Returns for every column the new code of every old one,
  /// empty if its codes stay the same; nothing if all codes do.
  std::vector<std::vector<double>> sort_labels(Before before = by_bytes);
  /// the last label of a column that has no code
  const std::string &unknown_label(std::size_t column) const { return labels_[column]->unknown(); }
  /// How rows that another process has read are converted to rows of this reader.
  struct Merged {
    /// for each column, its index in the rows of the other process
    std::vector<std::size_t> places;
    /// for each column, the code here of every label code there; empty for columns without labels
    std::vector<std::vector<double>> codes;
  };
  /// Takes over the columns of such rows, with their labels. Throws Error as for a record with
  /// other columns.
  Merged merge(const RowColumns &columns);

 private:
  enum class Form : char {
    array,
    record,
    value,
    /// a value that is a label
    label,
    /// a type that is cast to an array, such as pgvector's, or a literal without a type
    cast
  };
  /// the index of a column that records lack
  static constexpr std::size_t absent = std::size_t(-1);
  /// The place of a column in a record.
  struct Field {
    std::size_t index = 0;
    Oid base = InvalidOid;
    /// element type of labels; null for numbers
    std::unique_ptr<ElementType> type;
  };
  void define(TupleDesc description, int first);
  void match(TupleDesc description, int first);
  std::vector<std::size_t> find_columns(const RowColumns &given) const;
  [[noreturn]] void refuse_positions(bool given) const;
  void report_misspelt(const RowColumns &given) const;
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
  void report_unknown_label_of(std::size_t column, Datum value);
  [[noreturn]] void refuse(std::size_t column, bool null, std::int64_t number) const;

  void find_cast(Oid type);

  MemoryContext context_;
  Form form_;
  Oid base_ = InvalidOid;
  ArrayCast make_array_;
  ArrayReader array_;
  RecordFields record_;
  /// without their labels, which are in labels_
  RowColumns columns_;
  /// one for each column; null unless it has labels
  std::vector<std::unique_ptr<ColumnLabels>> labels_;
  std::vector<Field> fields_;
  /// indices of the columns that have labels
  std::vector<std::size_t> label_columns_;
  /// columns are those of a model
  bool from_model_ = false;
  /// label codes in rows that are arrays must be codes of known labels
  bool only_labels_ = false;
  bool absent_allowed_ = false;
  std::size_t trailing_ = 0;
  bool reports_unknown_ = false;
  std::function<std::string(std::int64_t number)> name_row_;
  std::vector<double> x_;
};

}  // namespace bayes::pg
