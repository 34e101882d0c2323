// A column of measurements: x ~ N(mean, variance), with the conjugate normal-Wishart prior of
// normal_wishart.hpp in one dimension: precision Lambda ~ Wishart_1(a, B), that is Gamma(a/2, rate
// B/2), mean | Lambda ~ N(m, (c Lambda)^-1) (000, 002 L10 eqs. 20, 22). Columns of a row are
// independent: a diagonal covariance.
//
// Point: mean, variance. Posterior: m, c, a, B. Statistics: weight of the rows, mean, scatter about
// the mean, bound of the scatter's rounding error.
#pragma once

#include <array>
#include <numbers>
#include <string>

#include "base/special.hpp"
#include "families/product/conjugate_column.hpp"

namespace bayes {

/// Families F whose elements are normal.
template <class F> struct NormalElements : ColumnDefaults<F> {
  static constexpr std::array<const char *, 2> parameters = {"mean", "variance"};
  static constexpr std::array<const char *, 4> prior_keys = {"m", "c", "a", "B"};
  static constexpr bool needs_variance = true;

  double stabilised(double x, double variance) const override {
    return x / std::sqrt(2 * variance);
  }

  int statistics_size() const { return 4; }
  int term_size() const { return 2; }  // centre, half the precision
  int sum_size() const { return 2; }   // of y and y^2, y = x - centre
  int form_size() const { return 3; }  // m, c / ((c + 1) B), (a + 1) / 2

  void maximum_likelihood(const double *s, const double *previous, const ColumnBounds &bounds,
                          double *point) const override {
    const bool alive = s[0] > bounds.least_weight;
    point[0] = alive ? s[1] : previous[0];
    point[1] = alive ? std::max(s[2] / s[0], bounds.minimum * bounds.variance) : previous[1];
  }
  bool at_bound(const double *point, const ColumnBounds &bounds) const override {
    return point[1] <= 1.001 * bounds.minimum * bounds.variance;
  }
  void default_prior(double mean, double variance, double share, double *prior) const override {
    prior[0] = mean;
    prior[1] = 0.01;
    prior[2] = 3;
    prior[3] = variance * share;
  }
  static constexpr const char *mode_requirement = "a must be above 1";
  bool has_mode(const double *prior) const override { return prior[2] > 1; }
  /// The joint mode of mean and precision.
  void maximum_posterior(const double *s, const double *prior, double *point) const override {
    double q[4];
    posterior(s, prior, q);
    point[0] = q[0];
    point[1] = q[3] / (q[2] - 1);
  }
  /// A density of the mean and the precision.
  double log_prior(const double *point, const double *prior) const override {
    const auto [m, c, a, b] = std::array{prior[0], prior[1], prior[2], prior[3]};
    const double away = point[0] - m;
    return log_normaliser(a, b) - (a - 2) / 2 * std::log(point[1]) - b / (2 * point[1]) +
           0.5 * (std::log(c / (2 * std::numbers::pi)) - std::log(point[1]) -
                  c * away * away / point[1]);
  }
  bool valid_point(const double *point) const override {
    return valid_number(point[1]) && std::abs(point[0]) <= largest_number;
  }
  double log_overlap(const double *one, const double *other) const override {
    const double both = one[1] + other[1], away = one[0] - other[0];
    return 0.25 * (std::log(4 * one[1] / both) + std::log(other[1] / both)) -
           0.25 * away * away / both;
  }
  double sample(const double *point, Random &random) const override {
    return point[0] + std::sqrt(point[1]) * random.normal();
  }

  void posterior(const double *s, const double *prior, double *q) const override {
    const double n = s[0], c = prior[1], away = s[1] - prior[0];
    q[0] = prior[0] + (n > 0 ? n / (c + n) * away : 0);
    q[1] = c + n;
    q[2] = prior[2] + n;
    q[3] = prior[3] + s[2] + (n > 0 ? c * n / (c + n) * away * away : 0);
  }
  double divergence(const double *q, const double *prior) const override {
    const double ratio = prior[1] / q[1], away = q[0] - prior[0];
    return (q[2] - prior[2]) / 2 * expected_log_precision(q) + q[2] / 2 * (prior[3] / q[3] - 1) +
           log_normaliser(q[2], q[3]) - log_normaliser(prior[2], prior[3]) +
           0.5 * (ratio - 1 - std::log(ratio) + prior[1] * q[2] / q[3] * away * away);
  }
  /// Averages of c, c m, a and B + c m^2, the last taken about the new mean so that no digits
  /// cancel.
  void natural_gradient_step(const double *q, const double *target, double rho,
                             double *out) const override {
    const double c1 = (1 - rho) * q[1], c2 = rho * target[1], c = c1 + c2,
                 difference = target[0] - q[0];
    out[0] = q[0] + c2 / c * difference;
    out[2] = (1 - rho) * q[2] + rho * target[2];
    out[3] = (1 - rho) * q[3] + rho * target[3] + c1 * c2 / c * difference * difference;
    out[1] = c;
  }
  void point_estimate(const double *q, double *point) const override {
    point[0] = q[0];
    point[1] = q[3] / q[2];
  }
  double log_marginal_likelihood(const double *s, const double *prior) const override {
    double q[4];
    posterior(s, prior, q);
    return log_normaliser(prior[2], prior[3]) - log_normaliser(q[2], q[3]) +
           0.5 * (std::log(prior[1] / q[1]) - s[0] * std::log(2 * std::numbers::pi));
  }
  bool valid_posterior(const double *q) const override {
    return std::abs(q[0]) <= largest_number && valid_number(q[1]) && valid_number(q[2]) &&
           valid_number(q[3]) && valid_number(q[3] / q[2]) &&
           valid_number(q[1] / ((q[1] + 1) * q[3]));
  }
  /// For the mean, which is Student t, and the variance, which is inverse gamma; NaN where
  /// infinite.
  void deviations(const double *q, double *out) const override {
    const double none = std::numeric_limits<double>::quiet_NaN();
    out[0] = q[2] > 2 ? std::sqrt(q[3] / (q[1] * (q[2] - 2))) : none;
    out[1] = q[2] > 4 ? q[3] / (q[2] - 2) * std::sqrt(2 / (q[2] - 4)) : none;
  }
  void marginals(const double *q, Marginal *out) const override {
    out[0] = {Marginal::Kind::student, q[2], std::sqrt(q[3] / q[1] / q[2]), q[0]};
    out[1] = {Marginal::Kind::root, q[2], q[3]};
  }
  // With y = mean - O, O the origin of locations, eta is c (m - O), c, a, B + c (m - O)^2, and phi
  // is Lambda y, -Lambda y^2 / 2, log(Lambda) / 2, -Lambda / 2. With O = m, c Lambda y^2 is
  // chi-square for every Lambda.
  void natural_parameters(const double *q, const double *about, double *out) const override {
    const double away = q[0] - about[0];
    out[0] = q[1] * away;
    out[1] = q[1];
    out[2] = q[2];
    out[3] = q[3] + q[1] * away * away;
  }
  void from_natural_parameters(const double *natural, const double *about,
                               double *q) const override {
    const double away = natural[0] / natural[1];
    q[0] = about[0] + away;
    q[1] = natural[1];
    q[2] = natural[2];
    q[3] = natural[3] - natural[0] * away;
  }
  void covariances(const double *q, double *phi, double *named) const override {
    const double c = q[1], a = q[2], b = q[3];
    std::fill_n(phi, 16, 0.0);
    phi[0] = a / b / c;
    phi[5] = 0.5 / c / c;
    phi[10] = trigamma(a / 2) / 4;
    phi[11] = phi[14] = -0.5 / b;
    phi[15] = a / 2 / b / b;
    std::fill_n(named, 8, 0.0);
    named[0] = 1 / c;
    named[6] = -b / (a - 2) / (a - 2);
    named[7] = 1 / (a - 2);
  }
  void draw(const double *q, Random &random, double *point) const override {
    point[1] =
        std::clamp(q[3] / random.chi_square(q[2]), std::numeric_limits<double>::min(), 1e300);
    point[0] = q[0] + std::sqrt(point[1] / q[1]) * random.normal();
  }

  void scale(double factor, double *s) const override {
    s[0] *= factor;
    s[2] *= factor;
  }
  void add(double x, double *s) const override {
    const double away = x - s[1];
    ++s[0];
    s[1] += away / s[0];
    s[2] += away * (x - s[1]);
    s[3] += rounding * s[2];
  }
  void add(double x, double weight, double *s) const override {
    const double away = x - s[1];
    s[0] += weight;
    s[1] += weight / s[0] * away;
    s[2] += weight * away * (x - s[1]);
  }
  double log_likelihood(const double *point, const double *s) const override {
    const double away = s[1] - point[0];
    return -0.5 * (s[0] * std::log(2 * std::numbers::pi * point[1]) +
                   (s[2] + s[0] * away * away) / point[1]);
  }
  void merge(const double *other, double *s) const override {
    if (!(other[0] > 0)) return;
    const double whole = s[0] + other[0], away = other[1] - s[1];
    s[1] += other[0] / whole * away;
    s[2] += other[2] + s[0] * (other[0] / whole) * away * away;
    s[3] += other[3];
    s[0] = whole;
  }
  /// The mean may be negative.
  bool valid_statistics(const double *s) const override {
    return s[0] >= 0 && s[1] == s[1] && s[2] >= 0 && s[3] >= 0;
  }
  bool remove(double x, const double *prior, double *s) const override {
    const double away = x - s[1];
    s[3] += rounding * s[2];
    if (--s[0] > 0) {
      s[1] -= away / s[0];
      s[2] -= away * (x - s[1]);
    } else {
      s[1] = s[2] = s[3] = 0;
    }
    // Is the scatter's rounding error small relative to B, of which the scatter is a part?
    const bool sound = s[3] <= 1e-7 * (prior[3] + s[2]) && s[2] >= -s[3] - rounding * prior[3];
    s[2] = std::max(0.0, s[2]);
    return sound;
  }

  double point_terms(const double *point, double *terms) const override {
    terms[0] = point[0];
    terms[1] = 0.5 / point[1];
    return -0.5 * std::log(2 * std::numbers::pi * point[1]);
  }
  double expected_terms(const double *q, double *terms) const override {
    terms[0] = q[0];
    terms[1] = 0.5 * q[2] / q[3];
    return 0.5 * (expected_log_precision(q) - std::log(2 * std::numbers::pi) - 1 / q[1]);
  }
  double term(const double *terms, double x) const override {
    return -terms[1] * (x - terms[0]) * (x - terms[0]);
  }
  static void add_terms(std::span<const F> columns, const double *const *x, const double *terms,
                        double *out) {
    using simd::lanes;
    constexpr int group = 4;
    for (int first = 0; first < block_rows; first += group * lanes) {
      simd::Vector sum[group] = {};
      for (std::size_t c = 0; c < columns.size(); ++c) {
        const simd::Vector centre = simd::all(terms[2 * c]), half = simd::all(terms[2 * c + 1]);
#pragma GCC unroll 4
        for (int v = 0; v < group; ++v) {
          const simd::Vector y = simd::load(x[c] + first + v * lanes) - centre;
          sum[v] = simd::madd(half * y, y, sum[v]);
        }
      }
#pragma GCC unroll 4
      for (int v = 0; v < group; ++v)
        simd::store(out + first + v * lanes, simd::load(out + first + v * lanes) - sum[v]);
    }
  }
  static void add_sums(std::span<const F> columns, const double *const *x, const double *terms,
                       const double *r, double *sums) {
    using simd::sum_lanes;
    for (std::size_t c = 0; c < columns.size(); ++c, sums += 2 * sum_lanes) {
      const simd::Vector centre = simd::all(terms[2 * c]);
      for (int at = 0; at < sum_lanes; at += simd::lanes) {
        simd::Vector first[2] = {simd::load(sums + at)},
                     second[2] = {simd::load(sums + sum_lanes + at)};
        for (int b = at; b < block_rows; b += 2 * sum_lanes)
#pragma GCC unroll 2
          for (int i = 0; i < 2; ++i) {
            const simd::Vector y = simd::load(x[c] + b + i * sum_lanes) - centre,
                               weighted = simd::load(r + b + i * sum_lanes) * y;
            first[i] += weighted;
            second[i] = simd::madd(weighted, y, second[i]);
          }
        simd::store(sums + at, first[0] + first[1]);
        simd::store(sums + sum_lanes + at, second[0] + second[1]);
      }
    }
  }
  /// Shift from the scorer's centre to the rows' own mean: sum (x - mean)^2 = sum y^2 - n (mean -
  /// centre)^2.
  void statistics(double weight, const double *sums, const double *terms,
                  double *s) const override {
    const double shift = weight > 0 ? sums[0] / weight : 0;
    s[0] = weight;
    s[1] = terms[0] + shift;
    s[2] = std::max(0.0, sums[1] - weight * shift * shift);
    s[3] = 0;
  }

  // The predictive is a Student t: Gamma((a + 1) / 2) / (Gamma(a / 2) Gamma(1 / 2)) sqrt(w) (1 + w
  // (x - m)^2)^-(a + 1)/2, w = c / ((c + 1) B), which is 1 / (a times the squared scale). Heavy
  // rows can make a larger than the number of rows.
  static void predictive_forms(std::span<const F> columns, const double *q, double *forms,
                               double *constants) {
    double a = -1, constant = 0;
    for (std::size_t i = 0; i < columns.size(); ++i, q += 4, forms += 3) {
      const double degrees = std::min(q[2], max_degrees);
      if (degrees != a) {
        a = degrees;
        constant = -log_beta(a / 2, 0.5);
      }
      forms[0] = q[0];
      forms[1] = q[1] / ((q[1] + 1) * q[3]);
      if (q[2] > a) forms[1] *= q[2] / a;
      forms[2] = (a + 1) / 2;
      constants[i] = constant + 0.5 * std::log(forms[1]);
    }
  }
  /// Except for its constant the density is a factor to a negative power, this number of the form.
  static constexpr int predictive_power = 2;
  template <class Form> static auto predictive_factor(Form form, double x) {
    return 1.0 + squared_distance(form, x);
  }
  template <class Form> static auto predictive_term(Form form, double x) {
    const auto square = squared_distance(form, x), power = form(predictive_power);
    return -power * (power > heavy_from ? lane_log1p(square) : lane_log(1.0 + square));
  }

 protected:
  /// The scale of an element's predictive, a Student t about m.
  static double predictive_scale(const double *q) {
    return std::sqrt(q[3] / q[2] * (1 + 1 / q[1]));
  }

 private:
  static constexpr double rounding = std::numeric_limits<double>::epsilon();

  /// in units of the degrees of freedom times the scale
  template <class Form> static auto squared_distance(Form form, double x) {
    const auto y = x - form(0);
    return lane_bounded(y * y * form(1));
  }

  static double expected_log_precision(const double *q) {
    return digamma(q[2] / 2) + std::numbers::ln2 - std::log(q[3]);
  }
  static double log_normaliser(double a, double b) {
    return a / 2 * (std::log(b) - std::numbers::ln2) - log_gamma(a / 2);
  }
};

struct UnivariateNormal final : NormalElements<UnivariateNormal> {
  static constexpr const char *name = "normal";

  bool allowed(double) const override { return true; }
  std::string requirement() const override { return "a number"; }
  double mean(const double *point) const override { return point[0]; }
  double variance(const double *point) const override { return point[1]; }
  bool allowed_mean(double) const override { return true; }
  void set_mean(double mean, double, double *point) const override { point[0] = mean; }
  double predictive_mean(const double *q) const override { return q[0]; }
  double predictive_variance(const double *q) const override {
    return q[2] > 2 ? q[3] / (q[2] - 2) * (1 + 1 / q[1]) : std::numeric_limits<double>::infinity();
  }
  Predicted predicted(const double *point) const override {
    return Predicted::normal(point[0], std::sqrt(point[1]));
  }
  Predicted predictive(const double *q) const override {
    return Predicted::student(q[0], predictive_scale(q), q[2]);
  }
};

}  // namespace bayes
