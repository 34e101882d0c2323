// Which of two or more independent posteriors is larger, by how much, and the distribution of their
// difference. Of two rates the larger has a closed form; means are Student variables, below.
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
#include "base/root.hpp"
#include "base/special.hpp"
#include "conjugate/conjugate.hpp"
#include "distributions/standard.hpp"
#include "families/marginal.hpp"

namespace bayes {
namespace {

// Which of two independent Student variables is larger, and by how much.

// P(A > B) is the integral of f_A(x) F_B(x), E[max(B - A, 0)] that of F_A(x) (1 - F_B(x)).
//
// The integrands change near two centres, on scales that may differ by any factor, and their tails
// are the heavier the fewer degrees of freedom there are. So the line is divided at both centres,
// and each part is integrated by the trapezoidal rule in t: 8 sinh(t / 8) is the logarithm of the
// distance from a centre on the outer parts, and between the centres the logarithm of the ratio of
// the distances from both. These are exponential substitutions like those of Takahasi and Mori
// (1974), stretched. Everything is computed in logarithms, since with few degrees of freedom
// distances beyond the range of doubles matter.

/// exp(-45) is negligible relative to 1.
constexpr double digits = 45;
/// Up to about this size the logarithm, stretch * sinh(t / stretch), is nearly t itself.
constexpr double stretch = 8;

/// log(exp(x) + exp(y))
double log_add(double x, double y) { return std::max(x, y) + log1p_exp(-std::fabs(x - y)); }

/// A point at the distance exp(log_distance) from a variable's centre, below (side -1) or above (1)
/// it.
struct Place {
  double log_distance;
  int side;
};

/// A Student variable.
class Variable {
 public:
  explicit Variable(const Marginal &m)
      : degrees(m.a),
        centre(m.location),
        log_scale(std::log(m.b)),
        tail_(m.a / 2 * std::log(m.a) - log_beta(m.a / 2, 0.5) - std::log(m.a)) {}

  double log_below(Place at) const {
    const double z = at.log_distance - log_scale;
    if (z < 300) return std::log(student_below(degrees, at.side * std::exp(z)));
    // This far out the density is proportional to distance^-(degrees + 1).
    const double tail = tail_ - degrees * z;
    return at.side < 0 ? tail : std::log1p(-std::exp(tail));
  }
  double log_above(Place at) const { return log_below({at.log_distance, -at.side}); }
  /// the log density of the logarithm of the distance
  double log_density(Place at) const {
    const double z = at.log_distance - log_scale;
    return z < 300 ? StudentDistribution(degrees).log_density(std::exp(z)) + z
                   : tail_ - degrees * z + std::log(degrees);
  }

  double degrees, centre, log_scale;

