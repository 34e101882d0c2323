#include "base/incomplete.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "base/control.hpp"
#include "base/special.hpp"

namespace bayes {
namespace {

// Gamma and beta variables of large shapes, which are nearly normal.

/// P(z <= x) of the standard normal distribution, any x.
double normal_probability(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }

/// Gamma and beta variables of large shapes, by the first three terms of N. M. Temme's uniform
/// expansions (1979; 1987).
///
/// For a gamma variable let alpha = 1 / sqrt(shape) and beta = 0; for a beta variable alpha^2 = b /
/// (a n) and beta^2 = a / (b n), n = a + b. At u standard deviations (sqrt(shape) or sqrt(a b /
/// n^3)) from the mean the density is, up to a factor, that of a standard normal variable at Z,
/// where Z^2 = u^2 (1 - u k): with q_1 = alpha - beta and q_j = alpha^j - alpha^(j-1) beta + ..., k
/// = 2 (q_1 / 3 - u q_2 / 4 + u^2 q_3 / 5 - ...).
class NearlyNormal {
 public:
  static NearlyNormal gamma(double shape) { return {1 / std::sqrt(shape), 0}; }
  static NearlyNormal beta(double a, double b) {
    return {1 / std::sqrt(a * (1 + a / b)), 1 / std::sqrt(b * (1 + b / a))};
  }
  double below(double u) const { return probability(u, 1); }
  double above(double u) const { return probability(u, -1); }

  /// u with probability p below it, or above it
  double quantile(double p) const { return inverse(p, 1); }
  double upper_quantile(double p) const { return inverse(p, -1); }

 private:
  NearlyNormal(double alpha, double beta) : alpha_(alpha), beta_(beta) {}

  /// k, at a u for which `probability` is neither 0 nor 1.
  double skew(double u) const {
    // q_j (-u)^(j - 1): powers of u alone might overflow.
    const double p = alpha_ - beta_, up = u * p, uq = (u * alpha_) * (u * beta_),
                 ratio = std::fabs(u) * std::max(alpha_, beta_);
    double now = p, next = -u * (p * p + alpha_ * beta_), sum = 0, size = 1;
    for (int j = 1; size > 1e-18; ++j, size *= ratio) {
      sum += 2 * now / (j + 2);
      now = std::exchange(next, uq * now - up * next);
    }
    return sum;
  }

  /// normal_probability(side Z) with two corrections: the density at Z times 1 / Z - 1 / u, and the
  /// next term of the expansion, which matters where u is small.
  double probability(double u, int side) const {
    // the smaller tail is below 1e-300
    if (!(std::fabs(u) * std::max(alpha_, beta_) < 0.3)) return side * u > 0;
    const double p = alpha_ - beta_, q = alpha_ * beta_, p2 = p * p;
    const double k = skew(u), root = std::sqrt(1 - u * k), z = u * root;
    const double first = k / (root * (1 + root));
    const double second = p * (p2 / 540 + q / 20) + u * (p2 * (p2 / 288 + q / 48) + q * q / 32) -
                          u * u * p * (p2 * (p2 * 23 / 6048 + q * 3 / 112) + q * q * 31 / 672);
    const double density = normal_density(z), known = normal_probability(side * z);
    return density > 0 ? std::clamp(known + side * density * (first + second), 0.0, 1.0) : known;
  }

  static double normal_density(double z) {
    return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  }

  /// Solves z = Z + log(u / Z) / Z for u by fixed-point iteration, z being the normal quantile;
  /// then makes two Newton steps, with the density of Z and dZ / du.
  double inverse(double p, int side) const {
    const double z = side * normal_quantile(p);
    double u = z;
    for (int i = 0; i < 20; ++i) {
      const double k = skew(u), root = std::sqrt(1 - u * k),
                   shift = std::fabs(u * k) < 1e-8 ? k / 2 : -std::log1p(-u * k) / (2 * u),
                   next = (z - shift / root) / root;
      if (std::fabs(next - u) <= 1e-16 * std::fabs(next)) break;
      u = next;
    }
    for (int i = 0; i < 2; ++i) {
      const double root = std::sqrt(1 - u * skew(u)),
                   slope = normal_density(u * root) / (root * (1 + u * alpha_) * (1 - u * beta_));
      u -= side * (probability(u, side) - p) / slope;
    }
    return u;
  }

