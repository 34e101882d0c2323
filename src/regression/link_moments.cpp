#include "regression/link_moments.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace bayes {
namespace {

double density_at(Link link, double a) {
  if (link == Link::probit) return normal_density(a);
  const double e = std::exp(-std::fabs(a));
  return e / ((1 + e) * (1 + e));
}

/// exp(-t^2 / 2) at t = i / 2 for |i| <= 19: the nodes of most predictions.
double density_at_half(int i) {
  static const auto all = [] {
    std::array<double, 20> out;
    for (std::size_t j = 0; j < out.size(); ++j) out[j] = std::exp(-0.125 * double(j * j));
    return out;
  }();
  return all[std::size_t(std::abs(i))];
}

/// Nodes on the scale of the linear predictor: E F(a) = E F(m + s t), t standard normal. The step
/// depends on how the integrands behave off the real line, at t + i v: the logistic function has
/// poles at distance pi / s; with Phi^2 they grow like exp((1 + 2 s^2) v^2 / 2). m <= 0, s <= 4.
LinkMoments over_predictor(Link link, double m, double s) {
  const bool logit = link == Link::logit;
  const double step =
      logit ? std::min(0.5, 0.45 / s) : std::min(0.5, 0.74 / std::sqrt(1 + 2 * s * s));
  // Where probabilities are small, most of their mean square comes from larger t.
  const double above = logit ? 2 * s : -2 * m * s / (1 + 2 * s * s);
  const int first = -int(std::ceil(9 / step)), last = int(std::ceil((9 + above) / step));
  constexpr int max_nodes = 480;
  double weight[max_nodes], value[max_nodes];
  const int nodes = std::min(last - first + 1, max_nodes);
  // The logistic function needs exp(m + s t), which is a geometric sequence.
  const double ratio = logit ? std::exp(s * step) : 1;
  double e = logit ? std::exp(m + s * step * first) : 0, total = 0, mean = 0;
  for (int i = 0; i < nodes; ++i, e *= ratio) {
    const double t = step * (first + i);
    weight[i] = step == 0.5 && std::abs(first + i) < 20 ? density_at_half(first + i)
                                                        : std::exp(-0.5 * t * t);
    value[i] = logit ? e / (1 + e) : normal_cdf(m + s * t);
    total += weight[i];
    mean += weight[i] * value[i];
  }
  mean /= total;
  const double unit = mean < 1e-100 ? 1e-150 : 1;  // squares of tiny numbers would underflow
  double squares = 0;
  for (int i = 0; i < nodes; ++i) {
    const double off = (value[i] - mean) / unit;
    squares += weight[i] * off * off;
  }
  return {mean, unit * std::sqrt(squares / total)};
}

/// For a wide distribution of a, nodes on the scale of the link: with independent l, l' of density
/// F', E F(a) = P(l < a) and E F(a)^2 = P(max(l, l') < a). m <= 0.
LinkMoments over_link(Link link, double m, double s) {
  const bool logit = link == Link::logit;
  const double variance = s * s;
  // Nodes below `low` would add less than e^low to E F(a). E F(a) itself is about e^(m + s^2 / 2)
  // where F is exponential over the whole range of a, and elsewhere at least P(a > 0).
  const double size = m + variance < 0 ? m + variance / 2 : -m * m / (2 * variance);
  const double low = logit ? size - 44 : -19, high = logit ? 40 : 10;
  const double step = logit ? 0.5 : 0.25;
  double mean = 0, square = 0;
  for (double l = low; l <= high; l += step) {
    const double below = density_at(link, l) * normal_cdf((m - l) / s) * step;
    mean += below;
    square += 2 * below * probability_at(link, l);
  }
  // A variable between 0 and 1 has at most the variance of one with the same mean that is 0 or 1.
  return {mean, std::sqrt(std::clamp(square - mean * mean, 0.0, mean * (1 - mean)))};
}

LinkMoments lower_moments(Link link, double m, double variance) {
  const double s = std::sqrt(variance);
  if (link == Link::logit) {
    // F(a) is e^a over the whole range of a that matters, for the mean square too.
    if (m + 2 * variance + 9 * s < -38) {
      return {std::exp(m + variance / 2),
              std::exp(m + variance) * std::sqrt(-std::expm1(-variance))};
    }
    // E F(a) < E min(1, e^a) underflows: it is below e^(m + s^2 / 2) + e^(-m^2 / (2 s^2)) for m <
    // -s^2, and below 2 e^(-m^2 / (2 s^2)) for other m.
    if (s > 39 && m < -39 * s) return {0, 0};
  } else if (m < -38 * std::sqrt(1 + variance)) {
    return {0, 0};
  }
  return s <= 4 ? over_predictor(link, m, s) : over_link(link, m, s);
}

/// log E F(a) of the logistic function F where it is below 1e-290: as over_link() in logarithms.
double log_logistic_mean(double m, double variance) {
  const double s = std::sqrt(variance);
  // F(a) is e^a wherever e^a times the density of a matters.
  if (m + variance + 9 * s < -38) return m + variance / 2;
  // So m > -(s^2 + 9 s + 38). The summand falls by 1 - r a unit below 0, or as a normal does.
  // With more nodes than these, log E F(a) is so far from 0 that it has no digits for the rest.
  constexpr double max_nodes = 20000;
  const double r = -m / variance, low = r < 0.9 ? -440 : -(18 * s + 82), high = 40,
               step = std::max(0.5, -low / max_nodes);
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (double l = low; l <= high; l += step) {
    const double e = std::fabs(l),
                 term = -e - 2 * std::log1p(std::exp(-e)) + log_normal_cdf((m - l) / s).value;
    if (term > largest) {
      sum = sum * std::exp(largest - term) + 1;
      largest = term;
    } else {
      sum += std::exp(term - largest);
    }
  }
  return largest + std::log(sum * step);
}

}  // namespace

double probability_at(Link link, double a) {
  if (link == Link::probit) return normal_cdf(a);
  if (a >= 0) return 1 / (1 + std::exp(-a));
  const double e = std::exp(a);
  return e / (1 + e);
}

double mean_at(Link link, double a) {
  if (link == Link::identity) return a;
  return link == Link::log ? std::exp(a) : probability_at(link, a);
}

double predictor_at(Link link, double mean) {
  switch (link) {
    case Link::identity: return mean;
    case Link::log: return std::log(mean);
    case Link::probit: return normal_quantile(mean);
    case Link::logit: break;
  }
  return std::log(mean / (1 - mean));
}

double log_probability_at(Link link, double a) {
  return link == Link::probit ? log_normal_cdf(a).value : -log1p_exp(-a);
}

LinkMoments link_moments(Link link, double mean, double variance) {
  if (link == Link::identity) return {mean, std::sqrt(variance)};
  if (link == Link::log) {
    const double of = std::exp(mean + variance / 2);
    return {of, variance > 0 ? of * std::sqrt(std::expm1(variance)) : 0};
  }
  if (variance == 0) return {probability_at(link, mean), 0};
  LinkMoments out = lower_moments(link, -std::fabs(mean), variance);
  if (link == Link::probit)
    out.mean = normal_cdf(mean / std::sqrt(1 + variance));
  else if (mean > 0)
    out.mean = 1 - out.mean;
  return out;
}

double log_link_mean(Link link, double mean, double variance) {
  if (variance == 0) return log_probability_at(link, mean);
  if (link == Link::probit) return log_normal_cdf(mean / std::sqrt(1 + variance)).value;
  const double p = link_moments(link, mean, variance).mean;
  return p > 1e-290 ? std::log(p) : log_logistic_mean(mean, variance);
}

}  // namespace bayes
