#include "data/scores.hpp"

#include <cmath>

#include "base/control.hpp"

namespace bayes {
namespace {

/// relative rounding error of a sum, which has some 105 bits
constexpr double rounding = 0x1p-104;
/// A removal leaves enough correct digits if the error of each sum of squares is below this share
/// of the sum: an estimate whose rows vary by a thousandth of their size then has 14 digits.
constexpr double tolerated = 1e-20;

/// A variance of influences below this share of the terms that it is computed from is nothing but
/// the rounding of the log densities.
constexpr double negligible = 1e-28;

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite_number = std::numeric_limits<double>::infinity();

}  // namespace

void ScoreSums::change(std::span<const Score> scores, int sign) {
  rows_ += sign;
  std::array<double, most> x = {};
  for (std::size_t m = 0; m < scores.size(); ++m) {
    const Score &score = scores[m];
    const bool finite = std::isfinite(score.log_density);
    if (!finite) infinite_[m][score.log_density > 0] += sign;
    x[m * numbers + units] = score.units;
    x[m * numbers + density] = finite ? score.log_density : 0;
    x[m * numbers + wrong] = score.error;
  }
  std::size_t at = 0;
  for (std::size_t i = 0; i < scores.size() * numbers; ++i) {
    sums_[i] += sign * x[i];
    const std::size_t square = at;
    for (std::size_t j = i; j < most; ++j, ++at)
      if (x[j] != 0) products_[at] += DoubleDouble::product(sign * x[i], x[j]);
    errors_[i] += rounding * (std::fabs(products_[square].hi) + x[i] * x[i]);
  }
}

bool ScoreSums::remove(std::span<const Score> scores) {
  change(scores, -1);
  if (rows_ == 0) {
    *this = ScoreSums(models_);
    return true;
  }
  std::size_t square = 0;
  for (std::size_t i = 0; i < errors_.size(); square += most - i++)
    if (!(errors_[i] <= tolerated * products_[square].hi)) return false;
  return true;
}

void ScoreSums::merge(const ScoreSums &other) {
  rows_ += other.rows_;
  for (std::size_t m = 0; m < infinite_.size(); ++m)
    for (std::size_t s = 0; s < 2; ++s) infinite_[m][s] += other.infinite_[m][s];
  for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += other.sums_[i];
  for (std::size_t i = 0; i < products_.size(); ++i) products_[i] += other.products_[i];
}

template <class F> ScoreEstimate ScoreSums::estimate(Number number, F f) const {
  if (rows_ == 0) return {};
  // influence of row i: sum over j of slopes[j] * number j of row i
  std::array<double, most> slopes = {};
  DoubleDouble value;
  for (std::size_t m = 0; m < std::size_t(models_); ++m) {
    const double sign = m == 0 ? 1 : -1;
    const std::size_t of = m * numbers;
    const DoubleDouble ratio = sums_[of + number] / sums_[of + units];
    const Transformed found = f(ratio);
    value += DoubleDouble(sign) * found.value;
    slopes[of + number] = sign * found.slope / sums_[of + units].hi;
    slopes[of + units] = -slopes[of + number] * ratio.hi;
  }
  ScoreEstimate out{value.hi, no_number};
  if (rows_ < 2) return out;
  DoubleDouble squares;
  double terms = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < most; ++i)
    for (std::size_t j = i; j < most; ++j, ++at)
      if (slopes[i] != 0 && slopes[j] != 0) {
        const DoubleDouble term =
            DoubleDouble::product(slopes[i], (i == j ? 1 : 2) * slopes[j]) * products_[at];
        squares += term;
        terms += std::fabs(term.hi);
      }
  const double n = double(rows_);
  const double variance = squares.hi * n / (n - 1);
  if (!std::isfinite(variance)) return out;
  out.standard_error = squares.hi > negligible * terms ? std::sqrt(variance) : 0;
  // Models that differ by rounding errors alone are not better or worse.
  if (models_ == 2 && out.standard_error == 0 &&
      std::fabs(out.value) <= 1e-13 * std::fabs(f(sums_[number] / sums_[units]).value.hi))
    out.value = 0;
  return out;
}

double ScoreSums::infinite(std::size_t model) const {
  const auto &[below, above] = infinite_[model];
  return below && above ? no_number : below ? -infinite_number : above ? infinite_number : 0;
}

template <class F> ScoreEstimate ScoreSums::estimate_of_density(F f) const {
  const double first = infinite(0), second = infinite(1);
  if (first == 0 && second == 0) return estimate(density, f);
  // An infinite score of either model outweighs all finite ones.
  const auto value = [&f](double mean) { return mean == 0 ? 0 : f(DoubleDouble(mean)).value.hi; };
  return {models_ == 1 ? value(first) : value(first) - value(second), no_number};
}

ScoreEstimate ScoreSums::log_density() const {
  return estimate_of_density([](DoubleDouble mean) { return Transformed{mean, 1}; });
}

ScoreEstimate ScoreSums::perplexity() const {
  return estimate_of_density([](DoubleDouble mean) {
    const double perplexity = std::exp(-mean.hi);
    return Transformed{perplexity, -perplexity};
  });
}

ScoreEstimate ScoreSums::error(ErrorMeasure measure) const {
  if (measure == ErrorMeasure::none) return {};
  return estimate(wrong, [measure](DoubleDouble mean) {
    if (measure == ErrorMeasure::share) return Transformed{mean, 1};
    // Where all predictions are exact, no row has an influence.
    const DoubleDouble root = sqrt(mean);
    return Transformed{root, root.hi > 0 ? 0.5 / root.hi : 0};
  });
}

ScoreSums sum_scores(std::span<const Score> rows) {
  ScoreSums out(1);
  WorkPoll poll;
  for (const Score &row : rows) {
    out.add({&row, 1});
    poll(100);
  }
  return out;
}

ScoreSums sum_scores(std::span<const Score> first, std::span<const Score> second) {
  ScoreSums out(2);
  WorkPoll poll;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const Score both[] = {first[i], second[i]};
    out.add(both);
    poll(200);
  }
  return out;
}

}  // namespace bayes
