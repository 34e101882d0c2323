#include "factor/nmf_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/simd.hpp"
#include "base/special.hpp"
#include "counts/allocation.hpp"
#include "counts/passes.hpp"
#include "counts/row_lanes.hpp"
#include "data/pass.hpp"

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

double ScalePosterior::bound(const WeightGamma &prior, int factors) const {
  const double a = prior.scale_shape, log_mean = digamma(shape) - std::log(rate);
  return factors * prior.shape * log_mean - gamma_divergence(shape, rate, a, a / prior.rate);
}

// Newton's method in 1 / shape (Minka 2002, Estimating a gamma distribution).
double learn_gamma_shape(double mean, double mean_log) {
  const double s = std::log(mean) - mean_log;
  const auto clamped = [](double x) { return std::clamp(x, min_learned_shape, max_learned_shape); };
  if (!(s > 0)) return max_learned_shape;
  double shape = clamped((3 - s + std::sqrt((s - 3) * (s - 3) + 24 * s)) / (12 * s));
  for (int i = 0; i < 50; ++i) {
    const double slope = std::log(shape) - digamma(shape) - s;
    const double inverse = 1 / shape + slope / (shape * shape * (1 / shape - trigamma(shape)));
    const double next = clamped(inverse > 0 ? 1 / inverse : max_learned_shape);
    const bool converged = std::abs(next - shape) <= 1e-12 * shape;
    shape = next;
    if (converged) break;
  }
  return shape;
}

// The inverse of digamma by Newton's method (Minka 2000, Estimating a Dirichlet distribution,
// appendix C).
double learn_gamma_shape_of_rate(double rate, double mean_log) {
  const double y = std::log(rate) + mean_log;
  double x = y >= -2.22 ? std::exp(std::min(y, 15.0)) + 0.5 : -1 / (y + 0.5772156649015329);
  for (int i = 0; i < 20; ++i)
    x = std::clamp(x - (digamma(x) - y) / trigamma(x), min_learned_shape, max_learned_shape);
  return x;
}

namespace {

/// `count`: the number of weights; `sum` and `logs`: sums of their expectations and expected
/// logarithms.
void learn_prior(WeightGamma &prior, bool shape, bool rate, double count, double sum, double logs) {
  const double mean = sum / count;
  if (shape && rate)
    prior.shape = learn_gamma_shape(mean, logs / count);
  else if (shape)
    prior.shape = learn_gamma_shape_of_rate(prior.rate, logs / count);
  if (rate) prior.rate = prior.shape / mean;
}

struct LogFactorialsPass {
  static constexpr const char *name = "log factorials";
  struct Sums {
    double value = 0;
    template <class F> void fields(F &f) { f.number("sum", value); }
    void add(const Sums &other) { value += other.value; }
    void clear() { value = 0; }
  };
  /// receives the sum of each document; may be null
  Buffer *of_documents = nullptr;

  template <class F> void fields(F &, Corpus &) {}
  Sums nothing(Corpus &) const { return {}; }
  Sums here(Corpus &documents, Control &control) const {
    Buffer none;
    const SweepPlan plan = plan_tasks(50 * double(documents.totals().entries), 64, control);
    return document_pass(
        documents, plan, Sums{}, 1, of_documents ? *of_documents : none, control,
        [](int, const DocumentTerms &cells, std::int64_t, double *of_document, Sums &to) {
          WorkPoll poll;
          *of_document = 0;
          for (const double x : cells.counts) {
            if (x != 1) *of_document += log_gamma(x + 1);
            poll(20);
          }
          to.value += *of_document;
        });
  }
};

}  // namespace

const PassOver<PartOfDocuments> log_factorials_pass =
    pass_over<PartOfDocuments, LogFactorialsPass>();

double log_factorials(Corpus &documents, Buffer &of_documents, Control &control) {
  return run(documents, LogFactorialsPass{&of_documents}, control).value;
}

TermPosterior::TermPosterior(const NmfOptions &options, std::int32_t keys, int factors_of_keys)
    : factors(keys, factors_of_keys),
      sums(std::size_t(padded_size(factors_of_keys))),
      gamma_(options.gamma()),
      missing_(options.missing_cells),
      own_(options.own_rates()),
      factors_(factors_of_keys),
      stride_(sums.means.size()) {
  if (missing_) means = PaddedMatrix(keys, factors_);
}

