// Initialization: k-means++ (Arthur and Vassilvitskii 2007) and k-means as hard EM.
#pragma once

#include "base/random.hpp"
#include "families/normal/normal_scorer.hpp"
#include "fit/driver.hpp"

namespace bayes {

/// k rows of the sample, the first drawn in proportion to its weight, every other in proportion to
/// weight x squared distance to the nearest one drawn before; distances in units of `deviation` (d)
/// for every column. The sample needs k distinct rows. d x K.
BAYES_API Matrix kmeans_plus_plus(MemoryRows &sample, int k, const Vector &deviation,
                                  Random &random, Control &control);

/// k distinct rows of the sample drawn in proportion to their weights. d x K.
BAYES_API Matrix random_rows(MemoryRows &sample, int k, Random &random);

/// The rows of the sample with these indices. d x their number.
BAYES_API Matrix these_rows(MemoryRows &sample, const std::vector<std::int64_t> &which);

/// k-means as hard EM of normal components with fixed, equal, spherical covariance (002 L9, 001):
/// the local step gives a row to its nearest centre, the global step moves a centre to the mean of
/// its rows. objective = -sum of weight x squared distance / deviation^2.
class KMeans {
 public:
  using Allocation = HardAllocation;
  using State = Matrix;  // centres, d x K
  using Scorer = NormalScorer;
  using Statistics = Scorer::Statistics;

  explicit KMeans(const Vector &deviation) : deviation_(deviation) {}

  /// A scorer of this covariance shape whose hard allocation is to the nearest centre.
  NormalScorer nearest(const CovarianceShape &shape, const Matrix &centres) const;

  Scorer scorer(const State &centres) const { return nearest(diagonal_covariance, centres); }
  std::vector<double> log_weights(const State &centres) const {
    return std::vector<double>(std::size_t(centres.cols()), 0.0);
  }
  double objective(const State &) const { return 0; }
  // an empty cluster stays where it is
  State update(const Statistics &statistics, const State &) const { return statistics.mean; }

 private:
  Vector deviation_;
};

/// The centres after a few iterations of k-means from these. `weight`: total weight of the sample.
Matrix settled_centres(const KMeans &kmeans, Matrix centres, RowSource &sample, double weight,
                       Control &control);

}  // namespace bayes
