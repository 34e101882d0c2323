// Stochastic variational inference of topic models (002 L8; Hoffman and others 2013).
#include <cmath>
#include <limits>
#include <numeric>

#include "base/random.hpp"
#include "counts/allocation.hpp"
#include "counts/passes.hpp"
#include "fit/driver.hpp"
#include "topics/prior_learning.hpp"
#include "topics/topic_posterior.hpp"

namespace bayes {
namespace {

/// Random stream of the documents at which passes begin.
constexpr std::uint64_t pass_stream = 3;

/// Steps on minibatches of consecutive documents. The cost of a step depends on the terms of its
/// documents, not on the vocabulary: counts are stored up to a common factor, and their sums are
/// kept up to date.
class StochasticTopics final : public detail::Iteration {
 public:
  StochasticTopics(const TopicTask &task, TopicState state, int restart)
      : options_(task.options),
        state_(std::move(state)),
        posterior_(task, state_.counts.rows(), state_.counts.columns()),
        statistics_(state_.counts.rows(), state_.counts.columns()),
        batches_(task.corpus, options_.plan.batch_rows,
                 Random(options_.seed, std::uint64_t(restart), 0, pass_stream)),
        documents_(double(task.corpus.totals().documents)),
        count_totals_(std::size_t(state_.counts.stride()), 0.0) {
    WorkPoll poll;
    for (std::int32_t w = 0; w < state_.counts.rows(); ++w) {
      poll(count_totals_.size());
      for (int k = 0; k < state_.counts.stride(); ++k)
        count_totals_[std::size_t(k)] += state_.counts.row(w)[k];
    }
  }

  RowSums expectation(int, Control &control) override {
    control.poll();
    if (visited_ >= 2 * double(state_.counts.rows())) {
      posterior_.update_factors(state_, count_totals_, control);
      divergence_ = posterior_.divergence(state_, count_totals_);
      visited_ = 0;
      factored_ = true;
    }
    const Minibatch &batch = batches_.next();
    const Buffer digammas = posterior_.digammas(state_, count_totals_);
    const TermParameters from = posterior_.parameters(state_);
    const int topics = state_.counts.columns();
    const SweepPlan plan =
        plan_tasks(operations_per_entry(topics) * double(batch.entries), 1 << 20, control);
    each_term(batch, plan, control,
              [&](std::int32_t term) { posterior_.factors.expect(term, from, digammas.data()); });
    const ProportionPrior prior(state_.alpha);
    while (int(slots_.size()) < plan.slots) slots_.emplace_back(state_.counts.rows(), topics);
    std::vector<DocumentStep> steps(std::size_t(plan.threads),
                                    DocumentStep(posterior_.factors, prior));
    std::vector<Buffer> tokens(std::size_t(plan.threads),
                               Buffer(std::size_t(state_.counts.stride())));
    statistics_.clear();
    minibatch_pass(
        batch, plan, slots_, statistics_, control,
        [&](int worker, const DocumentTerms &document, std::int64_t, AllocationSums &here) {
          DocumentStep &step = steps[std::size_t(worker)];
          double *const n = tokens[std::size_t(worker)].data();
          const double bound = step.infer(document, {50, 1e-3}, true, n);
          here.add(document, step.allocation(), bound, n);
        });
    visited_ += double(batch.terms.size());
    share_ = documents_ / double(statistics_.documents());
    return {share_ * statistics_.bound(), 0};
  }

  double objective() const override { return -divergence_; }

  /// The bound of all documents after the last step.
  double exact_objective(Corpus &corpus, Control &control) {
    posterior_.update_factors(state_, count_totals_, control);
    return documents_bound(corpus, posterior_.factors, state_.alpha, control) -
           posterior_.divergence(state_, count_totals_);
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
      double *const to = state_.counts.row(w);
      const double *const from = statistics_.row(i), *const factors = posterior_.factors.row(w);
      for (std::size_t k = 0; k < stride; ++k) {
        const double n = step * (from[k] * factors[k]);
        to[k] += n / state_.scale;
        count_totals_[k] += n;
      }
    }
    factored_ = false;
  }

  void exchange_state(StateNumbers &numbers) override {
    exchange(numbers, state_);
    numbers.numbers(count_totals_);
    numbers.optional_list(logs_, state_.alpha.size());
    numbers.number(divergence_);
    numbers.number(visited_);
    batches_.exchange(numbers);
  }

  TopicState take() && {
    unscale();
    state_.tokens.assign(count_totals_.begin(), count_totals_.begin() + state_.counts.columns());
    return std::move(state_);
  }

 private:
  static constexpr int steps_before_learning = 20;

  void unscale() {
    WorkPoll poll;
    for (std::int32_t w = 0; w < state_.counts.rows(); ++w) {
      double *const row = state_.counts.row(w);
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
    // The expected logs of all terms are computed only now and then.
    if (factored_ && !options_.eta && options_.learn_eta) state_.eta = posterior_.learn_eta();
  }

  const LdaOptions &options_;
  TopicState state_;
  TopicPosterior posterior_;
  AllocationSums statistics_;
  Minibatches batches_;
  std::vector<AllocationSums> slots_;
  const double documents_;
  Buffer count_totals_;
  std::vector<double> logs_;
  double divergence_ = 0, share_ = 1;
  double visited_ =
      std::numeric_limits<double>::infinity();  // terms visited since divergence_ was computed
  bool factored_ = false;
};

}  // namespace

TopicRun run_minibatches(const TopicTask &task, TopicState state, const Schedule &schedule,
                         Control &control) {
  TopicRun run;
  StochasticTopics iteration(task, std::move(state), schedule.restart);
  static_cast<RunTrace &>(run) = detail::iterate_stochastic(iteration, control, schedule, 50);
  // The estimates in the trace are noisy; the last one, which is compared and reported, is exact.
  run.trace.push_back(iteration.exact_objective(task.corpus, control));
  run.state = std::move(iteration).take();
  return run;
}

}  // namespace bayes
