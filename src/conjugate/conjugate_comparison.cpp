// Which of two independent posteriors is larger, and by how much. For rates this has a closed form;
// for means see mean_comparison.hpp.
//
// For probabilities it is an integral over the narrower posterior, of a closed-form function of the
// other one. It is computed by the trapezoidal rule, whose error falls exponentially in 1 / step
// for functions that are analytic on the whole line, in t, where the log odds are centre + width
// sinh(t).
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <tuple>
#include <utility>

#include "base/control.hpp"
#include "base/error.hpp"
#include "base/incomplete.hpp"
#include "base/message.hpp"
#include "base/special.hpp"
#include "conjugate/conjugate.hpp"
#include "conjugate/mean_comparison.hpp"
#include "distributions/standard.hpp"

namespace bayes {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// The log density of Beta(a, b) at x = 1 - y, computed from the smaller of x and y.
double log_density_at(double a, double b, double x, double y) {
  return x < y ? BetaDistribution(a, b).log_density(x) : BetaDistribution(b, a).log_density(y);
}

/// E[max(x - q, 0)] / x for q ~ Beta(a, b), where y = 1 - x, `power` is x^a y^b / B(a, b), and
/// below() is P(q <= x). For x near or above the mean this is the recurrence of the incomplete beta
/// function in a (DLMF 8.17.20). At z standard deviations below the mean it would subtract numbers
/// that are z^2 times as large as the result; there a series of positive terms is used instead,
/// E[max(x - q, 0)] = x^(a + 1) y^(b + 1) F(2, a + b + 1; a + 2; x) / (a (a + 1) B(a, b)), which is
/// Euler's integral (DLMF 15.6.1) transformed by DLMF 15.8.1.
template <class Below>
double beta_shortfall(double a, double b, double x, double y, double power, Below below) {
  if (std::max(x, x * ((a + b + 1) / (a + 2))) > 0.99)  // the series would need some 5,000 terms
    return ((x * b - y * a) * below() + power) / (a + b) / x;
  double sum = 0, term = 1;
  for (double n = 0; term * (n + 1) > 1e-18 * sum; ++n) {
    sum += term * (n + 1);
    term *= x * ((a + b + 1 + n) / (a + 2 + n));
  }
  return power / a * (y / (a + 1)) * sum;
}

/// The beta posterior of a probability, as a function of its log odds u: it is 1 / (1 + exp(-u)).
struct Probability {
  Probability(double a, double b)
      : a(a),
        b(b),
        centre(std::log(a) - std::log(b)),
        spread(std::sqrt(1 / a) + std::sqrt(1 / b)),
        width(std::min(1.0, std::sqrt(1 / a + 1 / b))) {}
  struct At {
    double x, y;  // y = 1 - x
  };
  static At at(double u) {
    const double e = std::exp(-std::fabs(u)), small = e / (1 + e), large = 1 / (1 + e);
    return u < 0 ? At{small, large} : At{large, small};
  }
  double log_density(double u) const {  // with respect to u
    const At p = at(u);
    if (std::min(p.x, p.y) < 1e-300) return -a * log1p_exp(-u) - b * log1p_exp(u) - log_beta(a, b);
    return log_density_at(a, b, p.x, p.y) + std::log(p.x) + std::log(p.y);
  }
  double below(double u) const { return beta_below_at(a, b, u); }
  double above(double u) const { return beta_below_at(b, a, -u); }
  /// E[max(q - x, 0)] and E[max(x - q, 0)]
  double excess(double u) const {
    const At p = at(u);
    return p.y * beta_shortfall(b, a, p.y, p.x, std::exp(log_density(u)), [&] { return above(u); });
  }
  double shortfall(double u) const {
    const At p = at(u);
    return p.x * beta_shortfall(a, b, p.x, p.y, std::exp(log_density(u)), [&] { return below(u); });
  }
  double a, b, centre, spread, width;
};

/// E[f(u)] under the posterior q, for a bounded f, by the trapezoidal rule. The sum is divided by
/// that for f = 1, so that errors of the density's normalising constant cancel.
template <class F> double trapezoids(const Probability &q, F f, double step) {
  double sum = 0, size = 0, mass = 0;
  /// Adds the point at t; true if its contribution is negligible.
  const auto add = [&](double t) {
    const double size_of = std::fabs(t), u = q.centre + q.width * std::sinh(t),
                 density = std::exp(q.log_density(u) + std::log(q.width) + size_of +
                                    std::log1p(std::exp(-2 * size_of)) - std::numbers::ln2);
    if (!(density > 0) || std::isinf(density)) return mass > 0;
    const double value = density * f(u);
    sum += value;
    size += std::fabs(value);
    mass += density;
    return std::fabs(value) <= 1e-18 * size && density <= 1e-18 * mass &&
           (t < 0 ? q.below(u) : q.above(u)) <= 1e-16;
  };
  add(0);
  const int most = int(700 / step), quiet_for = int(2 / step);  // sinh(700) = 5e303
  for (const int side : {-1, 1})
    for (int i = 1, quiet = 0; i < most && quiet < quiet_for; ++i) {
      poll_in_loop(std::size_t(i) * 64 - 1);
      quiet = add(side * i * step) ? quiet + 1 : 0;
    }
  return sum / mass;
}

/// The same, with the step halved until the result no longer changes.
template <class F> double expectation(const Probability &q, F f) {
  double before = trapezoids(q, f, 1.0 / 8);
  // If the log odds vary by orders of magnitude, fewer digits are correct.
  const double enough = q.spread > 100 ? 1e-11 : 1e-13;
  for (double step = 1.0 / 16; step >= 1.0 / 128; step /= 2) {
    const double now = trapezoids(q, f, step);
    if (std::fabs(now - before) <= enough * std::fabs(now)) return now;
    before = now;
  }
  return before;
}

/// Both posteriors, within the range of the trapezoidal rule: if both have a shape below 1e-290,
/// the shapes below 1e-190 are scaled up. Only the ratios of such small shapes matter, as the
/// probability is next to 0 or 1.
std::pair<Probability, Probability> both(const ConjugatePrior &a, const ConjugatePrior &b) {
  double shapes[] = {a[0], a[1], b[0], b[1]};
  if (std::max(std::min(a[0], a[1]), std::min(b[0], b[1])) < 1e-290)
    for (double &shape : shapes)
      if (shape < 1e-190) shape *= 1e100;
  return {{shapes[0], shapes[1]}, {shapes[2], shapes[3]}};
}

double greater(const Probability &a, const Probability &b) {
  return a.spread < b.spread ? expectation(a, [&](double u) { return b.below(u); })
                             : expectation(b, [&](double u) { return a.above(u); });
}

double loss(const Probability &a, const Probability &b) {
  return a.spread < b.spread ? expectation(a, [&](double u) { return b.excess(u); })
                             : expectation(b, [&](double u) { return a.shortfall(u); });
}

// Rates: X = b1 lambda1 and Y = b2 lambda2 have rate 1, and X / (X + Y) ~ Beta(a1, a2).

/// P(Gamma(a1, b1) > Gamma(a2, b2))
double rate_greater(double a1, double b1, double a2, double b2) {
  return beta_below_at(a2, a1, std::log(b2) - std::log(b1));
}

/// E[max(Gamma(a2, b2) - Gamma(a1, b1), 0)]: X + Y is independent of their ratio, and
/// Y / b2 - X / b1 = (X + Y) (x - X / (X + Y)) / (b2 x), x = b1 / (b1 + b2).
double rate_loss(double a1, double b1, double a2, double b2) {
  const double u = std::log(b1) - std::log(b2);
  const Probability ratio(a1, a2);
  const Probability::At p = Probability::at(u);
  const double part = beta_shortfall(a1, a2, p.x, p.y, std::exp(ratio.log_density(u)),
                                     [&] { return ratio.below(u); });
  return (a1 + a2) * part / b2;
}

double known(double x, const char *what) {
  if (!std::isnan(x)) return x;
  throw Error(Errc::numeric, message("{} is beyond double precision", what),
              "Parameters of a posterior are too small or too large.");
}

}  // namespace

