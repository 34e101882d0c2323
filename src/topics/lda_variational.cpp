#include "topics/lda_variational.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "base/random.hpp"
#include "base/special.hpp"
#include "counts/allocation.hpp"
#include "counts/passes.hpp"
#include "counts/row_lanes.hpp"
#include "data/pass.hpp"
#include "fit/driver.hpp"
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

// Stochastic variational inference of topic models (002 L8; Hoffman and others 2013).

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

// Collapsed variational inference of topic models, to order zero: CVB0 (Asuncion, Welling, Smyth
// and Teh 2009; after Teh, Newman and Welling 2006).
//
// Proportions and topics are integrated out. Under q the topics of tokens are independent, and
// logarithms of counts are replaced by logarithms of expected counts. So token i of term w in
// document d has topic k with probability
//
//   q_ik ~ (alpha_k + n_dk - q_ik) (eta_wk + n_kw - q_ik) / (sum_w eta_wk + n_k - q_ik),
//
// where n are expected counts of tokens, minus the contribution of token i.

namespace {

/// Number of updates of a document that is visited for the first time, with the initial topics.
constexpr int first_updates = 2;

/// Global statistics, fixed during a pass.
struct GlobalCounts {
  /// n_kw
  const PaddedMatrix &counts;
  /// added to eta; null: nothing
  const PaddedMatrix *added;
  double eta;
  /// padded_size numbers each: sum_w eta_wk + n_k, 1 in the padding; alpha, 0 in the padding
  Buffer totals, alpha;
  double alpha_sum;
  /// whether the counts include the tokens of the documents
  bool include_own;
};

/// Updates one document after another; each thread has its own.
class CollapsedStep {
 public:
  explicit CollapsedStep(const GlobalCounts &topics)
      : topics_(topics),
        stride_(topics.counts.stride()),
        tokens_(std::size_t(stride_), 0.0),
        weights_(std::size_t(stride_), 0.0) {}

  /// Initialises the shares (responsibilities) of a document.
  void begin(const DocumentTerms &document, float *shares) {
    std::fill_n(shares, document.size() * std::size_t(stride_), 0.f);
    for (int update = 0; update < first_updates; ++update) improve(document, shares);
  }

  /// Updates the shares of one term after the other. Returns sum_i log p(token i | all others).
  double improve(const DocumentTerms &document, float *shares) {
    sum_up(document, shares);
    const std::size_t blocks = (document.size() + simd::sum_lanes - 1) / simd::sum_lanes;
    norms_.assign(blocks * simd::sum_lanes, 1.0);
    counts_.assign(norms_.size(), 0.0);
    const double all = topics_.alpha_sum + document.tokens();
    for (std::size_t i = 0; i < document.size(); ++i, shares += stride_) {
      const double count = document.counts[i];
      // All tokens of a term have the same shares, of which one token's are subtracted; of
      // fractional counts below 1 no more than the count.
      const double one = std::min(1.0, count);
      const double norm = weigh(document.terms[i], shares, one);
      counts_[i] = count;
      norms_[i] = std::max(norm / std::max(all - one, topics_.alpha_sum), min_norm);
      if (norm >= min_norm) move(shares, count, 1 / norm);
    }
    LaneSum sum;
    for (std::size_t i = 0; i < norms_.size(); i += simd::sum_lanes)
      for (int g = 0; g < simd::registers; ++g) {
        const std::size_t at = i + std::size_t(g * simd::lanes);
        sum.partial[g] = simd::madd(simd::load(counts_.data() + at),
                                    simd::log(simd::load(norms_.data() + at)), sum.partial[g]);
      }
    return sum.total();
  }

  /// n_dk: the expected tokens of a document in each topic
  const double *sum_up(const DocumentTerms &document, const float *shares) {
    std::fill(tokens_.begin(), tokens_.end(), 0.0);
    double *const tokens = tokens_.data();
    for (std::size_t i = 0; i < document.size(); ++i, shares += stride_) {
      const simd::Vector count = simd::all(document.counts[i]);
      each_vector(stride_, [&](int at, int) {
        simd::store(tokens + at,
                    simd::madd(count, load_floats(shares + at), simd::load(tokens + at)));
      });
    }
    return tokens_.data();
  }

 private:
  /// Smaller norms could be subnormal numbers.
  static constexpr double min_norm = 1e-300;

