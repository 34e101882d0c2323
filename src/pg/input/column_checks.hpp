// Checks of the columns of records before a fit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "data/remote_rows.hpp"
#include "data/rows.hpp"
#include "document/row_columns.hpp"

namespace bayes::pg {

/// Facts about rows for the checks of columns; adds up over parts of them.
struct ColumnFacts {
  // Indices of columns, from 0, in ascending order: columns without any value, columns with at most
  // one value, and columns among those asked for that have no values but 0 and 1.
  std::vector<std::size_t> unseen = {}, constant = {}, whole = {};
  /// of every column, some value; NaN if there is none
  std::vector<double> value = {};

  /// The reading side sets the size of `value`, the number of columns, before the call.
  template <class F> void fields(F &f) {
    f.indices("unseen", unseen, value.size());
    f.indices("constant", constant, value.size());
    f.indices("whole", whole, value.size());
    f.values("value", value);
  }
  void add(const ColumnFacts &other);
};
/// `asked`: indices of columns that may be `whole`, in ascending order.
ColumnFacts column_facts(RowSource &rows, std::size_t columns, std::vector<std::size_t> asked);

/// Reports columns that are probably a mistake: labels that differ in every row, a constant column,
/// and columns that contain only 0 and 1 but are normal by default (`normal_by_default`: indices,
/// from 0, of the columns whose likelihood defaulted to normal). Throws Error(invalid_argument) for
/// a column that is NULL in every row. `count`: the number of rows, without those of weight 0.
/// `option`: the name of the option for likelihoods. Each message is reported once in a statement.
void check_columns(RowSource &rows, std::int64_t count, const RowColumns &columns,
                   const std::vector<std::size_t> &normal_by_default, const char *option);
/// The same from facts about at least one row.
void check_columns(const ColumnFacts &facts, std::int64_t count, const RowColumns &columns,
                   const char *option);

/// NOTICE, once in a statement, that the rows do not determine the scale of a column, whose quoted
/// name this is.
void note_scale(const std::string &name);

/// NOTICE, once in a statement, if the columns of a fit have no names and are matched by position.
void note_positions(const RowColumns &columns);

/// Facts about rows for the check of predictors; adds up over parts of them.
struct ResponseFacts {
  std::size_t predictors = 0;
  /// indices of predictors, from 0, ascending, that equal the response (element 0) in every row
  std::vector<std::size_t> equal = {};
  /// whether the response is 1, or 0, in some row
  bool any_true = false, any_false = false;

  /// Called with the number of predictors.
  template <class F> void fields(F &f) {
    f.indices("equal", equal, predictors);
    f.require(std::is_sorted(equal.begin(), equal.end()));
    f.flag("true", any_true);
    f.flag("false", any_false);
  }
  void add(const ResponseFacts &other);
};
ResponseFacts response_facts(RowSource &rows);

/// WARNING for predictors that equal the response in every row, if both of its values occur:
/// probably the response was included among the predictors. `columns` is empty if predictors are
/// arrays.
void check_predictors(const ResponseFacts &facts, std::int64_t rows, const RowColumns &columns);

/// With so few rows these checks prove nothing.
inline bool too_few_to_warn(std::int64_t rows) { return rows < 10; }

/// WARNING that predictor `j` (from 0) equals the response in every row. `response`: what messages
/// call the response.
void warn_of_response(const RowColumns &columns, std::size_t j, const char *response);

/// The quoted names of the columns, for messages.
std::vector<std::string> quoted_names(const RowColumns &columns);

// Detects columns of numbers that are probably not measurements.

/// Tells in a NOTICE that a query's first column names `what`, such as "rows", and is not part of
/// them, unless the column's name says so: it might be a measurement. `advice`: the HINT.
void report_name_taken(const std::string &column, const char *what, const char *advice);

/// Facts about rows for the NOTICEs below; adds up over parts of them.
struct NumberFacts {
  struct Column {
    /// all are whole numbers; if so: they all differ; the least and the greatest one
    bool whole = false, different = false;
    double low = 0, high = 0;
    /// the different values, increasing; of many only the first few
    std::vector<double> values = {};

    template <class F> void fields(F &f) {
      f.flag("whole", whole);
      f.flag("different", different);
      f.number("low", low);
      f.number("high", high);
      f.numbers("values", values);
      f.require(std::ranges::is_sorted(values));
    }
  };
  std::int64_t rows = 0, examined = 0;
  /// the sum of examined^2 over the parts
  double squares = 0;
  std::vector<Column> columns;

  void add(const NumberFacts &other);
  /// Does it have a different whole number of a small range in every row?
  bool identifies(std::size_t column) const;
  /// Does it have three to ten different values, all whole numbers, each ten times on average?
  bool has_few_values(std::size_t column) const;
  /// The reading side sets the number of columns before the call.
  template <class F> void fields(F &f) {
    f.integer("rows", rows, 0, most_rows_of_part);
    f.integer("examined", examined, 0, rows);
    f.number("squares", squares);
    f.objects("columns", columns, columns.size());
  }
};
/// Facts of the first rows, which are a sample once rows are in order; `asked`: the columns to look
/// at, from 0.
NumberFacts number_facts(RowSource &rows, std::size_t columns,
                         const std::vector<std::size_t> &asked);
/// Facts of these columns.
using FindFacts = std::function<NumberFacts(const std::vector<std::size_t> &asked)>;

/// NOTICEs, each once in a statement, for columns among `numbers` (from 0) that look like an
/// identifier of the row (called id or ..._id, or with a different whole number of a small range in
/// every row) or like a frequency (called count, weight, ...), or have three to ten different
/// values, all whole numbers, that come ten times on average. The fit treats them as any other
/// number. `weights`: the HINT for a frequency.
void report_unlikely_numbers(const RowColumns &columns, const std::vector<std::size_t> &numbers,
                             const char *weights, const FindFacts &find);

/// The first of these NOTICEs for the response of a query, its first column, or for its class.
/// `hint`: what the query should look like.
void report_name_of_response(const char *name, bool is_class, const char *hint);

/// The first of these NOTICEs for the predictors of a regression or classifier, where a weight or a
/// count may well be a measurement.
void report_names_of_rows(const RowColumns &columns);

}  // namespace bayes::pg
