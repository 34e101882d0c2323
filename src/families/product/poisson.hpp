// A column of counts: x ~ Poisson(rate), rate ~ Gamma(shape, rate) (gamma_rate.hpp).
//
// Statistics: weighted sum of x, weight of the rows.
#pragma once

#include <string>

#include "base/incomplete.hpp"
#include "families/product/counts.hpp"
#include "families/product/gamma_rate.hpp"

namespace bayes {

struct Poisson final : GammaRate<Poisson> {
  static constexpr const char *name = "poisson";
  static constexpr bool has_carrier = true, zero_is_constant = true, whole = true;

  bool allowed(double x) const override { return allowed_count(x); }
  std::string requirement() const override { return count_requirement; }
  // its variance hardly depends on the rate
  double stabilised(double x, double) const override { return 2 * std::sqrt(x); }
  double log_carrier(double x) const override { return -log_factorial(x); }

  static std::array<double, 2> statistic(double x) { return {x, 1}; }
  static double weight(const double *s) { return s[1]; }
  static void maximise(const double *s, const ColumnBounds &bounds, double *point) {
    point[0] = std::max(s[0] / s[1], bounds.minimum);
  }

  void default_prior(double mean, double, double, double *prior) const override {
    prior[0] = 1;
    prior[1] = mean > 0 ? 1 / mean : 1;
  }
  static constexpr const char *mode_requirement = "shape must be at least 1";
  bool has_mode(const double *prior) const override { return prior[0] >= 1; }
  double mean(const double *point) const override { return point[0]; }
  double variance(const double *point) const override { return point[0]; }
  bool allowed_mean(double x) const override { return x >= 0; }
  double sample(const double *point, Random &random) const override {
    return poisson_variate(point[0], random);
  }
  double log_overlap(const double *one, const double *other) const override {
    const double difference = std::sqrt(one[0]) - std::sqrt(other[0]);
    return -0.5 * difference * difference;
  }
  double predictive_mean(const double *q) const override { return q[0] / q[1]; }
  double predictive_variance(const double *q) const override {
    return q[0] / q[1] * (1 + 1 / q[1]);
  }
  Predicted predicted(const double *point) const override {
    return {Predicted::Support::whole,
            [](const Predicted &of, double n) { return of.a > 0 ? gamma_above(n + 1, of.a) : 1; },
            point[0]};
  }
  Predicted predictive(const double *q) const override {
    return {Predicted::Support::whole,
            [](const Predicted &of, double n) { return beta_above(n + 1, of.a, 1 / (1 + of.b)); },
            q[0], q[1]};
  }

  // The predictive is negative binomial: Gamma(shape + x) / (Gamma(shape) x!) (rate / (rate +
  // 1))^shape (rate + 1)^-x.
  int form_size() const { return 3; }  // shape, log(1 + rate), log Gamma(shape)
  static void predictive_forms(std::span<const Poisson> columns, const double *q, double *forms,
                               double *constants) {
    double rate = -1, spread = 0, rest = 0;
    for (std::size_t c = 0; c < columns.size(); ++c, q += 2, forms += 3) {
      if (q[1] != rate) {
        rate = q[1];
        spread = std::log1p(rate);
        rest = std::log1p(1 / rate);
      }
      forms[0] = q[0];
      forms[1] = spread;
      forms[2] = q[0] < series_from ? log_gamma(q[0]) : 0;
      constants[c] = -q[0] * rest;
    }
  }
  template <class Form> static auto predictive_term(Form form, double x) {
    return rise(form(0), form(2), x) - x * form(1);
  }

 private:
  static constexpr double series_from = 10;

  /// log Gamma(z) - ((z - 1/2) log z - z + log(2 pi) / 2), z >= 10.
  template <class T> static T remainder(T z) {
    const T y = 1.0 / z, y2 = y * y;
    return y * (1.0 / 12 -
                y2 * (1.0 / 360 -
                      y2 * (1.0 / 1260 -
                            y2 * (1.0 / 1680 -
                                  y2 * (1.0 / 1188 - y2 * (691.0 / 360360 - y2 * (1.0 / 156)))))));
  }

  /// log Gamma(shape + x) - log Gamma(shape) for a whole x >= 1. `log_gamma_shape` is used for
  /// shape < 10 only.
  template <class T> static T rise(T shape, T log_gamma_shape, double x) {
    if (x <= 16) {
      // The product itself, in parts that cannot overflow.
      T total = {};
      for (double i = 0; i < x;) {
        T product = shape + i;
        for (++i; i < x && std::fmod(i, 8) != 0; ++i) product *= shape + i;
        total += lane_log(product);
      }
      return total;
    }
    // Where Stirling's formula holds for both, their difference is simplified analytically, so that
    // large shapes lose no digits.
    const T z = shape + x, log_z = lane_log(z), log_one = lane_log1p(x / shape);
    const T difference = (shape - 0.5) * log_one + x * log_z - x + remainder(z) - remainder(shape);
    const T direct = (z - 0.5) * log_z - z + half_log_two_pi + remainder(z) - log_gamma_shape;
    return shape < series_from ? direct : difference;
  }
};

}  // namespace bayes
