// A column of successes among a known number of trials: x ~ Binomial(trials, p), P(x) = C(trials,
// x) p^x (1 - p)^(trials - x), with p ~ Beta(a, b) (beta_probability.hpp). With one trial it is
// Bernoulli.
//
// Statistics: weighted sums of successes and of failures.
#pragma once

#include <numbers>
#include <string>

#include "base/incomplete.hpp"
#include "base/message.hpp"
#include "families/product/beta_probability.hpp"
#include "families/product/counts.hpp"

namespace bayes {

struct Binomial final : SuccessProbability<Binomial> {
  static constexpr const char *name = "binomial";
  static constexpr std::array<KnownParameter, 1> known_parameters = {
      {{.key = "trials", .low = 1, .high = 1e6, .low_open = false, .whole = true}}};
  static constexpr bool has_carrier = true;

  explicit Binomial(double trials = 1) : trials_(trials) {}

  bool allowed(double x) const override { return allowed_count(x) && x <= trials_; }
  std::string requirement() const override {
    return message("a whole number from 0 to {}, the number of trials", std::int64_t(trials_));
  }
  // its variance hardly depends on the probability
  double stabilised(double x, double) const override {
    return std::sqrt(2 * trials_) * std::asin(std::sqrt(x / trials_));
  }
  double log_carrier(double x) const override {
    return carriers_.at(x, [&] { return log_choose(trials_, x); });
  }

  std::array<double, 2> statistic(double x) const { return {x, trials_ - x}; }
  double weight(const double *s) const { return (s[0] + s[1]) / trials_; }

  double mean(const double *point) const override { return trials_ * point[0]; }
  double variance(const double *point) const override { return trials_ * point[0] * point[1]; }
  bool allowed_mean(double x) const override { return x >= 0 && x <= trials_; }
  void set_mean(double mean, double, double *point) const override {
    point[0] = mean / trials_;
    complete(point);
  }
  double sample(const double *point, Random &random) const override {
    return binomial_variate(trials_, point[0], random);
  }
  /// For points of columns with the same number of trials.
  double log_overlap(const double *one, const double *other) const override {
    return trials_ * std::log(std::sqrt(one[0] * other[0]) + std::sqrt(one[1] * other[1]));
  }
  double predictive_mean(const double *q) const override {
    return trials_ * (q[0] / (q[0] + q[1]));
  }
  double predictive_variance(const double *q) const override {
    const double whole = q[0] + q[1];
    return trials_ * (q[0] / whole) * (q[1] / whole) * ((whole + trials_) / (whole + 1));
  }
  Predicted predicted(const double *point) const override {
    return {Predicted::Support::whole,
            [](const Predicted &of, double n) {
              return n >= of.a ? 1 : beta_above(n + 1, of.a - n, of.b);
            },
            trials_, point[0]};
  }
  Predicted predictive(const double *q) const override {
    return {Predicted::Support::whole, beta_binomial_below, q[0], q[1], trials_};
  }

 private:
  static double log_choose(double n, double x) {
    return x > 0 && x < n ? -log_beta(x + 1, n - x + 1) - std::log1p(n) : 0;
  }
  static double beta_binomial_below(const Predicted &of, double n) {
    const double a = of.a, b = of.b, trials = of.c;
    if (n >= trials) return 1;
    // without a mode between the ends the masses differ little
    const double mode = a + b > 2 ? (trials * (a - 1) + 1 - b) / (a + b - 2) : 0;
    return sum_of_masses(
        n, std::clamp(std::ceil(mode), 0.0, trials),
        [&](double x) {
          return log_choose(trials, x) + log_beta(a + x, b + trials - x) - log_beta(a, b);
        },
        [&](double x) { return (trials - x) / (x + 1) * ((a + x) / (b + trials - x - 1)); });
  }

  double trials_;
  CarrierTable carriers_;
};

}  // namespace bayes
