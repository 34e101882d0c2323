#include "factor/nmf_local_step.hpp"

#include <algorithm>

#include "base/simd.hpp"
#include "counts/allocation.hpp"
#include "counts/row_lanes.hpp"

namespace bayes {
namespace {

/// The product of two such weights is still a normal number.
constexpr double min_weight = 1e-148;

}  // namespace

NmfLocalStep::NmfLocalStep(const TermFactors &factors, double shape)
    : allocation_(factors),
      shape_(shape),
      factors_(factors.values().columns()),
      stride_(factors.values().stride()),
      padding_bound_(shape > 0 ? (stride_ - factors_) *
                                     simd::digamma_and_log_gamma(simd::all(shape)).log_gamma[0]
                               : 0),
      weights_(std::size_t(stride_)),
      logs_(std::size_t(stride_), 0.0) {}

void NmfLocalStep::weigh(const double *inverse_rates, const double *counts) {
  each_vector(stride_, [&](int at, int) {
    const simd::Vector n = simd::load(counts + at), inverse = simd::load(inverse_rates + at);
    const simd::Vector mean = (shape_ > 0 ? simd::exp_digamma(shape_ + n) : n) * inverse;
    simd::store(weights_.data() + at, simd::max(mean, simd::all(min_weight)));
  });
}

void NmfLocalStep::infer(const DocumentTerms &cells, const double *inverse_rates, int updates,
                         bool fresh, double *counts, LocalTotals &totals) {
  allocation_.set_document(cells);
  const double *const sums = allocation_.sums();
  const auto sum = [&](int at) { return simd::load(sums + at); };
  const auto weight = [&](int at) { return simd::load(weights_.data() + at); };
  if (fresh) {
    std::fill(weights_.begin(), weights_.end(), 1.0);
    allocation_.allocate(weights_.data());
    each_vector(stride_, [&](int at, int) { simd::store(counts + at, sum(at)); });
  }
  for (int update = 0;; ++update) {
    weigh(inverse_rates, counts);
    allocation_.allocate(weights_.data());
    if (update >= updates) break;
    each_vector(stride_, [&](int at, int) { simd::store(counts + at, weight(at) * sum(at)); });
  }
  allocation_.add_log_norms(totals.bounds.data());
  LaneSum bound;
  each_vector(stride_, [&](int at, int g) {
    const simd::Vector n = simd::load(counts + at);
    double *const total = totals.counts.data() + at;
    simd::store(total, simd::load(total) + n);
    if (shape_ > 0) {
      const simd::GammaPair pair = simd::digamma_and_log_gamma(shape_ + n);
      const simd::Vector log_rate = -simd::log(simd::load(inverse_rates + at));
      simd::store(logs_.data() + at, pair.digamma - log_rate);
      bound.partial[g] += pair.log_gamma - n * pair.digamma - shape_ * log_rate;
    } else {
      bound.partial[g] -= n;
    }
    simd::store(counts + at, weight(at) * sum(at));
  });
  for (int g = 0; g < simd::registers; ++g) {
    double *const to = totals.bounds.data() + g * simd::lanes;
    simd::store(to, simd::load(to) + bound.partial[g]);
  }
  totals.bounds[0] -= padding_bound_;
}

Buffer converged_counts(const DocumentTerms &cells, const TermFactors &factors, double shape,
                        const Buffer &inverse_rates) {
  NmfLocalStep step(factors, shape);
  Buffer counts(inverse_rates.size());
  const auto improve = [&](int updates, bool fresh, Buffer &improved) {
    LocalTotals totals(factors.values().columns());
    step.infer(cells, inverse_rates.data(), updates, fresh, improved.data(), totals);
    return totals.bound();
  };
  improve(4, true, counts);
  converge_allocation(counts, cells.tokens(),
                      [&](Buffer &improved) { return improve(0, false, improved); });
  return counts;
}

}  // namespace bayes
