// Which of two independent posteriors is larger, and by how much. Of rates that is known in closed
// form; of means see mean_comparison.hpp.
//
// Of probabilities it is an integral over the narrower one of what the other has in closed form, by
// the trapezoidal rule, whose error falls exponentially in 1 / step for analytic functions on the
// whole line: in t, where the log odds are centre + width sinh(t).
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/control.hpp"
#include "base/error.hpp"
#include "base/incomplete.hpp"
#include "base/special.hpp"
#include "conjugate/conjugate.hpp"
#include "conjugate/mean_comparison.hpp"
#include "distributions/standard.hpp"

namespace bayes {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// log density at x = 1 - y, from whichever is smaller.
double log_density_at(double a, double b, double x, double y) {
  return x < y ? BetaDistribution(a, b).log_density(x) : BetaDistribution(b, a).log_density(y);
}

/// P(q <= x) of q ~ Beta(a, b), y = 1 - x, from whichever is smaller.
double beta_below_at(double a, double b, double x, double y) {
  return x < y ? beta_below(a, b, x) : beta_above(b, a, y);
}

/// E[max(x - q, 0)] of q ~ Beta(a, b), y = 1 - x; `power` is x^a y^b / B(a, b), and below() is
/// P(q <= x). The recurrence of the incomplete beta function in a (DLMF 8.17.20) leaves a
/// difference of numbers that are z^2 times as large, z standard deviations below the mean. Well
/// below it a series of positive terms takes its place: x^(a + 1) y^(b + 1) F(2, a + b + 1; a + 2;
/// x) / (a (a + 1) B(a, b)), Euler's integral (DLMF 15.6.1) transformed by DLMF 15.8.1.
template <class Below>
double beta_shortfall(double a, double b, double x, double y, double power, Below below) {
  if (std::max(x, x * ((a + b + 1) / (a + 2))) > 0.99)  // some 5,000 terms
    return ((x * b - y * a) * below() + power) / (a + b);
  double sum = 0, term = 1;
  for (double n = 0; term * (n + 1) > 1e-18 * sum; ++n) {
    sum += term * (n + 1);
    term *= x * ((a + b + 1 + n) / (a + 2 + n));
  }
  return power * (x / a) * (y / (a + 1)) * sum;
}

/// A probability under its posterior; at coordinate u it is 1 / (1 + exp(-u)).
struct Probability {
  explicit Probability(const ConjugateModel &model)
      : a(model.posterior()[0]),
        b(model.posterior()[1]),
        centre(std::log(a / b)),
        width(std::min(1.0, std::sqrt(1 / a + 1 / b))) {}
  struct At {
    double x, y;  // y = 1 - x
  };
  static At at(double u) {
    const double e = std::exp(-std::fabs(u)), small = e / (1 + e), large = 1 / (1 + e);
    return u < 0 ? At{small, large} : At{large, small};
  }
  double log_density(double u) const {  // of u
    const At p = at(u);
    if (std::min(p.x, p.y) < 1e-300) return -a * log1p_exp(-u) - b * log1p_exp(u) - log_beta(a, b);
    return log_density_at(a, b, p.x, p.y) + std::log(p.x) + std::log(p.y);
  }
  double below(double u) const { return below_at(a, b, u); }
  double above(double u) const { return below_at(b, a, -u); }
  /// P(q <= x) of q ~ Beta(a, b), also where x underflows
  static double below_at(double a, double b, double u) {
    if (u < -690) return std::exp(a * u - log_beta(a, b)) / a;
    if (u > 690) return 1 - std::exp(-b * u - log_beta(a, b)) / b;
    const At p = at(u);
    return beta_below_at(a, b, p.x, p.y);
  }
  /// E[max(q - x, 0)] and E[max(x - q, 0)]
  double excess(double u) const {
    const At p = at(u);
    return beta_shortfall(b, a, p.y, p.x, std::exp(log_density(u)), [&] { return above(u); });
  }
  double shortfall(double u) const {
    const At p = at(u);
    return beta_shortfall(a, b, p.x, p.y, std::exp(log_density(u)), [&] { return below(u); });
  }
  double a, b, centre, width;
};

/// The trapezoidal rule for E[f(u)] under the posterior q, f bounded. Divided by that for 1, as
/// errors of the density's constant are in both.
template <class F> double trapezoids(const Probability &q, F f, double step) {
  double sum = 0, size = 0, mass = 0;
  /// Is it too small to matter?
  const auto add = [&](double t) {
    const double u = q.centre + q.width * std::sinh(t),
                 density = std::exp(q.log_density(u)) * q.width * std::cosh(t);
    if (!(density > 0) || std::isinf(density)) return mass > 0;
    const double value = density * f(u);
    sum += value;
    size += std::fabs(value);
    mass += density;
    return std::fabs(value) <= 1e-18 * size && density <= 1e-18 * mass;
  };
  add(0);
  const int most = int(30 / step), quiet_for = int(2 / step);  // sinh(30) = 5e12
  for (const int side : {-1, 1})
    for (int i = 1, quiet = 0; i < most && quiet < quiet_for; ++i) {
      poll_in_loop(std::size_t(i) * 64 - 1);
      quiet = add(side * i * step) ? quiet + 1 : 0;
    }
  return sum / mass;
}

/// The same, with steps halved until they make no difference.
template <class F> double expectation(const Probability &q, F f) {
  double before = trapezoids(q, f, 1.0 / 8);
  for (double step = 1.0 / 16; step > 1e-3; step /= 2) {
    const double now = trapezoids(q, f, step);
    if (std::fabs(now - before) <= 1e-13 * std::fabs(now)) return now;
    before = now;
  }
  return before;
}

double greater(const Probability &a, const Probability &b) {
  return a.width < b.width ? expectation(a, [&](double u) { return b.below(u); })
                           : expectation(b, [&](double u) { return a.above(u); });
}

double loss(const Probability &a, const Probability &b) {
  return a.width < b.width ? expectation(a, [&](double u) { return b.excess(u); })
                           : expectation(b, [&](double u) { return a.shortfall(u); });
}

// Rates: X = b1 lambda1 and Y = b2 lambda2 have rate 1, and X / (X + Y) ~ Beta(a1, a2).

/// P(Gamma(a1, b1) > Gamma(a2, b2))
double rate_greater(double a1, double b1, double a2, double b2) {
  return beta_below_at(a2, a1, b2 / (b1 + b2), b1 / (b1 + b2));
}

/// E[max(Gamma(a2, b2) - Gamma(a1, b1), 0)]: X + Y is independent of their ratio, and
/// Y / b2 - X / b1 = (X + Y) (1 / b1 + 1 / b2) (b1 / (b1 + b2) - X / (X + Y)).
double rate_loss(double a1, double b1, double a2, double b2) {
  const double x = b1 / (b1 + b2), y = b2 / (b1 + b2);
  const double power = std::exp(log_density_at(a1, a2, x, y) + std::log(x) + std::log(y));
  return (a1 + a2) * (1 / b1 + 1 / b2) *
         beta_shortfall(a1, a2, x, y, power, [&] { return rate_greater(a2, b2, a1, b1); });
}

void require_same_family(const ConjugateModel &a, const ConjugateModel &b) {
  if (a.kind() != b.kind())
    throw Error(Errc::wrong_family, "posteriors of different families cannot be compared");
}

}  // namespace