 private:
  double tail_;
};

/// The integral of exp(f(at_a, at_b)) over the line by the trapezoidal rule, where at_a and at_b
/// are the same point relative to the centre of a and of b. `rate`: the integrand times the
/// distance falls as distance^-rate.
template <class F>
double trapezoids(const Variable &a, const Variable &b, double rate, F f, double step) {
  const double apart = std::log(std::fabs(a.centre - b.centre)),
               narrowest = std::min({a.log_scale, b.log_scale, apart}),
               widest = std::max({a.log_scale, b.log_scale, apart});
  const bool a_first = a.centre < b.centre;
  double sum = 0;
  // Adds a part of the line: log distances, or log ratios of distances, from `low` to `high`.
  const auto add = [&](double low, double high, auto at) {
    const int last = int(stretch * std::asinh(high / stretch) / step);
    for (int i = int(stretch * std::asinh(low / stretch) / step); i <= last; ++i) {
      poll_here();
      const double t = i * step / stretch;
      sum += std::exp(at(stretch * std::sinh(t)) + std::log(std::cosh(t)));
    }
  };
  for (const int side : {-1, 1}) {
    const bool from_a = a_first == (side < 0);
    const double unit = from_a ? a.log_scale : b.log_scale;
    const double low = std::min(a.log_scale, b.log_scale) - unit - digits;
    add(low, widest - unit + 4 + digits / rate, [&](double size) {
      const Place near = {unit + size, side}, far = {log_add(unit + size, apart), side};
      return f(from_a ? near : far, from_a ? far : near) + near.log_distance;
    });
  }
  if (std::isfinite(apart)) {
    const double high = digits + apart - narrowest;
    add(-high, high, [&](double log_odds) {
      const Place at_a = {apart - log1p_exp(-log_odds), a_first ? 1 : -1},
                  at_b = {apart - log1p_exp(log_odds), -at_a.side};
      return f(at_a, at_b) + at_a.log_distance + at_b.log_distance - apart;
    });
  }
  return sum * step;
}

/// The same, with the step halved until the result no longer changes. The error falls
/// exponentially: if the last halving changed the result by 1e-10, what is left is negligible.
template <class F> double integral(const Variable &a, const Variable &b, double rate, F f) {
  double before = trapezoids(a, b, rate, f, 1.0 / 2);
  for (double step = 1.0 / 4; step >= 1.0 / 128; step /= 2) {
    const double now = trapezoids(a, b, rate, f, step);
    if (std::fabs(now - before) <= 1e-10 * now) return now;
    before = now;
  }
  return before;
}

/// P(A > B); both of kind student, with any degrees of freedom.
double student_greater(const Marginal &a, const Marginal &b) {
  const Variable first(a), second(b);
  // Distances are of the order of exp(1 / degrees): one variable is beyond the other, on either
  // side with the same probability, except with a probability of the size of the degrees.
  if (std::min(first.degrees, second.degrees) < 1e-14) return 0.5;
  return integral(first, second, first.degrees, [&](Place at_a, Place at_b) {
    return first.log_density(at_a) - at_a.log_distance + second.log_below(at_b);
  });
}

/// E[max(B - A, 0)]; infinite unless both have more than one degree of freedom.
double student_loss(const Marginal &a, const Marginal &b) {
  const Variable first(a), second(b);
  const double rate = std::min(first.degrees, second.degrees) - 1;
  if (!(rate > 0)) return std::numeric_limits<double>::infinity();
  return integral(first, second, rate, [&](Place at_a, Place at_b) {
    return first.log_below(at_a) + second.log_above(at_b);
  });
}

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

// The difference of two independent posteriors, and which of several is the largest.
//
// Both are integrals over p from 0 to 1 of the distribution functions of the other parameters at
// the quantile p of one of them. The range of p is divided at even steps of its log odds, and at
// even steps of the log odds of the other distribution functions, so that no function changes much
// within a piece. Each piece is integrated by Gauss-Legendre quadrature.

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// The log odds of p go from -max_log_odds to max_log_odds; probabilities beyond are negligible.
constexpr int max_log_odds = 34;
double probability_of(double log_odds) {
  const double e = std::exp(-std::fabs(log_odds));
  return log_odds < 0 ? e / (1 + e) : 1 / (1 + e);
}

/// Calls f(p, weight) for the quadrature points of all pieces between the increasing `bounds`.
template <class F> void each_point(const std::vector<double> &bounds, F f) {
  const GaussLegendre &rule = gauss_legendre_10;
  for (std::size_t i = 1; i < bounds.size(); ++i) {
    const double middle = (bounds[i] + bounds[i - 1]) / 2, half = (bounds[i] - bounds[i - 1]) / 2;
    if (!(half > 0)) continue;
    for (std::size_t j = 0; j < rule.points.size(); ++j)
      for (const int side : {-1, 1})
        f(middle + side * half * rule.points[j], half * rule.weights[j]);
  }
}

std::vector<double> even_bounds() {
  std::vector<double> out;
  for (int s = -max_log_odds; s <= max_log_odds; ++s) out.push_back(probability_of(s));
  return out;
}

/// The distribution of x - y, where x and y are independent.
class Difference {
 public:
  Difference(const Marginal &x, const Marginal &y) : x_(x), y_(y) {
    const auto width = [](const Marginal &of) { return of.quantile(0.75) - of.quantile(0.25); };
    x_is_narrower_ = width(x) < width(y);
    bounds_ = even_bounds();
    for (int s = -max_log_odds; s <= max_log_odds; s += 2)
      other_breakpoints_.push_back(other().quantile(probability_of(s)));
  }

