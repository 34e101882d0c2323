// A column of counts that vary more than Poisson's: failures before the size-th success, x ~
// NegativeBinomial(size, p), P(x) = Gamma(x + size) / (Gamma(size) x!) p^size (1 - p)^x, with known
// size > 0, whole or not, and p ~ Beta(a, b) (beta_probability.hpp). With size 1 it is geometric.
//
// Statistics: size times the weight of the rows, weighted sum of x, bounds of rounding errors.
#pragma once

#include <string>

#include "base/incomplete.hpp"
#include "families/product/beta_probability.hpp"
#include "families/product/counts.hpp"

namespace bayes {

struct NegativeBinomial final : BetaProbability<NegativeBinomial> {
  static constexpr const char *name = "negative_binomial";
  static constexpr std::array<KnownParameter, 1> known_parameters = {
      {{.key = "size", .low = 0, .high = 1e9, .low_open = true, .whole = false}}};
  static constexpr bool has_carrier = true, whole = false;

  explicit NegativeBinomial(double size = 1) : size_(size), deviation_(std::sqrt(trigamma(size))) {}

  bool allowed(double x) const override { return allowed_count(x); }
  std::string requirement() const override { return count_requirement; }
  /// Like a logarithm where the gamma distribution of the Poisson rate dominates the variance, and
  /// like the square root, as for Poisson, if size is large.
  double stabilised(double x, double) const override {
    return 2 / deviation_ * std::asinh(std::sqrt(x / size_));
  }
  double log_carrier(double x) const override {
    return carriers_.at(
        x, [&] { return x > 0 ? -log_beta(size_, x + 1) - std::log(x + size_) : 0.0; });
  }

  std::array<double, 2> statistic(double x) const { return {size_, x}; }
  double weight(const double *s) const { return s[0] / size_; }
  /// log1p: if p is small, 1 - p has lost most of its digits.
  static std::array<double, 2> natural(const double *point) {
    return {finite_log(point[0]), point[0] < 0.5 ? std::log1p(-point[0]) : finite_log(point[1])};
  }
  void maximise(const double *s, const ColumnBounds &bounds, double *point) const {
    const double odds = std::max(s[1] / s[0], bounds.minimum / size_);  // the mean over size
    point[0] = 1 / (1 + odds);
    complete(point);  // as for a stored model, which has p only
  }

  /// Under the prior, means size (1 - p) / p have the mean of the column as mean, and about the
  /// same standard deviation unless this is small; b is at least 1, so that there is a mode.
  void default_prior(double mean, double, double, double *prior) const override {
    const double each = std::max(mean, 1e-6) / size_;
    prior[1] = std::max(1.0, 2 * each);
    prior[0] = 1 + prior[1] / each;
  }
  // otherwise the mode may be a probability of 0, which is not a distribution
  static constexpr const char *mode_requirement = "a must be above 1, and b at least 1";
  bool has_mode(const double *prior) const override { return prior[0] > 1 && prior[1] >= 1; }
  double mean(const double *point) const override { return size_ * point[1] / point[0]; }
  double variance(const double *point) const override {
    return size_ * point[1] / (point[0] * point[0]);
  }
  bool allowed_mean(double x) const override { return x >= 0; }
  /// A Poisson draw whose rate is a gamma draw.
  double sample(const double *point, Random &random) const override {
    const double rate = random.gamma(size_) * point[1] / point[0];
    return rate < exact_counts ? std::min(exact_counts, poisson_variate(rate, random))
                               : exact_counts;
  }
  /// For points of columns with the same size.
  double log_overlap(const double *one, const double *other) const override {
    const auto a = natural(one), b = natural(other);
    return size_ * (0.5 * (a[0] + b[0]) - std::log(-std::expm1(0.5 * (a[1] + b[1]))));
  }
  double predictive_mean(const double *q) const override {
    return q[0] > 1 ? size_ * q[1] / (q[0] - 1) : std::numeric_limits<double>::infinity();
  }
  double predictive_variance(const double *q) const override {
    const double a = q[0], b = q[1];
    return a > 2 ? size_ * b * ((a + b - 1) / (a - 1)) * ((a + size_ - 1) / (a - 1)) / (a - 2)
                 : std::numeric_limits<double>::infinity();
  }
  Predicted predicted(const double *point) const override {
    return {Predicted::Support::whole,
            [](const Predicted &of, double n) { return beta_above(n + 1, of.a, of.b); }, size_,
            point[1]};
  }
  Predicted predictive(const double *q) const override {
    return {Predicted::Support::whole, beta_negative_binomial_below, q[0], q[1], size_};
  }

 private:
  static double beta_negative_binomial_below(const Predicted &of, double n) {
    const double a = of.a, b = of.b, r = of.c, mode = ((r - 1) * b - r - a) / (a + 1);
    return sum_of_masses(
        n, std::max(0.0, std::ceil(mode)),
        [&](double x) {
          const double chosen = x > 0 ? -log_beta(r, x + 1) - std::log(x + r) : 0;
          return chosen + log_beta(a + r, b + x) - log_beta(a, b);
        },
        [&](double x) { return (x + r) / (x + 1) * ((x + b) / (x + r + a + b)); });
  }

  double size_, deviation_;  // deviation_: of the logarithm of a gamma variate of shape size
  CarrierTable carriers_;
};

}  // namespace bayes
