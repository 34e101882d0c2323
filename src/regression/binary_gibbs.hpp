// The Gibbs samplers of logistic and probit regression.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "mcmc/draw_moments.hpp"
#include "regression/binary_learners.hpp"

namespace bayes {

/// What the chains share.
struct BinaryTask {
  BinaryRows &rows;
  const PriorPrecision &precision;
  /// added to the log joint density of u: the units that it is reported in
  double log_units = 0;
  /// Of the probit R with R'R = (sum of z z' + precision)^-1, the covariance of u given the latent
  /// variables; of the logit, where it changes from draw to draw, empty.
  const Matrix &root;
  /// Chains begin at draws of twice the spread of a normal approximation of the posterior.
  const BinaryMode &mode;
  std::uint64_t seed = 1;
  /// of the quantities: a draw of u as the model's coefficients
  std::function<std::vector<double>(const Vector &u)> record;
  /// receives stored draws
  std::vector<double> &draws;
  /// Takes all draws after warmup and thinning: u and, of a model with an intercept, in the place
  /// of u_0 that of the columns themselves, which follows from u by `own_intercept`.
  DrawMoments &moments;
  std::function<double(const Vector &u)> own_intercept;
};

/// Polson, Scott and Windle's sampler (2013): Polya-Gamma numbers omega given u, u given omega.
std::unique_ptr<ChainSampler> logit_chain(const BinaryTask &task, int chain);

/// Albert and Chib's sampler (1993): latent variables y* given u, u given y*. Between the two all
/// y* are multiplied by a number drawn from its conditional distribution with u integrated out (Liu
/// and Wu 1999), which takes nothing and lets chains move along the ray from 0.
std::unique_ptr<ChainSampler> probit_chain(const BinaryTask &task, int chain);

}  // namespace bayes