void require_same_family(const ConjugateModel &a, const ConjugateModel &b) {
  if (a.kind() == b.kind()) return;
  throw Error(Errc::wrong_family, "posteriors of different families cannot be compared",
              message("One is of family {}, another of {}.", a.info.family, b.info.family));
}

double probability_greater(const ConjugateModel &a, const ConjugateModel &b) {
  require_same_family(a, b);
  if (!a.proper() || !b.proper()) return std::numeric_limits<double>::quiet_NaN();
  const ConjugatePrior &p = a.posterior(), &q = b.posterior();
  double out = 0;
  switch (a.kind()) {
    case ConjugateKind::beta_bernoulli: out = std::apply(greater, both(p, q)); break;
    case ConjugateKind::gamma_poisson: out = rate_greater(p[0], p[1], q[0], q[1]); break;
    case ConjugateKind::normal_inverse_gamma:
      out = student_greater(a.marginal(), b.marginal());
      break;
  }
  return std::clamp(known(out, "the probability"), 0.0, 1.0);
}

double expected_loss(const ConjugateModel &a, const ConjugateModel &b) {
  require_same_family(a, b);
  if (!a.proper() || !b.proper()) return std::numeric_limits<double>::quiet_NaN();
  const ConjugatePrior &p = a.posterior(), &q = b.posterior();
  double out = 0;
  switch (a.kind()) {
    case ConjugateKind::beta_bernoulli: out = std::apply(loss, both(p, q)); break;
    case ConjugateKind::gamma_poisson: out = rate_loss(p[0], p[1], q[0], q[1]); break;
    case ConjugateKind::normal_inverse_gamma: out = student_loss(a.marginal(), b.marginal()); break;
  }
  return std::max(known(out, "the expected loss"), 0.0);
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
