#include "topics/lda_variational.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "base/special.hpp"
#include "counts/allocation.hpp"
#include "counts/passes.hpp"
#include "data/pass.hpp"
#include "fit/driver.hpp"
#include "topics/prior_learning.hpp"
#include "topics/topic_posterior.hpp"

namespace bayes {
namespace {

/// Priors are learned from this pass on. Before, topics have more terms in common than they will
/// have (LdaStart::smooth), and priors learned from them would keep them similar.
constexpr int passes_before_learning = 5;

/// The local step continues from the last visit of a document, and so may stay in a local optimum
/// that the early topics led to. So, once in a cycle of this many passes, a document also restarts
/// from equal weights, and keeps the better result.
constexpr std::int64_t passes_between_restarts = 8;
constexpr LocalLimits restart_limits{30, 1e-2};
/// Whether a document restarts in a pass. This depends on its contents, not on its position.
bool restarts_in(const DocumentTerms &document, int pass) {
  std::int64_t name = pass + std::int64_t(document.size());
  for (const std::int32_t term : document.terms) name += term;
  return name % passes_between_restarts == 0;
}

/// The limits of documents whose topics were found without them.
constexpr int updates_for_known_topics = 100;

/// The local step of all documents.
struct TopicPass {
  static constexpr const char *name = "topics";
  using Sums = AllocationSums;
  const TermFactors *factors = nullptr;
  std::vector<double> alpha;
  LocalLimits limits = {};
  int number = 0;
  /// Expected tokens of every document. If there are none, or if they are fresh, every document
  /// starts from equal weights.
  PassNumbers documents = {};
  /// the factors of a request
  std::optional<TermFactors> own = {};

  template <class F> void fields(F &f, Corpus &corpus) {
    if constexpr (F::reading) {
      own.emplace(TermFactors::of_message(PassReader(f.document()).member("factors"),
                                          corpus.totals().vocabulary));
      factors = &*own;
      alpha.resize(std::size_t(topics()));
    } else {
      f.document().set("factors", factors->message());
      documents.name(*corpus.remote(), f.document());
    }
    f.values("alpha", alpha);
    for (const double a : alpha) f.require(a > 0 && a < 1e300);
    f.integer("max_updates", limits.max_updates, 0, 1000);
    f.number("max_moved", limits.max_moved);
    f.integer("number", number, 0, std::numeric_limits<int>::max());
  }
  void keep(PartOfDocuments &part, const PassReader &request, Control &control) {
    documents.keep(part, request, std::size_t(factors->values().stride()), control);
    // Documents that are new to topics that were found with them need as much as those of a model.
    if (documents.lost())
      limits.max_updates = std::max(limits.max_updates, updates_for_known_topics);
  }
  Sums nothing(Corpus &) const { return Sums(factors->values().rows(), topics()); }
  Sums here(Corpus &corpus, Control &control) const;

 private:
  int topics() const { return factors->values().columns(); }
};

AllocationSums TopicPass::here(Corpus &corpus, Control &control) const {
  const std::int32_t terms = factors->values().rows();
  const std::size_t stride = std::size_t(factors->values().stride());
  const PassNumbers::Here tokens_of = documents.here(corpus, stride);
  Buffer none;
  const ProportionPrior prior(alpha);
  const SweepPlan plan = plan_document_pass(corpus.totals(), topics(), control);
  std::vector<DocumentStep> steps(std::size_t(plan.threads), DocumentStep(*factors, prior));
  std::vector<Buffer> others(std::size_t(plan.threads), Buffer(stride));
  return document_pass(corpus, plan,
                       AllocationSums(terms, topics(), sums_for_all_terms(corpus.totals())), stride,
                       tokens_of.numbers ? *tokens_of.numbers : none, control,
                       [&](int worker, const DocumentTerms &document, std::int64_t, double *tokens,
                           AllocationSums &sums) {
                         DocumentStep &step = steps[std::size_t(worker)];
                         double bound = step.infer(document, limits, tokens_of.fresh, tokens);
                         if (!tokens_of.fresh && restarts_in(document, number)) {
                           Buffer &other = others[std::size_t(worker)];
                           if (step.infer(document, restart_limits, true, other.data()) > bound)
                             std::copy(other.begin(), other.end(), tokens);
                           bound = step.infer(document, {0, 0}, false, tokens);
                         }
                         sums.add(document, step.allocation(), bound, tokens);
                       });
}

/// Passes over all documents; with method svi the global step is a partial one.
class BatchTopics final : public detail::Iteration {
 public:
  BatchTopics(const TopicTask &task, TopicState state, Control &control)
      : task_(task),
        options_(task.options),
        state_(std::move(state)),
        posterior_(task, state_.counts.rows(), state_.counts.columns()),
        statistics_(0, state_.counts.columns()) {
    sum_counts(control);
    if (options_.method == Method::em) normalise();
  }

