// Derives most of the column interface of a conjugate family from a few members, so that a new
// family is a short file: see geometric.hpp.
//
// The likelihood of an element is exp(phi . u(x) + h(x)). phi depends on the parameters only and
// has as many numbers as the prior, whose density is exp(phi . (q - offset) - log Z(q)) with q the
// hyperparameters in options. So a row adds u(x) to q, and (002 L2, L7, L8)
//
//   posterior                  q = prior + sum u(x)
//   evidence                   log Z(q) - log Z(prior) + sum h(x)
//   E[phi]                     the gradient of log Z
//   KL(q || p)                 (q - p) . E[phi] - log Z(q) + log Z(p)
//   predictive density of x    log Z(q + u(x)) - log Z(q) + h(x)
//
// A family provides (as static members, unless they depend on known parameters):
//   statistic(x)               u(x), an array of numbers that are not negative
//   weight(s)                  the total weight of rows whose sums of u(x) are s
//   log_normaliser(q)          log Z
//   expected(q)                E[phi], an array
//   natural(point)             phi, an array of finite numbers
//   offset                     an array
//   maximise(s, bounds, point) the point where phi . s is greatest, under bounds
//   covariances(q, phi, named) Cov[phi], the second derivatives of log Z, and Cov[phi, g], the
//                              gradient of E[g], for each named parameter g
// and those members of column.hpp that are missing here. If it can compute a member faster or more
// accurately, it declares that member itself, which hides the one here.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "families/product/column_family.hpp"

