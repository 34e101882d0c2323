// What the families with a rate share: its prior is Gamma(shape, rate) (002 L2), and rows are seen
// as events in an exposure: the likelihood is rate^events exp(-rate exposure), up to what does not
// depend on the rate. Counts have their sum as events and their number as exposure, waiting times
// the reverse.
//
// Point: the rate. Posterior: shape, rate. Statistics begin with the weight of the rows and the
// weighted sum of x.
#pragma once

#include <array>
#include <cmath>

#include "base/special.hpp"
#include "families/product/column.hpp"

namespace bayes {

struct GammaRate {
  static constexpr std::array<const char *, 1> parameters = {"rate"};
  static constexpr std::array<const char *, 2> prior_keys = {"shape", "rate"};

  double element(double x) const { return x; }
  double value(double x) const { return x; }
  bool plain() const { return true; }

  int numbers_of_name() const { return 1; }
  int point_size() const { return 1; }
  int posterior_size() const { return 2; }
  int free_parameters() const { return 1; }

  double log_prior(const double *point, const double *prior) const {
    return prior[0] * std::log(prior[1]) - log_gamma(prior[0]) +
           (prior[0] - 1) * finite_log(point[0]) - prior[1] * point[0];
  }
  void complete(double *) const {}
  bool valid_point(const double *point) const { return valid_number(point[0]); }

  double divergence(const double *q, const double *prior) const {
    return (q[0] - prior[0]) * digamma(q[0]) - log_gamma(q[0]) + log_gamma(prior[0]) +
           prior[0] * std::log(q[1] / prior[1]) + q[0] * (prior[1] - q[1]) / q[1];
  }
  void blend(const double *q, const double *target, double rho, double *out) const {
    for (int i = 0; i < 2; ++i) out[i] = (1 - rho) * q[i] + rho * target[i];
  }
  void point_estimate(const double *q, double *point) const { point[0] = q[0] / q[1]; }
  bool valid_posterior(const double *q) const { return valid_number(q[0]) && valid_number(q[1]); }
  void deviations(const double *q, double *out) const { out[0] = std::sqrt(q[0]) / q[1]; }
  void draw(const double *q, Random &random, double *point) const {
    point[0] = random.gamma(q[0]) / q[1];
  }

  void scale(double factor, double *s) const {
    s[0] *= factor;
    s[1] *= factor;
  }

  // Scores are linear in x.
  int term_size() const { return 1; }
  int sum_size() const { return 1; }
  double term(const double *terms, double x) const { return x * terms[0]; }
  template <class F>
  static void add_terms(std::span<const F> columns, const double *const *x, const double *terms,
                        double *out) {
    column_block::add_linear(int(columns.size()), x, terms, out);
  }
  template <class F>
  static void add_sums(std::span<const F> columns, const double *const *x, const double *,
                       const double *r, double *sums) {
    column_block::add_dots(int(columns.size()), x, r, sums);
  }

 protected:
  static double mode(double events, double exposure, const double *prior) {
    return (prior[0] - 1 + events) / (prior[1] + exposure);
  }
  static double log_evidence(double events, double exposure, const double *prior) {
    // log Gamma(shape + events) - log Gamma(shape), without its cancellation.
    const double rise = events > 0 ? log_gamma(events) - log_beta(prior[0], events) : 0;
    return rise - prior[0] * std::log1p(exposure / prior[1]) -
           events * std::log(prior[1] + exposure);
  }
};

}  // namespace bayes
