// P(A > B) is the integral of f_A(x) F_B(x), E[max(B - A, 0)] that of F_A(x) (1 - F_B(x)).
//
// The integrands change near two centres, on scales that may differ by any factor, and their tails
// are the heavier the fewer degrees of freedom there are. So the line is divided at both centres,
// and each part is integrated by the trapezoidal rule in t: 8 sinh(t / 8) is the logarithm of the
// distance from a centre on the outer parts, and between the centres the logarithm of the ratio of
// the distances from both. These are exponential substitutions like those of Takahasi and Mori
// (1974), stretched. Everything is computed in logarithms, since with few degrees of freedom
// distances beyond the range of doubles matter.
#include "conjugate/mean_comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/control.hpp"
#include "base/incomplete.hpp"
#include "base/special.hpp"
#include "distributions/standard.hpp"

namespace bayes {
namespace {

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

}  // namespace

double student_greater(const Marginal &a, const Marginal &b) {
  const Variable first(a), second(b);
  // Distances are of the order of exp(1 / degrees): one variable is beyond the other, on either
  // side with the same probability, except with a probability of the size of the degrees.
  if (std::min(first.degrees, second.degrees) < 1e-14) return 0.5;
  return integral(first, second, first.degrees, [&](Place at_a, Place at_b) {
    return first.log_density(at_a) - at_a.log_distance + second.log_below(at_b);
  });
}

double student_loss(const Marginal &a, const Marginal &b) {
  const Variable first(a), second(b);
  const double rate = std::min(first.degrees, second.degrees) - 1;
  if (!(rate > 0)) return std::numeric_limits<double>::infinity();
  return integral(first, second, rate, [&](Place at_a, Place at_b) {
    return first.log_below(at_a) + second.log_above(at_b);
  });
}

}  // namespace bayes
