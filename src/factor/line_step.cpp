#include "factor/line_step.hpp"

#include <algorithm>

#include "base/simd_gamma.hpp"
#include "topics/token_convergence.hpp"
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
      of_padding_(shape > 0 ? (stride_ - topics_) *
                                  simd::digamma_and_log_gamma(simd::all(shape)).log_gamma[0]
                            : 0),
      weights_(std::size_t(stride_)),
      logs_(std::size_t(stride_), 0.0) {}

void LineStep::weigh(const double *inverse_rates, const double *parts) {
  each_vector(stride_, [&](int at, int) {
    const simd::Vector n = simd::load(parts + at), inverse = simd::load(inverse_rates + at);
    const simd::Vector mean = (shape_ > 0 ? simd::exp_digamma(shape_ + n) : n) * inverse;
    simd::store(weights_.data() + at, simd::max(mean, simd::all(least_weight)));
  });
}

void LineStep::infer(const DocumentTerms &cells, const double *inverse_rates, int updates,
                     bool fresh, double *parts, LineTotals &totals) {
  division_.take(cells);
  const double *const sums = division_.sums();
  const auto sum = [&](int at) { return simd::load(sums + at); };
  const auto weight = [&](int at) { return simd::load(weights_.data() + at); };
  if (fresh) {
    std::fill(weights_.begin(), weights_.end(), 1.0);
    division_.divide(weights_.data());
    each_vector(stride_, [&](int at, int) { simd::store(parts + at, sum(at)); });
  }
  for (int update = 0;; ++update) {
    weigh(inverse_rates, parts);
    division_.divide(weights_.data());
    if (update >= updates) break;
    each_vector(stride_, [&](int at, int) { simd::store(parts + at, weight(at) * sum(at)); });
  }
  division_.add_log_norms(totals.bounds.data());
  LaneSum bound;
  each_vector(stride_, [&](int at, int g) {
    const simd::Vector n = simd::load(parts + at);
    double *const total = totals.parts.data() + at;
    simd::store(total, simd::load(total) + n);
    if (shape_ > 0) {
      const simd::GammaPair pair = simd::digamma_and_log_gamma(shape_ + n);
      const simd::Vector log_rate = -simd::log(simd::load(inverse_rates + at));
      simd::store(logs_.data() + at, pair.digamma - log_rate);
      bound.partial[g] += pair.log_gamma - n * pair.digamma - shape_ * log_rate;
    } else {
      bound.partial[g] -= n;
    }
    simd::store(parts + at, weight(at) * sum(at));
  });
  for (int g = 0; g < simd::registers; ++g) {
    double *const to = totals.bounds.data() + g * simd::lanes;
    simd::store(to, simd::load(to) + bound.partial[g]);
  }
  totals.bounds[0] -= of_padding_;
}

Buffer converged_parts(const DocumentTerms &cells, const TopicFactors &factors, double shape,
                       const Buffer &inverse_rates) {
  LineStep step(factors, shape);
  Buffer parts(inverse_rates.size());
  const auto improve = [&](int updates, bool fresh, Buffer &improved) {
    LineTotals totals(factors.values().topics());
    step.infer(cells, inverse_rates.data(), updates, fresh, improved.data(), totals);
    return totals.bound();
  };
  improve(4, true, parts);
  converge_tokens(parts, cells.tokens(),
                  [&](Buffer &improved) { return improve(0, false, improved); });
  return parts;
}

}  // namespace bayes
