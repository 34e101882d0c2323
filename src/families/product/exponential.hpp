// A column of waiting times: x ~ Exponential(rate), rate ~ Gamma(shape, rate) (gamma_rate.hpp).
//
// Statistics: weight of the rows, weighted sum of x, bound of the sum's rounding error.
#pragma once

#include <string>

#include "families/product/gamma_rate.hpp"

namespace bayes {

struct Exponential : GammaRate {
  static constexpr const char *name = "exponential";
  static constexpr bool has_base = false, zero_is_base = true, ordered = true,
                        needs_variance = true, by_value = false, probabilities = false;

  bool allowed(double x) const { return x >= 0; }
  std::string requirement() const { return "a number of at least 0"; }
  /// The logarithms of two waiting times differ by 1.8, root mean square; below a hundredth of the
  /// usual time differences say little.
  double place(double x, double variance) const {
    return std::log(x / std::sqrt(variance) + 0.01) / 1.8;
  }
  static double log_base(double) { return 0; }

  int statistics_size() const { return 3; }
  // The term: -rate.
  int form_size() const { return 2; }  // shape + 1, 1 / rate

  void maximum_likelihood(const double *s, const double *previous, const ColumnBounds &bounds,
                          double *point) const {
    point[0] = s[0] > bounds.least_weight
                   ? 1 / std::max(s[1] / s[0], bounds.minimum * std::sqrt(bounds.variance))
                   : previous[0];
  }
  /// Mean waiting times 1 / rate have the mean of the column, and as standard deviation the same,
  /// like Poisson's rates.
  void default_prior(double mean, double, double, double *prior) const {
    prior[0] = 3;
    prior[1] = mean > 0 ? 2 * mean : 2;
  }
  // a rate of 0 would be no distribution
  static constexpr const char *mode_requirement = "shape must be above 1";
  bool has_mode(const double *prior) const { return prior[0] > 1; }
  void maximum_posterior(const double *s, const double *prior, double *point) const {
    point[0] = mode(s[0], s[1], prior);
  }
  double mean(const double *point) const { return 1 / point[0]; }
  double variance(const double *point) const { return 1 / (point[0] * point[0]); }
  bool allowed_mean(double x) const { return x > 0; }
  void set_mean(double mean, double variance, double *point) const {
    set_only_parameter(*this, mean, variance, point);
  }
  double sample(const double *point, Random &random) const {
    return random.exponential() / point[0];
  }

  void posterior(const double *s, const double *prior, double *q) const {
    q[0] = prior[0] + s[0];
    q[1] = prior[1] + s[1];
  }
  double predictive_mean(const double *q) const {
    return q[0] > 1 ? q[1] / (q[0] - 1) : std::numeric_limits<double>::infinity();
  }
  double predictive_variance(const double *q) const {
    const double mean = predictive_mean(q);
    return q[0] > 2 ? mean * mean * q[0] / (q[0] - 2) : std::numeric_limits<double>::infinity();
  }
  double log_marginal_likelihood(const double *s, const double *prior) const {
    return log_evidence(s[0], s[1], prior);
  }

  void add(double x, double *s) const {
    ++s[0];
    s[1] += x;
    s[2] += rounding * s[1];
  }
  bool remove(double x, const double *prior, double *s) const {
    s[2] += rounding * s[1];
    s[1] -= x;
    if (--s[0] == 0) s[1] = s[2] = 0;
    const bool sound = s[2] <= 1e-7 * (prior[1] + s[1]) && s[1] >= -s[2];
    s[1] = std::max(0.0, s[1]);
    return sound;
  }

  double point_terms(const double *point, double *terms) const {
    terms[0] = -point[0];
    return finite_log(point[0]);
  }
  double expected_terms(const double *q, double *terms) const {
    terms[0] = -q[0] / q[1];
    return digamma(q[0]) - std::log(q[1]);
  }
  void statistics(double weight, const double *sums, const double *, double *s) const {
    s[0] = weight;
    s[1] = sums[0];
    s[2] = 0;
  }

  // The predictive is a Lomax density: shape / rate (1 + x / rate)^-(shape + 1).
  static void predictive_forms(std::span<const Exponential> columns, const double *q, double *forms,
                               double *bases) {
    for (std::size_t c = 0; c < columns.size(); ++c, q += 2, forms += 2) {
      forms[0] = q[0] + 1;
      forms[1] = 1 / q[1];
      bases[c] = std::log(q[0]) - std::log(q[1]);
    }
  }
  template <class Form> static auto predictive_term(Form form, double x) {
    return -form(0) * lane_log(1.0 + lane_bounded(x * form(1)));
  }

 private:
  static constexpr double rounding = std::numeric_limits<double>::epsilon();
};

}  // namespace bayes