  RowSums expectation(int index, Control &control) override {
    posterior_.update_factors(state_, count_totals_, control);
    const LocalLimits limits = limits_of(state_.documents.empty());
    statistics_ = run(
        task_.corpus,
        TopicPass{&posterior_.factors, state_.alpha, limits, index, &state_.documents}, control);
    state_.tokens.assign(statistics_.counts().begin(),
                         statistics_.counts().begin() + state_.counts.columns());
    control_ = &control;
    return {statistics_.bound(), 0};
  }

  double objective() const override { return -posterior_.divergence(state_, count_totals_); }

  void update(int index) override {
    const double rho =
        options_.stochastic() ? std::pow(options_.plan.t0 + index, -options_.plan.kappa) : 1;
    if (index >= passes_before_learning) learn(rho);
    take_counts(rho);
    sum_counts(*control_);
    if (options_.method == Method::em) normalise();
  }

  void exchange_state(StateNumbers &numbers) override {
    exchange(numbers, state_);
    numbers.optional_list(state_.documents.here, std::size_t(task_.corpus.totals().documents) *
                                                     std::size_t(state_.counts.stride()));
    numbers.optional_list(state_.tokens, std::size_t(state_.counts.columns()));
    numbers.numbers(count_totals_);
    numbers.optional_list(logs_, state_.alpha.size());
    numbers.flag(first_logs_);
  }

  TopicState take() && { return std::move(state_); }

 private:
  /// A few updates in a pass suffice, since later passes continue. Topics of a start model need
  /// more in the first pass, or unconverged proportions would blur them.
  LocalLimits limits_of(bool fresh) const {
    return {task_.from_model && fresh ? updates_for_known_topics : 4, 1e-3};
  }

  void learn(double rho) {
    const double documents = double(statistics_.documents());
    if (!options_.alpha) {
      const std::size_t k = state_.alpha.size();
      if (logs_.empty()) logs_.assign(k, 0.0);
      for (std::size_t i = 0; i < k; ++i)
        logs_[i] = first_logs_ ? statistics_.logs()[i] / documents
                               : (1 - rho) * logs_[i] + rho * statistics_.logs()[i] / documents;
      first_logs_ = false;
      std::vector<double> alpha = state_.alpha;
      if (options_.learn_alpha == Learned::asymmetric)
        learn_asymmetric(alpha, 1, logs_);
      else if (options_.learn_alpha == Learned::symmetric)
        alpha.assign(
            k, learn_symmetric(1, double(k), std::accumulate(logs_.begin(), logs_.end(), 0.0)));
      state_.alpha = std::move(alpha);
    }
    if (options_.method != Method::em && !options_.eta && options_.learn_eta)
      state_.eta = (1 - rho) * state_.eta + rho * posterior_.learn_eta();
  }

  void take_counts(double rho) {
    const int stride = state_.counts.stride();
    WorkPoll poll;
    for (std::int32_t w = 0; w < state_.counts.rows(); ++w) {
      double *const row = state_.counts.row(w);
      poll(std::size_t(stride));
      if (rho == 1)
        std::fill_n(row, stride, 0.0);
      else
        for (int k = 0; k < stride; ++k) row[k] *= 1 - rho;
    }
    for (std::size_t i = 0; i < statistics_.terms().size(); ++i) {
      poll(std::size_t(stride));
      const std::int32_t w = statistics_.terms()[i];
      double *const to = state_.counts.row(w);
      const double *const from = statistics_.row(i), *const factors = posterior_.factors.row(w);
      for (int k = 0; k < stride; ++k) to[k] += rho * (from[k] * factors[k]);
    }
  }

  void sum_counts(Control &control) { count_totals_ = column_sums(state_.counts, control); }

  /// Normalises the counts to probabilities; a topic without counts becomes uniform.
  void normalise() {
    const int topics = state_.counts.columns();
    WorkPoll poll;
    for (std::int32_t w = 0; w < state_.counts.rows(); ++w) {
      poll(std::size_t(topics));
      for (int k = 0; k < topics; ++k) {
        double &x = state_.counts.row(w)[k];
        const double total = count_totals_[std::size_t(k)];
        x = total > 0 ? x / total : 1.0 / state_.counts.rows();
      }
    }
  }

