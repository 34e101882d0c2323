// What is asked of the missing elements of a row, given the observed ones.
#pragma once

#include <limits>
#include <optional>

#include "questions/row_distribution.hpp"

namespace bayes {

/// A missing number; NaN where something does not exist.
struct NumberGiven {
  double median, mean, sd, lower, upper;
};

// After RowDistribution::condition(), for an element that the row misses.

/// The interval has the probability `level`: its bounds are quantiles.
BAYES_API NumberGiven number_given(RowDistribution &rows, int element, double level);
/// The p-quantile of a number, 0 < p < 1.
BAYES_API double quantile_given(RowDistribution &rows, int element, double p);
/// The most probable category, or the median of a number.
BAYES_API double value_given(RowDistribution &rows, int element);

/// Is the element missing? An unseen category is not: it is known, though no evidence.
BAYES_API bool asked_for(double x);

}  // namespace bayes
