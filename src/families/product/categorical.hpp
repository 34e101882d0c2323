// A column of unordered categories, coded as whole numbers: x ~ Categorical(p), p ~
// Dirichlet(alpha).
//
// Everything except element(), value() and allowed() works on codes 0 .. V - 1. Point: V
// probabilities. Posterior: V alphas. Statistics: the weight of every category. With two categories
// the same as Bernoulli.
#pragma once

#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/message.hpp"
#include "base/special.hpp"
#include "families/product/category_codes.hpp"
#include "families/product/conjugate_column.hpp"

namespace bayes {

struct Categorical final : SummedColumn<Categorical> {
  // V; 0 while it is unknown: then every whole number is allowed
  int categories = 0;
  // of the V categories; null if they are 0 .. V - 1
  std::shared_ptr<const CategoryCodes> codes = nullptr;

  explicit Categorical(int categories = 0, std::shared_ptr<const CategoryCodes> codes = nullptr)
      : categories(categories),
        codes(std::move(codes)) {}

  static constexpr const char *name = "categorical";
  static constexpr std::array<const char *, 1> parameters = {"probability"};
  static constexpr std::array<const char *, 1> prior_keys = {"category_alpha"};
  static constexpr bool zero_is_constant = true, ordered = false, by_value = true,
                        probabilities = true, whole = true;

  bool allowed(double x) const override {
    if (codes) return codes->code(x) >= 0;
    return x == std::floor(x) && (categories == 0 || (x >= 0 && x < categories));
  }
  std::string requirement() const override {
    if (categories == 0) return "a whole number";
    if (!codes) return message("a whole number from 0 to {}", categories - 1);
    constexpr std::size_t most = 12;
    std::string out = "one of the categories ";
    for (std::size_t i = 0; i < codes->values().size() && i < most; ++i)
      out += message("{}{}", i ? ", " : "", std::int64_t(codes->values()[i]));
    return out + (codes->values().size() > most ? ", ..." : "");
  }
  double element(double x) const override { return codes ? std::max(0, codes->code(x)) : x; }
  double value(double code) const override {
    return codes ? codes->values()[std::size_t(code)] : code;
  }
  bool plain() const { return !codes; }
  double stabilised(double x, double) const override { return x; }

  int numbers_per_name() const override { return categories; }
  int term_size() const { return categories; }  // log probabilities
  // log predictive probability of every category minus that of category 0
  int form_size() const { return categories; }
  int free_parameters() const override { return categories - 1; }

  /// The point that maximises sum_v s_v log p_v under p_v >= minimum: categories below it are
  /// raised to it, and the others share the rest in proportion, until none is below.
  void maximise(const double *s, double minimum, double *point) const {
    const double least = std::min(minimum, 1.0 / categories);
    double weight = 0;
    for (int v = 0; v < categories; ++v) weight += s[v];
    std::fill_n(point, categories, -1.0);
    double left = 1;
    for (bool settled = false; !settled;) {
      settled = true;
      // Raising one category lowers all the others, so they are checked again.
      const double rate = weight > 0 ? left / weight : 0;
      for (int v = 0; v < categories; ++v)
        if (point[v] < 0 && !(s[v] * rate >= least)) {
          point[v] = least;
          left -= least;
          weight -= s[v];
          settled = false;
        }
    }
    weight = 0;
    for (int v = 0; v < categories; ++v)
      if (point[v] < 0) weight += s[v];
    for (int v = 0; v < categories; ++v)
      if (point[v] < 0) point[v] = std::max(least, s[v] / weight * left);
  }

  void maximum_likelihood(const double *s, const double *previous, const ColumnBounds &bounds,
                          double *point) const override {
    double weight = 0;
    for (int v = 0; v < categories; ++v) weight += s[v];
    if (weight > bounds.least_weight)
      maximise(s, bounds.minimum, point);
    else
      std::copy_n(previous, categories, point);
  }
  void default_prior(double, double, double, double *prior) const override {
    std::fill_n(prior, categories, 1.0);
  }
  static constexpr const char *mode_requirement = "category_alpha must be at least 1";
  bool has_mode(const double *prior) const override {
    return std::all_of(prior, prior + categories, [](double a) { return a >= 1; });
  }
  void maximum_posterior(const double *s, const double *prior, double *point) const override {
    double weight = 0;
    for (int v = 0; v < categories; ++v) weight += point[v] = s[v] + (prior[v] - 1);
    if (weight > 0) {
      const std::vector<double> mass(point, point + categories);
      maximise(mass.data(), mode_margin, point);
    } else {
      std::fill_n(point, categories, 1.0 / categories);
    }
  }
  double log_prior(const double *point, const double *prior) const override {
    double total = -log_dirichlet_normaliser({prior, std::size_t(categories)});
    for (int v = 0; v < categories; ++v)
      if (prior[v] != 1) total += (prior[v] - 1) * finite_log(point[v]);
    return total;
  }
  bool valid_point(const double *point) const override {
    return std::all_of(point, point + categories, [](double p) { return p > 0; }) &&
           std::abs(sum(point) - 1) < 1e-9;
  }
  // categories have no mean
  double mean(const double *) const override { return std::numeric_limits<double>::quiet_NaN(); }
  double variance(const double *) const override {
    return std::numeric_limits<double>::quiet_NaN();
  }
  bool allowed_mean(double x) const override { return allowed(x); }
  void set_mean(double, double, double *) const override {}
  double sample(const double *point, Random &random) const override {
    return random.categorical({point, std::size_t(categories)});
  }

