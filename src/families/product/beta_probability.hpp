// Common to families with a single probability p: the prior is Beta(a, b) (002 L1), the likelihood
// of an element p^u1 (1 - p)^u2.
//
// Point: p and 1 - p (whose digits a subtraction would lose if p is near 1). Posterior: a, b.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/special.hpp"
#include "families/product/conjugate_column.hpp"

namespace bayes {

template <class F> struct BetaProbability : ConjugateColumn<F> {
  static constexpr std::array<const char *, 1> parameters = {"probability"};
  static constexpr std::array<const char *, 2> prior_keys = {"a", "b"};
  static constexpr std::array<double, 2> offset = {1, 1};
  static constexpr bool linear = true, whole = true;

  int point_size() const { return 2; }
  void complete(double *point) const override { point[1] = 1 - point[0]; }
  bool valid_point(const double *point) const override { return point[0] > 0 && point[0] < 1; }

  static double log_normaliser(const double *q) { return log_beta(q[0], q[1]); }
  static std::array<double, 2> expected(const double *q) {
    const double whole = digamma(q[0] + q[1]);
    return {digamma(q[0]) - whole, digamma(q[1]) - whole};
  }
  static std::array<double, 2> natural(const double *point) {
    return {finite_log(point[0]), finite_log(point[1])};
  }

  void point_estimate(const double *q, double *point) const override {
    point[0] = q[0] / (q[0] + q[1]);
    complete(point);
  }
  void deviations(const double *q, double *out) const override {
    const double whole = q[0] + q[1];
    out[0] = std::sqrt(q[0] / whole * (q[1] / whole) / (whole + 1));
  }
  void marginals(const double *q, Marginal *out) const override {
    out[0] = {Marginal::Kind::beta, q[0], q[1]};
  }
  void covariances(const double *q, double *phi, double *named) const override {
    const double whole = q[0] + q[1], both = trigamma(whole);
    phi[0] = trigamma(q[0]) - both;
    phi[1] = phi[2] = -both;
    phi[3] = trigamma(q[1]) - both;
    named[0] = q[1] / whole / whole;
    named[1] = -q[0] / whole / whole;
  }
  void draw(const double *q, Random &random, double *point) const override {
    random.dirichlet({q, 2}, {point, 2});
    for (int i = 0; i < 2; ++i)
      point[i] = std::clamp(point[i], std::numeric_limits<double>::min(), 1 - 0x1p-53);
  }
};

/// The families of trials among them: u1 counts successes, u2 failures, and the maximum likelihood
/// estimate of p is the share of successes. The prior is uniform by default.
template <class F> struct SuccessProbability : BetaProbability<F> {
  static void maximise(const double *s, const ColumnBounds &bounds, double *point) {
    const double n = s[0] + s[1];
    point[0] = n > 0 ? std::clamp(s[0] / n, bounds.minimum, 1 - bounds.minimum) : 0.5;
    point[1] = 1 - point[0];
  }
  void default_prior(double, double, double, double *prior) const override {
    prior[0] = prior[1] = 1;
  }
  static constexpr const char *mode_requirement = "a and b must be at least 1";
  bool has_mode(const double *prior) const override { return prior[0] >= 1 && prior[1] >= 1; }
};

}  // namespace bayes
