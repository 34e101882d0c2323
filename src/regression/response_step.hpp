// The derivatives of the log densities of a block of rows by their linear predictors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/simd.hpp"
#include "data/rows.hpp"

namespace bayes {

/// The inputs of a step from a block of rows; weights are 0 past the last row.
struct ResponseBlock {
  std::int64_t first;
  int rows;
  /// the linear predictors (of several number k of row b is at [k * block_rows + b]), y, the number
  /// of trials, the weight
  const double *predictor, *response, *trials, *weight;
};

/// The outputs of a step: for each row, weight x the slope of the log density by the linear
/// predictor, weight x minus its second derivative (or the augmented counterparts), and weight x
/// minus the mixed derivative by predictor and log dispersion; block_rows of each.
///
/// Of ordered levels `mixed` has block_rows numbers for the cut below the row's level and as many
/// for the one above, of learned degrees of freedom as many for these, before the dispersion. Of
/// several predictors there are slopes and curvatures for each, and in `product` factors p: minus
/// the second derivative by predictors k and l is curvature k, if k = l, less p k times curvature
/// l.
struct ResponseSlopes {
  double *slope, *curvature, *mixed, *product;
};

/// Partial sums over rows; `slope` and `curvature` are by the log dispersion. Of counts with a log
/// link, `zeros` are those there are, and `zeros_expected` the sum of their probabilities. Of
/// ordered levels there are slopes and curvatures for all cuts (level_responses.hpp).
struct ResponseValues {
  double log_likelihood[simd::sum_lanes] = {}, squares[simd::sum_lanes] = {},
         slope[simd::sum_lanes] = {}, curvature[simd::sum_lanes] = {}, zeros[simd::sum_lanes] = {},
         zeros_expected[simd::sum_lanes] = {};
  /// the same by the logarithm of degrees of freedom that are learned, and minus the derivative by
  /// both
  double degrees_slope[simd::sum_lanes] = {}, degrees_curvature[simd::sum_lanes] = {},
         degrees_mixed[simd::sum_lanes] = {};
  double *cut_slope = nullptr, *cut_curvature = nullptr, *cut_next = nullptr;
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

/// The number of a level, at most `most`; 0 for what another server's rows may hold and is none.
inline std::size_t level_at(double y, std::size_t most) {
  return y >= 0 && y <= double(most) ? std::size_t(y) : 0;
}

/// log(1 + e), total = 1 + e, share = 1 / total: to the last digit also where the sum has lost
/// those of e, as large weights count.
inline simd::Vector log_of_total(simd::Vector e, simd::Vector total, simd::Vector share) {
  return simd::madd(e - (total - 1.0), share, simd::log(total));
}

/// Adds vectors of partial sums, where row b belongs to [b / lanes % registers].
inline void add_lanes(const simd::Vector (&from)[simd::registers], double *to) {
  for (int i = 0; i < simd::registers; ++i)
    simd::store(to + i * simd::lanes, simd::load(to + i * simd::lanes) + from[i]);
}

}  // namespace bayes
