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
#include <algorithm>
#include <cmath>
#include <numeric>

#include "counts/allocation.hpp"
#include "counts/passes.hpp"
#include "counts/row_lanes.hpp"
#include "fit/driver.hpp"
#include "topics/lda_variational.hpp"

namespace bayes {
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