  double alpha_, beta_;
};

constexpr double infinite = std::numeric_limits<double>::infinity();

/// From this shape on NearlyNormal is accurate to 12 digits, while continued fractions and series
/// would need hundreds of terms.
constexpr double large_shape = 3e4;
/// Far more terms than continued fractions and series need for shapes up to large_shape.
constexpr int max_terms = 20'000;

/// (x + rest - mean) / standard deviation, for a gamma variable.
double gamma_deviate(double shape, double x, double rest) {
  return (x - shape + rest) / std::sqrt(shape);
}

/// The same for a beta variable at x, from b x - a (1 - x) with the rounding errors of the products
/// added back. The standard deviation is taken as sqrt(a b / (a + b)^3).
double beta_deviate(double a, double b, double x) {
  const double y = 1 - x, rest = (1 - y) - x, product = a * y,
               difference = std::fma(b, x, -product) + std::fma(-a, y, product) - a * rest;
  return difference * std::sqrt(1 / a + 1 / b);
}

/// The probabilities below and above a point.
struct Tails {
  double below, above;
  double log_below, log_above;
  /// log density, at the point, of the variable's logarithm (gamma) or of its log odds (beta)
  double log_density;

  static Tails of_below(double log_density, double ratio) {
    const double log_below = std::min(0.0, log_density + std::log(ratio)),
                 below = std::exp(log_below);
    return {below, 1 - below, log_below, std::log1p(-below), log_density};
  }
  /// For shapes below 1, where log_below may be close to 0.
  static Tails of_logarithm(double log_density, double log_below) {
    log_below = std::min(0.0, log_below);
    const double above = -std::expm1(log_below);
    return {std::exp(log_below), above, log_below, std::log(above), log_density};
  }
  Tails turned() const { return {above, below, log_above, log_below, log_density}; }
};

/// log Gamma(x + step) - log Gamma(x), 0 < step <= 1, x > 0; its error is small relative to the
/// step, however small that is.
double log_gamma_step(double x, double step) {
  if (x < 1)  // Gamma(x) = Gamma(1 + x) / x
    return log_gamma_step(1 + x, step) - std::log1p(step / x);
  if (step > 0.1 && x < 10) return log_gamma(x + step) - log_gamma(x);
  if (step > 0.1) return log_gamma(step) - log_beta(step, x);
  // The integral of the digamma function, by Gauss's formula of five points: its error, relative to
  // the step, is below step^10 / 700,000.
  constexpr double points[] = {0.5384693101056831, 0.9061798459386640},
                   weights[] = {0.4786286704993665, 0.2369268850561891};
  double sum = 128.0 / 225 * digamma(x + step / 2);
  for (int i = 0; i < 2; ++i)
    sum += weights[i] *
           (digamma(x + step / 2 * (1 + points[i])) + digamma(x + step / 2 * (1 - points[i])));
  return step / 2 * sum;
}

/// 1 / (b_0 + a_1 / (b_1 + a_2 / (b_2 + ...))), by the algorithm of Lentz (1976).
template <class A, class B> double continued_fraction(A a, B b) {
  constexpr double nothing = 1e-290;
  const auto kept = [](double x) { return std::fabs(x) < nothing ? nothing : x; };
  double value = kept(b(0)), c = value, d = 0;
  for (int n = 1; n < max_terms; ++n) {
    const double an = a(n), bn = b(n);
    d = 1 / kept(bn + an * d);
    c = kept(bn + an / c);
    const double factor = c * d;
    value *= factor;
    if (std::fabs(factor - 1) <= std::numeric_limits<double>::epsilon()) break;
  }
  return 1 / value;
}

// ---- gamma ----

/// The tails at x + rest. log_x is used where x underflows. shape <= large_shape.
Tails gamma_tails(double shape, double x, double log_x, double rest) {
  const double log_density = x < min_normal && (shape < 10 || x == 0)
                                 ? shape * log_x - log_gamma(shape)
                                 : std::log(shape) + log_poisson(shape, x, shape - x - rest);
  if (shape < 1 && x < 1.5) {
    // x^shape / Gamma(shape + 1) times 1 + shape sum_n (-x)^n / (n! (shape + n))
    double sum = 0, power = 1;
    for (int n = 1; n < 40; ++n) {
      power *= -x / n;
      sum += power / (shape + n);
    }
    return Tails::of_logarithm(log_density,
                               shape * log_x - log_gamma_step(1, shape) + std::log1p(shape * sum));
  }
  if (x < shape + 1) {
    double sum = 1 / shape, term = sum;
    for (int n = 1; n < max_terms && term > 1e-17 * sum; ++n) sum += term *= x / (shape + n);
    return Tails::of_below(log_density, sum);
  }
  // Legendre's continued fraction
  const double fraction = continued_fraction([&](int n) { return -n * (n - shape); },
                                             [&](int n) { return x - shape + rest + 2.0 * n + 1; });
  return Tails::of_below(log_density, fraction).turned();
}

Tails gamma_tails(double shape, double log_x) {
  return gamma_tails(shape, std::exp(log_x), log_x, 0);
}

// ---- beta ----

/// A point of [0, 1], by its distances from both ends.
struct Place {
  double x, y;  // y = 1 - x
  double log_x, log_y;

