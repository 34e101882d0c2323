// Fits of a binary regression's coefficients: the posterior mode by Newton's method or by EM, and
// the Gibbs sampler of Albert and Chib.
#pragma once

#include "fit/schedule.hpp"
#include "mcmc/run_chains.hpp"
#include "regression/binary_rows.hpp"

namespace bayes {

/// The prior of the coefficients u of z: independent normals about 0 with these precisions.
using PriorPrecision = Vector;

/// log Normal(u | 0, diag(1 / precision))
double log_prior(const PriorPrecision &precision, const Vector &u);

/// The posterior mode.
struct BinaryMode : RunTrace {
  /// u
  Vector state;
  /// there, without the prior
  double log_likelihood = 0;
  /// the lower Cholesky factor of the precision of a normal approximation of the posterior
  Matrix factor;
};

/// Where to begin: an intercept as frequent as y is, else 0.
Vector first_coefficients(const BinaryRows &rows, Link link);

/// Newton's method with steps that are shortened until the posterior density rises: it always ends
/// at the mode, as the density is log-concave and the prior proper. The trace has the log joint
/// density of y and u. Converged when half the squared length of a step, in the metric of the
/// Hessian, is below the tolerance: what the log density still has to rise by. The factor is that
/// of minus its Hessian at the mode (002 L3). Throws Error(numeric) where the Hessian is singular
/// in double precision.
BinaryMode newton(BinaryRows &rows, Link link, const PriorPrecision &precision, Vector start,
                  const Schedule &schedule, Control &control);

/// The same mode by the EM algorithm of 002 L4, for the probit model. The factor is that of the
/// sum of z z' plus the prior's precision: the precision of u given the latent variables.
BinaryMode probit_em(BinaryRows &rows, const PriorPrecision &precision, Vector start,
                     const Schedule &schedule, Control &control);

/// The factor of that precision.
Matrix augmented_precision(BinaryRows &rows, const PriorPrecision &precision);

}  // namespace bayes
