// The distribution of an element of a row to come, at a point or with its parameters integrated
// out, and mixtures of them.
#pragma once

#include <span>

#include "base/api.hpp"

namespace bayes {

struct BAYES_API Predicted {
  enum class Kind : char {
    none,               ///< not a quantity: a category
    normal,             ///< a + b z
    student,            ///< a + b t, t Student with c degrees of freedom
    exponential,        ///< rate a
    lomax,              ///< exponential, its rate Gamma(shape a, rate b)
    bernoulli,          ///< 1 with probability a
    poisson,            ///< mean a
    negative_binomial,  ///< Poisson, its mean Gamma(shape a, rate b)
    geometric,          ///< failures before a success, log P(failure) = a
    beta_geometric      ///< the same, P(success) Beta(a, b)
  };
  Kind kind = Kind::none;
  double a = 0, b = 0, c = 0;

  /// P(x <= this)
  double probability_below(double x) const;
};

/// The smallest x with P(X <= x) of at least p, 0 < p < 1, if X is from one of these with
/// probabilities in proportion to `weights`; of whole numbers one of them. All are of one family;
/// NaN if it is none, or where double precision does not find the number. By bracketing; polls.
BAYES_API double quantile_of_mixture(std::span<const Predicted> parts,
                                     std::span<const double> weights, double p);

}  // namespace bayes
