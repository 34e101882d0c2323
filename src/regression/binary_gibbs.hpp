// The Gibbs samplers of logistic and probit regression.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "mcmc/draw_moments.hpp"
#include "regression/binary_learners.hpp"

namespace bayes {

/// The inputs and outputs that all chains share.
struct BinaryTask {
  BinaryRows &rows;
  const PriorPrecision &precision;
  /// added to the log joint density of u to report it in the units of the columns
  double log_units = 0;
  /// For the probit, R with R'R = (sum of z z' + precision)^-1, the covariance of u given the
  /// latent variables; empty for the logit, for which that covariance changes from draw to draw.
  const Matrix &root;
  /// Chains begin at draws from a normal approximation of the posterior with doubled standard
  /// deviations.
  const BinaryMode &mode;
  std::uint64_t seed = 1;
  /// the recorded quantities of a draw u: coefficients in units of the columns
  std::function<std::vector<double>(const Vector &u)> record;
  /// receives stored draws
  std::vector<double> &draws;
  /// Receives all draws after warmup and thinning: u, with u_0 replaced by the intercept in units
  /// of the columns, which `own_intercept` computes from u.
  DrawMoments &moments;
  std::function<double(const Vector &u)> own_intercept;
};

/// Polson, Scott and Windle's sampler (2013): Polya-Gamma variables omega given u, u given omega.
std::unique_ptr<ChainSampler> logit_chain(const BinaryTask &task, int chain);

/// Albert and Chib's sampler (1993): latent variables y* given u, u given y*. Between the two all
/// y* are multiplied by a number drawn from its conditional distribution with u integrated out (Liu
/// and Wu 1999), which costs almost nothing and lets chains move along the ray through 0.
std::unique_ptr<ChainSampler> probit_chain(const BinaryTask &task, int chain);

}  // namespace bayes
