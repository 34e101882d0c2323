#include "questions/box.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "base/control.hpp"
#include "base/incomplete.hpp"
#include "base/message.hpp"
#include "base/special.hpp"
#include "base/unseen.hpp"
#include "document/members.hpp"

namespace bayes {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
/// number of estimates, and about how many points each takes for all components together
constexpr int shifts = 12;
constexpr double all_points = 500, fewest_points = 8;
constexpr std::uint64_t box_seed = 1;

/// P(a <= z <= b), from the smaller tails if a and b are on the same side of 0.
double normal_between(double a, double b) {
  return a > 0 ? normal_below(-a) - normal_below(-b) : normal_below(b) - normal_below(a);
}

/// The same of a Student t.
double student_between(double degrees, double a, double b) {
  const auto below = [degrees](double x) {
    return std::isfinite(x) ? student_below(degrees, x) : double(x > 0);
  };
  return a > 0 ? below(-a) - below(-b) : below(b) - below(a);
}

/// The nodes and weights of Gauss and Legendre on [-1, 1], by Newton's method.
struct Legendre {
  static constexpr int n = 20;
  std::array<double, n> node, weight;
  Legendre() {
    for (std::size_t i = 0; i < n; ++i) {
      double x = std::cos(3.14159265358979323846 * (double(i) + 0.75) / (n + 0.5)), slope = 1;
      for (int step = 0; step < 50; ++step) {
        double before = 1, now = x;
        for (int k = 2; k <= n; ++k) {
          const double next = ((2 * k - 1) * x * now - (k - 1) * before) / k;
          before = now;
          now = next;
        }
        slope = n * (x * now - before) / (x * x - 1);
        x -= now / slope;
      }
      node[i] = x;
      weight[i] = 2 / ((1 - x * x) * slope * slope);
    }
  }
};

/// Square roots of primes, whose multiples fill the unit interval evenly (Richtmyer).
double richtmyer(std::size_t dimension) {
  static const std::vector<double> roots = [] {
    std::vector<double> out;
    for (int n = 2; out.size() < 2000; ++n) {
      bool prime = true;
      for (int k = 2; k * k <= n && prime; ++k) prime = n % k != 0;
      if (prime) out.push_back(std::sqrt(double(n)));
    }
    return out;
  }();
  return roots[dimension % roots.size()];
}

std::string name_of_bound(const RowDistribution &rows, std::size_t element) {
  return rows.columns().empty()
             ? message("element {}", element + 1)
             : message("column {}", describe(Document(rows.columns()[element].name)));
}

/// Are the categories of an element names, and not numbers or false and true?
bool is_label(const RowDistribution &rows, std::size_t element) {
  return !rows.categories(int(element)).empty() && !rows.columns().empty() &&
         rows.columns()[element].kind == ValueKind::label;
}

/// Does the bound restrict the element? An unseen category does.
bool binds(double bound) { return !std::isnan(bound) || is_unseen(bound); }

std::string name_of_label(const RowDistribution &rows, std::size_t element, double label) {
  return is_unseen(label) ? std::string("a label that the model does not know")
                          : describe(Document(rows.label(int(element), label)));
}

bool is_boolean(const RowDistribution &rows, std::size_t element) {
  return !rows.columns().empty() && rows.columns()[element].kind == ValueKind::boolean;
}

/// The integral of f by Gauss and Legendre in pieces.
template <class F> double integral_in_pieces(std::vector<double> cuts, F f) {
  static const Legendre rule;
  std::sort(cuts.begin(), cuts.end());
  double out = 0;
  for (std::size_t i = 1; i < cuts.size(); ++i) {
    const double half = (cuts[i] - cuts[i - 1]) / 2, middle = (cuts[i] + cuts[i - 1]) / 2;
    for (std::size_t k = 0; k < Legendre::n; ++k)
      out += half * rule.weight[k] * f(middle + half * rule.node[k]);
  }
  return std::min(1.0, out);
}

/// Offsets from the points bounds / rho, where the conditional probability of the second variable
/// changes, the faster the larger rho is.
constexpr double places_of_change[] = {-8, -4, -2, -1, 0, 1, 2, 4, 8};

/// The integral over the first variable of the conditional probability of the second.
double normal_rectangle(const double *lower, const double *upper, double rho, double rest) {
  const double from = std::max(lower[0], -39.0), to = std::min(upper[0], 39.0);
  if (!(from < to)) return 0;
  std::vector<double> cuts = {from, to};
  for (double z = std::ceil(from); z < to; ++z) cuts.push_back(z);
  if (rho != 0)
    for (const double bound : {lower[1], upper[1]})
      for (const double away : places_of_change) {
        const double cut = (bound + away * rest) / rho;
        if (cut > from && cut < to) cuts.push_back(cut);
      }
  return integral_in_pieces(std::move(cuts), [&](double z) {
    return std::exp(-z * z / 2 - half_log_two_pi) *
           normal_between((lower[1] - rho * z) / rest, (upper[1] - rho * z) / rest);
  });
}

/// The same for a Student t, over x, the first variable being sinh x: far out, its density falls by
/// exp(-degrees) with every unit of x. The second, given the first, is a Student t of one degree
/// more.
double student_rectangle(const double *lower, const double *upper, double rho, double rest,
                         double degrees) {
  const double farthest = 42 / degrees + 4, from = std::max(std::asinh(lower[0]), -farthest),
               to = std::min(std::asinh(upper[0]), farthest);
  if (!(from < to)) return 0;
  std::vector<double> cuts = {from, to};
  const auto add = [&](double x) {
    if (x > from && x < to) cuts.push_back(x);
  };
  double width = 0.5;
  for (double x = 0; x < farthest; x += width) {
    add(x);
    add(-x);
    if (x >= 4) width = std::min(2 * width, std::max(0.5, 10 / degrees));
  }
  const auto spread = [&](double z) { return rest * std::sqrt((degrees + z * z) / (degrees + 1)); };
  // With few degrees much probability lies where pieces are wider than the change of the second
  // variable's probability. So cut on either side of it, from where a bound leaves it near 0.
  const auto add_about = [&](double z) {
    if (degrees < 1)
      for (const double away : places_of_change) {
        add(std::asinh(z) + away);
        add(-std::asinh(z) + away);
      }
  };
  for (const double bound : {lower[1], upper[1]}) {
    if (!std::isfinite(bound)) continue;
    add_about(bound * std::sqrt(degrees + 1) / rest);
    if (rho == 0) continue;
    const double centre = bound / rho, step = spread(centre) / rho;
    add_about(centre);
    for (const double away : places_of_change) add(std::asinh(centre + away * step));
  }
  const double log_scale = -log_beta(degrees / 2, 0.5) - std::log(degrees) / 2;
  return integral_in_pieces(std::move(cuts), [&](double x) {
    const double z = std::sinh(x), scale = spread(z);
    const double density =
        std::exp(log_scale - (degrees + 1) / 2 * std::log1p(z * z / degrees)) * std::cosh(x);
    if (density < 1e-20) return 0.0;
    return density *
           student_between(degrees + 1, (lower[1] - rho * z) / scale, (upper[1] - rho * z) / scale);
  });
}

}  // namespace

