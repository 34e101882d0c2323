#include "topics/document_step.hpp"

#include <algorithm>

#include "base/simd.hpp"
#include "base/special.hpp"
#include "counts/row_lanes.hpp"

namespace bayes {
namespace {

/// The product of two such weights is still a normal number.
constexpr double min_weight = 1e-148;

}  // namespace

ProportionPrior::ProportionPrior(const std::vector<double> &given)
    : alpha(std::size_t(padded_size(int(given.size()))), 1.0) {
  std::copy(given.begin(), given.end(), alpha.begin());
  for (const double a : given) {
    sum += a;
    log_normaliser += log_gamma(a);
  }
  log_normaliser -= log_gamma(sum);
}

DocumentStep::DocumentStep(const TermFactors &factors, const ProportionPrior &prior)
    : allocation_(factors),
      prior_(prior),
      stride_(factors.values().stride()),
      weights_(std::size_t(stride_)),
      logs_(std::size_t(stride_)) {}

double DocumentStep::infer(const DocumentTerms &document, LocalLimits limits, bool fresh,
                           double *tokens) {
  allocation_.set_document(document);
  const double all_tokens = document.tokens(), sum = prior_.sum + all_tokens;
  const double digamma_of_sum = digamma(sum), inverse = 1 / simd::exp_digamma(simd::all(sum))[0];
  double *const sums = allocation_.sums();
  if (fresh) {
    std::fill(weights_.begin(), weights_.end(), 1.0);
    allocation_.allocate(weights_.data());
    std::copy_n(sums, stride_, tokens);
  }
  // The sums are 0 in the padding, except for a document without terms, whose rows are all ones.
  for (int update = 0;; ++update) {
    each_vector(stride_, [&](int at, int) {
      const simd::Vector gamma = simd::load(prior_.alpha.data() + at) + simd::load(tokens + at);
      simd::store(weights_.data() + at,
                  simd::max(simd::exp_digamma(gamma) * inverse, simd::all(min_weight)));
    });
    allocation_.allocate(weights_.data());
    LaneSum moved;
    each_vector(stride_, [&](int at, int g) {
      const simd::Vector next = simd::load(weights_.data() + at) * simd::load(sums + at);
      const simd::Vector change = next - simd::load(tokens + at);
      moved.partial[g] += simd::max(change, -change);
      simd::store(sums + at, next);
    });
    if (update >= limits.max_updates || moved.total() <= limits.max_moved * all_tokens) break;
    std::copy_n(sums, stride_, tokens);
  }
  LaneSum bound;
  each_vector(stride_, [&](int at, int g) {
    const simd::Vector n = simd::load(tokens + at);
    const simd::GammaPair pair =
        simd::digamma_and_log_gamma(simd::load(prior_.alpha.data() + at) + n);
    const simd::Vector logs = pair.digamma - digamma_of_sum;
    simd::store(logs_.data() + at, logs);
    bound.partial[g] += pair.log_gamma - n * logs;
  });
  std::copy_n(sums, stride_, tokens);
  return allocation_.log_norms(document) + bound.total() - log_gamma(sum) - prior_.log_normaliser;
}

}  // namespace bayes
