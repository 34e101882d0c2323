#include "regression/response_prediction.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "base/root.hpp"
#include "base/special.hpp"

namespace bayes {
namespace {

constexpr double farthest = 1e300;
/// Terms that are less than exp(-this) of the greatest one do not count.
constexpr double negligible = 40;
/// Functions of a predictor or of the logarithm of a dispersion fall on one side as exp(-exp(a))
/// does, on a scale of 1 whatever their width: the trapezoidal rule with this step is accurate to
/// 10 digits there.
constexpr double finest_scale = 0.4;

/// The same for the predictor of a response: all of n trials fail on the scale on which the
/// logarithm of a probability of 1 / n changes, which is shorter for a probit.
double finest_scale_of(const NumberResponse &response, const UncertainPredictor &of) {
  if (response.link != Link::probit) return finest_scale;
  return finest_scale / (1 + std::sqrt(2 * std::log1p(of.trials)));
}

/// The logarithm of the integral of exp(f) by the trapezoidal rule with this step: from `first` to
/// `last`, two peaks or one, and outwards from there to where exp(f) is negligible, in at most 2000
/// steps each.
template <class F> double log_integral(double first, double last, double step, F f) {
  // Peaks as far apart have nothing in common.
  if (last - first > 2000 * step) {
    const double apart[] = {log_integral(first, first, step, f), log_integral(last, last, step, f)};
    return log_sum_exp(apart);
  }
  std::vector<double> terms = {f(first)};
  double greatest = terms[0];
  const int between = int(std::ceil((last - first) / step));
  for (int i = 1; i <= between; ++i) {
    terms.push_back(f(first + i * step));
    greatest = std::max(greatest, terms.back());
  }
  for (const double direction : {-step, step})
    for (int i = 1; i <= 2000; ++i) {
      const double value = f((direction > 0 ? first + between * step : first) + i * direction);
      terms.push_back(value);
      greatest = std::max(greatest, value);
      if (!(value > greatest - negligible)) break;
    }
  return log_sum_exp(terms) + std::log(step);
}

/// Gauss and Hermite's rule with seven points for averages over a standard normal variable
/// (Abramowitz and Stegun 1964, table 25.10).
constexpr int hermite_points = 7;
constexpr double hermite_at[hermite_points] = {
    -3.750439717725742, -2.366759410734541, -1.154405394739968, 0,
    1.154405394739968,  2.366759410734541,  3.750439717725742};
constexpr double hermite_weights[hermite_points] = {
    0.0005482688559722185, 0.03075712396758651, 0.2401231786050127,   16.0 / 35,
    0.2401231786050127,    0.03075712396758651, 0.0005482688559722185};

/// The logarithm of the average of exp(f) over a standard normal variable, if f is so nearly
/// constant that seven points are enough.
template <class F> std::optional<double> log_average_of_flat(F f) {
  double values[hermite_points];
  for (int i = 0; i < hermite_points; ++i) values[i] = f(hermite_at[i]);
  const double middle = values[hermite_points / 2], low = values[0] - middle,
               high = values[hermite_points - 1] - middle;
  // A slope of 0.4 for a deviation, and a curvature of 0.1.
  if (!(std::fabs(high - low) < 3 && std::fabs(high + low) < 1.4)) return std::nullopt;
  double out = 0;
  for (int i = 0; i < hermite_points; ++i) out += hermite_weights[i] * std::exp(values[i] - middle);
  return middle + std::log(out);
}

/// The average of f over a standard normal variable. `bend`: how fast f changes, the inverse of the
/// number of deviations that it takes.
template <class F> double average_over_normal(double bend, F f) {
  if (bend <= 0.25) {
    double out = 0;
    for (int i = 0; i < hermite_points; ++i) out += hermite_weights[i] * f(hermite_at[i]);
    return out;
  }
  const double step = 0.5 * std::min(1.0, 1 / bend);
  const int each_side = int(std::min(std::ceil(8 / step), 400.0));
  double sum = 0, total = 0;
  for (int i = -each_side; i <= each_side; ++i) {
    const double t = step * i, weight = std::exp(-0.5 * t * t);
    sum += weight * f(t);
    total += weight;
  }
  return sum / total;
}

/// The distribution of the predictor given a dispersion: `t` deviations of its logarithm from the
/// mean of that.
UncertainPredictor given_dispersion(const UncertainPredictor &of, double t) {
  UncertainPredictor out = of;
  if (!(of.dispersion_variance > 0)) return out;
  const double deviation = std::sqrt(of.dispersion_variance);
  out.variance =
      std::max(0.0, of.variance - of.covariance * of.covariance / of.dispersion_variance);
  out.log_dispersion += t * deviation;
  out.mean += t * of.covariance / deviation;
  out.dispersion_variance = out.covariance = 0;
  return out;
}

/// The predictor at which density of y times density of the predictor is greatest, by Newton's
/// method, and the deviation that belongs to the curvature there: both are log-concave.
struct Peak {
  double at, deviation;
};
Peak peak_of(const NumberResponse &response, double y, const UncertainPredictor &of) {
  double at = of.mean;
  ResponseSlope slope{};
  for (int i = 0; i < 100; ++i) {
    slope = response.slope(y, of.at(at));
    const double step =
        (slope.first - (at - of.mean) / of.variance) / (slope.curvature + 1 / of.variance);
    // An exponential looks steeper from above than it is below.
    at += std::clamp(step, -3.0, 3.0);
    if (std::fabs(step) < 1e-6) break;
  }
  return {at, 1 / std::sqrt(slope.curvature + 1 / of.variance)};
}

/// The greatest value of f near `at`, by steps that grow while they lead uphill, and then get
/// shorter.
template <class F> double climb(double at, F f) {
  double value = f(at), step = 0.5;
  for (int i = 0; i < 200 && std::fabs(step) > 0.1; ++i) {
    const double next = f(at + step);
    if (next > value) {
      at += step;
      value = next;
      step *= 2;
    } else {
      step *= -0.4;
    }
  }
  return at;
}

/// The logarithm of the average of exp(f(variance of y)) for a y on the whole line, given the
/// dispersion: a Student t variable is normal with its squared scale over g, where degrees g has a
/// chi-squared distribution. A y that is `off` its mean comes from usual g, or from ones that are
/// so small that it is not far off.
template <class F>
double log_average_of_normal(const NumberResponse &response, const UncertainPredictor &of,
                             double off, F f) {
  const double square = std::exp(of.log_dispersion), half = 0.5 * of.degrees;
  if (!response.has_degrees()) return f(of.variance + square);
  // over log g, whose log density is this but for half_log - log Gamma(half)
  const auto term = [&](double log_g) {
    const double g = std::exp(log_g);
    return f(of.variance + square / g) + half * (log_g - g);
  };
  const double step = finest_scale * std::min(1.5 / std::sqrt(half), 1.0);
  const double usual = climb(0, term),
               small = climb(
                   std::min(0.0, of.log_dispersion - 2 * std::log(std::fabs(off) + 1e-300)), term);
  return log_integral(std::min(small, usual), std::max(small, usual), step, term) +
         half * std::log(half) - log_gamma(half);
}

/// The logarithm of the average density of y, given the dispersion.
double log_average(const NumberResponse &response, double y, const UncertainPredictor &of) {
  if (response.link == Link::identity)
    return log_average_of_normal(response, of, y - of.mean, [off = y - of.mean](double variance) {
      return -0.5 * (off * off / variance + std::log(variance)) - half_log_two_pi;
    });
  const auto density = [&](double a) { return response.log_density(y, of.at(a)); };
  if (!(of.variance > 0)) return density(of.mean);
  const double s = std::sqrt(of.variance);
  const ResponseSlope slope = response.slope(y, of.at(of.mean));
  if (s < 0.3 && std::fabs(slope.first) * s < 0.4 && slope.curvature * of.variance < 0.1)
    if (const auto found = log_average_of_flat([&](double t) { return density(of.mean + t * s); }))
      return *found;
  const Peak peak = peak_of(response, y, of);
  return log_integral(peak.at, peak.at,
                      std::min(0.6 * peak.deviation, finest_scale_of(response, of)),
                      [&](double a) {
                        const double off = a - of.mean;
                        return density(a) - 0.5 * off * off / of.variance;
                      }) -
         0.5 * std::log(of.variance) - half_log_two_pi;
}

/// P(Y <= y), given the dispersion.
double average_below(const NumberResponse &response, double y, const UncertainPredictor &of) {
  if (response.whole() && y >= of.trials && response.link != Link::log) return 1;
  const double s = std::sqrt(of.variance);
  const ResponsePoint at = of.at(of.mean);
  if (s == 0) return response.below(y, at);
  const ResponseFall fall = response.fall(y, at);
  // Where the predictor is narrower than the fall, over the predictor.
  if (!(s > fall.deviation))
    return average_over_normal(s / fall.deviation,
                               [&](double t) { return response.below(y, of.at(of.mean + t * s)); });
  if (response.link == Link::identity)
    return std::exp(
        log_average_of_normal(response, of, y - of.mean, [off = y - of.mean](double variance) {
          return log_normal_cdf(off / std::sqrt(variance)).value;
        }));
  // Otherwise over the fall, by parts: the probability that it comes after the predictor.
  const auto term = [&](double a) {
    return log_normal_cdf((a - of.mean) / s).value + response.log_fall(y, of.at(a));
  };
  return std::min(1.0, std::exp(log_integral(
                           fall.peak, fall.peak,
                           std::min(0.4 * fall.deviation, finest_scale_of(response, of)), term)));
}

}  // namespace

double log_predictive(const NumberResponse &response, double y, const UncertainPredictor &of) {
  if (!response.dispersed() || !(of.dispersion_variance > 0)) return log_average(response, y, of);
  const double deviation = std::sqrt(of.dispersion_variance);
  const auto term = [&](double t) {
    return log_average(response, y, given_dispersion(of, t)) - 0.5 * t * t;
  };
  if (deviation < 0.3)
    if (const auto found = log_average_of_flat(
            [&](double t) { return log_average(response, y, given_dispersion(of, t)); }))
      return *found;
  // Standard normal t and a density that falls as exp(-exp(-log dispersion)), or more slowly. A y
  // on the whole line that is far off comes from usual dispersions, or from ones as large.
  double usual = climb(0, term), far = usual;
  if (response.link == Link::identity) {
    const double off = std::fabs(y - of.mean) + 1e-300;
    far = climb(std::max(0.0, (2 * std::log(off) - of.log_dispersion) / deviation), term);
    if (far < usual) std::swap(far, usual);
  }
  const double peak = term(far) > term(usual) ? far : usual, width = 0.05,
               bend = 2 * term(peak) - term(peak + width) - term(peak - width),
               narrow = std::min(1.0, width / std::sqrt(std::max(bend, width * width)));
  return log_integral(usual, far, std::min(0.7 * narrow, finest_scale / deviation), term) -
         half_log_two_pi;
}

double predictive_variance(const NumberResponse &response, const UncertainPredictor &of) {
  const VarianceTerms terms = response.variance_terms(of.trials, of.degrees);
  // Failures vary as successes do; those that are rarer lose no digits.
  const bool probability = response.link == Link::logit || response.link == Link::probit;
  const LinkMoments moments =
      link_moments(response.link, probability ? -std::fabs(of.mean) : of.mean, of.variance);
  const double mean = of.trials * moments.mean,
               variance = of.trials * moments.sd * (of.trials * moments.sd);
  // of m^2 and of 1, each times the dispersion: products of log-normal numbers
  double square = mean * mean + variance, one = 1;
  if (response.dispersed()) {
    one = std::exp(of.log_dispersion + 0.5 * of.dispersion_variance);
    square *= one * std::exp(2 * of.covariance);
  }
  const double own = terms.linear * mean + (terms.constant == 0 ? 0 : terms.constant * one) +
                     (terms.quadratic == 0 ? 0 : terms.quadratic * square);
  // What is left of a variance that is 0, as with probabilities of 0 or 1, may be below that.
  return own < 0 ? variance : own + variance;
}

double predictive_below(const NumberResponse &response, double y, const UncertainPredictor &of) {
  if (!response.dispersed() || !(of.dispersion_variance > 0)) return average_below(response, y, of);
  // With its dispersion the mean moves too, by so much of what the distribution function takes.
  const double deviation = std::sqrt(of.dispersion_variance),
               width = std::hypot(std::sqrt(given_dispersion(of, 0).variance),
                                  response.fall(y, of.at(of.mean)).deviation);
  return average_over_normal(
      deviation + std::fabs(of.covariance) / deviation / width,
      [&](double t) { return average_below(response, y, given_dispersion(of, t)); });
}

namespace {

[[noreturn]] void refuse_quantile() {
  throw Error(Errc::numeric, "a quantile of the response overflows",
              "The rows hardly determine the mean of such a row.",
              "Use a narrower prior, or a lower level.");
}

/// The quantile of a response on the whole line, in a bracket that grows about the mean.
template <class F> double quantile_about(double mean, double scale, double p, F below) {
  const auto missed = [&](double t) { return below(mean + t * scale) - p; };
  double low = -1, high = 1, at_low = missed(low), at_high = missed(high);
  while (at_low > 0) {
    high = low;
    at_high = at_low;
    at_low = missed(low *= 2);
    if (!(-low * scale < farthest)) refuse_quantile();
  }
  while (at_high < 0) {
    low = high;
    at_low = at_high;
    at_high = missed(high *= 2);
    if (!(high * scale < farthest)) refuse_quantile();
  }
  return mean + scale * root_between(missed, low, high, at_low, at_high, 40);
}

}  // namespace

double predictive_mean(const NumberResponse &response, PredictorMixture of) {
  double out = 0;
  for (const UncertainPredictor &each : of)
    out += each.trials * link_moments(response.link, each.mean, each.variance).mean;
  return out / double(of.size());
}

double log_predictive(const NumberResponse &response, double y, PredictorMixture of) {
  std::vector<double> logs;
  for (const UncertainPredictor &each : of)
    logs.push_back(each.variance > 0 || each.dispersion_variance > 0
                       ? log_predictive(response, y, each)
                       : response.log_density(y, each.at(each.mean)));
  return log_sum_exp(logs) - std::log(double(of.size()));
}

double predictive_variance(const NumberResponse &response, PredictorMixture of) {
  const double mean = of.size() > 1 ? predictive_mean(response, of) : 0;
  double out = 0;
  for (const UncertainPredictor &each : of) {
    out += predictive_variance(response, each);
    if (of.size() == 1) return out;
    const double off = predictive_mean(response, {&each, 1}) - mean;
    out += off * off;
  }
  return out / double(of.size());
}

double predictive_below(const NumberResponse &response, double y, PredictorMixture of) {
  double out = 0;
  for (const UncertainPredictor &each : of) out += predictive_below(response, y, each);
  return out / double(of.size());
}

namespace {

/// One that has the mean and the variance of the predictors.
UncertainPredictor moments_of(PredictorMixture of) {
  UncertainPredictor out = of[0];
  out.mean = out.log_dispersion = 0;
  for (const UncertainPredictor &each : of) {
    out.mean += each.mean / double(of.size());
    out.log_dispersion += each.log_dispersion / double(of.size());
  }
  for (const UncertainPredictor &each : of)
    if (of.size() > 1) out.variance += std::pow(each.mean - out.mean, 2) / double(of.size());
  return out;
}

}  // namespace

double predictive_quantile(const NumberResponse &response, PredictorMixture all, double p) {
  const auto below = [&](double y) { return predictive_below(response, y, all); };
  const UncertainPredictor of = moments_of(all);
  if (response.link == Link::identity) {
    if (p <= 0.5)
      return quantile_about(of.mean, std::sqrt(of.variance + std::exp(of.log_dispersion)), p,
                            below);
    // As the lower quantile of -y: P(Y <= y) near 1 would lose its digits.
    std::vector<UncertainPredictor> mirrored(all.begin(), all.end());
    for (UncertainPredictor &each : mirrored) {
      each.mean = -each.mean;
      each.covariance = -each.covariance;
    }
    return -predictive_quantile(response, mirrored, 1 - p);
  }
  const bool whole = response.whole();
  if (whole && below(0) >= p) return 0;
  // A bracket about the quantile of a log-normal variable; low is too low, and high is not.
  const double middle = of.trials * mean_at(response.link, of.mean),
               share = std::sqrt(predictive_variance(response, all)) / middle,
               spread = share < 3 ? share : 3, least = whole ? 1 : 1 / farthest;
  const double guess = middle * std::exp(spread * normal_quantile(p));
  double high = std::clamp(whole ? std::ceil(guess) : guess, least, farthest), low = high;
  double factor = std::exp(std::max(0.25 * spread, 1e-9));
  if (below(high) >= p) {
    do {
      high = low;
      low /= factor;
      if (whole) low = std::floor(std::min(low, high - 1));
      factor *= factor;
    } while (low > least * 0.5 && below(low) >= p);
  } else {
    do {
      low = high;
      high *= factor;
      if (whole) high = std::ceil(std::max(high, low + 1));
      if (!(high < farthest)) refuse_quantile();
      factor *= factor;
    } while (below(high) < p);
  }
  if (whole) {
    while (high - low > 1) {
      const double half = std::floor(low + (high - low) / 2);
      if (half <= low || half >= high) break;  // beyond 2^53
      (below(half) < p ? low : high) = half;
    }
    return high;
  }
  if (!(low > least)) return 0;  // below 1e-300
  const auto missed = [&](double log_y) { return below(std::exp(log_y)) - p; };
  const double from = std::log(low), to = std::log(high);
  return std::exp(root_between(missed, from, to, missed(from), missed(to), 40));
}

}  // namespace bayes