double interval_probability(const Predicted &of, double lower, double upper) {
  if (of.support == Predicted::Support::whole) {
    const double below = std::isfinite(lower) ? of.probability_below(std::ceil(lower) - 1) : 0;
    return std::max(0.0, (std::isfinite(upper) ? of.probability_below(upper) : 1) - below);
  }
  // Normals and Student t are symmetric, so that small tails keep their digits.
  if (of.support == Predicted::Support::real && lower > of.a) {
    const double mirrored = of.a + (of.a - lower);
    lower = std::isfinite(upper) ? of.a + (of.a - upper) : -infinite;
    upper = mirrored;
  }
  return std::max(0.0, (std::isfinite(upper) ? of.probability_below(upper) : 1) -
                           (std::isfinite(lower) ? of.probability_below(lower) : 0));
}

double rectangle_probability(const double *lower, const double *upper, double rho, double degrees) {
  const double rest = std::sqrt((1 - rho) * (1 + rho));
  if (!(rest > 0)) {
    // With correlation 1 or -1 the second is the first, or its negative.
    const double a = std::max(lower[0], rho > 0 ? lower[1] : -upper[1]),
                 b = std::min(upper[0], rho > 0 ? upper[1] : -lower[1]);
    return !(a < b) ? 0 : degrees > 0 ? student_between(degrees, a, b) : normal_between(a, b);
  }
  return degrees > 0 ? student_rectangle(lower, upper, rho, rest, degrees)
                     : normal_rectangle(lower, upper, rho, rest);
}

