// Draws from distributions over vectors and matrices. Constructors refuse parameters out of range:
// Error(invalid_argument), or Error(array_shape) for shapes that do not fit.
#pragma once

#include <span>
#include <vector>

#include "base/api.hpp"
#include "base/random.hpp"

namespace bayes {

/// Probability vectors; alpha has at least one element, all positive.
class BAYES_API DirichletDistribution {
 public:
  explicit DirichletDistribution(std::vector<double> alpha);
  void draw(Random &random, std::span<double> out) const { random.dirichlet(alpha_, out); }
  std::size_t size() const { return alpha_.size(); }

 private:
  std::vector<double> alpha_;
};

/// Index k, from 0, with probability proportional to weights[k] >= 0, not all 0.
class BAYES_API CategoricalDistribution {
 public:
  explicit CategoricalDistribution(std::vector<double> weights);
  /// by inversion, in logarithmic time
  int draw(Random &random) const;

 private:
  /// running sums of the weights
  std::vector<double> sums_;
};

/// Normal vectors of d >= 1 elements; covariance d x d by rows, symmetric, positive definite.
class BAYES_API MultivariateNormalDistribution {
 public:
  MultivariateNormalDistribution(std::vector<double> mean, std::span<const double> covariance);
  void draw(Random &random, std::span<double> out) const;
  std::size_t size() const { return mean_.size(); }

 private:
  std::vector<double> mean_, lower_;
};

/// Lambda ~ Wishart(a, B), d x d: density proportional to |Lambda|^((a - d - 1) / 2)
/// exp(-trace(B Lambda) / 2), so that E[Lambda] = a B^-1 (002 L9). B by rows, symmetric, positive
/// definite; a > d - 1.
class BAYES_API WishartDistribution {
 public:
  WishartDistribution(double a, std::span<const double> b);
  /// d x d, by rows; by the decomposition of Bartlett (1933)
  void draw(Random &random, std::span<double> out) const;
  std::size_t size() const { return size_; }

 private:
  double a_;
  std::size_t size_;
  /// R', where R R' = B^-1
  std::vector<double> root_;
};

}  // namespace bayes