namespace bayes {

/// Defaults that fit most families. The traits of the family are static members of F of the same
/// names.
template <class F> struct ColumnDefaults : Column {
  static constexpr bool has_carrier = false, zero_is_constant = false, ordered = true,
                        needs_variance = false, by_value = false, probabilities = false;
  static constexpr std::array<KnownParameter, 0> known_parameters = {};
  static constexpr std::array<Method, 0> unsupported_methods = {};

  ColumnDefaults()
      : Column({F::name, F::mode_requirement, F::parameters, F::prior_keys, F::known_parameters,
                F::unsupported_methods, F::ordered, F::by_value, F::probabilities,
                F::needs_variance}) {}

  int first_disallowed(const double *x, int n) const override {
    for (int i = 0; i < n; ++i)
      if (!self().allowed(x[i]) && !std::isnan(x[i])) return i;
    return n;
  }
  double element(double x) const override { return x; }
  double value(double x) const override { return x; }
  bool plain() const { return true; }
  /// the elements of a block of values; NaN becomes 0
  void elements(const double *x, double *out) const {
    for (int b = 0; b < block_rows; ++b) out[b] = x[b] == x[b] ? self().element(x[b]) : 0;
  }
  double log_carrier(double) const override { return 0; }
  void add_carriers(const double *x, double *out) const {
    for (int b = 0; b < block_rows; ++b) out[b] += self().log_carrier(x[b]);
  }

  int numbers_per_name() const override { return 1; }
  ColumnOffsets size() const override {
    return {self().point_size(), self().posterior_size(), self().statistics_size(),
            self().term_size(),  self().sum_size(),       self().form_size()};
  }
  int point_size() const { return int(F::parameters.size()) * self().numbers_per_name(); }
  int posterior_size() const { return int(F::prior_keys.size()) * self().numbers_per_name(); }
  int free_parameters() const override { return int(F::parameters.size()); }
  void complete(double *) const override {}
  double element_mean(const double *point) const override { return self().mean(point); }
  double element_variance(const double *point) const override { return self().variance(point); }
  /// The default, for families whose densities are probabilities: they are at most 1 even without
  /// bounds.
  bool at_bound(const double *, const ColumnBounds &) const override { return false; }
  bool valid_statistics(const double *s) const override {
    return std::all_of(s, s + self().statistics_size(), [](double v) { return v >= 0; });
  }

  /// For families that the mean determines: the maximum likelihood point of one observation equal
  /// to it.
  void set_mean(double mean, double variance, double *point) const override {
    std::vector<double> one(std::size_t(self().statistics_size()), 0.0);
    self().add(mean, one.data());
    self().maximum_likelihood(one.data(), point, {1e-12, variance, 0}, point);
  }

 protected:
  const F &self() const { return static_cast<const F &>(*this); }
};

/// Families whose posterior is the prior plus sums over rows.
template <class F> struct SummedColumn : ColumnDefaults<F> {
  /// Are the numbers of u(x) whole? Then their sums are exact, and removing a row undoes adding it.
  static constexpr bool whole = false;

  // Statistics: the sums of u(x), followed, unless these are whole, by bounds of their rounding
  // errors.
  int statistics_size() const { return self().posterior_size() * (F::whole ? 1 : 2); }
  int sum_size() const { return self().term_size(); }

  void posterior(const double *s, const double *prior, double *q) const override {
    for (int i = 0; i < self().posterior_size(); ++i) q[i] = prior[i] + s[i];
  }
  void natural_gradient_step(const double *q, const double *target, double rho,
                             double *out) const override {
    for (int i = 0; i < self().posterior_size(); ++i) out[i] = (1 - rho) * q[i] + rho * target[i];
  }
  /// The numbers of the posterior themselves: without locations, the origin does not matter.
  void natural_parameters(const double *q, const double *, double *out) const override {
    std::copy_n(q, self().posterior_size(), out);
  }
  void from_natural_parameters(const double *natural, const double *, double *q) const override {
    std::copy_n(natural, self().posterior_size(), q);
  }
  bool valid_posterior(const double *q) const override {
    return std::all_of(q, q + self().posterior_size(), valid_number);
  }
  void scale(double factor, double *s) const override {
    for (int i = 0; i < self().statistics_size(); ++i) s[i] *= factor;
  }
  void merge(const double *other, double *s) const override {
    for (int i = 0; i < self().statistics_size(); ++i) s[i] += other[i];
  }

 protected:
  using ColumnDefaults<F>::self;
};

/// Families with the members listed above.
template <class F> struct ConjugateColumn : SummedColumn<F> {
  /// Is u(x) = u(0) + x (u(1) - u(0))? Then blocks of rows are processed in lanes.
  static constexpr bool linear = false;

  int term_size() const { return F::linear ? 1 : self().posterior_size(); }
  int form_size() const { return self().posterior_size() + 1; }  // q, log Z(q)

  void maximum_likelihood(const double *s, const double *previous, const ColumnBounds &bounds,
                          double *point) const override {
    if (self().weight(s) > bounds.least_weight)
      self().maximise(s, bounds, point);
    else
      std::copy_n(previous, self().point_size(), point);
  }
  /// The prior density is the likelihood of pseudo-observations.
  void maximum_posterior(const double *s, const double *prior, double *point) const override {
    auto all = F::offset;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = s[i] + (prior[i] - F::offset[i]);
    self().maximise(all.data(), {mode_margin, 1, 0}, point);
  }
  double log_prior(const double *point, const double *prior) const override {
    const auto phi = self().natural(point);
    double total = -self().log_normaliser(prior);
    for (std::size_t i = 0; i < phi.size(); ++i) total += (prior[i] - F::offset[i]) * phi[i];
    return total;
  }

  double divergence(const double *q, const double *prior) const override {
    const auto phi = self().expected(q);
    double total = self().log_normaliser(prior) - self().log_normaliser(q);
    for (std::size_t i = 0; i < phi.size(); ++i) total += (q[i] - prior[i]) * phi[i];
    return total;
  }
  double log_marginal_likelihood(const double *s, const double *prior) const override {
    auto q = F::offset;
    if (heavy(prior, s)) return increment(prior, s);
    self().posterior(s, prior, q.data());
    return self().log_normaliser(q.data()) - self().log_normaliser(prior);
  }

  void add(double x, double *s) const override {
    const auto u = self().statistic(x);
    for (std::size_t i = 0; i < u.size(); ++i) {
      s[i] += u[i];
      if constexpr (!F::whole) s[u.size() + i] += rounding * s[i];
    }
  }
  void add(double x, double weight, double *s) const override {
    const auto u = self().statistic(x);
    for (std::size_t i = 0; i < u.size(); ++i) s[i] += weight * u[i];
  }
  double log_likelihood(const double *point, const double *s) const override {
    const auto phi = self().natural(point);
    double total = 0;
    for (std::size_t i = 0; i < phi.size(); ++i) total += phi[i] * s[i];
    return total;
  }
  /// Precision is judged relative to the posterior, of which the sums are a part.
  bool remove(double x, const double *prior, double *s) const override {
    const auto u = self().statistic(x);
    bool sound = true;
    for (std::size_t i = 0; i < u.size(); ++i) {
      if constexpr (F::whole) {
        sound &= s[i] <= exact_counts && s[i] >= u[i];
        s[i] -= u[i];
      } else {
        double &bound = s[u.size() + i];
        bound += rounding * s[i];
        s[i] -= u[i];
        sound &= bound <= 1e-7 * (prior[i] + s[i]) && s[i] >= -bound;
        s[i] = std::max(0.0, s[i]);
      }
    }
    if (self().weight(s) < 0.5) std::fill_n(s, self().statistics_size(), 0.0);
    return sound;
  }

  // Blocks of rows. The terms are phi or its expectation; for linear families the slope in x.
  double point_terms(const double *point, double *terms) const override {
    return terms_of(self().natural(point), terms);
  }
  double expected_terms(const double *q, double *terms) const override {
    return terms_of(self().expected(q), terms);
  }
  double term(const double *terms, double x) const override {
    if constexpr (F::linear) return x * terms[0];
    const auto u = self().statistic(x);
    double total = 0;
    for (std::size_t i = 0; i < u.size(); ++i) total += terms[i] * u[i];
    return total;
  }
  static void add_terms(std::span<const F> columns, const double *const *x, const double *terms,
                        double *out) {
    if constexpr (F::linear) return column_block::add_linear(int(columns.size()), x, terms, out);
    for (std::size_t c = 0; c < columns.size(); terms += columns[c++].term_size())
      for (int b = 0; b < block_rows; ++b) out[b] += columns[c].term(terms, x[c][b]);
  }
  static void add_sums(std::span<const F> columns, const double *const *x, const double *,
                       const double *r, double *sums) {
    if constexpr (F::linear) return column_block::add_dots(int(columns.size()), x, r, sums);
    for (std::size_t c = 0; c < columns.size(); sums += columns[c++].sum_size() * simd::sum_lanes)
      for (int b = 0; b < block_rows; ++b) {
        const auto u = columns[c].statistic(x[c][b]);
        for (std::size_t i = 0; i < u.size(); ++i)
          sums[int(i) * simd::sum_lanes + b % simd::sum_lanes] += r[b] * u[i];
      }
  }
  void statistics(double weight, const double *sums, const double *, double *s) const override {
    std::fill_n(s, self().statistics_size(), 0.0);
    if constexpr (F::linear) {
      const auto zero = self().statistic(0), one = self().statistic(1);
      for (std::size_t i = 0; i < zero.size(); ++i) {
        s[i] = weight * zero[i] + sums[0] * (one[i] - zero[i]);
        if (s[i] < 0) s[i] = 0;  // rounding error; NaN is kept
      }
    } else {
      std::copy_n(sums, self().posterior_size(), s);
    }
  }

  // Collapsed clusters, computed from the definition, lane by lane: slow.
  static void predictive_forms(std::span<const F> columns, const double *q, double *forms,
                               double *constants) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const int size = columns[c].posterior_size();
      std::copy_n(q, size, forms);
      forms[size] = columns[c].log_normaliser(q);
      constants[c] = 0;
      q += size;
      forms += columns[c].form_size();
    }
  }
  template <class Form> auto predictive_term(Form form, double x) const {
    const auto one = [this, x](auto number) {
      const auto row = self().statistic(x);
      auto q = row;
      for (std::size_t i = 0; i < q.size(); ++i) q[i] = number(int(i));
      if (heavy(q.data(), row.data())) return self().log_marginal_likelihood(row.data(), q.data());
      for (std::size_t i = 0; i < q.size(); ++i) q[i] += row[i];
      return self().log_normaliser(q.data()) - number(int(q.size()));
    };
    decltype(form(0)) out{};
    if constexpr (std::is_same_v<decltype(out), double>)
      out = one(form);
    else
      for (int lane = 0; lane < simd::lanes; ++lane)
        out[lane] = one([&](int i) { return form(i)[lane]; });
    return out;
  }

 protected:
  using ColumnDefaults<F>::self;
  static constexpr double rounding = std::numeric_limits<double>::epsilon();

 private:
  /// Does q stand for so many rows that log Z(q + s) - log Z(q) would lose its digits?
  static bool heavy(const double *q, const double *s) {
    bool out = true;
    for (std::size_t i = 0; i < F::offset.size(); ++i)
      out &= q[i] > heavy_from * std::max(1.0, s[i]);
    return out;
  }
  /// The difference by its Taylor series: the next term is below 1e-10 of s, as are the digits
  /// that the difference of logarithms loses just before.
  double increment(const double *q, const double *s) const {
    constexpr std::size_t n = F::offset.size();
    const auto slope = self().expected(q);
    double curvature[n * n] = {}, named[n * n] = {}, out = 0;
    self().covariances(q, curvature, named);
    for (std::size_t i = 0; i < n; ++i) {
      out += slope[i] * s[i];
      for (std::size_t j = 0; j < n; ++j) out += 0.5 * curvature[i * n + j] * s[i] * s[j];
    }
    return out;
  }
  template <class Numbers> double terms_of(const Numbers &phi, double *terms) const {
    if constexpr (!F::linear) {
      std::copy(phi.begin(), phi.end(), terms);
      return 0;
    }
    const auto zero = self().statistic(0), one = self().statistic(1);
    double constant = 0;
    terms[0] = 0;
    for (std::size_t i = 0; i < phi.size(); ++i) {
      constant += phi[i] * zero[i];
      terms[0] += phi[i] * (one[i] - zero[i]);
    }
    return constant;
  }
};

}  // namespace bayes
