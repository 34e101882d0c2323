// What is to be said of the columns of records before a fit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/rows.hpp"
#include "document/row_columns.hpp"

namespace bayes::pg {

/// Says what is hardly meant: labels that name the rows, one value in all of them, and zeros and
/// ones as measurements, in those of `normal_unasked` (from 0), which are normal because nothing
/// else was said. Throws Error(invalid_argument) for a column that says nothing at all. `count`: of
/// the rows; those of weight 0 are none. `option` names the likelihoods. Each message comes once in
/// a statement.
void check_columns(RowSource &rows, std::int64_t count, const RowColumns &columns,
                   const std::vector<std::size_t> &normal_unasked, const char *option);

/// Says, once in a statement, that columns of a fit are known by their positions alone.
void note_positions(const RowColumns &columns);

/// Warns of predictors that equal the response, element 0 of the rows, in every row, where both of
/// its values occur: it is then among the predictors. Columns of arrays have no names.
void check_predictors(RowSource &rows, const RowColumns &columns);

/// Fewer rows tell little of a column.
inline bool too_few_to_warn(std::int64_t rows) { return rows < 10; }

/// Warns of predictor `j` (from 0) that equals the response, which is called so, in every row.
void warn_of_response(const RowColumns &columns, std::size_t j, const char *response);

/// What messages call the columns.
std::vector<std::string> quoted_names(const RowColumns &columns);

}  // namespace bayes::pg
