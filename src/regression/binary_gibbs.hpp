// The Gibbs sampler of probit regression.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "regression/binary_learners.hpp"

namespace bayes {

/// What the chains share.
struct ProbitTask {
  BinaryRows &rows;
  const PriorPrecision &precision;
  /// added to the log joint density of u: the units that it is reported in
  double log_units = 0;
  /// R with R'R = (sum of z z' + precision)^-1, the covariance of u given the latent variables
  const Matrix &root;
  /// Chains begin at draws of twice the spread of a normal approximation of the posterior.
  const BinaryMode &mode;
  std::uint64_t seed = 1;
  /// of the quantities: a draw of u as the model's coefficients
  std::function<std::vector<double>(const Vector &u)> record;
  /// receives stored draws
  std::vector<double> &draws;
};

/// Albert and Chib's sampler (1993): latent variables y* given u, u given y*. Between the two all
/// y* are multiplied by a number drawn from its conditional distribution with u integrated out (Liu
/// and Wu 1999), which takes nothing and lets chains move along the ray from 0.
std::unique_ptr<ChainSampler> probit_chain(const ProbitTask &task, int chain);

}  // namespace bayes