  double divergence(const double *q, const double *prior) const override {
    const double whole = digamma(sum(q));
    double total = log_dirichlet_normaliser({prior, std::size_t(categories)}) -
                   log_dirichlet_normaliser({q, std::size_t(categories)});
    for (int v = 0; v < categories; ++v)
      if (q[v] != prior[v]) total += (q[v] - prior[v]) * (digamma(q[v]) - whole);
    return total;
  }
  void point_estimate(const double *q, double *point) const override {
    const double whole = sum(q);
    for (int v = 0; v < categories; ++v) point[v] = q[v] / whole;
  }
  double log_marginal_likelihood(const double *s, const double *prior) const override {
    std::vector<double> q(std::size_t(categories), 0.0);
    posterior(s, prior, q.data());
    return log_dirichlet_normaliser(q) - log_dirichlet_normaliser({prior, std::size_t(categories)});
  }
  double log_overlap(const double *one, const double *other) const override {
    double total = 0;
    for (int v = 0; v < categories; ++v) total += std::sqrt(one[v] * other[v]);
    return std::log(total);
  }
  double predictive_mean(const double *) const override {
    return std::numeric_limits<double>::quiet_NaN();
  }
  double predictive_variance(const double *) const override {
    return std::numeric_limits<double>::quiet_NaN();
  }
  Predicted predicted(const double *) const override { return {}; }
  Predicted predictive(const double *) const override { return {}; }
  void marginals(const double *q, Marginal *out) const override {
    dirichlet_marginals({q, std::size_t(categories)}, 0, out);
  }
  void deviations(const double *q, double *out) const override {
    const double whole = sum(q);
    for (int v = 0; v < categories; ++v)
      out[v] = std::sqrt(q[v] / whole * ((whole - q[v]) / whole) / (whole + 1));
  }
  void covariances(const double *q, double *phi, double *named) const override {
    const double whole = sum(q), all = trigamma(whole);
    for (int v = 0; v < categories; ++v)
      for (int u = 0; u < categories; ++u) {
        phi[v * categories + u] = (u == v ? trigamma(q[v]) : 0) - all;
        named[v * categories + u] = ((u == v ? whole : 0) - q[v]) / whole / whole;
      }
  }
  void draw(const double *q, Random &random, double *point) const override {
    random.dirichlet({q, std::size_t(categories)}, {point, std::size_t(categories)});
    for (int v = 0; v < categories; ++v)
      point[v] = std::max(point[v], std::numeric_limits<double>::min());
  }

  void add(double x, double *s) const override { ++s[int(x)]; }
  void add(double x, double weight, double *s) const override { s[int(x)] += weight; }
  double log_likelihood(const double *point, const double *s) const override {
    double total = 0;
    for (int v = 0; v < categories; ++v) total += s[v] * finite_log(point[v]);
    return total;
  }
  bool remove(double x, const double *, double *s) const override {
    --s[int(x)];
    return true;
  }

  double point_terms(const double *point, double *terms) const override {
    for (int v = 0; v < categories; ++v) terms[v] = finite_log(point[v]);
    return 0;
  }
  double expected_terms(const double *q, double *terms) const override {
    for (int v = 0; v < categories; ++v) terms[v] = digamma(q[v]);
    return -digamma(sum(q));
  }
  double term(const double *terms, double x) const override { return terms[int(x)]; }
  static void add_terms(std::span<const Categorical> columns, const double *const *x,
                        const double *terms, double *out) {
    for (std::size_t c = 0; c < columns.size(); terms += columns[c++].categories)
      for (int b = 0; b < block_rows; ++b) out[b] += terms[int(x[c][b])];
  }
  static void add_sums(std::span<const Categorical> columns, const double *const *x, const double *,
                       const double *r, double *sums) {
    // Partial sums, so that neighbouring rows of one category form no dependency chain.
    constexpr int lanes = simd::sum_lanes;
    for (std::size_t c = 0; c < columns.size(); sums += columns[c++].categories * lanes)
      for (int b = 0; b < block_rows; b += lanes)
        for (int i = 0; i < lanes; ++i) sums[int(x[c][b + i]) * lanes + i] += r[b + i];
  }
  void statistics(double, const double *sums, const double *, double *s) const override {
    std::copy_n(sums, categories, s);
  }

  static void predictive_forms(std::span<const Categorical> columns, const double *q, double *forms,
                               double *constants) {
    const double *at = q;
    for (std::size_t c = 0; c < columns.size(); at += columns[c++].categories)
      constants[c] = columns[c].sum(at);
    log_all(int(at - q), q, forms);
    log_all(int(columns.size()), constants, constants);
    for (std::size_t c = 0; c < columns.size(); forms += columns[c++].categories) {
      constants[c] = forms[0] - constants[c];
      for (int v = columns[c].categories; v-- > 0;) forms[v] -= forms[0];
    }
  }
  template <class Form> static auto predictive_term(Form form, double x) { return form(int(x)); }

 private:
  double sum(const double *v) const {
    double total = 0;
    for (int i = 0; i < categories; ++i) total += v[i];
    return total;
  }
};

}  // namespace bayes
