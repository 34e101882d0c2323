#include "topics/lda_stochastic.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "base/random.hpp"
#include "fit/driver.hpp"
#include "topics/minibatches.hpp"
#include "topics/prior_learning.hpp"
#include "topics/topic_side.hpp"

namespace bayes {
namespace {

/// The stream of random numbers that say where passes begin.
constexpr std::uint64_t stream_of_passes = 3;

/// Steps on minibatches of consecutive documents. What a step costs depends on the terms of its
/// documents, not on the vocabulary: counts are stored up to a factor, their sums kept up to date.
class StochasticTopics final : public detail::Iteration {
 public:
  StochasticTopics(const TopicTask &task, TopicState state, int restart)
      : options_(task.options),
        state_(std::move(state)),
        side_(task, state_.counts.terms(), state_.counts.topics()),
        statistics_(state_.counts.terms(), state_.counts.topics()),
        batches_(task.corpus, options_.plan.batch_rows,
                 Random(options_.seed, std::uint64_t(restart), 0, stream_of_passes)),
        documents_(double(task.corpus.totals().documents)),
        count_totals_(std::size_t(state_.counts.stride()), 0.0) {
    WorkPoll poll;
    for (std::int32_t w = 0; w < state_.counts.terms(); ++w) {
      poll(count_totals_.size());
      for (int k = 0; k < state_.counts.stride(); ++k)
        count_totals_[std::size_t(k)] += state_.counts.of(w)[k];
    }
  }

  RowSums expectation(int, Control &control) override {
    control.poll();
    if (visited_ >= 2 * double(state_.counts.terms())) {
      side_.factor(state_, count_totals_, control);
      divergence_ = side_.divergence(state_, count_totals_);
      visited_ = 0;
      factored_ = true;
    }
    const Minibatch &batch = batches_.next();
    const Buffer digammas = side_.digammas(state_, count_totals_);
    const TopicParameters from = side_.parameters(state_);
    const int topics = state_.counts.topics();
    const SweepPlan plan =
        plan_tasks(operations_of_entry(topics) * double(batch.entries), 1 << 20, control);
    each_term(batch, plan, control,
              [&](std::int32_t term) { side_.factors.expect(term, from, digammas.data()); });
    const ProportionPrior prior(state_.alpha);
    while (int(slots_.size()) < plan.slots) slots_.emplace_back(state_.counts.terms(), topics);
    std::vector<DocumentStep> steps(std::size_t(plan.threads), DocumentStep(side_.factors, prior));
    std::vector<Buffer> tokens(std::size_t(plan.threads),
                               Buffer(std::size_t(state_.counts.stride())));
    statistics_.clear();
    minibatch_pass(
        batch, plan, slots_, statistics_, control,
        [&](int worker, const DocumentTerms &document, std::int64_t, TopicStatistics &here) {
          DocumentStep &step = steps[std::size_t(worker)];
          double *const n = tokens[std::size_t(worker)].data();
          const double bound = step.infer(document, {50, 1e-3}, true, n);
          here.add(document, step.divided(), bound, n);
        });
    visited_ += double(batch.terms.size());
    share_ = documents_ / double(statistics_.documents());
    return {share_ * statistics_.bound(), 0};
  }

  double objective() const override { return -divergence_; }

  /// Of all documents, where the last step led.
  double exact_objective(Corpus &corpus, Control &control) {
    side_.factor(state_, count_totals_, control);
    return documents_bound(corpus, side_.factors, state_.alpha, control) -
           side_.divergence(state_, count_totals_);
  }

  void update(int index) override {
    const double rho = std::pow(options_.plan.t0 + index, -options_.plan.kappa);
    const std::size_t stride = std::size_t(state_.counts.stride());
    if (index >= steps_before_learning) learn(rho);
    state_.scale *= 1 - rho;
    for (double &total : count_totals_) total *= 1 - rho;
    if (state_.scale < 1e-100) unscale();
    const double step = rho * share_;
    WorkPoll poll;
    for (std::size_t i = 0; i < statistics_.terms().size(); ++i) {
      poll(stride);
      const std::int32_t w = statistics_.terms()[i];
      double *const to = state_.counts.of(w);
      const double *const from = statistics_.of(i), *const factors = side_.factors.of(w);
      for (std::size_t k = 0; k < stride; ++k) {
        const double n = step * (from[k] * factors[k]);
        to[k] += n / state_.scale;
        count_totals_[k] += n;
      }
    }
    factored_ = false;
  }

  TopicState take() && {
    unscale();
    state_.tokens.assign(count_totals_.begin(), count_totals_.begin() + state_.counts.topics());
    return std::move(state_);
  }

 private:
  static constexpr int steps_before_learning = 20;

  void unscale() {
    WorkPoll poll;
    for (std::int32_t w = 0; w < state_.counts.terms(); ++w) {
      double *const row = state_.counts.of(w);
      for (int k = 0; k < state_.counts.stride(); ++k) row[k] *= state_.scale;
      poll(std::size_t(state_.counts.stride()));
    }
    state_.scale = 1;
  }

  void learn(double rho) {
    const double documents = double(statistics_.documents());
    if (!options_.alpha) {
      const std::size_t k = state_.alpha.size();
      const bool first = logs_.empty();
      logs_.resize(k);
      for (std::size_t i = 0; i < k; ++i) {
        const double here = statistics_.logs()[i] / documents;
        logs_[i] = first ? here : (1 - rho) * logs_[i] + rho * here;
      }
      if (options_.learn_alpha == Learned::asymmetric)
        learn_asymmetric(state_.alpha, 1, logs_);
      else if (options_.learn_alpha == Learned::symmetric)
        state_.alpha.assign(
            k, learn_symmetric(1, double(k), std::accumulate(logs_.begin(), logs_.end(), 0.0)));
    }
    // Expected logs of all terms are known once in a while.
    if (factored_ && !options_.eta && options_.learn_eta) state_.eta = side_.learn_eta();
  }

  const LdaOptions &options_;
  TopicState state_;
  TopicSide side_;
  TopicStatistics statistics_;
  Minibatches batches_;
  std::vector<TopicStatistics> slots_;
  const double documents_;
  Buffer count_totals_;
  std::vector<double> logs_;
  double divergence_ = 0, share_ = 1;
  double visited_ = std::numeric_limits<double>::infinity();  // terms since the last divergence
  bool factored_ = false;
};

}  // namespace

TopicRun run_minibatches(const TopicTask &task, TopicState state, const Schedule &schedule,
                         Control &control) {
  TopicRun run;
  StochasticTopics iteration(task, std::move(state), schedule.restart);
  static_cast<RunTrace &>(run) = detail::iterate_stochastic(iteration, control, schedule, 50);
  // The estimates on the way were noisy; what is compared and reported is exact.
  run.trace.push_back(iteration.exact_objective(task.corpus, control));
  run.state = std::move(iteration).take();
  return run;
}

}  // namespace bayes
