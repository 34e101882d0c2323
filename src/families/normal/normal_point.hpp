// Normal components as point estimates: maximum likelihood (002 L9 eqs. 17-19) and maximum a
// posteriori.
#pragma once

#include <numbers>

#include "base/control.hpp"
#include "base/error.hpp"
#include "families/normal/covariance.hpp"
#include "families/normal/normal_scorer.hpp"

namespace bayes {

/// Means and covariances of K components.
template <class S> struct NormalPoint {
  using Shape = S;
  Matrix mean;                     // d x K
  std::vector<Matrix> covariance;  // scale_count(K), in the shape's form

  int components() const { return int(mean.cols()); }
  int dimension() const { return int(mean.rows()); }
};

/// sum += factor x term, number by number: for averages over draws.
template <class S> void accumulate(NormalPoint<S> &sum, const NormalPoint<S> &term, double factor) {
  sum.mean += factor * term.mean;
  for (std::size_t s = 0; s < sum.covariance.size(); ++s)
    sum.covariance[s] += factor * term.covariance[s];
}

[[noreturn]] inline void not_positive_definite(const char *what, int component) {
  throw Error(Errc::numeric,
              std::string("the ") + what + " of component " + std::to_string(component + 1) +
                  " is not positive definite",
              "A matrix that must be invertible is singular or has overflowed.",
              "Check for columns with extreme values, and rescale them.");
}

/// Scores rows with log N(x | mean_k, covariance_k).
template <class S> NormalScorer<S> make_scorer(const NormalPoint<S> &point) {
  const int d = point.dimension(), k = point.components();
  std::vector<FactoredScale> scales(point.covariance.size());
  for (std::size_t c = 0; c < scales.size(); ++c) {
    poll_here();
    if (!factor<S>(point.covariance[c], d, scales[c])) not_positive_definite("covariance", int(c));
  }
  Vector constant(k);
  for (int j = 0; j < k; ++j)
    constant(j) = -0.5 * (d * std::log(2 * std::numbers::pi) +
                          scales[std::size_t(scale_index<S>(j))].log_determinant);
  return {point.mean, scales, std::move(constant)};
}

/// A component with less than this share of all weight has died: it keeps its mean and covariance,
/// with weight 0.
inline constexpr double dead_share = 1e-12;

/// The maximiser of the expected log-likelihood under the floor (002 L9 eqs. 17, 19).
template <class S>
NormalPoint<S> maximum_likelihood(const NormalStatistics<S> &statistics,
                                  const NormalPoint<S> &previous, const CovarianceFloor &floor) {
  NormalPoint<S> out = previous;
  const int d = statistics.dimension();
  const double total = statistics.total();
  for (int k = 0; k < statistics.components(); ++k)
    if (statistics.count(k) > dead_share * total) out.mean.col(k) = statistics.mean.col(k);
  for (std::size_t c = 0; c < out.covariance.size(); ++c) {
    poll_here();
    const double count = S::shared ? total : statistics.count(Eigen::Index(c));
    if (!(count > dead_share * total)) continue;
    Matrix covariance = statistics.scatter[c] / (S::isotropic ? count * d : count);
    if (!covariance.allFinite()) not_positive_definite("covariance", int(c));
    floor.apply<S>(covariance);
    out.covariance[c] = std::move(covariance);
  }
  return out;
}

/// The components in this order: a subset, a permutation, or repetitions. Where components share a
/// covariance it stays as it is.
template <class S> NormalPoint<S> pick(const NormalPoint<S> &point, const std::vector<int> &order) {
  NormalPoint<S> out{Matrix(point.mean.rows(), Eigen::Index(order.size())), point.covariance};
  if (!S::shared) out.covariance.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    out.mean.col(Eigen::Index(i)) = point.mean.col(order[i]);
    if (!S::shared) out.covariance[i] = point.covariance[std::size_t(order[i])];
  }
  return out;
}

}  // namespace bayes
