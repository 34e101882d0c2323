// The difference of two independent posteriors, and which of several is the largest.
//
// Both are integrals over p from 0 to 1 of the distribution functions of the other parameters at
// the quantile p of one of them. The range of p is divided at even steps of its log odds, and at
// even steps of the log odds of the other distribution functions, so that no function changes much
// within a piece. Each piece is integrated by Gauss-Legendre quadrature.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/control.hpp"
#include "base/error.hpp"
#include "base/root.hpp"
#include "conjugate/conjugate.hpp"

namespace bayes {
namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// The log odds of p go from -max_log_odds to max_log_odds; probabilities beyond are negligible.
constexpr int max_log_odds = 34;
double probability_of(double log_odds) {
  const double e = std::exp(-std::fabs(log_odds));
  return log_odds < 0 ? e / (1 + e) : 1 / (1 + e);
}

/// Calls f(p, weight) for the quadrature points of all pieces between the increasing `bounds`.
template <class F> void each_point(const std::vector<double> &bounds, F f) {
  const GaussLegendre &rule = gauss_legendre_10;
  for (std::size_t i = 1; i < bounds.size(); ++i) {
    const double middle = (bounds[i] + bounds[i - 1]) / 2, half = (bounds[i] - bounds[i - 1]) / 2;
    if (!(half > 0)) continue;
    for (std::size_t j = 0; j < rule.points.size(); ++j)
      for (const int side : {-1, 1})
        f(middle + side * half * rule.points[j], half * rule.weights[j]);
  }
}

std::vector<double> even_bounds() {
  std::vector<double> out;
  for (int s = -max_log_odds; s <= max_log_odds; ++s) out.push_back(probability_of(s));
  return out;
}

/// The distribution of x - y, where x and y are independent.
class Difference {
 public:
  Difference(const Marginal &x, const Marginal &y) : x_(x), y_(y) {
    const auto width = [](const Marginal &of) { return of.quantile(0.75) - of.quantile(0.25); };
    x_is_narrower_ = width(x) < width(y);
    bounds_ = even_bounds();
    for (int s = -max_log_odds; s <= max_log_odds; s += 2)
      other_breakpoints_.push_back(other().quantile(probability_of(s)));
  }

  double probability_below(double t) const {
    const Marginal &of = x_is_narrower_ ? x_ : y_;
    const double shift = x_is_narrower_ ? t : -t;
    std::vector<double> bounds = bounds_;
    for (const double turn : other_breakpoints_)
      bounds.push_back(of.probability_below(turn + shift));
    std::erase_if(bounds, [this](double p) { return !(p >= bounds_[0] && p <= bounds_.back()); });
    std::sort(bounds.begin(), bounds.end());
    double sum = 0;
    each_point(bounds, [&](double p, double weight) {
      poll_here();
      const double below = other().probability_below(of.quantile(p) - shift);
      sum += weight * (x_is_narrower_ ? 1 - below : below);
    });
    return sum;
  }

  /// The root is between `low` and `high`: if x - y < low, then x or y is in a tail of probability
  /// p / 2, so P(x - y < low) <= p; likewise for `high`.
  double quantile(double p) const {
    const auto f = [&](double t) { return probability_below(t) - p; };
    double low = x_.quantile(p / 2) - y_.upper_quantile(p / 2),
           high = x_.quantile((1 + p) / 2) - y_.quantile((1 - p) / 2);
    if (!(low < high)) return low == high ? low : no_number;
    const double at_low = f(low), at_high = f(high);
    if (!(at_low < 0)) return at_low == 0 ? low : no_number;
    if (!(at_high > 0)) return at_high == 0 ? high : no_number;
    return root_between(f, low, high, at_low, at_high, 40);
  }

 private:
  /// the wider one, whose distribution function is integrated over the probabilities of the
  /// narrower one
  const Marginal &other() const { return x_is_narrower_ ? y_ : x_; }

  const Marginal x_, y_;
  bool x_is_narrower_;
  /// bounds of pieces, as probabilities of the narrower one; values of the other one at even steps
  /// of its log odds
  std::vector<double> bounds_, other_breakpoints_;
};

}  // namespace

ParameterDifference parameter_difference(const ConjugateModel &a, const ConjugateModel &b,
                                         double level) {
  require_same_family(a, b);
  if (!a.proper() || !b.proper()) return {no_number, no_number, no_number, no_number};
  const Marginal x = a.marginal(), y = b.marginal();
  const double sd = std::hypot(x.deviation(), y.deviation());
  const double tail = (1 - level) / 2;
  return {a.posterior_mean() - b.posterior_mean(), sd, Difference(x, y).quantile(tail),
          -Difference(y, x).quantile(tail)};
}

std::vector<double> probabilities_best(std::span<const ConjugateModel *const> models) {
  const std::size_t n = models.size();
  std::vector<double> out(n, no_number);
  for (const ConjugateModel *const model : models) require_same_family(*models[0], *model);
  for (const ConjugateModel *const model : models)
    if (!model->proper()) return out;
  std::vector<Marginal> each;
  for (const ConjugateModel *const model : models) each.push_back(model->marginal());
  double total = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> bounds = even_bounds();
    const double low = bounds.front(), high = bounds.back();
    for (std::size_t j = 0; j < n; ++j) {
      poll_here();
      if (j == i) continue;
      for (int s = -max_log_odds; s <= max_log_odds; s += 2)
        bounds.push_back(each[i].probability_below(each[j].quantile(probability_of(s))));
    }
    std::erase_if(bounds, [&](double p) { return !(p >= low && p <= high); });
    std::sort(bounds.begin(), bounds.end());
    double sum = 0;
    each_point(bounds, [&](double p, double weight) {
      poll_here();
      const double x = each[i].quantile(p);
      double below = weight;
      for (std::size_t j = 0; j < n && below > 0; ++j)
        if (j != i) below *= each[j].probability_below(x);
      sum += below;
    });
    total += out[i] = sum;
  }
  // Exactly one of them is the largest.
  for (double &p : out) p /= total;
  return out;
}

}  // namespace bayes
