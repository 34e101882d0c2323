#include "data/row_comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/incomplete.hpp"
#include "base/special.hpp"
#include "data/row_reference.hpp"

namespace bayes {
namespace {

/// By how much the exact probability of a special bin is raised. It is one more chance of a false
/// alarm, which makes that for p < 0.05 larger by 0.001.
constexpr double special_factor = 50;

struct Totals {
  double fit = 0, now = 0;
  explicit Totals(std::span<const BinPair> bins) {
    for (const BinPair &bin : bins) {
      fit += bin.fit;
      now += bin.now;
    }
  }
  /// The expected weight of a bin in the smaller sample, if both have one distribution. If the
  /// bounds of a bin are quantiles of that sample, its weight there is no chance.
  double expected(const BinPair &bin, bool quantiles = false) const {
    if (quantiles && fit < now && bin.fit >= min_bin_weight) return bin.fit;
    return (bin.fit + bin.now) * std::min(fit, now) / (fit + now);
  }
};

void join(BinPair &to, const BinPair &bin) {
  to.fit += bin.fit;
  to.now += bin.now;
}

/// Joins neighbours.
std::vector<BinPair> join_numbers(std::span<const BinPair> bins, const Totals &totals) {
  std::vector<BinPair> out;
  BinPair next;
  for (const BinPair &bin : bins) {
    join(next, bin);
    if (totals.expected(next, true) < min_bin_weight) continue;
    out.push_back(next);
    next = {};
  }
  if (!out.empty()) join(out.back(), next);
  return out;
}

/// Joins the rarest ones.
std::vector<BinPair> join_categories(std::vector<BinPair> bins, const Totals &totals) {
  std::stable_sort(bins.begin(), bins.end(), [](const BinPair &a, const BinPair &b) {
    return a.fit + a.now < b.fit + b.now;
  });
  std::vector<BinPair> out;
  BinPair next;
  for (const BinPair &bin : bins) {
    join(next, bin);
    if (totals.expected(next) < min_bin_weight) continue;
    out.push_back(next);
    next = {};
  }
  if (!out.empty()) join(out.back(), next);
  return out;
}

/// The probability of at least so many new rows in a bin, given all that are in it.
double probability_above(const BinPair &bin, double fit, double now) {
  if (bin.now <= 0) return 1;
  return beta_below(bin.now, bin.fit + 1, now / (fit + now));
}

/// The z with P(normal > z) = p, far out, given log p: log p is -z^2 / 2 - log z - log sqrt(2 pi)
/// but for a term of order 1 / z^2.
double upper_quantile(double log_p) {
  constexpr double half_log_two_pi = 0.918938533204672742;
  double z = std::sqrt(-2 * log_p);
  for (int i = 0; i < 20; ++i)
    z = std::sqrt(-2 * (log_p + half_log_two_pi + std::log(z) - std::log1p(-1 / (z * z))));
  return z;
}

Comparison chi_square(std::span<const BinPair> bins) {
  Comparison out;
  const Totals totals(bins);
  if (bins.size() < 2 || !(totals.fit > 0 && totals.now > 0)) return out;
  const double ratio = std::sqrt(totals.now / totals.fit);
  double statistic = 0;
  for (const BinPair &bin : bins) {
    const double away = bin.fit * ratio - bin.now / ratio;
    statistic += away * away / (bin.fit + bin.now);
  }
  const double degrees = double(bins.size() - 1);
  out.p = chi_square_tail(statistic, degrees);
  constexpr double most = 1 - std::numeric_limits<double>::epsilon() / 2;  // below 1
  if (out.p > 1e-300)
    out.z = -normal_quantile(std::min(out.p, most));
  else
    out.z = upper_quantile(log_gamma_above(degrees / 2, statistic / 2));
  return out;
}

/// The larger of the probabilities that a gamma variable and a normal one give to a tail. The
/// skewness is that of a sample: at its shorter tail a gamma variable ends where the other may not.
/// With skewness >= 0.
double tail(double z, double skewness, bool upper) {
  const double normal = normal_below(upper ? -z : z), shape = 4 / (skewness * skewness);
  if (!(shape < 1e8)) return normal;
  const double x = shape + z * std::sqrt(shape);
  if (x <= 0) return upper ? 1 : normal;
  return std::max(upper ? gamma_above(shape, x) : gamma_below(shape, x), normal);
}

}  // namespace

std::vector<BinPair> bin_pairs(const BinnedColumn &column, std::span<const std::int64_t> counts) {
  std::vector<BinPair> out;
  for (std::size_t i = 0; i < column.weights.size(); ++i)
    out.push_back({column.weights[i], double(counts[i])});
  if (column.categories) out.push_back({0, double(counts[column.weights.size()])});
  return out;
}

double jensen_shannon(std::span<const BinPair> bins) {
  const Totals totals(bins);
  if (!(totals.fit > 0 && totals.now > 0)) return std::numeric_limits<double>::quiet_NaN();
  double divergence = 0;
  for (const BinPair &bin : bins) {
    const double p = bin.fit / totals.fit, q = bin.now / totals.now, middle = (p + q) / 2;
    if (p > 0) divergence += p * std::log2(p / middle) / 2;
    if (q > 0) divergence += q * std::log2(q / middle) / 2;
  }
  return std::sqrt(std::clamp(divergence, 0.0, 1.0));
}

Comparison compare_bins(std::vector<BinPair> bins, std::span<const BinPair> special,
                        bool categories) {
  Totals totals(bins);
  for (const BinPair &bin : special) {
    totals.fit += bin.fit;
    totals.now += bin.now;
  }
  if (!(totals.fit > 0 && totals.now > 0)) return {};
  std::vector<BinPair> alone, small(special.begin(), special.end()), ordinary;
  for (const BinPair &bin : bins) {
    // A bin without rows of the fit: of a constant column, other numbers.
    const bool empty = !categories && bin.fit == 0;
    (empty ? small : ordinary).push_back(bin);
  }
  std::erase_if(small, [&](const BinPair &bin) {
    if (totals.expected(bin) < min_bin_weight) return false;
    alone.push_back(bin);
    return true;
  });
  std::vector<BinPair> joined =
      categories ? join_categories(ordinary, totals) : join_numbers(ordinary, totals);
  joined.insert(joined.end(), alone.begin(), alone.end());
  Comparison out = chi_square(joined);
  for (const BinPair &bin : small) {
    const double p = special_factor * probability_above(bin, totals.fit, totals.now);
    if (!(p < 1) || p >= out.p) continue;
    out.p = p;
    out.z = -normal_quantile(std::max(p, 1e-300));
  }
  return out;
}

double unknown_probability(const RareCategories &fit, double now, double unknown) {
  if (!(unknown > 0) || !(now > 0) || !(fit.rows > 0)) return 1;
  const double spread = 1 + fit.twice / ((fit.once + 1) * (1 + fit.rows / now));
  return probability_above({fit.once / spread, unknown / spread}, fit.rows, now);
}

Comparison compare_means(const Moments &fit, const Moments &now, double optimism) {
  Comparison out;
  const double m = fit.count, n = now.count;
  const double variance = (m * fit.variance + n * now.variance) / (m + n),
               third = (m * fit.third + n * now.third) / (m + n);
  const double square = variance * (1 / m + 1 / n) + optimism * optimism / 4;
  if (!(square > 0)) return out;
  if (!std::isfinite(third)) {  // a density that is as good as 0
    out.z = now.mean < fit.mean ? -HUGE_VAL : HUGE_VAL;
    out.p = 0;
    return out;
  }
  out.z = (now.mean - (fit.mean - optimism)) / std::sqrt(square);
  const double skewness = third * (1 / (n * n) - 1 / (m * m)) / std::pow(square, 1.5);
  const double sign = skewness < 0 ? -1 : 1, z = sign * out.z, away = std::abs(skewness);
  out.p = std::min(1.0, 2 * std::min(tail(z, away, false), tail(z, away, true)));
  return out;
}

}  // namespace bayes
