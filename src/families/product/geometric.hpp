// A column of failures before the first success: x ~ Geometric(p), P(x) = p (1 - p)^x, with
// p ~ Beta(a, b) (beta_probability.hpp).
//
// Statistics: weight of the rows, weighted sum of x.
#pragma once

#include <string>

#include "families/product/beta_probability.hpp"

namespace bayes {

struct Geometric final : BetaProbability<Geometric> {
  static constexpr const char *name = "geometric";

  bool allowed(double x) const override { return allowed_count(x); }
  std::string requirement() const override { return count_requirement; }
  // its variance hardly depends on the probability
  double stabilised(double x, double) const override { return std::asinh(std::sqrt(x)); }

  static std::array<double, 2> statistic(double x) { return {1, x}; }
  static double weight(const double *s) { return s[0]; }
  /// log1p: if p is small, 1 - p has lost most of its digits.
  static std::array<double, 2> natural(const double *point) {
    return {finite_log(point[0]), point[0] < 0.5 ? std::log1p(-point[0]) : finite_log(point[1])};
  }
  static void maximise(const double *s, const ColumnBounds &bounds, double *point) {
    const double mean = std::max(s[1] / s[0], bounds.minimum);
    point[0] = 1 / (1 + mean);
    point[1] = mean / (1 + mean);
  }

  /// The mean (1 - p) / p has the mean of the column as mean and about the same standard deviation;
  /// b is at least 1, so that there is a mode.
  void default_prior(double mean, double, double, double *prior) const override {
    prior[0] = 3;
    prior[1] = std::max(1.0, 2 * mean);
  }
  // otherwise the mode may be a probability of 0, which is not a distribution
  static constexpr const char *mode_requirement = "a must be above 1, and b at least 1";
  bool has_mode(const double *prior) const override { return prior[0] > 1 && prior[1] >= 1; }
  double mean(const double *point) const override { return point[1] / point[0]; }
  double variance(const double *point) const override { return point[1] / (point[0] * point[0]); }
  bool allowed_mean(double x) const override { return x >= 0; }
  double sample(const double *point, Random &random) const override {
    return std::min(exact_counts, std::floor(random.exponential() / -natural(point)[1]));
  }
  double log_overlap(const double *one, const double *other) const override {
    const auto a = natural(one), b = natural(other);
    return 0.5 * (a[0] + b[0]) - std::log(-std::expm1(0.5 * (a[1] + b[1])));
  }
  double predictive_mean(const double *q) const override {
    return q[0] > 1 ? q[1] / (q[0] - 1) : std::numeric_limits<double>::infinity();
  }
  double predictive_variance(const double *q) const override {
    return q[0] > 2 ? q[1] * (q[0] + q[1] - 1) * q[0] / ((q[0] - 1) * (q[0] - 1) * (q[0] - 2))
                    : std::numeric_limits<double>::infinity();
  }
  Predicted predicted(const double *point) const override {
    return {Predicted::Support::whole,
            [](const Predicted &of, double n) { return -std::expm1((n + 1) * of.a); },
            natural(point)[1]};
  }
  Predicted predictive(const double *q) const override {
    return {Predicted::Support::whole,
            [](const Predicted &of, double n) {
              return -std::expm1(log_beta(of.a, of.b + n + 1) - log_beta(of.a, of.b));
            },
            q[0], q[1]};
  }
};

}  // namespace bayes
