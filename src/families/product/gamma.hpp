// A column of positive amounts or waiting times: x ~ Gamma(shape, rate), density rate^shape
// x^(shape - 1) exp(-rate x) / Gamma(shape), with known shape and rate ~ Gamma(shape, rate)
// (gamma_rate.hpp). With shape 1 it is exponential.
//
// Statistics: shape times the weight of the rows, weighted sum of x, bounds of rounding errors.
#pragma once

#include <string>

#include "base/incomplete.hpp"
#include "families/product/gamma_rate.hpp"

namespace bayes {

struct Gamma final : GammaRate<Gamma> {
  static constexpr const char *name = "gamma";
  static constexpr std::array<KnownParameter, 1> known_parameters = {
      {{.key = "shape", .low = 0, .high = 1e9, .low_open = true, .whole = false}}};
  static constexpr bool has_carrier = true, needs_variance = true;

  explicit Gamma(double shape = 1)
      : shape_(shape),
        log_gamma_(log_gamma(shape)),
        deviation_(std::sqrt(trigamma(shape))) {}

  bool allowed(double x) const override { return x > 0; }
  std::string requirement() const override { return "a number greater than 0"; }
  /// Logarithms have a variance that only depends on the shape; differences below a hundredth of a
  /// typical value mean little.
  double stabilised(double x, double variance) const override {
    return std::log(x / std::sqrt(variance) + 0.01) / deviation_;
  }
  double log_carrier(double x) const override {
    return x > 0 ? (shape_ - 1) * simd::log(simd::all(std::max(x, smallest)))[0] - log_gamma_ : 0;
  }
  void add_carriers(const double *x, double *out) const {
    for (int b = 0; b < block_rows; b += simd::lanes) {
      const simd::Vector at = simd::load(x + b);
      const simd::Vector log = simd::log(simd::max(at, simd::all(smallest)));
      simd::store(out + b, simd::load(out + b) +
                               (at > 0.0 ? (shape_ - 1) * log - log_gamma_ : simd::Vector{}));
    }
  }

  std::array<double, 2> statistic(double x) const { return {shape_, x}; }
  double weight(const double *s) const { return s[0] / shape_; }
  void maximise(const double *s, const ColumnBounds &bounds, double *point) const {
    point[0] = 1 / std::max(s[1] / s[0], min_mean(bounds) / shape_);
  }
  bool at_bound(const double *point, const ColumnBounds &bounds) const override {
    return mean(point) <= 1.001 * min_mean(bounds);
  }

  /// Means shape / rate have the mean of the column as mean and standard deviation.
  void default_prior(double mean, double, double, double *prior) const override {
    prior[0] = 3;
    prior[1] = mean > 0 ? 2 * mean / shape_ : 2;
  }
  // otherwise the mode may be a rate of 0, which is not a distribution
  static constexpr const char *mode_requirement = "shape must be above 1";
  bool has_mode(const double *prior) const override { return prior[0] > 1; }
  /// Rates have a unit, so no absolute bound applies to them.
  void maximum_posterior(const double *s, const double *prior, double *point) const override {
    point[0] = (prior[0] - 1 + s[0]) / (prior[1] + s[1]);
  }
  double mean(const double *point) const override { return shape_ / point[0]; }
  double variance(const double *point) const override { return shape_ / (point[0] * point[0]); }
  bool allowed_mean(double x) const override { return x > 0; }
  double sample(const double *point, Random &random) const override {
    return std::max(smallest, random.gamma(shape_) / point[0]);
  }
  /// For points of columns with the same shape.
  double log_overlap(const double *one, const double *other) const override {
    const double ratio = 0.5 * (std::log(one[0]) - std::log(other[0]));
    return -shape_ * std::log(std::cosh(ratio));
  }
  double predictive_mean(const double *q) const override {
    return q[0] > 1 ? shape_ * q[1] / (q[0] - 1) : std::numeric_limits<double>::infinity();
  }
  double predictive_variance(const double *q) const override {
    const double each = q[1] / (q[0] - 1);
    return q[0] > 2 ? shape_ * (shape_ + q[0] - 1) / (q[0] - 2) * each * each
                    : std::numeric_limits<double>::infinity();
  }
  Predicted predicted(const double *point) const override {
    return {Predicted::Support::positive,
            [](const Predicted &of, double x) { return gamma_below(of.a, of.b * x); }, shape_,
            point[0]};
  }
  /// Beta prime, times the rate of the posterior.
  Predicted predictive(const double *q) const override {
    return {Predicted::Support::positive,
            [](const Predicted &of, double x) { return beta_below(of.c, of.a, x / (x + of.b)); },
            q[0], q[1], shape_};
  }

 private:
  static constexpr double smallest = std::numeric_limits<double>::min();
  static double min_mean(const ColumnBounds &bounds) {
    return bounds.minimum * std::sqrt(bounds.variance);
  }

  double shape_, log_gamma_, deviation_;  // deviation_: of the logarithm of a value
};

}  // namespace bayes
