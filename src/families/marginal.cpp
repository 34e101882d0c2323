#include "families/marginal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/control.hpp"
#include "base/incomplete.hpp"
#include "base/root.hpp"
#include "base/special.hpp"

namespace bayes {
namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN(),
                 infinite = std::numeric_limits<double>::infinity();

/// The p-quantile of the distribution in its standard form; for kind root, the x that chi-square(a)
/// / 2 exceeds with probability p.
double standard_quantile(const Marginal &m, double p) {
  switch (m.kind) {
    case Marginal::Kind::beta: return beta_quantile(m.a, m.b, p);
    case Marginal::Kind::gamma: return gamma_quantile(m.a, p);
    case Marginal::Kind::student: return student_quantile(m.a, p);
    case Marginal::Kind::normal: return normal_quantile(p);
    case Marginal::Kind::root: break;
  }
  return upper_gamma_quantile(m.a / 2, p);
}

/// Is the parameter a probability that is known to be 0 or 1?
bool certain(const Marginal &m) { return m.kind == Marginal::Kind::beta && !(m.a > 0 && m.b > 0); }

}  // namespace

double Marginal::mean() const {
  switch (kind) {
    case Kind::beta: return a / (a + b);
    case Kind::gamma: return a / b;
    case Kind::student:
    case Kind::normal: return location;
    case Kind::root: break;
  }
  // sqrt(b / 2) Gamma((a - 1) / 2) / Gamma(a / 2)
  return a > 1 ? std::sqrt(b / 2) * std::exp(log_beta((a - 1) / 2, 0.5) - log_gamma(0.5))
               : undefined;
}

double Marginal::deviation() const {
  switch (kind) {
    case Kind::beta: return std::sqrt(a / (a + b) * (b / (a + b)) / (a + b + 1));
    case Kind::gamma: return std::sqrt(a) / b;
    case Kind::student: return a > 2 ? b * std::sqrt(a / (a - 2)) : undefined;
    case Kind::normal: return b;
    case Kind::root: break;
  }
  if (!(a > 2)) return undefined;
  // For large a, E[x^2] - E[x]^2 would lose digits by cancellation: use its expansion in 1 / a.
  if (a > 1e4) return std::sqrt(b / a * (0.5 / a)) * (1 + (15.0 / 8 + 439.0 / 128 / a) / a);
  const double m = mean();
  return std::sqrt(std::max(0.0, b / (a - 2) - m * m));
}

double Marginal::probability_below(double x) const {
  switch (kind) {
    case Kind::beta:
      return x >= 1 || (x >= 0 && !(a > 0)) ? 1
             : x <= 0 || certain(*this)     ? 0
                                            : beta_below(a, b, x);
    case Kind::gamma: return x <= 0 ? 0 : gamma_below(a, x * b);
    case Kind::student: return student_below(a, (x - location) / b);
    case Kind::normal: return normal_below((x - location) / b);
    case Kind::root: break;
  }
  return x <= 0 ? 0 : gamma_above(a / 2, b / (2 * x * x));
}

double Marginal::quantile(double p) const {
  if (certain(*this)) return a > 0;
  const double y = standard_quantile(*this, p);
  switch (kind) {
    case Kind::beta: return y;
    case Kind::gamma: return y / b;
    case Kind::student:
    case Kind::normal: return location + b * y;
    case Kind::root: break;
  }
  return std::sqrt(b / (2 * y));
}

double Marginal::upper_quantile(double p) const {
  if (certain(*this)) return a > 0;
  switch (kind) {
    case Kind::beta: return 1 - Marginal{Kind::beta, b, a}.quantile(p);
    case Kind::gamma: return upper_gamma_quantile(a, p) / b;
    case Kind::student:
    case Kind::normal: return location + (location - quantile(p));
    case Kind::root: break;
  }
  return std::sqrt(b / (2 * gamma_quantile(a / 2, p)));
}

Marginal Marginal::with_deviation(double deviation) const {
  Marginal out = *this;
  const double own = kind == Kind::root ? b / (a - 2) * std::sqrt(2 / (a - 4)) : this->deviation();
  if (!(own > 0) || !(deviation > own) || (kind == Kind::root && !(a > 4))) return out;
  const double m = kind == Kind::root ? b / (a - 2) : mean(), ratio = m / deviation;
  switch (kind) {
    case Kind::beta: {
      // bounded below, so that double precision still distinguishes it from a certain 0 or 1
      const double whole = std::max(1e-6, ratio * (b / (a + b) / deviation) - 1);
      out.a = m * whole;
      out.b = b / (a + b) * whole;
      break;
    }
    case Kind::gamma:
      out.a = ratio * ratio;
      out.b = out.a / m;
      break;
    case Kind::student:
    case Kind::normal: out.b = b * (deviation / own); break;
    case Kind::root:
      out.a = 4 + 2 * ratio * ratio;
      out.b = m * (out.a - 2);
      break;
  }
  return out;
}