double probability_greater(const ConjugateModel &a, const ConjugateModel &b) {
  require_same_family(a, b);
  if (!a.proper() || !b.proper()) return std::numeric_limits<double>::quiet_NaN();
  const ConjugatePrior &p = a.posterior(), &q = b.posterior();
  double out = 0;
  switch (a.kind()) {
    case ConjugateKind::beta_bernoulli: out = greater(Probability(a), Probability(b)); break;
    case ConjugateKind::gamma_poisson: out = rate_greater(p[0], p[1], q[0], q[1]); break;
    case ConjugateKind::normal_inverse_gamma:
      out = student_greater(a.marginal(), b.marginal());
      break;
  }
  return std::clamp(out, 0.0, 1.0);
}

double expected_loss(const ConjugateModel &a, const ConjugateModel &b) {
  require_same_family(a, b);
  if (!a.proper() || !b.proper()) return std::numeric_limits<double>::quiet_NaN();
  const ConjugatePrior &p = a.posterior(), &q = b.posterior();
  double out = 0;
  switch (a.kind()) {
    case ConjugateKind::beta_bernoulli: out = loss(Probability(a), Probability(b)); break;
    case ConjugateKind::gamma_poisson: out = rate_loss(p[0], p[1], q[0], q[1]); break;
    case ConjugateKind::normal_inverse_gamma: out = student_loss(a.marginal(), b.marginal()); break;
  }
  return std::max(out, 0.0);
}

double expected_lift(const ConjugateModel &a, const ConjugateModel &b) {
  require_same_family(a, b);
  if (a.kind() == ConjugateKind::normal_inverse_gamma)
    throw Error(Errc::wrong_family, "a ratio of means of normals has no expectation");
  if (!a.proper() || !b.proper()) return std::numeric_limits<double>::quiet_NaN();
  const double shape = b.posterior()[0], other = b.posterior()[1];
  if (!(shape > 1)) return infinite;
  // E[1 / b] is (shape + other - 1) / (shape - 1) of a probability, other / (shape - 1) of a rate
  const double whole = b.kind() == ConjugateKind::beta_bernoulli ? shape + other - 1 : other;
  return a.posterior_mean() * whole / (shape - 1) - 1;
}

}  // namespace bayes
