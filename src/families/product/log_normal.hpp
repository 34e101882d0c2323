// A column of positive measurements whose logarithms are normal: log x ~ N(mean, variance), with
// the prior of a normal column (univariate_normal.hpp).
//
// Elements are logarithms; h = -log x.
#pragma once

#include <string>

#include "base/incomplete.hpp"
#include "families/product/univariate_normal.hpp"

namespace bayes {

struct LogNormal final : NormalElements<LogNormal> {
  static constexpr const char *name = "log_normal";
  static constexpr bool has_carrier = true;

  bool allowed(double x) const override { return x > 0; }
  std::string requirement() const override { return "a number greater than 0"; }
  double element(double x) const override {
    return simd::log(simd::all(std::max(x, std::numeric_limits<double>::min())))[0];
  }
  double value(double y) const override {
    return std::clamp(std::exp(y), std::numeric_limits<double>::min(),
                      std::numeric_limits<double>::max());
  }
  bool plain() const { return false; }
  void elements(const double *x, double *out) const {
    for (int b = 0; b < block_rows; b += simd::lanes) {
      const simd::Vector at = simd::load(x + b);
      // padding of the last block and missing values get element 0
      simd::store(out + b,
                  at > 0.0 ? simd::log(simd::max(at, simd::all(std::numeric_limits<double>::min())))
                           : simd::Vector{});
    }
  }
  double log_carrier(double y) const override { return -y; }

  double mean(const double *point) const override { return std::exp(point[0] + point[1] / 2); }
  double variance(const double *point) const override {
    return std::expm1(point[1]) * std::exp(2 * point[0] + point[1]);
  }
  double element_mean(const double *point) const override { return point[0]; }
  double element_variance(const double *point) const override { return point[1]; }
  bool allowed_mean(double x) const override { return x > 0; }
  void set_mean(double mean, double, double *point) const override {
    point[0] = std::log(mean) - point[1] / 2;
  }
  /// Log Student t: no moment exists.
  double predictive_mean(const double *) const override {
    return std::numeric_limits<double>::infinity();
  }
  double predictive_variance(const double *) const override {
    return std::numeric_limits<double>::infinity();
  }
  Predicted predicted(const double *point) const override {
    return {Predicted::Support::positive,
            [](const Predicted &of, double x) { return normal_below((std::log(x) - of.a) / of.b); },
            point[0], std::sqrt(point[1])};
  }
  Predicted predictive(const double *q) const override {
    return {Predicted::Support::positive,
            [](const Predicted &of, double x) {
              return student_below(of.c, (std::log(x) - of.a) / of.b);
            },
            q[0], predictive_scale(q), q[2]};
  }
};

}  // namespace bayes