void dirichlet_marginals(std::span<const double> alpha, double rest, Marginal *out) {
  // Add up the other parameters instead of subtracting from the total, so that no digits cancel.
  double sum = rest;
  for (std::size_t i = alpha.size(); i-- > 0; sum += alpha[i])
    out[i] = {Marginal::Kind::beta, alpha[i], sum};
  sum = 0;
  for (std::size_t i = 0; i < alpha.size(); sum += alpha[i++]) out[i].b += sum;
}

MarginalMixture::MarginalMixture(std::span<const Marginal> parts, std::span<const double> weights)
    : parts_(parts),
      weights_(weights),
      // Equal weights are divided by once, so that parts that are all the same have exactly their
      // mean.
      whole_(weights.empty() ? double(parts.size()) : 1) {
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (share(i) > 0) sum += share(i) * parts[i].mean();
  mean_ = sum / whole_;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!(share(i) > 0)) continue;
    const double own = parts[i].deviation(), away = parts[i].mean() - mean_;
    squares += share(i) * (own * own + away * away);
  }
  deviation_ = std::sqrt(squares / whole_);
}

double MarginalMixture::quantile(double p) const {
  const auto error = [&](double x) {
    poll_here();
    double sum = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i)
      if (share(i) > 0) sum += share(i) * parts_[i].probability_below(x);
    return sum / whole_ - p;
  };
  // The quantile lies between those of the parts, and within Cantelli's bounds, which are cheaper.
  double low, high;
  const double root = std::sqrt((1 - p) / p);
  if (std::isfinite(deviation_)) {
    low = mean_ - 1.001 * deviation_ * root;
    high = mean_ + 1.001 * deviation_ / root;
    if (parts_[0].kind == Marginal::Kind::beta) high = std::min(high, 1.0);
    if (parts_[0].kind == Marginal::Kind::beta || parts_[0].kind == Marginal::Kind::gamma ||
        parts_[0].kind == Marginal::Kind::root)
      low = std::max(low, 0.0);
  } else {
    constexpr double largest = std::numeric_limits<double>::max();
    std::vector<double> own;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (!(share(i) > 0)) continue;
      poll_here();
      const double each = parts_[i].quantile(p);
      if (std::isnan(each)) return each;
      own.push_back(std::clamp(each, -largest, largest));
    }
    std::sort(own.begin(), own.end());
    const auto above =
        std::partition_point(own.begin(), own.end(), [&error](double x) { return error(x) < 0; });
    if (above == own.begin() || above == own.end()) {
      const double out = above == own.begin() ? own.front() : own.back();
      return std::fabs(out) < largest ? out : std::copysign(infinite, out);
    }
    low = above[-1];
    high = *above;
    // Parts of few degrees of freedom have quantiles that are hundreds of powers of ten apart.
    while (std::asinh(high) - std::asinh(low) > 2) {
      const double middle = std::sinh((std::asinh(high) + std::asinh(low)) / 2);
      (error(middle) < 0 ? low : high) = middle;
    }
  }
  if (!(low < high)) return low;
  const double at_low = error(low), at_high = error(high);
  if (at_low >= 0) return low;
  if (at_high <= 0) return high;
  return root_between(error, low, high, at_low, at_high, 45);
}

double quantile_of_draws(std::span<const double> sorted, double p) {
  const double n = double(sorted.size()), at = p * (n + 1);
  if (!(at >= 1 && at <= n)) return undefined;
  const std::size_t i = std::size_t(at);
  const double next = i < sorted.size() ? sorted[i] : sorted[i - 1];
  return sorted[i - 1] + (at - double(i)) * (next - sorted[i - 1]);
}

DrawSummary summary_of_draws(std::vector<double> draws, std::optional<double> level) {
  std::sort(draws.begin(), draws.end());
  const double n = double(draws.size());
  double mean = 0, squares = 0;
  for (const double draw : draws) mean += draw / n;
  for (const double draw : draws) squares += (draw - mean) * (draw - mean);
  return {mean, n > 1 ? std::sqrt(squares / (n - 1)) : undefined,
          level ? quantile_of_draws(draws, (1 - *level) / 2) : undefined,
          level ? quantile_of_draws(draws, (1 + *level) / 2) : undefined};
}

}  // namespace bayes
