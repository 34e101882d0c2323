#include "mixture/stick_breaking.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/special.hpp"

namespace bayes {
namespace {

/// f(stick, a, b) from the last but one to the first: q(v) = Beta(1 + its count, alpha + the counts
/// behind it).
template <class F>
void for_each_stick(const Vector &counts, const std::vector<int> &order, double alpha, F f) {
  double behind = 0;
  for (Eigen::Index i = counts.size() - 1; i-- > 0;) {
    behind += counts(order[std::size_t(i) + 1]);
    f(i, 1 + counts(order[std::size_t(i)]), alpha + behind);
  }
}

/// The part of the objective that depends on the order of the sticks.
double bound(const Vector &counts, const std::vector<int> &order, double alpha) {
  double total = 0;
  for_each_stick(counts, order, alpha,
                 [&](Eigen::Index, double a, double b) { total += log_beta(a, b); });
  return total;
}

}  // namespace

std::vector<double> StickWeights::log_weights(const Sticks &sticks) const {
  const Eigen::Index t = sticks.a.size() + 1;
  std::vector<double> out(std::size_t(t), 0.0);
  double left = 0;
  for (Eigen::Index i = 0; i < t; ++i) {
    out[std::size_t(i)] = left;
    if (i + 1 == t) break;
    const double both = digamma(sticks.a(i) + sticks.b(i));
    out[std::size_t(i)] += digamma(sticks.a(i)) - both;
    left += digamma(sticks.b(i)) - both;
  }
  return out;
}

double StickWeights::objective(const Sticks &sticks) const {
  const double expected = concentration(sticks),
               expected_log = learned_ ? digamma(sticks.concentration.shape) -
                                             std::log(sticks.concentration.rate)
                                       : std::log(fixed_);
  double total = 0;
  for (Eigen::Index i = 0; i < sticks.a.size(); ++i) {
    const double a = sticks.a(i), b = sticks.b(i), both = digamma(a + b);
    // E log Beta(v | 1, alpha) - E log q(v)
    total += expected_log + (expected - 1) * (digamma(b) - both) + log_beta(a, b) -
             (a - 1) * (digamma(a) - both) - (b - 1) * (digamma(b) - both);
  }
  if (learned_) {
    const auto [s, r] = sticks.concentration;
    total -= (s - learned_->shape) * digamma(s) - log_gamma(s) + log_gamma(learned_->shape) +
             learned_->shape * (std::log(r) - std::log(learned_->rate)) +
             s * (learned_->rate - r) / r;
  }
  return total;
}

std::vector<int> StickWeights::best_order(const Vector &counts, const Sticks &before) const {
  const double alpha = concentration(before);
  std::vector<int> as_they_are(static_cast<std::size_t>(counts.size()));
  std::iota(as_they_are.begin(), as_they_are.end(), 0);
  std::vector<int> order = descending_order(counts);
  return bound(counts, order, alpha) < bound(counts, as_they_are, alpha) ? as_they_are : order;
}

Sticks StickWeights::update(const Vector &counts, const std::vector<int> &order,
                            const Sticks &before) const {
  const Eigen::Index t = counts.size();
  Sticks out{Vector(t - 1), Vector(t - 1), before.concentration};
  double left = 0;
  for_each_stick(counts, order, concentration(before), [&](Eigen::Index i, double a, double b) {
    out.a(i) = a;
    out.b(i) = b;
    left += digamma(b) - digamma(a + b);
  });
  if (learned_) out.concentration = {learned_->shape + double(t - 1), learned_->rate - left};
  return out;
}

std::vector<double> StickWeights::weights(const Sticks &sticks) {
  std::vector<double> out;
  double left = 1;
  for (Eigen::Index i = 0; i < sticks.a.size(); ++i) {
    const double v = sticks.a(i) / (sticks.a(i) + sticks.b(i));
    out.push_back(left * v);
    left *= 1 - v;
  }
  out.push_back(left);
  return out;
}

}  // namespace bayes
