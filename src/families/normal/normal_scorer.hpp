// The normal family's part of the local step: log densities of a block of rows under K components,
// and sufficient statistics.
//
// EM, MAP, variational and stochastic variational inference all score rows as
//   constant_k - |W_k (x - m_k)|^2 / 2;
// they differ in constant, W and m. Missing elements (NaN) are integrated out (normal_missing.hpp);
// rows are searched for them only if BlockWorker::incomplete is set.
#pragma once

#include <memory>
#include <vector>

#include "base/aligned.hpp"
#include "data/local_step.hpp"
#include "families/normal/covariance.hpp"

namespace bayes {

/// Sufficient statistics of K weighted groups of rows: sum of weights, mean, and scatter about the
/// mean (for a tied covariance one scatter, summed over the groups), in the form of the
/// covariance's shape.
struct NormalStatistics {
  CovarianceShape shape = full_covariance;
  Vector count;                 // K
  Matrix mean;                  // d x K
  std::vector<Matrix> scatter;  // shape.count(K) of shape.rows(d) x shape.columns(d)

  int components() const { return int(count.size()); }
  int dimension() const { return int(mean.rows()); }
  double total() const { return count.sum(); }

  /// Multiplies every weight by a factor >= 0.
  void scale(double factor);
};

class NormalScorer final : public BlockScorer {
 public:
  using Statistics = NormalStatistics;

  /// mean: d x K; scales: shape.count(K), factored; constant: K (everything that does not depend on
  /// the row). `densities`: the scores are log densities; otherwise they lack a constant that is
  /// the same for all components, and missing elements add nothing.
  NormalScorer(const CovarianceShape &shape, Matrix mean, const std::vector<FactoredScale> &scales,
               Vector constant, bool densities = true);

  int components() const override { return k_; }
  int dimension() const override { return d_; }
  double operations() const override;
  std::size_t raw_size() const override;
  std::unique_ptr<BlockWorker> worker() const override;
  Document message() const override;
  /// Throws Error(invalid_binary) unless message() has made it.
  static NormalScorer from_message(const Document &message);

  /// About how many numbers a worker holds for each number of the statistics.
  static double sums_per_number(const CovarianceShape &shape, int dimension);

  /// The statistics from raw sums about the scorer's means. `counts`: K sums of responsibilities.
  Statistics statistics(const std::vector<double> &counts, const std::vector<double> &raw) const;

 private:
  class Worker;
  std::size_t raw_scatter() const;
  /// the W of a dense scale
  Matrix whiten(int s) const;

  CovarianceShape shape_;
  bool densities_;
  int d_, k_;
  Matrix mean_, whitened_;
  Vector constant_, centre_;
  Buffer packed_;
};

}  // namespace bayes
