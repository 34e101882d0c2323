// The posterior of a single parameter: what its mean, standard deviation and quantiles are.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/api.hpp"

namespace bayes {

/// One of the distributions that a parameter has by itself under a conjugate posterior.
struct BAYES_API Marginal {
  enum class Kind : char {
    beta,     ///< a probability: Beta(a, b); with a = 0 it is 0, with b = 0 it is 1
    gamma,    ///< a rate: Gamma(shape a, rate b)
    student,  ///< a mean: location + b t, t Student with a degrees of freedom
    normal,   ///< a mean: location + b z, z standard normal
    root      ///< a standard deviation: sqrt(b / x), x chi-square with a degrees of freedom
  };
  Kind kind;
  /// positive, but for the zeros of a beta
  double a, b;
  double location = 0;

  /// NaN if it does not exist.
  double mean() const;
  /// The standard deviation; NaN if it does not exist.
  double deviation() const;
  /// P(parameter <= x)
  double probability_below(double x) const;
  /// The p-quantile, 0 < p < 1; NaN where double precision does not find it.
  double quantile(double p) const;
  /// The x with probability p above it, which 1 - p would have no digits of.
  double upper_quantile(double p) const;

  /// The distribution of the same kind and mean whose standard deviation is `deviation` > 0, of a
  /// standard deviation both of its square; the distribution itself if that does not exist, or is
  /// as large. (The largest that a probability can have is that of being 0 or 1.)
  Marginal with_deviation(double deviation) const;
};

/// The entries of Dirichlet(alpha_1, ..., alpha_n, rest), but for the last; none is negative, and
/// their sum is positive.
BAYES_API void dirichlet_marginals(std::span<const double> alpha, double rest, Marginal *out);

/// An average over draws, each of which knows the parameter's distribution given the rest of it:
/// their mixture in equal parts. All are of one kind; there is at least one.
class BAYES_API MarginalMixture {
 public:
  explicit MarginalMixture(std::span<const Marginal> parts);
  double mean() const { return mean_; }
  double deviation() const { return deviation_; }
  /// Where the average of the probabilities below is p; polls.
  double quantile(double p) const;

 private:
  std::span<const Marginal> parts_;
  double mean_, deviation_;
};

/// The p-quantile of values of which one more is as likely to lie anywhere among them: it is below
/// with probability p, where x_(i) of n stands for p = i / (n + 1). NaN if n is too small for that
/// p. `sorted` are rising.
BAYES_API double quantile_of_draws(std::span<const double> sorted, double p);

/// Mean and standard deviation of draws, and the quantiles between which an interval of `level`
/// lies, if it is given; NaN of what there are too few for.
struct DrawSummary {
  double mean, deviation, lower, upper;
  /// The same with a mean and a deviation that are known better, as from more draws than those that
  /// were stored; bounds are as many deviations from the mean as they were.
  DrawSummary moved_to(double new_mean, double new_deviation) const {
    const double ratio = deviation > 0 ? new_deviation / deviation : 1;
    return {new_mean, new_deviation, new_mean + (lower - mean) * ratio,
            new_mean + (upper - mean) * ratio};
  }
};
BAYES_API DrawSummary summary_of_draws(std::vector<double> draws, std::optional<double> level);

}  // namespace bayes