  const TopicTask &task_;
  const LdaOptions &options_;
  TopicState state_;
  TopicPosterior posterior_;
  AllocationSums statistics_;
  Buffer count_totals_;
  std::vector<double> logs_;  // mean E log theta of documents
  bool first_logs_ = true;
  Control *control_ = nullptr;
};

}  // namespace

void exchange(StateNumbers &numbers, TopicState &state) {
  numbers.numbers(state.counts.values());
  numbers.number(state.scale);
  numbers.numbers(state.alpha);
  numbers.number(state.eta);
}

double topic_run_doubles(const Corpus &corpus, const LdaOptions &options, const Control &control) {
  const CorpusTotals &totals = corpus.totals();
  const double stride = padded_size(options.k), table = double(totals.vocabulary) * stride;
  const bool batches = options.stochastic() && options.plan.batch_rows < totals.documents;
  // counts, factors, statistics; the state of the best restart; slots
  const double slots = double(max_slots(control)) *
                       std::min(double(totals.vocabulary),
                                double(piece_entries(totals.vocabulary) + totals.most_entries)) *
                       stride;
  // A fit that can be resumed copies its state before every pass, and records it.
  const int states = (options.restarts > 1 ? 2 : 1) + (options.resumable ? 2 : 0);
  const double documents =
      options.method == Method::cvb0  ? collapsed_doubles(totals, options.k, states)
      : batches || corpus.is_remote() ? 0
                                      : states * double(totals.documents) * stride;
  return table * (2 + states) + documents +
         std::min(slots, 2e6 + 2 * double(control.threads) * table);
}

TopicRun run_topics(const TopicTask &task, TopicState state, const Schedule &schedule,
                    Control &control) {
  TopicRun run;
  if (task.options.stochastic() && task.options.plan.batch_rows < task.corpus.totals().documents) {
    return run_minibatches(task, std::move(state), schedule, control);
  } else if (task.options.method == Method::cvb0) {
    return run_collapsed(task, std::move(state), schedule, control);
  } else {
    BatchTopics iteration(task, std::move(state), control);
    static_cast<RunTrace &>(run) =
        task.options.stochastic() ? detail::iterate_stochastic(iteration, control, schedule, 50)
                                  : detail::iterate(iteration, control, schedule);
    if (task.options.stochastic()) {
      // the objective after the last step
      const double data = iteration.expectation(run.iterations, control).objective;
      run.trace.push_back(data + iteration.objective());
    }
    run.state = std::move(iteration).take();
  }
  return run;
}

double documents_bound(Corpus &corpus, const TermFactors &factors, const std::vector<double> &alpha,
                       Control &control) {
  return run(corpus, TopicPass{&factors, alpha, {50, 1e-4}}, control).bound();
}

double topics_log_likelihood(Corpus &corpus, const PaddedMatrix &probabilities,
                             const std::vector<double> &alpha, const DocumentNumbers &start,
                             Control &control, std::int64_t max_entries) {
  if (start.empty() && !corpus.remote() && corpus.totals().entries > max_entries) {
    // A pass over all documents would take longer than the minibatches did.
    MemoryCorpus some(corpus.totals().vocabulary);
    some.append_first(corpus, max_entries, control);
    return corpus.totals().tokens / some.totals().tokens *
           topics_log_likelihood(some, probabilities, alpha, start, control, some.totals().entries);
  }
  TermFactors factors(probabilities.rows(), probabilities.columns());
  WorkPoll poll;
  for (std::int32_t w = 0; w < probabilities.rows(); ++w) {
    factors.set_points(w, probabilities);
    poll(4 * std::size_t(probabilities.columns()));
  }
  DocumentNumbers documents = start;
  return run(corpus,
             TopicPass{&factors, alpha, {50, 1e-4}, 0, start.empty() ? nullptr : &documents},
             control)
      .bound();
}

const PassOver<PartOfDocuments> topic_pass = pass_over<PartOfDocuments, TopicPass>();

std::vector<double> infer_proportions(const DocumentTerms &document, const TermFactors &factors,
                                      const std::vector<double> &alpha) {
  const ProportionPrior prior(alpha);
  DocumentStep step(factors, prior);
  Buffer tokens(prior.alpha.size());
  step.infer(document, {4, 0}, true, tokens.data());
  converge_allocation(tokens, document.tokens(), [&](Buffer &improved) {
    return step.infer(document, {0, 0}, false, improved.data());
  });
  std::vector<double> out(alpha.size());
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = alpha[k] + tokens[k];
  return out;
}

}  // namespace bayes
