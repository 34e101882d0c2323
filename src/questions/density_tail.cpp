#include "questions/density_tail.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "base/control.hpp"
#include "base/incomplete.hpp"
#include "base/special.hpp"

namespace bayes {
namespace {

constexpr double boundless = std::numeric_limits<double>::infinity();
/// each power is this times the one before it
constexpr double power_ratio = 0.75;
/// The last term of a sum that is complete is at most this part of it.
constexpr double last_term = 1e-14;

/// Points of a sum over values: the logarithms of how much each counts, and of the density there.
struct Points {
  std::vector<double> log_weights, log_densities;
  /// the last point on either side; -1: there is nothing beyond
  int ends[2] = {-1, -1};

  /// Adds a point. Does its term count for any power, if the first point is where they are large?
  bool add(double weight, double log_density) {
    log_weights.push_back(std::log(weight));
    log_densities.push_back(log_density);
    static const double least = std::pow(power_ratio, double(std::tuple_size_v<PowerLogs>));
    const double fall = log_density - log_densities[0];
    return log_weights.back() + std::max(least * fall, power_ratio * fall) >
           std::log(last_term) + std::min(0.0, log_weights[0]);
  }
  void end(int side) { ends[side] = int(log_weights.size()) - 1; }

  PowerLogs sums() const {
    PowerLogs out;
    std::vector<double> terms(log_weights.size());
    double q = 1;
    for (double &each : out) {
      q *= power_ratio;
      for (std::size_t i = 0; i < terms.size(); ++i)
        terms[i] = log_weights[i] + q * log_densities[i];
      each = log_sum_exp(terms);
      for (const int last : ends)
        if (last >= 0 && terms[std::size_t(last)] > each + std::log(last_term)) each = boundless;
    }
    return out;
  }
};

double quantile_of(const Predicted &of, double p) {
  const double weight = 1;
  return quantile_of_mixture({&of, 1}, {&weight, 1}, p);
}

/// All whole numbers, those far from the median by the trapezoid rule.
PowerLogs whole_powers(const std::function<double(double)> &log_density, double first,
                       double spread) {
  Points points;
  points.add(1, log_density(first));
  for (const int side : {0, 1}) {
    // The numbers between two points count half at either point.
    double x = first, before = 0;
    for (;;) {
      poll_here();
      const double step = std::max(1.0, std::floor(std::max(std::abs(x - first), spread) / 16)),
                   next = std::max(0.0, side == 0 ? x + step : x - step),
                   width = std::abs(next - x);
      if (width == 0 || next > 1e15) break;
      if (width > 1) points.add((width - 1) / 2, x == first ? points.log_densities[0] : before);
      before = log_density(next);
      const bool counts = points.add((width + 1) / 2, before);
      x = next;
      if (!counts) break;
    }
    if (x > 0) points.end(side);
  }
  return points.sums();
}

/// x = median exp(spread sinh u).
PowerLogs positive_powers(const std::function<double(double)> &log_density, double median,
                          double spread) {
  constexpr double step = 0.05;
  Points points;
  for (const int side : {0, 1}) {
    for (double i = side;; ++i) {
      poll_here();
      const double u = (side == 0 ? i : -i) * step, t = std::log(median) + spread * std::sinh(u);
      if (!(std::abs(t) < 700)) break;
      const double x = std::exp(t);
      if (!points.add(x * spread * std::cosh(u) * step, log_density(x)) && i > 40) break;
    }
    points.end(side);
  }
  return points.sums();
}

}  // namespace

double tail_bound(const PowerLogs &of, double log_density) {
  double q = 1, smallest = 0;
  for (const double each : of) {
    q *= power_ratio;
    smallest = std::min(smallest, (1 - q) * log_density + each);
  }
  return std::exp(smallest);
}

EllipticalDensity elliptical_density(const Predicted &of) {
  const double nu = of.c;
  return {1, nu,
          -std::log(of.b) - (nu > 0 ? log_beta(nu / 2, 0.5) + std::log(nu) / 2 : half_log_two_pi)};
}

/// The square of a normal is chi-squared, that of a Student t an F variable times the dimension,
/// which is a beta variable in other words.
double density_tail(const EllipticalDensity &of, double log_density) {
  const double away = std::max(0.0, of.centre - log_density), o = of.elements;
  if (!(of.degrees > 0)) return chi_square_tail(2 * away, o);
  if (away == 0) return 1;
  // away = (nu + o) / 2 log(1 + square / nu), and the odds are nu / square: of many degrees of
  // freedom they keep the digits that nu / (nu + square) loses.
  return beta_below_at(of.degrees / 2, o / 2, -std::log(std::expm1(2 * away / (of.degrees + o))));
}

PowerLogs power_logs(const EllipticalDensity &of) {
  PowerLogs out;
  double q = 1;
  const double o = of.elements, nu = of.degrees;
  for (double &each : out) {
    q *= power_ratio;
    each = (q - 1) * of.centre;
    if (!(nu > 0)) {
      each -= o / 2 * std::log(q);
      continue;
    }
    // p^q is proportional to a Student t of this many degrees
    const double degrees = q * (nu + o) - o;
    each += degrees > 0 ? log_beta(degrees / 2, o / 2) - log_beta(nu / 2, o / 2) : boundless;
  }
  return out;
}

PowerLogs power_logs(std::span<const double> log_probabilities) {
  PowerLogs out;
  double q = 1;
  for (double &each : out) {
    q *= power_ratio;
    double sum = 0;
    for (const double log_p : log_probabilities) sum += std::exp(q * log_p);
    each = std::log(sum);
  }
  return out;
}

PowerLogs power_logs(const Predicted &of, const std::function<double(double)> &log_density) {
  PowerLogs unknown;
  unknown.fill(boundless);
  const double low = quantile_of(of, 0.25), median = quantile_of(of, 0.5),
               high = quantile_of(of, 0.75);
  if (!std::isfinite(low + median + high)) return unknown;
  if (of.support == Predicted::Support::whole) return whole_powers(log_density, median, high - low);
  const double spread = (std::log(high) - std::log(low)) / 4;
  return spread > 0 && std::isfinite(spread) ? positive_powers(log_density, median, spread)
                                             : unknown;
}

}  // namespace bayes
