#include "questions/anomaly.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/control.hpp"
#include "base/unseen.hpp"
#include "questions/answers.hpp"

namespace bayes {
namespace {

constexpr int coarse_draws = 1000, fine_draws = 10000;
/// Below this probability the coarse sample has too few draws. There are many patterns and few
/// strange rows, so both samples keep little of each pattern.
constexpr double strange = 0.01;
constexpr int coarse_stride = 4, fine_kept = 400;
/// the largest number of numbers in a sample
constexpr double max_sample = 1.6e7;
/// With more combinations of labels draws take less time.
constexpr double max_combinations = 5000;
constexpr std::uint64_t anomaly_seed = 1;

/// Sorts scores and accumulates their weights.
template <class Scores>
std::unique_ptr<Scores> summed(std::vector<std::pair<double, double>> &all) {
  std::sort(all.begin(), all.end());
  auto out = std::make_unique<Scores>();
  double sum = 0;
  for (const auto &[score, counts] : all) {
    out->scores.push_back(float(score));
    out->sums.push_back(sum += counts);
  }
  return out;
}

/// Splits a pattern into its elements and those that are unseen.
std::pair<std::vector<int>, std::vector<int>> parts_of(std::span<const int> pattern, int d) {
  std::pair<std::vector<int>, std::vector<int>> out;
  for (const int each : pattern)
    (each < d ? out.first : out.second).push_back(each < d ? each : each - d);
  return out;
}

}  // namespace

/// Compares in single precision, so that rows whose densities differ by rounding alone are equal.
double Anomalies::Scores::up_to(double log_density) const {
  const auto at = std::upper_bound(scores.begin(), scores.end(), float(log_density));
  return at == scores.begin() ? 0 : sums[std::size_t(at - scores.begin()) - 1];
}

Anomalies::Anomalies(RowDistribution &rows)
    : rows_(rows),
      coarse_{coarse_draws, coarse_stride, coarse_draws},
      fine_{fine_draws, 1, fine_kept} {
  for (Sample *const each : {&coarse_, &fine_})
    each->draws = std::min(each->draws, int(max_sample / rows.dimension()));
}

double Anomalies::probability(std::span<const double> x) {
  const std::size_t d = x.size();
  pattern_.assign(2 * d, std::nan(""));
  bool any = false, unseen = false;
  for (std::size_t j = 0; j < d; ++j) {
    if (is_unseen(x[j])) pattern_[d + j] = 0;
    if (is_unseen(x[j]) || !std::isnan(x[j])) pattern_[j] = 0;
    any |= pattern_[j] == 0;
    unseen |= pattern_[d + j] == 0;
  }
  if (!any) return 1;
  double log_density = rows_.log_density(x);
  if (log_density == -HUGE_VAL) return 0;
  if (few_labels()) {
    const Scores &scores =
        of_labels_.of(pattern_, 1.5 * max_combinations,
                      [this](std::span<const int> of) { return scores_of_labels(of); });
    return std::min(1.0, scores.up_to(log_density));
  }
  if (const double exact = rows_.exact_tail(log_density); !std::isnan(exact)) return exact;
  double out = share(coarse_, log_density);
  if (out < strange) out = std::min(strange, share(fine_, log_density));
  if (!(out < 10.0 / fine_.draws)) return std::min(1.0, out);
  // Beyond the draws only the bound is known. tail_bound() takes the elements of the row that was
  // scored last.
  rows_.log_density(x);
  double bound = rows_.tail_bound(log_density);
  if (unseen) {
    row_.assign(x.begin(), x.end());
    for (std::size_t j = 0; j < d; ++j)
      if (is_unseen(x[j])) row_[j] = rows_.categories(int(j))[0];
    rows_.log_density(row_);
    bound += rows_.tail_bound(log_density);
  }
  return std::min(out, bound);
}

double Anomalies::share(Sample &sample, double log_density) {
  if (sample.rows.empty()) draw(sample);
  // For rows with unseen categories every draw is kept twice: scores and sums are twice as long.
  const bool unseen = std::any_of(pattern_.begin() + std::ptrdiff_t(pattern_.size() / 2),
                                  pattern_.end(), [](double each) { return each == 0; });
  const Scores &scores =
      sample.scores.of(pattern_, unseen ? 3.0 * sample.draws : 1.5 * sample.kept / sample.stride,
                       [&](std::span<const int> of) { return scores_of(sample, of); });
  return (1 + scores.up_to(log_density)) / (1 + double(sample.draws));
}

void Anomalies::draw(Sample &sample) {
  const std::size_t d = std::size_t(rows_.dimension());
  sample.rows.assign(std::size_t(sample.draws) * d, std::nan(""));
  rows_.condition(std::span<const double>(sample.rows).first(d));
  for (int i = 0; i < sample.draws; ++i) {
    poll_here();
    Random random(anomaly_seed, std::uint64_t(i));
    sample.components.push_back(
        rows_.draw(random, std::span<double>(sample.rows).subspan(std::size_t(i) * d, d)));
  }
}

/// For every component the probability of unseen categories in these elements.
std::vector<double> Anomalies::unseen_weights(std::span<const int> unseen) {
  row_.assign(std::size_t(rows_.dimension()), std::nan(""));
  const auto nothing = rows_.log_joint(row_);
  std::vector<double> out(nothing.begin(), nothing.end());
  for (const int j : unseen) row_[std::size_t(j)] = unseen_category;
  const auto joint = rows_.log_joint(row_, true);
  for (std::size_t c = 0; c < out.size(); ++c) out[c] = std::exp(joint[c] - out[c]);
  return out;
}

/// Given the component, labels are independent of all else. So rows with unseen labels are draws
/// that get these labels, weighted by the probability of having them.
std::unique_ptr<Anomalies::Scores> Anomalies::scores_of(const Sample &sample,
                                                        std::span<const int> of) {
  const std::size_t d = std::size_t(rows_.dimension());
  const auto [observed, unseen] = parts_of(of, int(d));
  std::vector<double> weights;
  if (!unseen.empty()) weights = unseen_weights(unseen);
  std::vector<std::pair<double, double>> all;
  row_.assign(d, std::nan(""));
  for (int i = 0; i < sample.draws; ++i) {
    poll_here();
    for (const int j : observed)
      row_[std::size_t(j)] = sample.rows[std::size_t(i) * d + std::size_t(j)];
    all.push_back({rows_.log_density(row_), 1});
    if (unseen.empty()) continue;
    for (const int j : unseen) row_[std::size_t(j)] = unseen_category;
    all.push_back(
        {rows_.log_density(row_), weights[std::size_t(sample.components[std::size_t(i)])]});
  }
  auto out = summed<Scores>(all);
  if (!unseen.empty()) return out;
  auto fewer = std::make_unique<Scores>();
  for (int i = sample.stride / 2; i < std::min(sample.kept, sample.draws); i += sample.stride) {
    fewer->scores.push_back(out->scores[std::size_t(i)]);
    fewer->sums.push_back(double(fewer->scores.size()) * sample.stride);
  }
  return fewer;
}

bool Anomalies::few_labels() const {
  double combinations = 1;
  for (std::size_t j = 0; j < pattern_.size() / 2; ++j)
    if (pattern_[j] == 0) {
      const std::size_t labels = rows_.categories(int(j)).size();
      if (labels == 0 || (combinations *= double(labels)) > max_combinations) return false;
    }
  return true;
}

/// All rows of labels, and those with unseen ones.
std::unique_ptr<Anomalies::Scores> Anomalies::scores_of_labels(std::span<const int> of) {
  const auto [observed, unseen] = parts_of(of, rows_.dimension());
  std::vector<std::pair<double, double>> all;
  for (const bool some_unseen : {false, true}) {
    if (some_unseen && unseen.empty()) continue;
    row_.assign(std::size_t(rows_.dimension()), std::nan(""));
    std::vector<int> free;
    for (const int j : observed)
      if (some_unseen && std::find(unseen.begin(), unseen.end(), j) != unseen.end())
        row_[std::size_t(j)] = unseen_category;
      else
        free.push_back(j);
    std::vector<std::size_t> place(free.size(), 0);
    for (std::size_t at = 0; at <= free.size();) {
      poll_here();
      for (std::size_t i = 0; i < free.size(); ++i)
        row_[std::size_t(free[i])] = rows_.categories(free[i])[place[i]];
      const double score = rows_.log_density(row_);
      all.push_back({score, std::exp(score)});
      // The next combination: the first place that has a label left goes on, those before start.
      for (at = 0; at < free.size(); place[at++] = 0)
        if (++place[at] < rows_.categories(free[at]).size()) break;
      if (at == free.size()) break;
    }
  }
  return summed<Scores>(all);
}

}  // namespace bayes
