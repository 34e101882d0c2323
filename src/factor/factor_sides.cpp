#include "factor/factor_sides.hpp"

#include <cmath>
#include <numeric>

#include "base/special.hpp"
#include "topics/document_pass.hpp"
#include "topics/topic_side.hpp"

namespace bayes {
namespace {

/// Given the number of weights, the sum of their expectations and that of their logarithms.
void learn_prior(WeightGamma &prior, bool shape, bool rate, double count, double sum, double logs) {
  const double mean = sum / count;
  if (shape && rate)
    prior.shape = learn_gamma_shape(mean, logs / count);
  else if (shape)
    prior.shape = learn_gamma_shape_of_rate(prior.rate, logs / count);
  if (rate) prior.rate = prior.shape / mean;
}

}  // namespace

double log_factorials(Corpus &lines, Buffer &of_lines, Control &control) {
  struct Sum {
    double value = 0;
    void clear() { value = 0; }
    void merge(Sum &other) { value += other.value; }
  };
  const SweepPlan plan = plan_tasks(50 * double(lines.totals().entries), 64, control);
  return document_pass(
             lines, plan, Sum{}, 1, of_lines, control,
             [](int, const DocumentTerms &cells, std::int64_t, double *of_line, Sum &here) {
               WorkPoll poll;
               *of_line = 0;
               for (const double x : cells.counts) {
                 if (x != 1) *of_line += log_gamma(x + 1);
                 poll(20);
               }
               here.value += *of_line;
             })
      .value;
}

OtherSide::OtherSide(const NmfOptions &options, std::int32_t keys, int factors_of_keys)
    : factors(keys, factors_of_keys),
      sums(std::size_t(padded_topics(factors_of_keys))),
      gamma_(options.gamma()),
      missing_(options.missing_cells),
      own_(options.own_rates()),
      topics_(factors_of_keys),
      stride_(sums.means.size()) {
  if (missing_) means = TermTopics(keys, topics_);
}

void OtherSide::factor(const FactorState &state, Control &control) {
  Buffer log_rates(stride_, 0.0), rates(stride_, 1.0);
  for (std::size_t k = 0; k < std::size_t(topics_) && gamma_; ++k) {
    rates[k] = state.other_rates[k];
    log_rates[k] = std::log(rates[k]);
  }
  sums.clear();
  std::vector<OtherSums> slots(std::size_t(most_slots(control)), sums);
  each_chunk(
      state.others.terms(), (gamma_ ? 80.0 : 6.0) * double(stride_), control,
      [&](std::int32_t first, std::int32_t last, int slot) {
        OtherSums &here = slots[std::size_t(slot)];
        here.clear();
        Buffer own_rates = rates, own_logs = log_rates;
        WorkPoll poll;
        for (std::int32_t j = first; j < last; ++j) {
          for (std::size_t k = 0; k < std::size_t(topics_) && gamma_ && own_; ++k) {
            own_rates[k] = state.own_other_rates.of(j)[k];
            own_logs[k] = std::log(own_rates[k]);
          }
          factor(state, j, own_rates, own_logs, here);
          poll(20 * stride_);
        }
      },
      [&](int slot) { sums.add(slots[std::size_t(slot)]); });
}

void OtherSide::factor(const FactorState &state, std::int32_t j, const Buffer &rates,
                       const Buffer &log_rates, OtherSums &here) {
  const double *const parts = state.others.of(j);
  if (!gamma_) {
    factors.take(j, state.others);
    for (std::size_t k = 0; k < stride_; ++k) here.means[k] += parts[k];
    if (missing_) std::copy_n(parts, stride_, means.of(j));
    return;
  }
  const WeightGamma &prior = state.other_prior;
  const TopicSums of_key = factors.expect(j, {state.others, 1, prior.shape}, log_rates.data());
  here.logs += of_key.logs;
  double bound = of_key.log_gamma - of_key.counted_logs, rate = prior.rate;
  if (prior.hierarchical()) {
    ScalePosterior scale(prior, topics_);
    scale.rate = state.other_scales[std::size_t(j)];
    rate = scale.mean();
    bound += scale.bound(prior, topics_);
  }
  for (std::size_t k = 0; k < std::size_t(topics_); ++k) {
    const double shape = prior.shape + parts[k], mean = shape / rates[k];
    bound -= shape * log_rates[k] + mean * (rate - rates[k]);
    here.means[k] += mean;
    if (missing_) means.of(j)[k] = mean;
  }
  here.bound += bound;
}

double bound_of_priors(const FactorState &state, std::int64_t lines) {
  const auto of_side = [](const WeightGamma &prior, double weights) {
    const double rates = prior.hierarchical() ? 0 : prior.shape * std::log(prior.rate);
    return weights * (rates - log_gamma(prior.shape));
  };
  const double factors = state.others.topics();
  return of_side(state.line_prior, double(lines) * factors) +
         of_side(state.other_prior, double(state.others.terms()) * factors);
}

void learn_line_prior(const FactorTask &task, FactorState &state, const Buffer &parts,
                      double logs) {
  const double n = double(task.table.lines.totals().documents);
  double weights = 0;
  for (std::size_t k = 0; k < state.line_rates.size(); ++k)
    weights += (n * state.line_prior.shape + parts[k]) / state.line_rates[k];
  learn_prior(state.line_prior, task.learn_line_shape, task.learn_line_rate,
              n * state.others.topics(), weights, logs);
}

void learn_other_prior(const FactorTask &task, FactorState &state, const OtherSums &sums) {
  const double weights =
      std::accumulate(sums.means.begin(), sums.means.begin() + state.others.topics(), 0.0);
  learn_prior(state.other_prior, task.learn_other_shape, task.learn_other_rate,
              double(state.others.terms()) * state.others.topics(), weights, sums.logs);
}

void balance_rates(FactorState &state, std::int64_t lines, const Buffer &other_parts,
                   const Buffer &line_parts) {
  const WeightGamma &w = state.line_prior, &v = state.other_prior;
  for (std::size_t k = 0; k < state.line_rates.size(); ++k) {
    const double of_lines = double(lines) * w.shape + line_parts[k],
                 of_others = v.shape * state.others.terms() + other_parts[k],
                 b = of_lines - w.rate * v.rate - of_others,
                 root = std::sqrt(b * b + 4 * v.rate * w.rate * of_lines);
    const double r = b > 0 ? 2 * w.rate * of_lines / (b + root) : (root - b) / (2 * v.rate);
    state.line_rates[k] = r;
    state.other_rates[k] = v.rate + of_lines / r;
  }
}

}  // namespace bayes
