// A column of counts: x ~ Poisson(rate), rate ~ Gamma(shape, rate) (gamma_rate.hpp).
//
// Statistics: weighted sum of x, weight of the rows.
#pragma once

#include <string>
#include <vector>

#include "families/product/gamma_rate.hpp"

namespace bayes {

/// log x! for a whole number x >= 0, however large.
inline double log_factorial(double x) {
  static const std::vector<double> table = [] {
    std::vector<double> out(256);
    // partial products that a double holds exactly or nearly so
    double product = 1, before = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (i > 0) product *= double(i);
      if (product > 1e200) {
        before += std::log(product / double(i));
        product = double(i);
      }
      out[i] = before + std::log(product);
    }
    return out;
  }();
  if (x < double(table.size())) return table[std::size_t(x)];
  // Stirling's series for log Gamma(x + 1).
  const double z = x + 1, y = 1 / z, y2 = y * y;
  return (z - 0.5) * std::log(z) - z + half_log_two_pi +
         y * (1.0 / 12 - y2 * (1.0 / 360 - y2 / 1260));
}

struct Poisson : GammaRate<Poisson> {
  static constexpr const char *name = "poisson";
  static constexpr bool has_carrier = true, zero_is_constant = true, whole = true;

  bool allowed(double x) const { return allowed_count(x); }
  std::string requirement() const { return count_requirement; }
  // its variance hardly depends on the rate
  double stabilised(double x, double) const { return 2 * std::sqrt(x); }
  static double log_carrier(double x) { return -log_factorial(x); }

  static std::array<double, 2> statistic(double x) { return {x, 1}; }
  static double weight(const double *s) { return s[1]; }
  static void maximise(const double *s, const ColumnBounds &bounds, double *point) {
    point[0] = std::max(s[0] / s[1], bounds.minimum);
  }

  void default_prior(double mean, double, double, double *prior) const {
    prior[0] = 1;
    prior[1] = mean > 0 ? 1 / mean : 1;
  }
  static constexpr const char *mode_requirement = "shape must be at least 1";
  bool has_mode(const double *prior) const { return prior[0] >= 1; }
  double mean(const double *point) const { return point[0]; }
  double variance(const double *point) const { return point[0]; }
  bool allowed_mean(double x) const { return x >= 0; }
  double sample(const double *point, Random &random) const { return count(point[0], random); }
  double log_overlap(const double *one, const double *other) const {
    const double difference = std::sqrt(one[0]) - std::sqrt(other[0]);
    return -0.5 * difference * difference;
  }
  double predictive_mean(const double *q) const { return q[0] / q[1]; }
  double predictive_variance(const double *q) const { return q[0] / q[1] * (1 + 1 / q[1]); }
  Predicted predicted(const double *point) const { return {Predicted::Kind::poisson, point[0]}; }
  Predicted predictive(const double *q) const {
    return {Predicted::Kind::negative_binomial, q[0], q[1]};
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
    const T z = shape + x, log_z = lane_log(z), ratio = x / shape, one = 1.0 + ratio;
    const T slack = one - 1.0,
            log_one = slack == 0.0 ? ratio : lane_log(one) * (ratio / (slack == 0.0 ? one : slack));
    const T difference = (shape - 0.5) * log_one + x * log_z - x + remainder(z) - remainder(shape);
    const T direct = (z - 0.5) * log_z - z + half_log_two_pi + remainder(z) - log_gamma_shape;
    return shape < series_from ? direct : difference;
  }

  /// A Poisson draw. Large rates are reduced by exact steps: the waiting time for m events is
  /// gamma; if it exceeds the rate, the number of earlier events is binomial (Ahrens and Dieter
  /// 1974).
  static double count(double rate, Random &random) {
    double events = 0;
    while (rate > 16) {
      const double m = std::floor(rate * 7 / 8), wait = random.gamma(m);
      if (wait > rate) return events + binomial(m - 1, rate / wait, random);
      events += m;
      rate -= wait;
    }
    double product = random.uniform();
    for (const double end = std::exp(-rate); product > end; product *= random.uniform()) ++events;
    return events;
  }

  /// A binomial draw, n halved by order statistics, which are beta.
  static double binomial(double n, double p, Random &random) {
    double successes = 0;
    while (n > 16) {
      const double middle = std::floor(n / 2) + 1, at = random.beta(middle, n + 1 - middle);
      if (at <= p) {
        successes += middle;
        n -= middle;
        p = (p - at) / (1 - at);
      } else {
        n = middle - 1;
        p /= at;
      }
    }
    for (double i = 0; i < n; ++i) successes += random.uniform() < p;
    return successes;
  }
};

}  // namespace bayes
