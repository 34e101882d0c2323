// Common to families with a rate: the prior is Gamma(shape, rate) (002 L2), and rows are events
// during an exposure: the likelihood is proportional to rate^events exp(-rate exposure). For
// counts, events are their sum and exposure their number; for waiting times the reverse.
//
// Point: the rate. Posterior: shape, rate. Statistics: events, exposure.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "base/special.hpp"
#include "families/product/conjugate_column.hpp"

namespace bayes {

template <class F> struct GammaRate : ConjugateColumn<F> {
  static constexpr std::array<const char *, 1> parameters = {"rate"};
  static constexpr std::array<const char *, 2> prior_keys = {"shape", "rate"};
  static constexpr std::array<double, 2> offset = {1, 0};
  static constexpr bool linear = true;

  bool valid_point(const double *point) const override { return valid_number(point[0]); }

  static double log_normaliser(const double *q) { return log_gamma(q[0]) - q[0] * std::log(q[1]); }
  static std::array<double, 2> expected(const double *q) {
    return {digamma(q[0]) - std::log(q[1]), -q[0] / q[1]};
  }
  static std::array<double, 2> natural(const double *point) {
    return {finite_log(point[0]), -point[0]};
  }

  double divergence(const double *q, const double *prior) const override {
    return gamma_divergence(q[0], q[1], prior[0], prior[1]);
  }
  double log_marginal_likelihood(const double *s, const double *prior) const override {
    const double events = s[0], exposure = s[1],
                 rise = events > 0 ? log_gamma(events) - log_beta(prior[0], events) : 0;
    return rise - prior[0] * std::log1p(exposure / prior[1]) -
           events * std::log(prior[1] + exposure);
  }
  void point_estimate(const double *q, double *point) const override { point[0] = q[0] / q[1]; }
  void deviations(const double *q, double *out) const override { out[0] = std::sqrt(q[0]) / q[1]; }
  void marginals(const double *q, Marginal *out) const override {
    out[0] = {Marginal::Kind::gamma, q[0], q[1]};
  }
  void covariances(const double *q, double *phi, double *named) const override {
    phi[0] = trigamma(q[0]);
    phi[1] = phi[2] = -1 / q[1];
    phi[3] = q[0] / q[1] / q[1];
    named[0] = 1 / q[1];
    named[1] = -q[0] / q[1] / q[1];
  }
  void draw(const double *q, Random &random, double *point) const override {
    point[0] = std::clamp(random.gamma(q[0]) / q[1], 1 / largest_number, largest_number);
  }
};

}  // namespace bayes
