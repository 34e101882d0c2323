#include "families/normal/independent_predictive.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/special.hpp"
#include "families/normal/normal_marginal.hpp"

namespace bayes {

IndependentPredictive::IndependentPredictive(const NormalIndependent &q, Vector log_weights)
    : q_(q),
      log_weights_(std::move(log_weights)),
      out_(std::size_t(q.components())) {}

std::vector<IndependentPredictive::Component> IndependentPredictive::compile(
    std::span<const int> elements) const {
  const NormalIndependent q = marginal(q_, elements);
  const int d = q.dimension();
  const auto scales = factor_all(full_covariance, q.B, d, "posterior scale B");
  std::vector<Component> out;
  for (int k = 0; k < q.components(); ++k) {
    const double nu = q.a(k) + 1 - d;
    const FactoredScale &b = scales[std::size_t(k)];
    const SymmetricEigen eigen =
        symmetric_eigen(nu * product_transposed(product(b.whiten, q.C[std::size_t(k)]), b.whiten));
    const double degrees = std::min(nu, most_integrated_degrees);
    out.push_back({std::sqrt(nu) * transposed_product(eigen.vectors, b.whiten), q.m.col(k),
                   eigen.values.cwiseMax(0.0), degrees,
                   degrees / 2 * std::log(degrees / 2) - log_gamma(degrees / 2) -
                       0.5 * (d * (log_two_pi - std::log(nu)) + b.log_determinant)});
  }
  return out;
}

/// The trapezoid rule over t = log g, in which the integrand is smooth and vanishes at both ends.
/// Its logarithm is nu + d times a function that varies on a scale of about 1; so it has few peaks,
/// at least about 1 apart, each about sqrt(2 / (nu + d)) wide: one where g makes the noise explain
/// the row's distance, one near 0 if the uncertainty of the mean explains it, and rarely others
/// between.
double IndependentPredictive::Component::log_density(const double *x) const {
  const Eigen::Index d = mean.size();
  const Eigen::ArrayXd square =
      product(rotation, Vector(Eigen::Map<const Vector>(x, d) - mean))
          .array()
          .square()
          .unaryExpr(
              [&](double s) { return s < max_square / double(d) ? s : max_square / double(d); });
  const auto slope = [&](double t) {
    const double g = std::exp(t);
    const Eigen::ArrayXd shrink = (1 + variance.array() * g).inverse();
    return nu * (1 - g) + (shrink - square * g * shrink.square()).sum();
  };
  const auto value = [&](double t) {
    const Eigen::ArrayXd spread = variance.array() + std::exp(-t);
    return 0.5 * (nu * (t - std::exp(t)) - (spread.log() + square / spread).sum());
  };
  // all peaks are between
  const double left = std::log(nu / (nu + square.sum())) - 1e-3,
               right = std::log1p(double(d) / nu) + 1e-3;
  const int parts = 1 + int((right - left) / 0.5);
  std::vector<double> peaks;
  double before = slope(left);
  for (int i = 1; i <= parts; ++i) {
    double low = left + (right - left) * (i - 1) / parts, high = left + (right - left) * i / parts;
    const double after = slope(high);
    if (before > 0 && !(after > 0)) {
      for (int halving = 0; halving < 40; ++halving)
        (slope(0.5 * (low + high)) > 0 ? low : high) = 0.5 * (low + high);
      peaks.push_back(low);
    }
    before = after;
  }
  double top = -std::numeric_limits<double>::infinity();
  for (const double peak : peaks) top = std::max(top, value(peak));
  // A step of 0.7 widths leaves an error of e^(-2 pi^2 / 0.7^2); terms below e^-40 of the largest
  // are left out.
  const double step = 0.7 * std::sqrt(2 / (nu + double(d)));
  double sum = 0, reached = -std::numeric_limits<double>::infinity();
  for (const double peak : peaks) {
    const double middle = std::round(peak / step);
    for (const int direction : {-1, 1})
      for (double i = direction < 0 ? middle : std::max(middle, reached) + 1,
                  last = i + direction * 1e4;
           (i > reached || direction > 0) && i != last; i += direction) {
        const double term = value(i * step) - top;
        if (term < -40) {
          if (direction > 0) reached = i;
          break;
        }
        sum += std::exp(term);
      }
  }
  return constant + top + std::log(sum * step);
}

std::span<const double> IndependentPredictive::log_joint(std::span<const double> x) {
  std::copy_n(log_weights_.data(), out_.size(), out_.begin());
  if (std::all_of(x.begin(), x.end(), [](double each) { return std::isnan(each); })) return out_;
  const double d = double(x.size());
  const std::vector<Component> &components =
      marginals_.of(x, double(out_.size()) * d * (d + 2), [this](std::span<const int> elements) {
        return std::make_unique<std::vector<Component>>(compile(elements));
      });
  for (std::size_t k = 0; k < out_.size(); ++k)
    out_[k] += components[k].log_density(marginals_.observed().data());
  return out_;
}

}  // namespace bayes
