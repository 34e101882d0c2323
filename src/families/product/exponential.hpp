// A column of waiting times: x ~ Exponential(rate), rate ~ Gamma(shape, rate) (gamma_rate.hpp).
//
// Statistics: weight of the rows, weighted sum of x, bounds of rounding errors.
#pragma once

#include <string>

#include "families/product/gamma_rate.hpp"

namespace bayes {

struct Exponential final : GammaRate<Exponential> {
  static constexpr const char *name = "exponential";
  static constexpr bool zero_is_constant = true, needs_variance = true;

  bool allowed(double x) const override { return x >= 0; }
  std::string requirement() const override { return "a number of at least 0"; }
  /// Logarithms of two waiting times differ by 1.8 (root mean square); differences below a
  /// hundredth of a typical time mean little.
  double stabilised(double x, double variance) const override {
    return std::log(x / std::sqrt(variance) + 0.01) / 1.8;
  }

  static std::array<double, 2> statistic(double x) { return {1, x}; }
  static double weight(const double *s) { return s[0]; }
  static void maximise(const double *s, const ColumnBounds &bounds, double *point) {
    point[0] = 1 / std::max(s[1] / s[0], bounds.minimum * std::sqrt(bounds.variance));
  }
  bool at_bound(const double *point, const ColumnBounds &bounds) const override {
    return 1 <= 1.001 * point[0] * bounds.minimum * std::sqrt(bounds.variance);
  }

  /// Mean waiting times 1 / rate have the mean of the column as mean and standard deviation, like
  /// Poisson's rates.
  void default_prior(double mean, double, double, double *prior) const override {
    prior[0] = 3;
    prior[1] = mean > 0 ? 2 * mean : 2;
  }
  // otherwise the mode may be a rate of 0, which is not a distribution
  static constexpr const char *mode_requirement = "shape must be above 1";
  bool has_mode(const double *prior) const override { return prior[0] > 1; }
  /// Rates have a unit, so no absolute bound applies to them.
  void maximum_posterior(const double *s, const double *prior, double *point) const override {
    point[0] = (prior[0] - 1 + s[0]) / (prior[1] + s[1]);
  }
  double mean(const double *point) const override { return 1 / point[0]; }
  double variance(const double *point) const override { return 1 / (point[0] * point[0]); }
  bool allowed_mean(double x) const override { return x > 0; }
  double sample(const double *point, Random &random) const override {
    return random.exponential() / point[0];
  }
  double log_overlap(const double *one, const double *other) const override {
    const double ratio = 0.5 * (std::log(one[0]) - std::log(other[0]));
    return -std::log(std::cosh(ratio));
  }
  double predictive_mean(const double *q) const override {
    return q[0] > 1 ? q[1] / (q[0] - 1) : std::numeric_limits<double>::infinity();
  }
  double predictive_variance(const double *q) const override {
    const double mean = predictive_mean(q);
    return q[0] > 2 ? mean * mean * q[0] / (q[0] - 2) : std::numeric_limits<double>::infinity();
  }

  Predicted predicted(const double *point) const override {
    return {Predicted::Support::positive,
            [](const Predicted &of, double x) { return -std::expm1(-of.a * x); }, point[0]};
  }
  Predicted predictive(const double *q) const override {
    return {Predicted::Support::positive,
            [](const Predicted &of, double x) { return -std::expm1(-of.a * std::log1p(x / of.b)); },
            q[0], q[1]};
  }

  // The predictive is a Lomax density: shape / rate (1 + x / rate)^-(shape + 1).
  int form_size() const { return 2; }  // shape + 1, 1 / rate
  static void predictive_forms(std::span<const Exponential> columns, const double *q, double *forms,
                               double *constants) {
    for (std::size_t c = 0; c < columns.size(); ++c, q += 2, forms += 2) {
      forms[0] = q[0] + 1;
      forms[1] = 1 / q[1];
      constants[c] = std::log(q[0]) - std::log(q[1]);
    }
  }
  template <class Form> static auto predictive_term(Form form, double x) {
    const auto ratio = lane_bounded(x * form(1));
    return -form(0) * (form(0) > heavy_from ? lane_log1p(ratio) : lane_log(1.0 + ratio));
  }
};

}  // namespace bayes
