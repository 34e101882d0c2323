// The predictive density of components with independent posteriors of mean and precision: x = mu +
// e with mu ~ N(m, C) and e | g ~ N(0, B / (nu g)), g ~ Gamma(nu / 2, nu / 2), nu = a + 1 - d. It
// is one integral over g once B and C are diagonal together, computed for each row, so that it is
// exact however far away the row is; the nodes of the flat mixture (questions/elliptical_part.hpp)
// are fixed, and end.
#pragma once

#include <span>
#include <vector>

#include "families/marginal_scorers.hpp"
#include "families/normal/normal_independent.hpp"

namespace bayes {

/// Not thread-safe.
class IndependentPredictive {
 public:
  /// `q` must outlive this. `log_weights`: one for each component.
  IndependentPredictive(const NormalIndependent &q, Vector log_weights);
  /// log (weight x density of the observed elements of x) for every component; NaN is missing.
  /// Valid until the next call.
  std::span<const double> log_joint(std::span<const double> x);

 private:
  /// A component over some elements.
  struct Component {
    Matrix rotation;
    Vector mean, variance;
    double nu, constant;
    double log_density(const double *x) const;
  };
  std::vector<Component> compile(std::span<const int> elements) const;

  const NormalIndependent &q_;
  Vector log_weights_;
  std::vector<double> out_;
  MarginalScorers<std::vector<Component>> marginals_;
};

}  // namespace bayes
