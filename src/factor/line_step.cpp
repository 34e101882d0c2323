#include "factor/line_step.hpp"

#include <algorithm>

#include "base/simd_gamma.hpp"
#include "topics/topic_lanes.hpp"

namespace bayes {
namespace {

/// Two of them multiplied are a normal number.
constexpr double least_weight = 1e-148;

}  // namespace

LineStep::LineStep(const TopicFactors &factors, double shape)
    : division_(factors),
      shape_(shape),
      topics_(factors.values().topics()),
      stride_(factors.values().stride()),
      weights_(std::size_t(stride_)),
      logs_(std::size_t(stride_), 0.0),
      parts_(std::size_t(stride_)) {}

void LineStep::weigh(const double *inverse_rates, const double *parts) {
  each_vector(stride_, [&](int at, int) {
    const simd::Vector n = simd::load(parts + at), inverse = simd::load(inverse_rates + at);
    const simd::Vector mean = (shape_ > 0 ? simd::exp_digamma(shape_ + n) : n) * inverse;
    simd::store(weights_.data() + at, simd::max(mean, simd::all(least_weight)));
  });
}

double LineStep::infer(const DocumentTerms &cells, const double *inverse_rates, int updates,
                       bool fresh, double *parts) {
  division_.take(cells);
  double *const sums = division_.sums();
  if (fresh) {
    std::fill(weights_.begin(), weights_.end(), 1.0);
    division_.divide(weights_.data());
    std::copy_n(sums, topics_, parts);
    std::fill(parts + topics_, parts + stride_, 0.0);
  }
  for (int update = 0;; ++update) {
    weigh(inverse_rates, parts);
    division_.divide(weights_.data());
    each_vector(stride_, [&](int at, int) {
      simd::store(sums + at, simd::load(weights_.data() + at) * simd::load(sums + at));
    });
    if (update >= updates) break;
    std::copy_n(sums, topics_, parts);
  }
  std::copy_n(parts, stride_, parts_.begin());
  LaneSum bound;
  if (shape_ > 0)
    each_vector(stride_, [&](int at, int g) {
      const simd::Vector n = simd::load(parts + at);
      const simd::GammaPair pair = simd::digamma_and_log_gamma(shape_ + n);
      const simd::Vector log_rate = -simd::log(simd::load(inverse_rates + at));
      simd::store(logs_.data() + at, pair.digamma - log_rate);
      bound.partial[g] += pair.log_gamma - n * pair.digamma - shape_ * log_rate;
    });
  else
    each_vector(stride_, [&](int at, int g) { bound.partial[g] -= simd::load(parts + at); });
  double out = division_.log_norms(cells) + bound.total();
  // of the padding, whose parts are 0
  if (shape_ > 0)
    out -= (stride_ - topics_) * simd::digamma_and_log_gamma(simd::all(shape_)).log_gamma[0];
  std::copy_n(sums, topics_, parts);
  return out;
}

}  // namespace bayes
