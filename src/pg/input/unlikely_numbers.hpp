// Detects columns of numbers that are probably not measurements.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "data/remote_rows.hpp"
#include "document/row_columns.hpp"

namespace bayes::pg {

/// Tells in a NOTICE that a query's first column names `what`, such as "rows", and is not part of
/// them, unless the column's name says so: it might be a measurement. `advice`: the HINT.
void report_name_taken(const std::string &column, const char *what, const char *advice);

/// What the NOTICEs below need to know of rows; adds up over parts of them.
struct NumberFacts {
  struct Column {
    /// all are whole numbers; if so: they all differ; the least and the greatest one
    bool whole = false, different = false;
    double low = 0, high = 0;
    /// the different ones, increasing, as far as a few of them
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
  /// Called with as many columns as there are.
  template <class F> void fields(F &f) {
    f.integer("rows", rows, 0, most_rows_of_part);
    f.integer("examined", examined, 0, rows);
    f.number("squares", squares);
    f.objects("columns", columns, columns.size());
  }
};
/// Of the first rows, which are a sample once they are in order; `asked`: the columns that are
/// looked at, from 0.
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
