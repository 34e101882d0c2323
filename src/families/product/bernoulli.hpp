// A column of zeros and ones: x ~ Bernoulli(p), p ~ Beta(a, b) (001, 002 L1; beta_probability.hpp).
//
// Statistics: weight of the ones, weight of the zeros.
#pragma once

#include <string>

#include "families/product/beta_probability.hpp"

namespace bayes {

struct Bernoulli final : SuccessProbability<Bernoulli> {
  static constexpr const char *name = "bernoulli";
  static constexpr bool zero_is_constant = true, ordered = false, probabilities = true;

  bool allowed(double x) const override { return x == 0 || x == 1; }
  std::string requirement() const override { return "0 or 1"; }
  double stabilised(double x, double) const override { return x; }

  static std::array<double, 2> statistic(double x) { return {x, 1 - x}; }
  static double weight(const double *s) { return s[0] + s[1]; }

  double mean(const double *point) const override { return point[0]; }
  double variance(const double *point) const override { return point[0] * point[1]; }
  bool allowed_mean(double x) const override { return x >= 0 && x <= 1; }
  void set_mean(double mean, double, double *point) const override {
    point[0] = mean;
    complete(point);
  }
  double sample(const double *point, Random &random) const override {
    return random.uniform() < point[0] ? 1 : 0;
  }
  double log_overlap(const double *one, const double *other) const override {
    return std::log(std::sqrt(one[0] * other[0]) + std::sqrt(one[1] * other[1]));
  }
  double predictive_mean(const double *q) const override { return q[0] / (q[0] + q[1]); }
  double predictive_variance(const double *q) const override {
    return predictive_mean(q) * (q[1] / (q[0] + q[1]));
  }
  Predicted predicted(const double *point) const override { return coin(point[0]); }
  Predicted predictive(const double *q) const override { return coin(predictive_mean(q)); }

  /// The digammas of a + b cancel in the difference.
  double expected_terms(const double *q, double *terms) const override {
    const double zero = digamma(q[1]);
    terms[0] = digamma(q[0]) - zero;
    return zero - digamma(q[0] + q[1]);
  }
  void statistics(double weight, const double *sums, const double *, double *s) const override {
    s[0] = std::min(sums[0], weight);
    s[1] = weight - s[0];
  }

  int form_size() const { return 1; }  // log predictive probability of 1 minus that of 0
  static void predictive_forms(std::span<const Bernoulli> columns, const double *q, double *forms,
                               double *constants) {
    constexpr int group = 64;
    double odds[2 * group], whole[group];
    for (int first = 0; first < int(columns.size()); first += group) {
      const int n = std::min(group, int(columns.size()) - first);
      const double *const at = q + 2 * first;
      log_all(2 * n, at, odds);
      for (int i = 0; i < n; ++i) whole[i] = at[2 * i] + at[2 * i + 1];
      log_all(n, whole, whole);
      for (int i = 0; i < n; ++i) {
        forms[first + i] = odds[2 * i] - odds[2 * i + 1];
        constants[first + i] = odds[2 * i + 1] - whole[i];
      }
    }
  }
  // for x = 1: the constant covers zeros
  template <class Form> static auto predictive_term(Form form, double) { return form(0); }

 private:
  /// 1 with this probability
  static Predicted coin(double probability) {
    return {Predicted::Support::whole,
            [](const Predicted &of, double n) { return n < 1 ? 1 - of.a : 1; }, probability};
  }
};

}  // namespace bayes
