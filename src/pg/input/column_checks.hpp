// Checks of the columns of records before a fit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "data/rows.hpp"
#include "document/row_columns.hpp"

namespace bayes::pg {

/// What the checks of columns need to know of rows; adds up over parts of them.
struct ColumnFacts {
  // Indices of columns, from 0, in ascending order: those without any value, those with one value
  // at most, and those of the columns asked for that have no values but 0 and 1.
  std::vector<std::size_t> unseen = {}, constant = {}, whole = {};
  /// of every column, some value; NaN if there is none
  std::vector<double> value = {};

  /// Called with values of every column, of which the reading side knows how many there are.
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
/// The same from facts; there are rows.
void check_columns(const ColumnFacts &facts, std::int64_t count, const RowColumns &columns,
                   const char *option);

/// NOTICE, once in a statement, that the rows do not determine the scale of a column, whose quoted
/// name this is.
void note_scale(const std::string &name);

/// NOTICE, once in a statement, if the columns of a fit have no names and are matched by position.
void note_positions(const RowColumns &columns);

/// What the check of predictors needs to know of rows; adds up over parts of them.
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

}  // namespace bayes::pg
