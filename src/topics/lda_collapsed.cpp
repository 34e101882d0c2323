#include "topics/lda_collapsed.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fit/driver.hpp"
#include "topics/topic_lanes.hpp"
#include "topics/topic_side.hpp"

namespace bayes {
namespace {

/// Updates of a document that is seen for the first time, with the topics that a run begins with.
constexpr int first_updates = 2;

/// What a pass takes for granted.
struct GivenTopics {
  /// n_kw
  const TermTopics &counts;
  /// null: nothing
  const TermTopics *added;
  double eta;
  /// padded_topics numbers each: sum_w eta_wk + n_k, of the padding 1; alpha, of the padding 0
  Buffer totals, alpha;
  double alpha_sum;
  /// Are tokens of the documents among the counts?
  bool own;
};

/// The tokens of one document after another: memory of a thread.
class CollapsedStep {
 public:
  explicit CollapsedStep(const GivenTopics &topics)
      : topics_(topics),
        stride_(topics.counts.stride()),
        tokens_(std::size_t(stride_), 0.0),
        weights_(std::size_t(stride_), 0.0) {}

  /// Shares of a document that has none yet.
  void begin(const DocumentTerms &document, float *shares) {
    std::fill_n(shares, document.size() * std::size_t(stride_), 0.f);
    for (int update = 0; update < first_updates; ++update) improve(document, shares);
  }

  /// Improves the shares of the terms one after the other. Returns sum_i log p(i | others).
  double improve(const DocumentTerms &document, float *shares) {
    sum_up(document, shares);
    const std::size_t blocks = (document.size() + simd::sum_lanes - 1) / simd::sum_lanes;
    norms_.assign(blocks * simd::sum_lanes, 1.0);
    counts_.assign(norms_.size(), 0.0);
    const double all = topics_.alpha_sum + document.tokens();
    for (std::size_t i = 0; i < document.size(); ++i, shares += stride_) {
      const double count = document.counts[i];
      // Tokens of a term have the same share, of which one is taken away; if counts are weights,
      // no more than there is.
      const double one = std::min(1.0, count);
      const double norm = weigh(document.terms[i], shares, one);
      counts_[i] = count;
      norms_[i] = std::max(norm / std::max(all - one, topics_.alpha_sum), least_norm);
      if (norm >= least_norm) move(shares, count, 1 / norm);
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

  /// n_dk
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
  /// Below, a number is not a normal one.
  static constexpr double least_norm = 1e-300;

  /// The weights of a token of a term without its own share, `one` times; returns their sum.
  double weigh(std::int32_t term, const float *shares, double one) {
    const double *const counts = topics_.counts.of(term);
    const double *const added = topics_.added ? topics_.added->of(term) : nullptr;
    // Read once: for all that the compiler knows, weights are stored over them.
    const double *const tokens = tokens_.data(), *const alpha = topics_.alpha.data(),
                        *const totals = topics_.totals.data();
    double *const weights = weights_.data();
    const simd::Vector none = {}, in_document = simd::all(-one),
                       in_topics = simd::all(topics_.own ? -one : 0), eta = simd::all(topics_.eta);
    LaneSum sum;
    // Rounding may leave a little less than there is of a count.
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

  /// Shares are proportional to the weights, and the document's tokens follow.
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

  const GivenTopics &topics_;
  const int stride_;
  Buffer tokens_, weights_, norms_, counts_;
};

/// Where the shares of a document are, and how far it is.
struct DocumentPlace {
  std::int64_t begin = 0;
  /// the last pass that it has gone through, and its part of the objective there
  std::int64_t pass = 0;
  double objective = 0;
};

Buffer topic_totals(const TermTopics &numbers) {
  Buffer out(std::size_t(numbers.stride()), 0.0);
  for (std::int32_t w = 0; w < numbers.terms(); ++w)
    for (std::size_t k = 0; k < out.size(); ++k) out[k] += numbers.of(w)[k];
  return out;
}

/// Passes in which the counts of terms and topics are those of the pass before, whatever thread a
/// document falls to.
class CollapsedIteration final : public detail::Iteration {
 public:
  CollapsedIteration(const TopicTask &task, TopicState state, Control &control)
      : task_(task),
        state_(std::move(state)),
        statistics_(0, state_.counts.topics()),
        count_totals_(topic_totals(state_.counts)),
        added_totals_(task.added.terms() ? topic_totals(task.added)
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

  /// Counts that are those of the shares.
  TopicState take() && {
    take_counts();
    state_.tokens.assign(count_totals_.begin(), count_totals_.begin() + state_.counts.topics());
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

  GivenTopics topics(bool first) const {
    const std::size_t stride = std::size_t(state_.counts.stride());
    GivenTopics out{state_.counts,
                    task_.added.terms() ? &task_.added : nullptr,
                    state_.eta,
                    Buffer(stride, 1.0),
                    Buffer(stride, 0.0),
                    std::accumulate(state_.alpha.begin(), state_.alpha.end(), 0.0),
                    !first};
    for (int k = 0; k < state_.counts.topics(); ++k)
      out.totals[std::size_t(k)] = state_.eta * state_.counts.terms() +
                                   added_totals_[std::size_t(k)] + count_totals_[std::size_t(k)];
    std::copy(state_.alpha.begin(), state_.alpha.end(), out.alpha.begin());
    return out;
  }

  /// `first`: of documents that have no shares yet.
  void pass(bool first, Control &control) {
    ++passes_;
    const GivenTopics given = topics(first);
    const std::int32_t terms = state_.counts.terms();
    const int topics = state_.counts.topics();
    const std::size_t stride = std::size_t(state_.counts.stride());
    const CorpusTotals &totals = task_.corpus.totals();
    const double rows = std::min<double>(terms, double(piece_entries(terms) + totals.most_entries));
    const SweepPlan plan =
        plan_tasks(operations_of_entry(topics) * double(totals.entries),
                   std::size_t(8 * rows * double(stride) + 4.0 * terms), control);
    statistics_ = TopicStatistics(terms, topics);
    std::vector<TopicStatistics> slots(std::size_t(plan.slots), TopicStatistics(terms, topics));
    std::vector<CollapsedStep> steps(std::size_t(plan.threads), CollapsedStep(given));
    sweep_corpus(
        task_.corpus, plan, control,
        [&](int worker, int slot, const CorpusPiece &piece, const Stop &stop) {
          TopicStatistics &here = slots[std::size_t(slot)];
          here.clear();
          CollapsedStep &step = steps[std::size_t(worker)];
          each_document(piece, [&](std::int64_t index, const DocumentTerms &document) {
            if (stop()) return false;
            DocumentPlace &place = places_[std::size_t(index)];
            float *const shares = state_.shares.data() + std::size_t(place.begin) * stride;
            // A piece may be abandoned and done again, but a document moves once in a pass.
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
        [&](int slot) { statistics_.merge(slots[std::size_t(slot)]); });
  }

  void take_counts() {
    Buffer &values = state_.counts.values();
    std::fill(values.begin(), values.end(), 0.0);
    for (std::size_t i = 0; i < statistics_.terms().size(); ++i)
      std::copy_n(statistics_.of(i), state_.counts.stride(),
                  state_.counts.of(statistics_.terms()[i]));
    count_totals_ = statistics_.tokens();
  }

  const TopicTask &task_;
  TopicState state_;
  TopicStatistics statistics_;
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
  const double numbers = double(totals.entries) * padded_topics(topics);
  return states * (sizeof(float) * numbers / 8) +
         double(sizeof(DocumentPlace)) / 8 * double(totals.documents);
}

}  // namespace bayes