  double probability_below(double t) const {
    const Marginal &of = x_is_narrower_ ? x_ : y_;
    const double shift = x_is_narrower_ ? t : -t;
    std::vector<double> bounds = bounds_;
    for (const double turn : other_breakpoints_)
      bounds.push_back(of.probability_below(turn + shift));
    std::erase_if(bounds, [this](double p) { return !(p >= bounds_[0] && p <= bounds_.back()); });
    std::sort(bounds.begin(), bounds.end());
    double sum = 0;
    each_point(bounds, [&](double p, double weight) {
      poll_here();
      const double below = other().probability_below(of.quantile(p) - shift);
      sum += weight * (x_is_narrower_ ? 1 - below : below);
    });
    return sum;
  }

  /// The root is between `low` and `high`: if x - y < low, then x or y is in a tail of probability
  /// p / 2, so P(x - y < low) <= p; likewise for `high`.
  double quantile(double p) const {
    const auto f = [&](double t) { return probability_below(t) - p; };
    double low = x_.quantile(p / 2) - y_.upper_quantile(p / 2),
           high = x_.quantile((1 + p) / 2) - y_.quantile((1 - p) / 2);
    if (!(low < high)) return low == high ? low : no_number;
    const double at_low = f(low), at_high = f(high);
    if (!(at_low < 0)) return at_low == 0 ? low : no_number;
    if (!(at_high > 0)) return at_high == 0 ? high : no_number;
    return root_between(f, low, high, at_low, at_high, 40);
  }

 private:
  /// the wider one, whose distribution function is integrated over the probabilities of the
  /// narrower one
  const Marginal &other() const { return x_is_narrower_ ? y_ : x_; }

  const Marginal x_, y_;
  bool x_is_narrower_;
  /// bounds of pieces, as probabilities of the narrower one; values of the other one at even steps
  /// of its log odds
  std::vector<double> bounds_, other_breakpoints_;
};

}  // namespace

ParameterDifference parameter_difference(const ConjugateModel &a, const ConjugateModel &b,
                                         double level) {
  require_same_family(a, b);
  if (!a.proper() || !b.proper()) return {no_number, no_number, no_number, no_number};
  const Marginal x = a.marginal(), y = b.marginal();
  const double sd = std::hypot(x.deviation(), y.deviation());
  const double tail = (1 - level) / 2;
  return {a.posterior_mean() - b.posterior_mean(), sd, Difference(x, y).quantile(tail),
          -Difference(y, x).quantile(tail)};
}

Contest contest(std::span<const ConjugateModel *const> models) {
  const std::size_t n = models.size();
  Contest out{std::vector<double>(n, no_number), std::vector<double>(n, no_number)};
  for (const ConjugateModel *const model : models) require_same_family(*models[0], *model);
  for (const ConjugateModel *const model : models)
    if (!model->proper()) return out;
  std::vector<Marginal> each;
  // The largest parameter is taken from the largest mean, which keeps the digits of small losses.
  double origin = -std::numeric_limits<double>::infinity();
  bool light_tails = true;
  for (const ConjugateModel *const model : models) {
    each.push_back(model->marginal());
    origin = std::max(origin, model->posterior_mean());
    light_tails = light_tails && (model->kind() != ConjugateKind::normal_inverse_gamma ||
                                  model->posterior()[2] >= 1);
  }
  double total = 0, largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> bounds = even_bounds();
    const double low = bounds.front(), high = bounds.back();
    for (std::size_t j = 0; j < n; ++j) {
      poll_here();
      if (j == i) continue;
      for (int s = -max_log_odds; s <= max_log_odds; s += 2)
        bounds.push_back(each[i].probability_below(each[j].quantile(probability_of(s))));
    }
    std::erase_if(bounds, [&](double p) { return !(p >= low && p <= high); });
    std::sort(bounds.begin(), bounds.end());
    double sum = 0;
    each_point(bounds, [&](double p, double weight) {
      poll_here();
      const double x = each[i].quantile(p);
      double below = weight;
      for (std::size_t j = 0; j < n && below > 0; ++j)
        if (j != i) below *= each[j].probability_below(x);
      sum += below;
      largest += below * (x - origin);
    });
    total += out.best[i] = sum;
  }
  // Exactly one of them is the largest.
  for (double &p : out.best) p /= total;
  for (std::size_t i = 0; light_tails && i < n; ++i)
    out.loss[i] = std::max(0.0, largest / total + (origin - models[i]->posterior_mean()));
  return out;
}

}  // namespace bayes