  /// The weights of the topics for a token of a term, with `one` times its own shares subtracted
  /// from the counts. Returns their sum.
  double weigh(std::int32_t term, const float *shares, double one) {
    const double *const counts = topics_.counts.row(term);
    const double *const added = topics_.added ? topics_.added->row(term) : nullptr;
    // Loaded once: the compiler cannot exclude that `weights` aliases them.
    const double *const tokens = tokens_.data(), *const alpha = topics_.alpha.data(),
                        *const totals = topics_.totals.data();
    double *const weights = weights_.data();
    const simd::Vector none = {}, in_document = simd::all(-one),
                       in_topics = simd::all(topics_.include_own ? -one : 0),
                       eta = simd::all(topics_.eta);
    LaneSum sum;
    // Rounding may make a difference negative.
    each_vector(stride_, [&](int at, int g) {
      const simd::Vector share = load_floats(shares + at);
      const simd::Vector prior = added ? eta + simd::load(added + at) : eta;
      const simd::Vector n_d = simd::madd(in_document, share, simd::load(tokens + at)),
                         n_w = simd::madd(in_topics, share, simd::load(counts + at)),
                         n = simd::madd(in_topics, share, simd::load(totals + at));
      const simd::Vector weight = (simd::max(n_d, none) + simd::load(alpha + at)) *
                                  ((simd::max(n_w, none) + prior) / simd::max(n, prior));
      simd::store(weights + at, weight);
      sum.partial[g] += weight;
    });
    return sum.total();
  }

  /// Sets the shares proportional to the weights, and updates the expected tokens of the document.
  void move(float *shares, double count, double scale) {
    const double *const weights = weights_.data();
    double *const tokens = tokens_.data();
    const simd::Vector scales = simd::all(scale), counts = simd::all(count);
    each_vector(stride_, [&](int at, int) {
      const simd::Vector before = load_floats(shares + at);
      store_floats(shares + at, scales * simd::load(weights + at));
      const simd::Vector change = load_floats(shares + at) - before;
      simd::store(tokens + at, simd::madd(counts, change, simd::load(tokens + at)));
    });
  }

  const GlobalCounts &topics_;
  const int stride_;
  Buffer tokens_, weights_, norms_, counts_;
};

/// Where the shares of a document begin, and the last pass that updated them.
struct DocumentPlace {
  std::int64_t begin = 0;
  /// the last pass, and the document's contribution to the objective in it
  std::int64_t pass = 0;
  double objective = 0;
};

Buffer topic_totals(const PaddedMatrix &numbers) {
  Buffer out(std::size_t(numbers.stride()), 0.0);
  for (std::int32_t w = 0; w < numbers.rows(); ++w)
    for (std::size_t k = 0; k < out.size(); ++k) out[k] += numbers.row(w)[k];
  return out;
}

/// In each pass the counts of terms and topics are those of the previous pass, so that results do
/// not depend on the threads.
class CollapsedIteration final : public detail::Iteration {
 public:
  CollapsedIteration(const TopicTask &task, TopicState state, Control &control)
      : task_(task),
        state_(std::move(state)),
        statistics_(0, state_.counts.columns()),
        count_totals_(topic_totals(state_.counts)),
        added_totals_(task.added.rows() ? topic_totals(task.added)
                                        : Buffer(count_totals_.size(), 0.0)) {
    find_places(control);
  }

  RowSums expectation(int, Control &control) override {
    if (state_.shares.empty()) {
      state_.shares.resize(std::size_t(task_.corpus.totals().entries) *
                           std::size_t(state_.counts.stride()));
      pass(true, control);
      take_counts();
    }
    pass(false, control);
    return {statistics_.bound(), 0};
  }

  double objective() const override { return 0; }

  void update(int) override { take_counts(); }

  void exchange_state(StateNumbers &numbers) override {
    exchange(numbers, state_);
    numbers.numbers(count_totals_);
    numbers.optional_list(state_.shares, std::size_t(task_.corpus.totals().entries) *
                                             std::size_t(state_.counts.stride()));
  }

  /// The counts are those of the shares.
  TopicState take() && {
    take_counts();
    state_.tokens.assign(count_totals_.begin(), count_totals_.begin() + state_.counts.columns());
    return std::move(state_);
  }

