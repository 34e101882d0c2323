// A factor of a mean-field posterior q(parameters), as linear response uses it
// (fit/linear_response.hpp).
#pragma once

#include "base/linalg.hpp"

namespace bayes {

/// An exponential family, its density proportional to exp(eta . phi(parameters)).
struct PosteriorFactor {
  /// n x n: Cov[phi]; 1 x 1 and 0 if the factor cannot vary
  Matrix covariance;
  /// n x m: Cov[phi, g] of m quantities g, functions of the parameters
  Matrix with_quantities;
  /// m: the standard deviations of the quantities; not finite where none exists
  Vector deviation;
};

}  // namespace bayes