void TermPosterior::update_factors(const FactorState &state, Control &control) {
  Buffer log_rates(stride_, 0.0), rates(stride_, 1.0);
  for (std::size_t k = 0; k < std::size_t(factors_) && gamma_; ++k) {
    rates[k] = state.term_rates[k];
    log_rates[k] = std::log(rates[k]);
  }
  sums.clear();
  std::vector<TermSums> slots(std::size_t(max_slots(control)), sums);
  each_row_chunk(
      state.terms.rows(), (gamma_ ? 80.0 : 6.0) * double(stride_), control,
      [&](std::int32_t first, std::int32_t last, int slot) {
        TermSums &here = slots[std::size_t(slot)];
        here.clear();
        Buffer own_rates = rates, own_logs = log_rates;
        WorkPoll poll;
        for (std::int32_t j = first; j < last; ++j) {
          for (std::size_t k = 0; k < std::size_t(factors_) && gamma_ && own_; ++k) {
            own_rates[k] = state.own_term_rates.row(j)[k];
            own_logs[k] = std::log(own_rates[k]);
          }
          update_factors(state, j, own_rates, own_logs, here);
          poll(20 * stride_);
        }
      },
      [&](int slot) { sums.add(slots[std::size_t(slot)]); });
}

void TermPosterior::update_factors(const FactorState &state, std::int32_t j, const Buffer &rates,
                                   const Buffer &log_rates, TermSums &here) {
  const double *const counts = state.terms.row(j);
  if (!gamma_) {
    factors.set_points(j, state.terms);
    for (std::size_t k = 0; k < stride_; ++k) here.means[k] += counts[k];
    if (missing_) std::copy_n(counts, stride_, means.row(j));
    return;
  }
  const WeightGamma &prior = state.term_prior;
  const ExpectationSums sums_of_term =
      factors.expect(j, {state.terms, 1, prior.shape}, log_rates.data());
  here.logs += sums_of_term.logs;
  double bound = sums_of_term.log_gamma - sums_of_term.counted_logs, rate = prior.rate;
  if (prior.hierarchical()) {
    ScalePosterior scale(prior, factors_);
    scale.rate = state.term_scales[std::size_t(j)];
    rate = scale.mean();
    bound += scale.bound(prior, factors_);
  }
  for (std::size_t k = 0; k < std::size_t(factors_); ++k) {
    const double shape = prior.shape + counts[k], mean = shape / rates[k];
    bound -= shape * log_rates[k] + mean * (rate - rates[k]);
    here.means[k] += mean;
    if (missing_) means.row(j)[k] = mean;
  }
  here.bound += bound;
}

double bound_of_priors(const FactorState &state, std::int64_t documents) {
  const auto of_side = [](const WeightGamma &prior, double weights) {
    const double rates = prior.hierarchical() ? 0 : prior.shape * std::log(prior.rate);
    return weights * (rates - log_gamma(prior.shape));
  };
  const double factors = state.terms.columns();
  return of_side(state.document_prior, double(documents) * factors) +
         of_side(state.term_prior, double(state.terms.rows()) * factors);
}

void learn_document_prior(const FactorTask &task, FactorState &state, const Buffer &counts,
                          double logs) {
  const double n = double(task.table.documents.totals().documents);
  double weights = 0;
  for (std::size_t k = 0; k < state.document_rates.size(); ++k)
    weights += (n * state.document_prior.shape + counts[k]) / state.document_rates[k];
  learn_prior(state.document_prior, task.learn_document_shape, task.learn_document_rate,
              n * state.terms.columns(), weights, logs);
}

void learn_term_prior(const FactorTask &task, FactorState &state, const TermSums &sums) {
  const double weights =
      std::accumulate(sums.means.begin(), sums.means.begin() + state.terms.columns(), 0.0);
  learn_prior(state.term_prior, task.learn_term_shape, task.learn_term_rate,
              double(state.terms.rows()) * state.terms.columns(), weights, sums.logs);
}

void balance_rates(FactorState &state, std::int64_t documents, const Buffer &term_counts,
                   const Buffer &document_counts) {
  const WeightGamma &w = state.document_prior, &v = state.term_prior;
  for (std::size_t k = 0; k < state.document_rates.size(); ++k) {
    const double of_documents = double(documents) * w.shape + document_counts[k],
                 of_terms = v.shape * state.terms.rows() + term_counts[k],
                 b = of_documents - w.rate * v.rate - of_terms,
                 root = std::sqrt(b * b + 4 * v.rate * w.rate * of_documents);
    const double r = b > 0 ? 2 * w.rate * of_documents / (b + root) : (root - b) / (2 * v.rate);
    state.document_rates[k] = r;
    state.term_rates[k] = v.rate + of_documents / r;
  }
}

}  // namespace bayes