  static Place of(double x) { return {x, 1 - x, std::log(x), std::log1p(-x)}; }
  static Place at_log_odds(double u) {
    const double e = std::exp(-std::fabs(u)), log = std::log1p(e), small = e / (1 + e),
                 large = 1 / (1 + e);
    return u < 0 ? Place{small, large, u - log, -log} : Place{large, small, -log, -u - log};
  }
  Place turned() const { return {y, x, log_y, log_x}; }
};

/// The tails at an x of at most (a + 1) / (a + b + 2), which is close to the mean. `difference` is
/// a y - b x. The smaller of a and b is at most large_shape.
Tails lower_beta_tails(double a, double b, const Place &at, double difference) {
  const double x = at.x, y = at.y;
  const double log_density =
      x < min_normal && (a < 10 || x == 0)
          ? a * at.log_x + b * at.log_y - log_beta(a, b)
          : std::log(a) + std::log(b) - std::log(a + b) + log_binomial(a, b, x, y, difference);
  if (a < 1) {
    // x^a / (a B(a, b)) times 1 + a sum_n (1 - b)_n x^n / (n! (a + n)), where x < 2 / 3, or b x < 2
    double sum = 0, power = 1;
    for (int n = 1; n < max_terms; ++n) {
      power *= (n - b) * x / n;
      sum += power / (a + n);
      if (std::fabs(power) < 1e-18 && n > b * x) break;
    }
    return Tails::of_logarithm(
        log_density,
        a * at.log_x + (log_gamma_step(b, a) - log_gamma_step(1, a)) + std::log1p(a * sum));
  }
  // Gauss's continued fraction, as contracted by A. R. DiDonato and A. H. Morris (1992)
  const double fraction = continued_fraction(
      [&](int n) {
        const double whole = a + 2.0 * n - 1;
        return (a + n - 1) / whole * ((a + b + n - 1) * x / whole) * n * ((b - n) * x);
      },
      [&](int n) {
        const double first = n == 0 ? 0 : n + n * ((b - n) * x) / (a + 2.0 * n - 1);
        return first + (a + n) / (a + 2.0 * n + 1) * (difference + 1 + n * (1 + y));
      });
  return Tails::of_below(log_density, fraction);
}

Tails beta_tails(double a, double b, const Place &at, double difference) {
  const bool low = at.x < at.y ? at.x * (a + b + 2) <= a + 1 : at.y * (a + b + 2) >= b + 1;
  return low ? lower_beta_tails(a, b, at, difference)
             : lower_beta_tails(b, a, at.turned(), -difference).turned();
}

Tails beta_tails(double a, double b, double x) {
  const Place at = Place::of(x);
  return beta_tails(a, b, at, binomial_difference(a, b, at.x, at.y));
}

Tails beta_tails_at_log_odds(double a, double b, double u) {
  const Place at = Place::at_log_odds(u);
  return beta_tails(a, b, at, at.y * a - at.x * b);
}

// ---- quantiles ----

/// The point at which the logarithm of the lower tail (sign 1) or of the upper tail (sign -1) is
/// log_p. Both are concave in these coordinates, so Newton's method converges from any start: after
/// the first step its iterates stay on one side of the root.
template <class TailsAt>
double root_of_tail(TailsAt tails_at, int sign, double log_p, double at, double high = infinite) {
  double low = -infinite;
  for (int i = 0; i < 200; ++i) {
    poll_here();
    const Tails tails = tails_at(at);
    const double log_tail = sign > 0 ? tails.log_below : tails.log_above,
                 slope = std::exp(tails.log_density - log_tail), error = sign * (log_tail - log_p);
    if (error == 0) break;
    (error < 0 ? low : high) = at;
    double next = at - error / slope;
    if (std::fabs(next - at) <= 2e-16 * std::fabs(at)) return next;
    if (!(next > low && next < high)) {
      next = low / 2 + high / 2;
      if (std::isnan(next)) break;
      if (std::isinf(next)) return next;
    }
    if (next == at) break;
    at = next;
  }
  return at;
}

/// log of the gamma quantile with probability p below it (side 1) or above it (side -1). For p
/// above 1 / 2 the opposite tail is used.
double log_gamma_quantile_of(double shape, double p, int side) {
  const int tail = p > 0.5 ? -side : side;
  const double q = p > 0.5 ? 1 - p : p;
  const auto tails_at = [shape](double log_x) { return gamma_tails(shape, log_x); };
  // Start where the leading term of the lower tail is p: a lower bound of the root, so Newton's
  // method only moves up. For larger shapes, start at E. B. Wilson and M. M. Hilferty's
  // approximation (1931).
  const double leading = (std::log(q) + log_gamma_step(1, std::min(shape, 1.0))) / shape;
  double start = leading;
  if (shape > 1) {
    const double z = tail * normal_quantile(q),
                 root = 1 - 1 / (9 * shape) + z / (3 * std::sqrt(shape));
    start = root > 0.1 ? std::log(shape) + 3 * std::log(root) : std::log(shape) - 7;
  } else if (tail < 0) {
    start = 0;
  }
  // No probability that a double can represent has its quantile further out.
  const double farthest = std::log(shape + 50 * std::sqrt(shape) + 1000);
  return root_of_tail(tails_at, tail, std::log(q), start, farthest);
}

/// log(x / (1 - x)) of the beta quantile x, for p up to 1 / 2.
double lower_beta_log_odds(double a, double b, double p) {
  const double leading = a < 1 ? (std::log(p) - log_gamma_step(b, a) + log_gamma_step(1, a)) / a
                               : (std::log(p) + std::log(a) + log_beta(a, b)) / a;
  double start = leading;
  const double spread = std::sqrt(1 / a + 1 / b);
  if (a > 4 * b && a > 1 && b < 1000) {
    // -log(x) times this is nearly a gamma variable (Wise 1950).
    const double factor = a + (b - 1) / 2,
                 log_y = log_gamma_quantile_of(b, p, -1) - std::log(factor);
    start = log_y < -20 ? -log_y : -std::log(std::expm1(std::exp(log_y)));
  } else if (spread < 1.5) {
    start = std::max(leading, log_ratio(a, b) + normal_quantile(p) * spread);
  }
  return root_of_tail([a, b](double u) { return beta_tails_at_log_odds(a, b, u); }, 1, std::log(p),
                      start);
}

/// The same for any p.
double beta_log_odds(double a, double b, double p) {
  return p > 0.5 ? -lower_beta_log_odds(b, a, 1 - p) : lower_beta_log_odds(a, b, p);
}

/// A last Newton step for x itself, since its logarithm determines it to fewer digits. `width`: dx
/// / d(log x) or dx / d(log odds), negative if `tails` are turned.
double polished(double x, const Tails &tails, double p, double width) {
  const double log_tail = p > 0.5 ? tails.log_above : tails.log_below,
               log_p = p > 0.5 ? std::log(1 - p) : std::log(p),
               step = (log_tail - log_p) / std::exp(tails.log_density - log_tail) * width;
  return std::fabs(step) < 1e-12 * x ? (p > 0.5 ? x + step : x - step) : x;
}

}  // namespace

double normal_below(double x) { return normal_probability(x); }

double gamma_below(double shape, double x, double rest) {
  if (std::isinf(x)) return 1;
  if (shape > large_shape) return NearlyNormal::gamma(shape).below(gamma_deviate(shape, x, rest));
  return gamma_tails(shape, x, std::log(x), rest).below;
}

double gamma_above(double shape, double x, double rest) {
  if (std::isinf(x)) return 0;
  if (shape > large_shape) return NearlyNormal::gamma(shape).above(gamma_deviate(shape, x, rest));
  return gamma_tails(shape, x, std::log(x), rest).above;
}

double log_gamma_above(double shape, double x) {
  if (std::isinf(x)) return -std::numeric_limits<double>::infinity();
  if (shape > large_shape) return std::log(gamma_above(shape, x));
  return gamma_tails(shape, x, std::log(x), 0).log_above;
}

double gamma_below_at(double shape, double log_x) {
  if (shape > large_shape) return gamma_below(shape, std::exp(log_x));
  return log_x > 709 ? 1 : gamma_tails(shape, log_x).below;
}

double gamma_above_at(double shape, double log_x) {
  if (shape > large_shape) return gamma_above(shape, std::exp(log_x));
  return log_x > 709 ? 0 : gamma_tails(shape, log_x).above;
}

namespace {

double gamma_quantile_of(double shape, double p, int side) {
  if (shape > large_shape) {
    const NearlyNormal normal = NearlyNormal::gamma(shape);
    return shape + std::sqrt(shape) * (side > 0 ? normal.quantile(p) : normal.upper_quantile(p));
  }
  const double log_x = log_gamma_quantile_of(shape, p, side), x = std::exp(log_x);
  if (x < min_normal) return x;
  Tails tails = gamma_tails(shape, x, std::log(x), 0);
  return side > 0 ? polished(x, tails, p, x) : polished(x, tails.turned(), p, -x);
}

}  // namespace

double gamma_quantile(double shape, double p) { return gamma_quantile_of(shape, p, 1); }
double upper_gamma_quantile(double shape, double p) { return gamma_quantile_of(shape, p, -1); }

double log_gamma_quantile(double shape, double p) {
  return shape > large_shape ? std::log(gamma_quantile(shape, p))
                             : log_gamma_quantile_of(shape, p, 1);
}
double log_upper_gamma_quantile(double shape, double p) {
  return shape > large_shape ? std::log(upper_gamma_quantile(shape, p))
                             : log_gamma_quantile_of(shape, p, -1);
}

double beta_below(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (std::min(a, b) > large_shape) return NearlyNormal::beta(a, b).below(beta_deviate(a, b, x));
  return beta_tails(a, b, x).below;
}

double beta_above(double a, double b, double x) {
  if (x <= 0) return 1;
  if (x >= 1) return 0;
  if (std::min(a, b) > large_shape) return NearlyNormal::beta(a, b).above(beta_deviate(a, b, x));
  return beta_tails(a, b, x).above;
}

double beta_below_at(double a, double b, double log_odds) {
  if (std::min(a, b) <= large_shape) return beta_tails_at_log_odds(a, b, log_odds).below;
  const Place at = Place::at_log_odds(log_odds);
  return at.x < at.y ? beta_below(a, b, at.x) : beta_above(b, a, at.y);
}

double beta_quantile(double a, double b, double p) {
  if (std::min(a, b) > large_shape) {
    // x = (a + difference) / (a + b)
    const double u = NearlyNormal::beta(a, b).quantile(p);
    return (1 + u / std::sqrt(a * (1 + a / b))) / (1 + b / a);
  }
  const Place at = Place::at_log_odds(beta_log_odds(a, b, p));
  if (!(at.x > min_normal && at.y > 0)) return at.x;
  return polished(at.x, beta_tails(a, b, at.x), p, at.x * at.y);
}

namespace {

/// Half the degrees of freedom, which must not underflow.
double half_of(double degrees) {
  return std::max(degrees / 2, std::numeric_limits<double>::denorm_min());
}

}  // namespace

// If t has n degrees of freedom, n / (n + t^2) is a Beta(n / 2, 1 / 2) variable.

double student_below(double degrees, double x) {
  if (x == 0) return 0.5;
  const double a = half_of(degrees), b = 0.5,
               log_odds = std::log(degrees) - 2 * std::log(std::fabs(x)),
               root = x / std::sqrt(degrees), square = root * root;
  Place at = Place::at_log_odds(log_odds);
  if (std::isnormal(square) && std::isnormal(1 / square))
    at = {1 / (1 + square), square / (1 + square), -std::log1p(square), -std::log1p(1 / square)};
  const Tails tails = beta_tails(a, b, at, at.y * a - at.x * b);
  return x < 0 ? tails.below / 2 : 0.5 + tails.above / 2;
}

double student_tail_at(double degrees, double log_x) {
  return beta_tails_at_log_odds(half_of(degrees), 0.5, std::log(degrees) - 2 * log_x).below / 2;
}

double log_student_quantile(double degrees, double p) {
  const double log_odds = beta_log_odds(half_of(degrees), 0.5, 2 * std::min(p, 1 - p));
  return (std::log(degrees) - log_odds) / 2;
}

double student_quantile(double degrees, double p) {
  return p == 0.5 ? 0 : std::copysign(std::exp(log_student_quantile(degrees, p)), p - 0.5);
}

}  // namespace bayes
