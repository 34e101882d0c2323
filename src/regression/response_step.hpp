// The derivatives of the log densities of a block of rows by their linear predictors.
#pragma once

#include <cstdint>

#include "base/simd.hpp"
#include "data/rows.hpp"

namespace bayes {

/// The inputs of a step from a block of rows; weights are 0 past the last row.
struct ResponseBlock {
  std::int64_t first;
  int rows;
  /// the linear predictor, y, the number of trials, the weight
  const double *predictor, *response, *trials, *weight;
};

/// The outputs of a step: for each row, weight x the slope of the log density by the linear
/// predictor, weight x minus its second derivative (or the augmented counterparts), and weight x
/// minus the mixed derivative by predictor and log dispersion; block_rows of each.
struct ResponseSlopes {
  double *slope, *curvature, *mixed;
};

/// Partial sums over rows; `slope` and `curvature` are by the log dispersion. Of counts with a log
/// link, `zeros` are those there are, and `zeros_expected` the sum of their probabilities.
struct ResponseValues {
  double log_likelihood[simd::sum_lanes] = {}, squares[simd::sum_lanes] = {},
         slope[simd::sum_lanes] = {}, curvature[simd::sum_lanes] = {}, zeros[simd::sum_lanes] = {},
         zeros_expected[simd::sum_lanes] = {};
};

/// The computation of a pass for a block of rows, called from all threads.
class ResponseStep {
 public:
  virtual ~ResponseStep() = default;
  virtual void operator()(const ResponseBlock &block, ResponseSlopes out,
                          ResponseValues &values) const = 0;
  /// for each row
  virtual double operations() const = 0;
};

/// Adds vectors of partial sums, where row b belongs to [b / lanes % registers].
inline void add_lanes(const simd::Vector (&from)[simd::registers], double *to) {
  for (int i = 0; i < simd::registers; ++i)
    simd::store(to + i * simd::lanes, simd::load(to + i * simd::lanes) + from[i]);
}

}  // namespace bayes
