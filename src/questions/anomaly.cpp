#include "questions/anomaly.hpp"

#include <algorithm>
#include <cmath>

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
constexpr std::uint64_t anomaly_seed = 1;

}  // namespace

Anomalies::Anomalies(RowDistribution &rows)
    : rows_(rows),
      coarse_{coarse_draws, coarse_stride, coarse_draws},
      fine_{fine_draws, 1, fine_kept} {
  for (Sample *const each : {&coarse_, &fine_})
    each->draws = std::min(each->draws, int(max_sample / rows.dimension()));
  const auto &components = rows.components();
  single_ = std::count_if(components.begin(), components.end(),
                          [](const FlatComponent &each) { return each.weight > 0; }) == 1;
}

double Anomalies::probability(std::span<const double> x) {
  // What is unseen is observed.
  pattern_.assign(x.begin(), x.end());
  bool any = false;
  for (double &element : pattern_) {
    if (is_unseen(element)) element = 0;
    any |= !std::isnan(element);
  }
  if (!any) return 1;
  const double log_density = rows_.log_density(x);
  const double bound = rows_.tail_bound(log_density);
  if (single_ && !std::isnan(bound)) return bound;
  double out = share(coarse_, pattern_, log_density);
  // What all the draws kept lie below is not known better than before.
  if (out < strange)
    if (const double better = share(fine_, pattern_, log_density);
        better * fine_.draws < fine_.kept)
      out = better;
  // Beyond the draws the bound is all that is known, and it is close.
  return out < 10.0 / fine_.draws && bound < out ? bound : out;
}

double Anomalies::share(Sample &sample, std::span<const double> pattern, double log_density) {
  const std::size_t d = pattern.size();
  if (sample.rows.empty()) {
    sample.rows.assign(std::size_t(sample.draws) * d, std::nan(""));
    rows_.condition(std::span<const double>(sample.rows).first(d));
    for (int i = 0; i < sample.draws; ++i) {
      poll_here();
      Random random(anomaly_seed, std::uint64_t(i));
      rows_.draw(random, std::span<double>(sample.rows).subspan(std::size_t(i) * d, d));
    }
  }
  const std::vector<float> &scores =
      sample.scores.of(pattern, sample.kept / sample.stride / 2.0, [&](std::span<const int> of) {
        std::vector<float> all;
        row_.assign(d, std::nan(""));
        for (int i = 0; i < sample.draws; ++i) {
          poll_here();
          for (const int j : of)
            row_[std::size_t(j)] = sample.rows[std::size_t(i) * d + std::size_t(j)];
          all.push_back(float(rows_.log_density(row_)));
        }
        std::sort(all.begin(), all.end());
        auto out = std::make_unique<std::vector<float>>();
        for (int i = sample.stride / 2; i < std::min(sample.kept, sample.draws); i += sample.stride)
          out->push_back(all[std::size_t(i)]);
        return out;
      });
  const auto below =
      std::upper_bound(scores.begin(), scores.end(), float(log_density)) - scores.begin();
  return (1 + double(below * sample.stride)) / (1 + double(sample.draws));
}

}  // namespace bayes
