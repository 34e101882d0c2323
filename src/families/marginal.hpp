// The marginal posterior distribution of a single parameter: its mean, standard deviation and
// quantiles.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/api.hpp"

namespace bayes {

/// The marginal distribution of a parameter under a conjugate posterior.
struct BAYES_API Marginal {
  enum class Kind : char {
    beta,     ///< a probability: Beta(a, b); with a = 0 it is 0, with b = 0 it is 1
    gamma,    ///< a rate: Gamma(shape a, rate b)
    student,  ///< a mean: location + b t, t Student with a degrees of freedom
    normal,   ///< a mean: location + b z, z standard normal
    root      ///< a standard deviation: sqrt(b / x), x chi-square with a degrees of freedom
  };
  Kind kind;
  /// positive, except that one of them may be 0 for kind beta
  double a, b;
  double location = 0;

  /// NaN if it does not exist.
  double mean() const;
  /// The standard deviation; NaN if it does not exist.
  double deviation() const;
  /// P(parameter <= x)
  double probability_below(double x) const;
  /// The p-quantile, 0 < p < 1; NaN if double precision does not suffice to find it.
  double quantile(double p) const;
  /// The x with P(parameter > x) = p. More accurate than quantile(1 - p) if p is small.
  double upper_quantile(double p) const;

  /// The distribution of the same kind and mean with the standard deviation `deviation` > 0; for
  /// kind root, mean and standard deviation are those of the square. Returns the distribution
  /// unchanged if its own standard deviation does not exist or is not smaller than `deviation`. (A
  /// probability cannot have a larger standard deviation than a 0-1 variable of the same mean.)
  Marginal with_deviation(double deviation) const;
};

/// The marginals of the first n entries of Dirichlet(alpha_1, ..., alpha_n, rest). No parameter is
/// negative, and their sum is positive.
BAYES_API void dirichlet_marginals(std::span<const double> alpha, double rest, Marginal *out);

/// The Rao-Blackwellised posterior of a parameter: the mixture of its conditional distributions
/// given the other parameters in each draw. All parts are of one kind, and there is at least one.
/// They are not copied.
class BAYES_API MarginalMixture {
 public:
  /// `weights`: of the parts, with the sum 1; without weights all parts have the same.
  explicit MarginalMixture(std::span<const Marginal> parts, std::span<const double> weights = {});
  double mean() const { return mean_; }
  double deviation() const { return deviation_; }
  /// The p-quantile of the mixture; polls.
  double quantile(double p) const;

 private:
  /// The weight of a part, as a share of whole_. Nothing is computed of a part without weight,
  /// which may have no mean and no quantiles.
  double share(std::size_t i) const { return weights_.empty() ? 1 : weights_[i]; }

  std::span<const Marginal> parts_;
  std::span<const double> weights_;
  /// the sum of the shares
  double whole_;
  double mean_, deviation_;
};

/// The p-quantile of n draws, interpolated between the order statistics x_(i), which stand for p =
/// i / (n + 1): a further exchangeable draw is below it with probability p. NaN if n is too small
/// for this p. `sorted`: the draws in ascending order.
BAYES_API double quantile_of_draws(std::span<const double> sorted, double p);

/// Mean and standard deviation of draws, and the bounds of the central interval of probability
/// `level`, if a level is given. NaN where there are too few draws.
struct DrawSummary {
  double mean, deviation, lower, upper;
  /// The summary with a more accurate mean and standard deviation, as from all draws instead of the
  /// stored ones. The bounds keep their distance from the mean in units of the standard deviation.
  DrawSummary moved_to(double new_mean, double new_deviation) const {
    const double ratio = deviation > 0 ? new_deviation / deviation : 1;
    return {new_mean, new_deviation, new_mean + (lower - mean) * ratio,
            new_mean + (upper - mean) * ratio};
  }
};
BAYES_API DrawSummary summary_of_draws(std::vector<double> draws, std::optional<double> level);

}  // namespace bayes
