// Normal components as point estimates: maximum likelihood (002 L9 eqs. 17-19) and maximum a
// posteriori.
#pragma once

#include "families/normal/covariance.hpp"
#include "families/normal/normal_scorer.hpp"

namespace bayes {

/// Means and covariances of K components.
struct NormalPoint {
  CovarianceShape shape = full_covariance;
  Matrix mean;                     // d x K
  std::vector<Matrix> covariance;  // shape.count(K), in the shape's form

  int components() const { return int(mean.cols()); }
  int dimension() const { return int(mean.rows()); }
};

inline void exchange(StateNumbers &numbers, NormalPoint &point) {
  numbers.dense(point.mean);
  for (Matrix &each : point.covariance) numbers.dense(each);
}

/// sum += factor x term, elementwise, for averages over draws.
void accumulate(NormalPoint &sum, const NormalPoint &term, double factor);

/// Scores rows with log N(x | mean_k, covariance_k).
NormalScorer make_scorer(const NormalPoint &point);

/// A component with less than this share of the total weight is dropped: it gets weight 0 and
/// retains its mean and covariance.
inline constexpr double dead_share = 1e-12;

/// The maximiser of the expected log-likelihood under the floor (002 L9 eqs. 17, 19).
NormalPoint maximum_likelihood(const NormalStatistics &statistics, const NormalPoint &previous,
                               const CovarianceFloor &floor);

/// For every component: is it held at the floor, below which its likelihood would be higher?
std::vector<bool> at_floor(const NormalPoint &point, const CovarianceFloor &floor);

/// The smallest number of rows with which a component's own covariance is meaningful: one more than
/// make it regular. 0 if all components share one.
double rows_needed(const NormalPoint &point);

/// The components in this order: a subset, a permutation, or repetitions. A shared covariance stays
/// as it is.
NormalPoint pick(const NormalPoint &point, const std::vector<int> &order);

}  // namespace bayes
