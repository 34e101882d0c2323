#include "data/drift.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.hpp"
#include "base/incomplete.hpp"
#include "base/message.hpp"
#include "base/special.hpp"
#include "base/unseen.hpp"
#include "data/row_reference.hpp"

namespace bayes {
namespace {

/// The exact probability of a special bin is multiplied by this: its test is one more chance of a
/// false alarm, and adds 0.001 to the rate of p < 0.05.
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

/// The probability of at least `now` new rows in a bin, given all rows that are in it.
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

/// The larger of the tail probabilities of a gamma variable and a normal one. The skewness is
/// estimated from a sample: at its shorter tail a gamma variable ends where the other may not.
/// skewness >= 0.
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

namespace {

/// The reference of a model. Throws Error if it has none.
const RowReference &reference_in(const Model &model) {
  model.require_rows();
  if (!model.info.reference)
    throw Error(
        Errc::invalid_argument, "the model keeps nothing of the rows of its fit",
        "Models that were merged or updated, made by bayes_condition, or stored by an earlier "
        "version, do not; nor do linear and naive Bayes models of statistics, of many rows with "
        "weights, and models that predict a response or label from more than 256 columns.",
        "Fit it again to all of its rows, with fewer columns or without weights.");
  return *model.info.reference;
}

}  // namespace

Drift::Drift(std::shared_ptr<const Model> model)
    : model_(std::move(model)),
      reference_(reference_in(*model_)) {
  const std::string_view missing = missing_option(model_->info);
  skips_ = missing == "skip";
  marginalizes_ = missing == "marginalize";
  for (std::size_t j = 0; j < reference_.columns.size(); ++j) {
    const BinnedColumn &column = reference_.columns[j];
    columns_.emplace_back().bins.assign(column.weights.size() + 1, 0);
    // Labels that the model does not know are marked when rows are read; numbers are not.
    const RowColumns &named = model_->info.columns;
    const bool labels = !named.empty() && named[j].kind == ValueKind::label;
    known_.push_back(labels ? std::vector<double>() : model_->categories(int(j)));
    has_categories_ |= column.categories;
  }
  if (const auto &density = reference_.density)
    density_.bins.assign(density->bins.weights.size() + 1, 0);
}

std::size_t Drift::bin_of(std::size_t j, double x) const {
  const BinnedColumn &column = reference_.columns[j];
  const std::vector<double> &points = column.points;
  const auto at = std::lower_bound(points.begin(), points.end(), x);
  const std::size_t place = std::size_t(at - points.begin());
  if (!column.categories || (at != points.end() && *at == x)) return place;
  const std::vector<double> &known = known_[j];
  const bool is_known = known.empty() || std::binary_search(known.begin(), known.end(), x);
  return points.size() + (is_known ? 0 : 1);
}

void Drift::add(std::span<const double> x) {
  bool null = false, unknown = false;
  row_.assign(x.begin(), x.end());
  for (const double each : x)
    if (std::isnan(each)) (is_unseen(each) ? unknown : null) = true;
  const bool compared = !(skips_ && null);
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    Counts &to = columns_[j];
    const std::size_t last = to.bins.size() - 1;
    const bool missing = std::isnan(x[j]), unseen = is_unseen(x[j]);
    const std::size_t bin = unseen ? last : missing ? 0 : bin_of(j, x[j]);
    to.nulls += missing && !unseen;
    if (missing && !unseen) continue;
    to.unknown += bin == last;
    unknown |= bin == last;
    if (bin == last && reference_.columns[j].categories) row_[j] = unseen_category;
    to.bins[bin] += compared;
  }
  ++rows_;
  compared_ += compared;
  incomplete_ += null;
  with_unknown_ += unknown;
  if (reference_.density && (marginalizes_ || !(null || unknown))) score(row_);
}

void Drift::score(std::span<const double> x) {
  const DensityReference &density = *reference_.density;
  const double value = model_->log_density(x), away = value - density.mean;
  const std::vector<double> &points = density.bins.points;
  const auto at = std::lower_bound(points.begin(), points.end(), value);
  ++density_.bins[std::size_t(at - points.begin())];
  ++scored_;
  if (!std::isfinite(value)) return;
  ++finite_;
  sums_[0] += DoubleDouble(away);
  sums_[1] += DoubleDouble::product(away, away);
  sums_[2] += DoubleDouble::product(away, away) * DoubleDouble(away);
}

template <class F> void Drift::each_count(F f) {
  for (std::int64_t *const count :
       {&rows_, &incomplete_, &with_unknown_, &compared_, &scored_, &finite_})
    f(*count);
  const auto all = [&f](Counts &of) {
    for (std::int64_t &count : of.bins) f(count);
    f(of.nulls);
    f(of.unknown);
  };
  for (Counts &column : columns_) all(column);
  all(density_);
}

std::string Drift::to_bytes() const {
  std::string out(reinterpret_cast<const char *>(sums_), sizeof sums_);
  const_cast<Drift &>(*this).each_count([&out](std::int64_t &count) {
    out.append(reinterpret_cast<const char *>(&count), sizeof count);
  });
  return out;
}

void Drift::add_bytes(std::string_view bytes) {
  std::size_t size = sizeof sums_;
  each_count([&size](std::int64_t &) { size += sizeof(std::int64_t); });
  if (bytes.size() != size) throw Error(Errc::internal, "counts of rows are of another model");
  const char *at = bytes.data();
  const auto take = [&at]<class T>(T value) {
    std::memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
  };
  for (DoubleDouble &sum : sums_) sum += take(DoubleDouble());
  each_count([&take](std::int64_t &count) { count += take(std::int64_t()); });
}

DriftEntry Drift::of_rows() const {
  DriftEntry out;
  out.rows = rows_;
  out.nulls = double(incomplete_) / double(rows_);
  if (!skips_) out.nulls_fit = reference_.incomplete / reference_.rows;
  if (has_categories_) out.unknown = double(with_unknown_) / double(rows_);
  if (!reference_.density || scored_ == 0) return out;
  const DensityReference &density = *reference_.density;
  std::vector<BinPair> bins = bin_pairs(density.bins, density_.bins);
  out.distance = jensen_shannon(bins);
  out.log_density_fit = density.mean - density.optimism;
  const double n = double(scored_), away = double(sums_[0]) / n;
  // rows that the model takes as impossible
  const bool infinite = finite_ < scored_;
  out.log_density = infinite ? -HUGE_VAL : density.mean + away;
  if (infinite) {
    out.z = -HUGE_VAL;
    out.p = 0;
    return out;
  }
  const double second = double(sums_[1]) / n, third = double(sums_[2]) / n;
  const Moments fit = {reference_.rows, density.mean, density.variance,
                       density.skewness * std::pow(density.variance, 1.5)},
                now = {n, out.log_density, std::max(second - away * away, 0.0),
                       third - 3 * away * second + 2 * away * away * away};
  const Comparison found = compare_means(fit, now, density.optimism);
  out.z = found.z;
  out.p = found.p;
  return out;
}

DriftEntry Drift::of_column(std::size_t j) const {
  const BinnedColumn &column = reference_.columns[j];
  const Counts &counts = columns_[j];
  DriftEntry out;
  out.element = int(j);
  out.rows = rows_;
  out.nulls = double(counts.nulls) / double(rows_);
  if (!skips_) out.nulls_fit = column.nulls / reference_.rows;
  if (column.categories) out.unknown = double(counts.unknown) / double(rows_);
  if (compared_ == 0) return out;
  std::vector<BinPair> bins = bin_pairs(column, counts.bins);
  std::vector<BinPair> special;
  if (!skips_ && (column.nulls > 0 || counts.nulls > 0)) {
    // A part of the rows may have chosen the categories, and is not counted in the bins.
    double weight = 0;
    for (const BinPair &bin : bins) weight += bin.fit;
    const double part = weight > 0 ? weight / (reference_.rows - column.nulls) : 1;
    special.push_back({column.nulls * std::min(part, 1.0), double(counts.nulls)});
  }
  std::vector<BinPair> all = bins;
  all.insert(all.end(), special.begin(), special.end());
  out.distance = jensen_shannon(all);
  if (column.categories) {
    // Rare and unknown categories together: which of them are known is chance.
    const BinPair unknown = bins.back(), rare = bins[bins.size() - 2];
    bins.resize(bins.size() - 2);
    special.push_back({rare.fit + unknown.fit, rare.now + unknown.now});
    double known = 0, now = rare.now + unknown.now;
    for (const BinPair &bin : bins) {
      known += bin.fit;
      now += bin.now;
    }
    // References of earlier versions have no such counts: any rare category may have a single row.
    const RareCategories fit =
        std::isnan(column.once)
            ? RareCategories{known + rare.fit, rare.fit, 0}
            : RareCategories{reference_.rows - column.nulls, column.once, column.twice};
    out.unknown_p = unknown_probability(fit, now, unknown.now);
  }
  const Comparison found = compare_bins(std::move(bins), special, column.categories);
  out.z = found.z;
  out.p = found.p;
  return out;
}

std::vector<DriftEntry> Drift::entries() const {
  std::vector<DriftEntry> out;
  if (rows_ == 0) return out;
  out.push_back(of_rows());
  double least = 1, tests = 0;
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    out.push_back(of_column(j));
    if (std::isnan(out.back().unknown_p)) continue;
    least = std::min(least, out.back().unknown_p);
    ++tests;
  }
  if (tests > 0) out[0].unknown_p = std::min(1.0, tests * least);
  return out;
}

}  // namespace bayes
