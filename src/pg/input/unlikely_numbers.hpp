// Detects columns of numbers that are probably not measurements.
#pragma once

#include <vector>

#include "data/rows.hpp"
#include "document/row_columns.hpp"

namespace bayes::pg {

/// NOTICEs, each once in a statement, for columns among `numbers` (from 0) that look like an
/// identifier of the row (called id or ..._id, or with a different whole number of a small range in
/// every row) or like a frequency (called count, weight, ...), or have three to ten different
/// values, all whole numbers. The fit treats them as any other number. `weights`: the HINT for a
/// frequency.
void report_unlikely_numbers(RowSource &rows, const RowColumns &columns,
                             const std::vector<std::size_t> &numbers, const char *weights);

/// The first of these NOTICEs for the predictors of a regression or classifier, where a weight or a
/// count may well be a measurement.
void report_names_of_rows(const RowColumns &columns);

}  // namespace bayes::pg