 private:
  void find_places(Control &control) {
    Corpus &corpus = task_.corpus;
    places_.resize(std::size_t(corpus.totals().documents));
    std::int64_t entries = 0;
    for (std::int64_t s = 0; s < corpus.stretches(); ++s)
      for (const CorpusPiece &piece : corpus.stretch(s)) {
        control.poll();
        each_document(piece, [&](std::int64_t index, const DocumentTerms &document) {
          places_[std::size_t(index)].begin = entries;
          entries += std::int64_t(document.size());
          return true;
        });
      }
  }

  GlobalCounts topics(bool first) const {
    const std::size_t stride = std::size_t(state_.counts.stride());
    GlobalCounts out{state_.counts,
                     task_.added.rows() ? &task_.added : nullptr,
                     state_.eta,
                     Buffer(stride, 1.0),
                     Buffer(stride, 0.0),
                     std::accumulate(state_.alpha.begin(), state_.alpha.end(), 0.0),
                     !first};
    for (int k = 0; k < state_.counts.columns(); ++k)
      out.totals[std::size_t(k)] = state_.eta * state_.counts.rows() +
                                   added_totals_[std::size_t(k)] + count_totals_[std::size_t(k)];
    std::copy(state_.alpha.begin(), state_.alpha.end(), out.alpha.begin());
    return out;
  }

  /// `first`: initialises the shares.
  void pass(bool first, Control &control) {
    ++passes_;
    const GlobalCounts given = topics(first);
    const std::int32_t terms = state_.counts.rows();
    const int topics = state_.counts.columns();
    const std::size_t stride = std::size_t(state_.counts.stride());
    const CorpusTotals &totals = task_.corpus.totals();
    const double rows = std::min<double>(terms, double(piece_entries(terms) + totals.most_entries));
    const SweepPlan plan =
        plan_tasks(operations_per_entry(topics) * double(totals.entries),
                   std::size_t(8 * rows * double(stride) + 4.0 * terms), control);
    statistics_ = AllocationSums(terms, topics);
    std::vector<AllocationSums> slots(std::size_t(plan.slots), AllocationSums(terms, topics));
    std::vector<CollapsedStep> steps(std::size_t(plan.threads), CollapsedStep(given));
    sweep_corpus(
        task_.corpus, plan, control,
        [&](int worker, int slot, const CorpusPiece &piece, const Stop &stop) {
          AllocationSums &here = slots[std::size_t(slot)];
          here.clear();
          CollapsedStep &step = steps[std::size_t(worker)];
          each_document(piece, [&](std::int64_t index, const DocumentTerms &document) {
            if (stop()) return false;
            DocumentPlace &place = places_[std::size_t(index)];
            float *const shares = state_.shares.data() + std::size_t(place.begin) * stride;
            // An interrupted piece is repeated, but a document is updated once in a pass.
            if (place.pass != passes_) {
              if (first)
                step.begin(document, shares);
              else
                place.objective = step.improve(document, shares);
              place.pass = passes_;
            }
            here.add(document, shares, place.objective, step.sum_up(document, shares));
            return true;
          });
        },
        [&](int slot) { statistics_.add(slots[std::size_t(slot)]); });
  }

  void take_counts() {
    Buffer &values = state_.counts.values();
    std::fill(values.begin(), values.end(), 0.0);
    for (std::size_t i = 0; i < statistics_.terms().size(); ++i)
      std::copy_n(statistics_.row(i), state_.counts.stride(),
                  state_.counts.row(statistics_.terms()[i]));
    count_totals_ = statistics_.counts();
  }

  const TopicTask &task_;
  TopicState state_;
  AllocationSums statistics_;
  Buffer count_totals_, added_totals_;
  std::vector<DocumentPlace> places_;
  std::int64_t passes_ = 0;
};

}  // namespace

TopicRun run_collapsed(const TopicTask &task, TopicState state, const Schedule &schedule,
                       Control &control) {
  TopicRun run;
  CollapsedIteration iteration(task, std::move(state), control);
  static_cast<RunTrace &>(run) = detail::iterate(iteration, control, schedule);
  run.state = std::move(iteration).take();
  return run;
}

double collapsed_doubles(const CorpusTotals &totals, int topics, int states) {
  const double numbers = double(totals.entries) * padded_size(topics);
  return states * (sizeof(float) * numbers / 8) +
         double(sizeof(DocumentPlace)) / 8 * double(totals.documents);
}

}  // namespace bayes
