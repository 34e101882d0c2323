// A factor of a mean-field posterior q(parameters), as linear response sees it
// (fit/linear_response.hpp).
#pragma once

#include "base/linalg.hpp"

namespace bayes {

/// An exponential family, its density proportional to exp(eta . phi(parameters)).
struct PosteriorFactor {
  /// n x n: Cov[phi]; 1 x 1 and 0 where nothing can vary
  Matrix covariance;
  /// n x m: Cov[phi, g] of m quantities g, functions of the parameters
  Matrix with_quantities;
  /// m: their standard deviations; not finite where there is none
  Vector deviation;
};

}  // namespace bayes
