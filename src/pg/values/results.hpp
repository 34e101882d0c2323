// Result rows: conversion of our values to PostgreSQL's.
#pragma once

#include <deque>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "document/document.hpp"
#include "pg/server/boundary.hpp"

namespace bayes::pg {

/// A view of one value in a result row.
class Cell {
 public:
  /// NULL
  Cell() = default;
  Cell(int value) : kind_(Kind::integer) { scalar_.integer = value; }
  Cell(std::int64_t value) : kind_(Kind::bigint) { scalar_.bigint = value; }
  Cell(double value) : kind_(Kind::number) { scalar_.number = value; }
  Cell(bool value) : kind_(Kind::boolean) { scalar_.boolean = value; }
  /// NULL for a NaN.
  static Cell or_null(double value) { return value != value ? Cell() : Cell(value); }
  /// UTF-8
  static Cell text(std::string_view value) { return {Kind::text, value.data(), value.size()}; }
  static Cell model(std::string_view bytes) { return {Kind::model, bytes.data(), bytes.size()}; }
  static Cell vector(std::span<const double> values) {
    return {Kind::vector, values.data(), values.size()};
  }
  /// The same with NULL for every NaN.
  static Cell vector_with_nulls(std::span<const double> values) {
    return {Kind::vector_with_nulls, values.data(), values.size()};
  }
  static Cell matrix(std::span<const double> values, std::size_t columns) {
    return {Kind::matrix, values.data(), values.size(), columns};
  }
  /// An existing Datum of a built-in type.
  static Cell datum(Datum value, Oid type) {
    Cell cell;
    cell.kind_ = Kind::datum;
    cell.scalar_.datum = value;
    cell.type_ = type;
    return cell;
  }

  bool is_null() const { return kind_ == Kind::null; }
  /// Copies a text into `storage`, for a cell that outlives the text. Models and arrays are not
  /// copied.
  void keep(std::deque<std::string> &storage) {
    if (kind_ == Kind::text)
      data_ = storage.emplace_back(static_cast<const char *>(data_), size_).data();
  }
  /// May a column of this type hold the value? A NULL fits anywhere. Raises, so call it under
  /// guarded().
  bool fits(Oid column_type) const;
  /// in CurrentMemoryContext; raises, so call it under guarded()
  Datum to_datum() const;

 private:
  enum class Kind : char {
    null,
    integer,
    bigint,
    number,
    boolean,
    text,
    model,
    vector,
    vector_with_nulls,
    matrix,
    datum
  };
  Cell(Kind kind, const void *data, std::size_t size, std::size_t columns = 0)
      : kind_(kind),
        data_(data),
        size_(size),
        columns_(columns) {}
  Kind kind_ = Kind::null;
  /// type of a datum
  Oid type_ = InvalidOid;
  union {
    std::int32_t integer;
    std::int64_t bigint;
    double number;
    bool boolean;
    Datum datum;
  } scalar_ = {};
  const void *data_ = nullptr;
  std::size_t size_ = 0, columns_ = 0;
};

using Cells = std::span<const Cell>;

/// A float8[] in CurrentMemoryContext, with elements not yet set. Raises.
ArrayType *new_float8_array(int dimensions, const int *sizes, double **elements);

/// The description of the rows that a function returns.
TupleDesc result_row(FunctionCallInfo fcinfo);

/// One row as a composite value.
Datum composite(TupleDesc description, Cells cells);

/// The result of a set-returning function, rows or single values, all at once, in a tuplestore
/// (which spills to disk by itself).
class ResultRows {
 public:
  explicit ResultRows(FunctionCallInfo fcinfo);
  /// Whole rows of this description, which SQL may not know: the result is a record.
  ResultRows(FunctionCallInfo fcinfo, TupleDesc description);
  /// A composite value of that description, or a single value of the declared type.
  void value(Datum value);
  void row(std::initializer_list<Cell> cells) { row(Cells(cells.begin(), cells.size())); }
  void row(Cells cells);

 private:
  /// Raises.
  void begin(FunctionCallInfo fcinfo, TupleDesc description);
  Tuplestorestate *store_;
  TupleDesc description_;
  MemoryContext scratch_;
  bool composite_ = false;
};

/// An array of composite values, the result of an aggregate declared to return one.
class CompositeArray {
 public:
  explicit CompositeArray(FunctionCallInfo fcinfo);
  void add(Cells cells);
  bool empty() const { return !state_; }
  /// the array, in the memory context that was current at construction
  Datum finish();

 private:
  MemoryContext context_;
  Oid type_;
  TupleDesc description_;
  ArrayBuildState *state_ = nullptr;
};

}  // namespace bayes::pg
