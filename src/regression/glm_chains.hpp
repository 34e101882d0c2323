// Draws from the posterior of a generalized linear model: chains of all samplers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/method.hpp"
#include "mcmc/draw_moments.hpp"
#include "mcmc/run_chains.hpp"
#include "regression/glm_learners.hpp"
#include "regression/glm_rows.hpp"

namespace bayes {

/// The inputs and outputs that all chains share.
struct GlmTask {
  GlmRows &rows;
  const GlmPrior &prior;
  /// added to the log joint density of u to report it in the units of the columns
  double log_units = 0;
  /// For method gibbs with a probit, R with R'R = (sum of z z' + precision)^-1, the covariance of u
  /// given the latent variables; else empty.
  const Matrix &root;
  /// Chains begin at draws from a normal approximation of the posterior with doubled standard
  /// deviations.
  const GlmMode &mode;
  std::uint64_t seed = 1;
  /// receives stored draws
  std::vector<double> &draws;
  /// Receives all draws after warmup and thinning: u, but intercepts in units of the columns.
  DrawMoments &moments;
  /// unknown j of u, coefficients in units of the columns
  std::function<double(const Vector &u, int j)> of_column;
  /// the recorded quantities of a draw u
  std::function<std::vector<double>(const Vector &u)> recorded;
};

/// A chain of one of these methods:
///
/// gibbs, of a bernoulli response. With a logit Polson, Scott and Windle's sampler (2013):
/// Polya-Gamma variables omega given u, u given omega. With a probit Albert and Chib's (1993):
/// latent variables y* given u, u given y*. Between the two all y* are multiplied by a number drawn
/// from its conditional distribution with u integrated out (Liu and Wu 1999), which costs almost
/// nothing and lets chains move along the ray through 0.
///
/// slice, of all responses: elliptical slice sampling (Murray, Adams and MacKay 2010) about the
/// mode, as if a Student t distribution there were the prior (Nishihara, Murray and Adams 2014).
/// The closer the posterior is to that distribution, the less a draw depends on the one before; it
/// is exact whatever the posterior.
std::unique_ptr<ChainSampler> glm_chain(Method method, const GlmTask &task, int chain);

}  // namespace bayes