/// Genz's transformation (1992; for Student t Genz and Bretz 1999) at randomly shifted lattices,
/// folded so that the integrand is periodic.
void multiply_elliptical_box(std::span<const double> lower, std::span<const double> upper,
                             std::span<const double> triangle, double degrees,
                             std::span<double> out) {
  const std::size_t m = lower.size();
  // The weight of the component decides, so that many components take no longer than one.
  const int points = int(std::clamp(all_points * out[0], fewest_points, all_points));
  std::vector<double> y(m), shift(m + 1);
  WorkPoll poll;
  for (std::size_t s = 0; s < out.size(); ++s) {
    Random random(box_seed, s);
    for (double &each : shift) each = random.uniform();
    double sum = 0;
    for (int i = 1; i <= points; ++i) {
      // The sums of all elements, and quantiles that take as long as a hundred products.
      poll(m * (m / 2 + 100));
      const auto uniform = [&](std::size_t dimension) {
        const double at = i * richtmyer(dimension) + shift[dimension], u = at - std::floor(at);
        return std::clamp(std::abs(2 * u - 1), 1e-15, 1 - 1e-15);
      };
      const double stretch =
          degrees > 0 ? std::sqrt(2 * gamma_quantile(degrees / 2, uniform(m)) / degrees) : 1;
      double p = 1;
      const double *row = triangle.data();
      for (std::size_t j = 0; j < m && p > 0; row += ++j) {
        double centre = 0;
        for (std::size_t k = 0; k < j; ++k) centre += row[k] * y[k];
        const double a = (lower[j] * stretch - centre) / row[j],
                     b = (upper[j] * stretch - centre) / row[j];
        const double below = normal_below(a), width = normal_between(a, b);
        p *= width;
        if (j + 1 < m)
          y[j] = normal_quantile(std::clamp(below + uniform(j) * width, 1e-300, 1 - 0x1p-53));
      }
      sum += p;
    }
    out[s] *= sum / points;
  }
}

BoxProbability box_probability(RowDistribution &rows, std::span<const double> lower,
                               std::span<const double> upper, std::span<const double> given) {
  const std::size_t d = std::size_t(rows.dimension());
  std::vector<double> low(d, -infinite), high(d, infinite), unseen(d, std::nan(""));
  bool impossible = false;
  for (std::size_t j = 0; j < d; ++j) {
    double a = lower[j], b = upper[j];
    if (is_label(rows, j) || (is_boolean(rows, j) && binds(a) != binds(b))) {
      if (!binds(a)) a = b;
      if (!binds(b)) b = a;
      if (binds(a) && a != b && !(is_unseen(a) && is_unseen(b)))
        throw Error(Errc::invalid_argument,
                    message("{} has the bounds {} and {}", name_of_bound(rows, j),
                            name_of_label(rows, j, a), name_of_label(rows, j, b)),
                    "Labels have no order.", "Give one label, in either bound or in both.");
    }
    if (a > b)
      throw Error(Errc::invalid_argument,
                  message("the lower bound of {} is {}, above the upper bound {}",
                          name_of_bound(rows, j), a, b));
    if (is_unseen(a) || is_unseen(b) || (a == b && rows.unknown(int(j), a))) {
      unseen[j] = unseen_category;
      impossible |= !std::isnan(given[j]) || rows.categories(int(j)).empty();
      continue;
    }
    if (!std::isnan(a)) low[j] = a;
    if (!std::isnan(b)) high[j] = b;
    if (!std::isnan(given[j]) && !(low[j] <= given[j] && given[j] <= high[j])) impossible = true;
  }
  rows.condition(given);
  if (impossible) return {0, 0};
  double share = 1;
  if (has_unseen(unseen)) {
    share = std::exp(rows.log_density(unseen, given));
    if (!(share > 0)) return {0, 0};
    for (std::size_t j = 0; j < d; ++j)
      if (!std::isnan(given[j])) unseen[j] = given[j];
    rows.condition(unseen, true);
  }
  std::vector<double> estimates(shifts);
  rows.box(low, high, estimates);
  if (std::all_of(estimates.begin(), estimates.end(),
                  [&](double each) { return each == estimates[0]; }))
    return {share * std::clamp(estimates[0], 0.0, 1.0), 0};
  double mean = 0, square = 0;
  for (const double each : estimates) mean += each / shifts;
  for (const double each : estimates) square += (each - mean) * (each - mean);
  return {share * std::clamp(mean, 0.0, 1.0), share * std::sqrt(square / (shifts - 1.0) / shifts)};
}

}  // namespace bayes
