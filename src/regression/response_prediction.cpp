#include "regression/response_prediction.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/root.hpp"
#include "base/special.hpp"

namespace bayes {
namespace {

constexpr double farthest = 1e300;

/// f(point, logarithm of its weight) for the logarithms of the dispersion of a trapezoidal rule;
/// the point is that of the linear predictor, given the dispersion, and has its conditional
/// variance.
template <class F>
void each_dispersion(const ResponseFamily &response, const UncertainPredictor &of, double step,
                     int each_side, F f) {
  UncertainPredictor given = of;
  if (!response.dispersed() || !(of.dispersion_variance > 0)) return f(given, 0.0);
  const double deviation = std::sqrt(of.dispersion_variance);
  given.variance =
      std::max(0.0, of.variance - of.covariance * of.covariance / of.dispersion_variance);
  for (int i = -each_side; i <= each_side; ++i) {
    const double t = step * i;
    given.log_dispersion = of.log_dispersion + t * deviation;
    given.mean = of.mean + t * of.covariance / deviation;
    f(given, -0.5 * t * t);
  }
}

/// The predictor at which density of y times density of the predictor is greatest, by Newton's
/// method, and the deviation that belongs to the curvature there: both are log-concave.
struct Peak {
  double at, deviation;
};
Peak peak_of(const ResponseFamily &response, double y, const UncertainPredictor &of) {
  double at = of.mean;
  ResponseSlope slope{};
  for (int i = 0; i < 100; ++i) {
    slope = response.slope(y, {at, of.trials, of.log_dispersion});
    const double step =
        (slope.first - (at - of.mean) / of.variance) / (slope.curvature + 1 / of.variance);
    // An exponential looks steeper from above than it is below.
    at += std::clamp(step, -3.0, 3.0);
    if (std::fabs(step) < 1e-6) break;
  }
  return {at, 1 / std::sqrt(slope.curvature + 1 / of.variance)};
}

}  // namespace

std::vector<WeightedPoint> points_of(const ResponseFamily &response, const UncertainPredictor &of) {
  std::vector<WeightedPoint> out;
  double total = 0;
  each_dispersion(response, of, 1.2, 4, [&](const UncertainPredictor &given, double log_weight) {
    const double s = std::sqrt(given.variance);
    if (s == 0) {
      out.push_back({{given.mean, of.trials, given.log_dispersion}, std::exp(log_weight)});
      total += out.back().weight;
      return;
    }
    // Wide steps for narrow distributions, and a thousand at most, as rows may be far from those of
    // the fit; means of a log link weigh up to two deviations more.
    const double most = std::min(7 + 2 * s, 60.0),
                 step = std::max(std::min(0.8, 0.7 / s), (7 + most) / 1000);
    const int below = int(std::ceil(7 / step)), above = int(std::ceil(most / step));
    for (int i = -below; i <= above; ++i) {
      const double t = step * i;
      out.push_back({{given.mean + t * s, of.trials, given.log_dispersion},
                     step * std::exp(log_weight - 0.5 * t * t)});
      total += out.back().weight;
    }
  });
  for (WeightedPoint &each : out) each.weight /= total;
  return out;
}

double log_predictive(const ResponseFamily &response, double y, const UncertainPredictor &of) {
  constexpr double step = 0.4;
  constexpr int nodes = 25;
  std::vector<double> terms;
  double log_total = 0;
  {
    std::vector<double> weights;
    each_dispersion(response, of, 0.7, 8, [&](const UncertainPredictor &, double log_weight) {
      weights.push_back(log_weight);
    });
    log_total = log_sum_exp(weights);
  }
  each_dispersion(response, of, 0.7, 8, [&](const UncertainPredictor &given, double log_weight) {
    const auto density = [&](double a) {
      return response.log_density(y, {a, of.trials, given.log_dispersion});
    };
    if (!(given.variance > 0)) return terms.push_back(log_weight + density(given.mean));
    const Peak peak = peak_of(response, y, given);
    const double constant = log_weight + std::log(step * peak.deviation) -
                            0.5 * std::log(given.variance) - half_log_two_pi;
    for (int i = -nodes; i <= nodes; ++i) {
      const double a = peak.at + i * step * peak.deviation, off = a - given.mean;
      terms.push_back(constant + density(a) - 0.5 * off * off / given.variance);
    }
  });
  return log_sum_exp(terms) - log_total;
}

double predictive_variance(const ResponseFamily &response, std::span<const WeightedPoint> points) {
  double mean = 0;
  for (const WeightedPoint &each : points)
    mean += each.weight * each.at.trials * mean_at(response.link, each.at.predictor);
  double out = 0;
  for (const WeightedPoint &each : points) {
    const double m = each.at.trials * mean_at(response.link, each.at.predictor);
    out += each.weight * (response.variance(m, each.at) + (m - mean) * (m - mean));
  }
  return out;
}

double predictive_quantile(const ResponseFamily &response, std::span<const WeightedPoint> points,
                           double p) {
  const auto below = [&](double y) {
    double out = 0;
    for (const WeightedPoint &each : points) out += each.weight * response.below(y, each.at);
    return out;
  };
  const bool whole = response.whole();
  if (whole && below(0) >= p) return 0;
  // A bracket, from the mean on.
  double low = 0, high = 0;
  for (const WeightedPoint &each : points)
    high += each.weight * each.at.trials * mean_at(response.link, each.at.predictor);
  high = std::clamp(whole ? std::ceil(high) : high, whole ? 1 : 1e-300, farthest);
  while (below(high) < p) {
    low = high;
    high *= 2;
    if (!(high < farthest))
      throw Error(Errc::numeric, "a quantile of the response overflows",
                  "The rows hardly determine the mean of such a row.",
                  "Use a narrower prior, or a lower level.");
  }
  if (whole) {
    while (high - low > 1) {
      const double middle = std::floor(low + (high - low) / 2);
      if (middle <= low || middle >= high) break;  // beyond 2^53
      (below(middle) < p ? low : high) = middle;
    }
    return high;
  }
  while (low == 0 && below(high / 2) >= p && high > 1e-299) high /= 2;
  low = std::max(low, high / 2);
  const auto missed = [&](double log_y) { return below(std::exp(log_y)) - p; };
  const double from = std::log(low), to = std::log(high);
  return std::exp(root_between(missed, from, to, missed(from), missed(to), 40));
}

}  // namespace bayes
