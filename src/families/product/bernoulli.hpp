// A column of zeros and ones: x ~ Bernoulli(p), p ~ Beta(a, b) (001, 002 L1).
//
// Point: p and 1 - p (which a subtraction would lose where p is near 1). Posterior: a, b.
// Statistics: weight of the ones, weight of the zeros.
#pragma once

#include <array>
#include <string>

#include "base/special.hpp"
#include "families/product/column.hpp"

namespace bayes {

struct Bernoulli {
  static constexpr const char *name = "bernoulli";
  static constexpr std::array<const char *, 1> parameters = {"probability"};
  static constexpr std::array<const char *, 2> prior_keys = {"a", "b"};
  static constexpr bool has_base = false, zero_is_base = true, ordered = false,
                        needs_variance = false, by_value = false, probabilities = true;

  bool allowed(double x) const { return x == 0 || x == 1; }
  std::string requirement() const { return "0 or 1"; }
  double element(double x) const { return x; }
  double value(double x) const { return x; }
  bool plain() const { return true; }
  double place(double x, double) const { return x; }
  static double log_base(double) { return 0; }

  int numbers_of_name() const { return 1; }
  int point_size() const { return 2; }
  int posterior_size() const { return 2; }
  int statistics_size() const { return 2; }
  int term_size() const { return 1; }  // log p - log(1 - p)
  int sum_size() const { return 1; }   // of the ones
  int form_size() const { return 1; }  // log predictive of 1 - that of 0
  int free_parameters() const { return 1; }

  void maximum_likelihood(const double *s, const double *previous, const ColumnBounds &bounds,
                          double *point) const {
    const double n = s[0] + s[1];
    set(n > bounds.least_weight ? std::clamp(s[0] / n, bounds.minimum, 1 - bounds.minimum)
                                : previous[0],
        point);
  }
  void default_prior(double, double, double, double *prior) const { prior[0] = prior[1] = 1; }
  static constexpr const char *mode_requirement = "a and b must be at least 1";
  bool has_mode(const double *prior) const { return prior[0] >= 1 && prior[1] >= 1; }
  void maximum_posterior(const double *s, const double *prior, double *point) const {
    const double ones = s[0] + (prior[0] - 1), zeros = s[1] + (prior[1] - 1);
    set(ones + zeros > 0 ? std::clamp(ones / (ones + zeros), least_mode, 1 - least_mode) : 0.5,
        point);
  }
  double log_prior(const double *point, const double *prior) const {
    double total = -log_beta(prior[0], prior[1]);
    if (prior[0] != 1) total += (prior[0] - 1) * finite_log(point[0]);
    if (prior[1] != 1) total += (prior[1] - 1) * finite_log(point[1]);
    return total;
  }
  void complete(double *point) const { point[1] = 1 - point[0]; }
  bool valid_point(const double *point) const { return point[0] > 0 && point[0] < 1; }
  double mean(const double *point) const { return point[0]; }
  double variance(const double *point) const { return point[0] * point[1]; }
  bool allowed_mean(double x) const { return x >= 0 && x <= 1; }
  void set_mean(double mean, double, double *point) const { set(mean, point); }
  double sample(const double *point, Random &random) const {
    return random.uniform() < point[0] ? 1 : 0;
  }

  void posterior(const double *s, const double *prior, double *q) const {
    q[0] = prior[0] + s[0];
    q[1] = prior[1] + s[1];
  }
  double divergence(const double *q, const double *prior) const {
    const double whole = digamma(q[0] + q[1]);
    return log_beta(prior[0], prior[1]) - log_beta(q[0], q[1]) +
           (q[0] - prior[0]) * (digamma(q[0]) - whole) +
           (q[1] - prior[1]) * (digamma(q[1]) - whole);
  }
  void blend(const double *q, const double *target, double rho, double *out) const {
    for (int i = 0; i < 2; ++i) out[i] = (1 - rho) * q[i] + rho * target[i];
  }
  void point_estimate(const double *q, double *point) const { set(q[0] / (q[0] + q[1]), point); }
  double log_marginal_likelihood(const double *s, const double *prior) const {
    return log_beta(prior[0] + s[0], prior[1] + s[1]) - log_beta(prior[0], prior[1]);
  }
  bool valid_posterior(const double *q) const { return valid_number(q[0]) && valid_number(q[1]); }
  double predictive_mean(const double *q) const { return q[0] / (q[0] + q[1]); }
  double predictive_variance(const double *q) const {
    return predictive_mean(q) * (q[1] / (q[0] + q[1]));
  }
  void deviations(const double *q, double *out) const {
    const double whole = q[0] + q[1];
    out[0] = std::sqrt(q[0] / whole * (q[1] / whole) / (whole + 1));
  }
  void draw(const double *q, Random &random, double *point) const {
    random.dirichlet({q, 2}, {point, 2});
  }

  void scale(double factor, double *s) const {
    s[0] *= factor;
    s[1] *= factor;
  }
  void add(double x, double *s) const { ++s[x == 1 ? 0 : 1]; }
  bool remove(double x, const double *, double *s) const {
    --s[x == 1 ? 0 : 1];
    return true;
  }

  double point_terms(const double *point, double *terms) const {
    const double base = finite_log(point[1]);
    terms[0] = finite_log(point[0]) - base;
    return base;
  }
  double expected_terms(const double *q, double *terms) const {
    const double zero = digamma(q[1]);
    terms[0] = digamma(q[0]) - zero;
    return zero - digamma(q[0] + q[1]);
  }
  double term(const double *terms, double x) const { return x * terms[0]; }
  static void add_terms(std::span<const Bernoulli> columns, const double *const *x,
                        const double *terms, double *out) {
    column_block::add_linear(int(columns.size()), x, terms, out);
  }
  static void add_sums(std::span<const Bernoulli> columns, const double *const *x, const double *,
                       const double *r, double *sums) {
    column_block::add_dots(int(columns.size()), x, r, sums);
  }
  void statistics(double weight, const double *sums, const double *, double *s) const {
    s[0] = std::min(sums[0], weight);
    s[1] = weight - s[0];
  }

  static void predictive_forms(std::span<const Bernoulli> columns, const double *q, double *forms,
                               double *bases) {
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
        bases[first + i] = odds[2 * i + 1] - whole[i];
      }
    }
  }
  // of x = 1: zeros are all base
  template <class Form> static auto predictive_term(Form form, double) { return form(0); }

 private:
  void set(double p, double *point) const {
    point[0] = p;
    complete(point);
  }
};

}  // namespace bayes
