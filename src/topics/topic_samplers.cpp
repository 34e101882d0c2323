// Two samplers of the topics of all tokens: Gibbs sampling given topics and proportions, and
// collapsed Gibbs sampling.

#include "topics/topic_chain.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "base/simd.hpp"
#include "counts/padded_table.hpp"

namespace bayes {
namespace {

// Drawing the topic of one token, for both samplers: sums over topics in vector lanes.
//
// A topic has the weight f_k g_k: f depends on the document and the topic, g on the term. First
// only the sum of all weights is computed; this suffices for tokens that keep their topic, which
// are most.

namespace topic_step {

static_assert(row_lanes == simd::sum_lanes);

/// g_k = n_kw, the number of tokens of the term in each topic.
struct Counted {
  const std::int32_t *n;
  double operator[](int k) const { return double(n[k]); }
  simd::Vector at(int k) const {
#if defined(__AVX512F__)
    return _mm512_mask_cvtepi32_pd(simd::Vector{}, 0xff,
                                   _mm256_loadu_si256(reinterpret_cast<const __m256i *>(n + k)));
#else
    using Whole = std::int32_t __attribute__((vector_size(simd::lanes * 4), aligned(4), may_alias));
    return __builtin_convertvector(*reinterpret_cast<const Whole *>(n + k), simd::Vector);
#endif
  }
};
/// g_k = n_kw + added_kw, with the pseudo-counts of the prior.
struct Seeded {
  const std::int32_t *n;
  const double *added;
  double operator[](int k) const { return double(n[k]) + added[k]; }
  simd::Vector at(int k) const { return Counted{n}.at(k) + simd::load(added + k); }
};
/// g_k as drawn.
struct Drawn {
  const double *g;
  double operator[](int k) const { return g[k]; }
  simd::Vector at(int k) const { return simd::load(g + k); }
};

/// The sum of 8 numbers in the same order at every instruction set level.
double sum_of_lanes(const double *s) {
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}
double total(const simd::Vector (&sums)[simd::registers]) {
  alignas(cache_line) double s[simd::sum_lanes];
  for (int r = 0; r < simd::registers; ++r) simd::store(s + r * simd::lanes, sums[r]);
  return sum_of_lanes(s);
}

/// Prefetches the numbers of a term that will be needed soon; of many topics only the first ones,
/// since more would evict data that is in use.
template <class T> void prefetch(const T *row, int stride) {
  constexpr int each = int(cache_line / sizeof(T));
  for (int k = 0; k < std::min(stride, 16 * each); k += each) __builtin_prefetch(row + k);
}

/// The sum of f_k g_k.
template <class Row>
[[gnu::always_inline]] inline double dot(const double *f, Row row, int stride) {
  using namespace simd;
  simd::Vector a[registers] = {}, b[registers] = {};
  int k = 0;
  for (; k + sum_lanes < stride; k += 2 * sum_lanes)
    for (int r = 0; r < registers; ++r) {
      const int i = k + r * lanes;
      a[r] = madd(load(f + i), row.at(i), a[r]);
      b[r] = madd(load(f + i + sum_lanes), row.at(i + sum_lanes), b[r]);
    }
  for (int r = 0; r < registers; ++r) {
    if (k < stride) a[r] = madd(load(f + k + r * lanes), row.at(k + r * lanes), a[r]);
    a[r] += b[r];
  }
  return total(a);
}

double sum(const double *f, int stride) {
  using namespace simd;
  simd::Vector a[registers] = {};
  for (int k = 0; k < stride; k += sum_lanes)
    for (int r = 0; r < registers; ++r) a[r] += load(f + k + r * lanes);
  return total(a);
}

alignas(cache_line) inline constexpr double first_places[simd::sum_lanes] = {0, 1, 2, 3,
                                                                             4, 5, 6, 7};

/// Inverse-CDF search: the topic other than `old` whose cumulative weight f_k (g_k + eta) first
/// exceeds t. Topics are accumulated lane by lane. `running`: workspace of `stride` numbers.
/// Returns -1 if all weights are 0.
template <class Row>
int search(const double *f, Row row, double eta, int stride, int old, double t, double *running) {
  using namespace simd;
  simd::Vector sums[registers] = {}, place[registers];
  for (int r = 0; r < registers; ++r) place[r] = load(first_places + r * lanes);
  const simd::Vector excluded = all(double(old)), more = all(eta);
  for (int k = 0; k < stride; k += sum_lanes)
    for (int r = 0; r < registers; ++r) {
      const int i = k + r * lanes;
      const simd::Vector weight = load(f + i) * (row.at(i) + more);
      sums[r] += place[r] == excluded ? simd::Vector{} : weight;
      store(running + i, sums[r]);
      place[r] += double(sum_lanes);
    }
  const double *const last = running + stride - sum_lanes;
  int lane = 0;
  while (lane < sum_lanes - 1 && t >= last[lane]) t -= last[lane++];
  // After rounding, t may be at the end of the last lane.
  while (lane > 0 && !(last[lane] > 0)) t = last[--lane];
  if (!(last[lane] > 0)) {
    while (lane < sum_lanes && !(last[lane] > 0)) ++lane;
    if (lane == sum_lanes) return -1;
    t = 0;
  }
  if (!(t < last[lane])) {
    // the last topic with a positive weight
    int block = stride / sum_lanes - 1;
    while (block > 0 && running[(block - 1) * sum_lanes + lane] == last[lane]) --block;
    return block * sum_lanes + lane;
  }
  const int blocks = stride / sum_lanes;
  if (blocks <= 16) {
    // Branches of a binary search cannot be predicted; comparing all blocks needs none.
    int before = 0;
    for (int b = 0; b + 1 < blocks; ++b) before += running[b * sum_lanes + lane] <= t;
    return before * sum_lanes + lane;
  }
  int low = 0, high = blocks - 1;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (running[middle * sum_lanes + lane] > t)
      high = middle;
    else
      low = middle + 1;
  }
  return low * sum_lanes + lane;
}

/// The topics of a document and the number of its tokens in each.
struct DocumentTopics {
  explicit DocumentTopics(int topics)
      : factor(std::size_t(padded_size(topics)), 0.0),
        running(factor.size(), 0.0),
        count(factor.size(), 0),
        place(factor.size(), 0),
        list(factor.size(), 0) {}

  void add(int k) {
    if (count[std::size_t(k)]++ > 0) return;
    place[std::size_t(k)] = size;
    list[std::size_t(size++)] = k;
  }
  void remove(int k) {
    if (--count[std::size_t(k)] > 0) return;
    const std::int32_t last = list[std::size_t(--size)];
    list[std::size_t(place[std::size_t(k)])] = last;
    place[std::size_t(last)] = place[std::size_t(k)];
  }

  /// f, padded with 0; workspace of search()
  Buffer factor, running;
  /// n_dk; the index of the topic in `list`, if n_dk > 0
  std::vector<std::int32_t> count, place;
  /// the first `size` entries are the topics with n_dk > 0
  std::vector<std::int32_t> list;
  int size = 0;
};

}  // namespace topic_step

using namespace topic_step;

/// A gamma variate of shape a < 1 by Ahrens and Dieter's rejection method (1974). The first
/// proposal uses the uniform numbers u and v, later ones use `random`.
double small_gamma(double a, double u, double v, Random random) {
  const double b = 1 + a / 2.718281828459045;
  for (;; u = random.uniform(), v = random.uniform()) {
    const double p = b * u;
    if (p <= 1) {
      const double x = std::pow(p, 1 / a);
      if (v <= std::exp(-x)) return x;
    } else {
      const double x = -std::log((b - p) / a);
      if (v <= std::pow(x, a - 1)) return x;
    }
  }
}

class GibbsTopics final : public TopicSampler {
 public:
  GibbsTopics(TopicChain &chain, Sparsity sparsity)
      : chain_(chain),
        topics_(chain.topics()),
        stride_(chain.counts.stride()),
        sparsity_(sparsity),
        drawn_(chain.terms(), topics_),
        inverse_(std::size_t(stride_), 0.0),
        base_(std::size_t(stride_), 0.0),
        smooth_(std::size_t(chain.terms()), 0.0),
        progress_(std::size_t(chain.tokens.documents()), Progress::none) {}

  void sweep(int index, Control &control) override {
    draw_terms(index, control);
    draw_tokens(index, control);
  }

 private:
  // ---- distributions of terms ----

  std::int32_t terms_of_task() const { return std::max(1, 16384 / stride_); }
  std::size_t tasks() const {
    return std::size_t((chain_.terms() + terms_of_task() - 1) / terms_of_task());
  }
  template <class F> void each_term(std::size_t task, const Stop &stop, F f) {
    const std::int32_t first = std::int32_t(task) * terms_of_task(),
                       end = std::min(chain_.terms(), first + terms_of_task());
    for (std::int32_t w = first; w < end && !stop(); ++w) f(w);
  }

  /// Draws gamma variates; a topic's probabilities are its variates divided by their sum over the
  /// terms.
  void draw_terms(int index, Control &control) {
    const RowRandom random = topic_stream(chain_, index, TopicStream::topics);
    const double entries = double(chain_.terms()) * topics_;
    const SweepPlan plan = plan_tasks(entries * 20, std::size_t(stride_) * 8, control);
    std::vector<Buffer> sums(std::size_t(plan.slots));
    std::vector<double> totals(std::size_t(topics_), 0.0);
    run_in_order(
        tasks(), plan, control,
        [&](int, int slot, std::size_t task, const Stop &stop) {
          Buffer &own = sums[std::size_t(slot)];
          own.assign(std::size_t(stride_), 0.0);
          Buffer space(std::size_t(2 * stride_ + 64));
          each_term(task, stop, [&](std::int32_t w) {
            double *const g = drawn_.row(w);
            draw_term(w, random, space.data(), g);
            for (int k = 0; k < stride_; ++k) own[std::size_t(k)] += g[k];
          });
        },
        [&](int slot) {
          for (std::size_t k = 0; k < totals.size(); ++k) totals[k] += sums[std::size_t(slot)][k];
        });
    for (int k = 0; k < topics_; ++k) {
      if (!(totals[std::size_t(k)] > 1e-200))
        totals[std::size_t(k)] = draw_topic_by_logs(k, random);
      inverse_[std::size_t(k)] = 1 / totals[std::size_t(k)];
      base_[std::size_t(k)] = chain_.prior.alpha[std::size_t(k)] * inverse_[std::size_t(k)];
    }
    if (!may_be_sparse()) return;
    run_in_order(
        tasks(), plan, control,
        [&](int, int, std::size_t task, const Stop &stop) {
          each_term(task, stop, [&](std::int32_t w) {
            smooth_[std::size_t(w)] = dot(base_.data(), Drawn{drawn_.row(w)}, stride_);
          });
        },
        [](int) {});
  }

  /// A term's gamma variates, with shapes eta + n_kw. Variates that underflow become 0: their
  /// topics have no tokens of the term, and they are negligible beside the term's other variates.
  void draw_term(std::int32_t w, const RowRandom &random, double *uniforms, double *g) {
    using namespace simd;
    const std::int32_t *const n = chain_.counts.row(w);
    const double *const added = chain_.added(w);
    const double eta = chain_.prior.eta;
    const std::int64_t first = std::int64_t(w) * stride_;
    random.fill(first, stride_, uniforms);
    const double *const second = uniforms + stride_;
    for (int k = 0; k < stride_; k += lanes) {
      simd::Vector shape = Counted{n}.at(k) + eta;
      if (added) shape += load(added + k);
      const simd::Vector p = load(uniforms + k) * (1.0 + shape / 2.718281828459045);
      const simd::Vector x = exp(log(p) / max(shape, all(1e-5)));
      // 1 - x <= exp(-x)
      const auto accepted =
          (shape < 1.0) & (shape >= 1e-5) & (p <= 1.0) & (load(second + k) <= 1.0 - x);
      store(g + k, accepted ? x : all(-1.0));
    }
    for (int k = 0; k < topics_; ++k) {
      if (g[k] >= 0) continue;
      const double shape = double(n[k]) + eta + (added ? added[k] : 0);
      Random own(random.bits(-1 - (first + k)));
      g[k] = shape < 1 ? small_gamma(shape, uniforms[k], second[k], own) : own.gamma(shape);
    }
    std::fill(g + topics_, g + stride_, 0.0);
  }

  /// Draws a topic all of whose variates underflowed, on the logarithmic scale.
  double draw_topic_by_logs(int k, const RowRandom &random) {
    std::vector<double> shapes(std::size_t(chain_.terms())), out(shapes.size());
    for (std::int32_t w = 0; w < chain_.terms(); ++w) {
      const double *const added = chain_.added(w);
      shapes[std::size_t(w)] =
          chain_.prior.eta + (added ? added[k] : 0) + double(chain_.counts.row(w)[k]);
    }
    Random own(random.bits(-1 - std::int64_t(chain_.terms()) * stride_ - k));
    own.dirichlet(shapes, out);
    for (std::int32_t w = 0; w < chain_.terms(); ++w) drawn_.row(w)[k] = out[std::size_t(w)];
    return 1;
  }

  // ---- topics of tokens ----

  struct Worker {
    Worker(const GibbsTopics &all, const RowRandom &random)
        : document(all.topics_),
          weights(std::size_t(all.topics_), 0.0),
          uniforms(random),
          moved(std::size_t(all.topics_), 0),
          histogram(all.topics_, all.chain_.tokens.longest()) {}
    DocumentTopics document;
    /// n_dk / (sum of the topic's variates), in the order of DocumentTopics::list
    std::vector<double> weights;
    TokenUniforms uniforms;
    /// change of n_k
    std::vector<std::int64_t> moved;
    DocumentHistogram histogram;
    /// operations since `stop` was last checked
    std::size_t operations = 0;
  };

  /// State of a document in this sweep.
  enum class Progress : char { none, interrupted, done };
  /// A document that was interrupted: the next token, and the state that depends on the order in
  /// which topics were added and removed.
  struct Interrupted {
    std::size_t entry;
    /// index of the next token within its entry, and within the document
    std::int64_t of_entry, token;
    DocumentTopics document;
    std::vector<double> weights;
  };

  void draw_tokens(int index, Control &control) {
    const SweepPlan plan = plan_tasks(double(chain_.tokens.tokens()) * 100, 1, control);
    shared_ = plan.threads > 1;
    const RowRandom random = topic_stream(chain_, index, TopicStream::tokens);
    std::vector<Worker> workers;
    for (int i = 0; i < plan.threads; ++i) workers.emplace_back(*this, random);
    std::fill(progress_.begin(), progress_.end(), Progress::none);
    sweep_corpus(
        chain_.corpus, plan, control,
        [&](int worker, int, const CorpusPiece &piece, const Stop &stop) {
          Worker &own = workers[std::size_t(worker)];
          std::copy(base_.begin(), base_.end(), own.document.factor.begin());
          each_document(piece, [&](std::int64_t d, const DocumentTerms &terms) {
            // A document is updated in place, and once in a sweep: an abandoned piece is resumed
            // where it was interrupted.
            if (progress_[std::size_t(d)] == Progress::done) return true;
            return !stop() && document(d, terms, own, stop);
          });
        },
        [](int) {});
    chain_.histogram.clear();
    for (Worker &worker : workers) {
      chain_.histogram.add(worker.histogram);
      for (std::size_t k = 0; k < worker.moved.size(); ++k) chain_.totals[k] += worker.moved[k];
    }
  }

  /// a few milliseconds
  static constexpr std::size_t operations_between_checks = 1 << 21;

  double weight(int k, int tokens) const { return double(tokens) * inverse_[std::size_t(k)]; }
  void weigh(int k, Worker &own) const {
    const int tokens = own.document.count[std::size_t(k)];
    own.document.factor[std::size_t(k)] = base_[std::size_t(k)] + weight(k, tokens);
    if (tokens > 0)
      own.weights[std::size_t(own.document.place[std::size_t(k)])] = weight(k, tokens);
  }

  /// Returns false if interrupted.
  bool document(std::int64_t d, const DocumentTerms &terms, Worker &own, const Stop &stop) {
    const std::int64_t begin = chain_.tokens.begin[std::size_t(d)];
    std::uint16_t *const topics = chain_.assigned.data() + begin;
    DocumentTopics &document = own.document;
    std::size_t e = 0;
    std::int64_t i = 0, of_entry = 0;
    if (progress_[std::size_t(d)] == Progress::interrupted) {
      const std::lock_guard lock(mutex_);
      Interrupted from = std::move(interrupted_.extract(d).mapped());
      e = from.entry;
      of_entry = from.of_entry;
      i = from.token;
      document = std::move(from.document);
      own.weights = std::move(from.weights);
    } else {
      for (const std::int64_t end = chain_.tokens.begin[std::size_t(d) + 1] - begin; i < end; ++i)
        document.add(topics[i]);
      for (int j = 0; j < document.size; ++j) weigh(document.list[std::size_t(j)], own);
      i = 0;
    }
    own.uniforms.seek(begin + i);
    for (; e < terms.size(); ++e, of_entry = 0) {
      const std::int32_t w = terms.terms[e];
      const double *const g = drawn_.row(w);
      if (e + 3 < terms.size()) prefetch_term(terms.terms[e + 3], document);
      for (const auto count = std::int64_t(terms.counts[e]); of_entry < count; ++of_entry, ++i) {
        if ((own.operations += 64 + std::size_t(stride_)) > operations_between_checks) {
          own.operations = 0;
          if (stop()) {
            const std::lock_guard lock(mutex_);
            progress_[std::size_t(d)] = Progress::interrupted;
            interrupted_.emplace(
                d, Interrupted{e, of_entry, i, std::move(document), std::move(own.weights)});
            document = DocumentTopics(topics_);
            own.weights.assign(std::size_t(topics_), 0.0);
            return false;
          }
        }
        const int old = topics[i];
        const double u = own.uniforms.next();
        const int next =
            sparse(document.size) ? choose_listed(w, g, old, u, own) : choose(g, old, u, own);
        if (next == old) continue;
        topics[i] = std::uint16_t(next);
        move(w, old, next, own);
      }
    }
    for (int j = 0; j < document.size; ++j) {
      const int k = document.list[std::size_t(j)];
      own.histogram.add(k, document.count[std::size_t(k)]);
      document.count[std::size_t(k)] = 0;
      document.factor[std::size_t(k)] = base_[std::size_t(k)];
    }
    document.size = 0;
    progress_[std::size_t(d)] = Progress::done;
    return true;
  }

  void prefetch_term(std::int32_t w, const DocumentTopics &document) const {
    const double *const g = drawn_.row(w);
    if (sparse(document.size)) {
      // The topics of the document are scattered among many.
      for (int i = 0; i < document.size; ++i) __builtin_prefetch(g + document.list[std::size_t(i)]);
      return;
    }
    prefetch(g, stride_);
    prefetch(chain_.counts.row(w), stride_);
  }

  bool may_be_sparse() const {
    return sparsity_ == Sparsity::always || (sparsity_ == Sparsity::automatic && stride_ >= 128);
  }
  bool sparse(int size) const {
    return sparsity_ == Sparsity::always || (may_be_sparse() && 12 * size < stride_);
  }

  int choose(const double *g, int old, double u, Worker &own) const {
    const double *const f = own.document.factor.data();
    const double sum = dot(f, Drawn{g}, stride_), current = f[old] * g[old],
                 stay = current - inverse_[std::size_t(old)] * g[old],
                 others = std::max(0.0, sum - current);
    const double t = u * (stay + others) - stay;
    if (t < 0) return old;
    const int next = search(f, Drawn{g}, 0, stride_, old, t, own.document.running.data());
    return next < 0 ? old : next;
  }

  int choose_listed(std::int32_t w, const double *g, int old, double u, Worker &own) const {
    const DocumentTopics &document = own.document;
    const std::int32_t *const list = document.list.data();
    const double *const weights = own.weights.data();
    double sum = 0, odd = 0;
    int i = 0;
    for (; i + 1 < document.size; i += 2) {
      sum += weights[i] * g[list[i]];
      odd += weights[i + 1] * g[list[i + 1]];
    }
    if (i < document.size) sum += weights[i] * g[list[i]];
    sum += odd;
    const double current = weights[document.place[std::size_t(old)]] * g[old],
                 stay = weight(old, document.count[std::size_t(old)] - 1) * g[old],
                 others = std::max(0.0, sum - current);
    double t = u * (stay + others + smooth_[std::size_t(w)]) - stay;
    if (t < 0) return old;
    if (t < others)
      for (i = 0; i < document.size; ++i) {
        if (list[i] == old) continue;
        t -= weights[i] * g[list[i]];
        if (t < 0) return list[i];
      }
    else
      t -= others;
    const int next = search(base_.data(), Drawn{g}, 0, stride_, -1, std::max(0.0, t),
                            own.document.running.data());
    return next < 0 ? old : next;
  }

  void move(std::int32_t w, int from, int to, Worker &own) {
    std::int32_t *const n = chain_.counts.row(w);
    if (shared_) {
      // Integer sums do not depend on the order.
      std::atomic_ref(n[from]).fetch_sub(1, std::memory_order_relaxed);
      std::atomic_ref(n[to]).fetch_add(1, std::memory_order_relaxed);
    } else {
      --n[from];
      ++n[to];
    }
    --own.moved[std::size_t(from)];
    ++own.moved[std::size_t(to)];
    DocumentTopics &document = own.document;
    document.remove(from);
    if (document.count[std::size_t(from)] == 0) {
      // The last topic of the list has moved to its place.
      const int place = document.place[std::size_t(from)];
      if (place < document.size)
        own.weights[std::size_t(place)] = own.weights[std::size_t(document.size)];
    }
    weigh(from, own);
    document.add(to);
    weigh(to, own);
  }

  TopicChain &chain_;
  const int topics_, stride_;
  const Sparsity sparsity_;
  PaddedMatrix drawn_;
  /// 1 / (sum of the topic's variates); alpha_k times that
  Buffer inverse_, base_;
  /// for every term the sum of its variates times `base_`
  std::vector<double> smooth_;
  /// one for every document
  std::vector<Progress> progress_;
  std::map<std::int64_t, Interrupted> interrupted_;
  std::mutex mutex_;
  bool shared_ = false;
};

}  // namespace

std::unique_ptr<TopicSampler> gibbs_topics(TopicChain &chain, Sparsity sparsity) {
  return std::make_unique<GibbsTopics>(chain, sparsity);
}

namespace {

/// For terms with few topics: the topics of a term, and the number of its tokens in each.
class TermLists {
 public:
  TermLists(std::int32_t terms, int capacity)
      : capacity_(capacity),
        size_(std::size_t(terms), capacity > 0 ? 0 : dense),
        entries_(std::size_t(terms) * std::size_t(capacity)) {}

  struct Entry {
    std::int32_t topic, tokens;
  };
  bool has(std::int32_t w) const { return size_[std::size_t(w)] != dense; }
  std::span<Entry> of(std::int32_t w) {
    return {entries_.data() + std::size_t(w) * std::size_t(capacity_),
            std::size_t(size_[std::size_t(w)])};
  }
  /// Rebuilds the list of a term. The term gets no list if it would be more than half full, as it
  /// may grow before the next sweep.
  void make(std::int32_t w, const std::int32_t *n, int topics, bool allowed) {
    std::int32_t &size = size_[std::size_t(w)];
    size = dense;
    if (capacity_ == 0 || !allowed) return;
    Entry *const to = entries_.data() + std::size_t(w) * std::size_t(capacity_);
    int found = 0;
    for (int k = 0; k < topics; ++k)
      if (n[k] > 0) {
        if (2 * found >= capacity_ && topics > capacity_) return;
        to[found++] = {k, n[k]};
      }
    size = found;
  }
  void add(std::int32_t w, int topic) {
    for (Entry &entry : of(w))
      if (entry.topic == topic) {
        ++entry.tokens;
        return;
      }
    std::int32_t &size = size_[std::size_t(w)];
    if (size == capacity_)
      size = dense;
    else
      entries_[std::size_t(w) * std::size_t(capacity_) + std::size_t(size++)] = {topic, 1};
  }
  void remove(std::int32_t w, int topic) {
    const auto entries = of(w);
    for (Entry &entry : entries)
      if (entry.topic == topic) {
        if (--entry.tokens > 0) return;
        entry = entries.back();
        --size_[std::size_t(w)];
        return;
      }
  }

 private:
  static constexpr std::int32_t dense = -1;
  int capacity_;
  std::vector<std::int32_t> size_;
  std::vector<Entry> entries_;
};

/// The maximal length of a list: longer ones cost more than sums over all topics in vector lanes.
int list_capacity(int topics, Sparsity sparsity) {
  if (sparsity == Sparsity::never) return 0;
  if (sparsity == Sparsity::always) return topics;
  return topics < 128 ? 0 : topics / 3;
}

class CollapsedTopics final : public TopicSampler {
 public:
  CollapsedTopics(TopicChain &chain, Sparsity sparsity)
      : chain_(chain),
        stride_(chain.counts.stride()),
        lists_(chain.terms(), list_capacity(chain.topics(), sparsity)),
        document_(chain.topics()),
        inverse_(std::size_t(stride_), 0.0),
        inverse_less_(std::size_t(stride_), 0.0) {}

  void sweep(int index, Control &control) override {
    TokenUniforms uniforms(topic_stream(chain_, index, TopicStream::tokens));
    for (int k = 0; k < chain_.topics(); ++k) {
      update_inverse(k);
      document_.factor[std::size_t(k)] = base(k);
    }
    const PollScope scope(control);
    WorkPoll poll;
    for (std::int32_t w = 0; w < chain_.terms(); ++w) {
      lists_.make(w, chain_.counts.row(w), chain_.topics(), !chain_.added(w));
      poll(std::size_t(stride_));
    }
    chain_.histogram.clear();
    for (std::int64_t s = 0; s < chain_.corpus.stretches(); ++s)
      for (const CorpusPiece &piece : chain_.corpus.stretch(s))
        each_document(piece, [&](std::int64_t d, const DocumentTerms &terms) {
          const std::int64_t begin = chain_.tokens.begin[std::size_t(d)];
          uniforms.seek(begin);
          document(terms, chain_.assigned.data() + begin, uniforms, poll);
          return true;
        });
  }

  void update_inverse(int k) {
    const double n = chain_.prior_total(k) + double(chain_.totals[std::size_t(k)]);
    inverse_[std::size_t(k)] = 1 / n;
    inverse_less_[std::size_t(k)] = 1 / (n - 1);
  }
  double alpha(int k) const { return chain_.prior.alpha[std::size_t(k)]; }
  double base(int k) const { return alpha(k) * inverse_[std::size_t(k)]; }
  void set_factor(int k) {
    double &f = document_.factor[std::size_t(k)];
    const double now =
        (alpha(k) + double(document_.count[std::size_t(k)])) * inverse_[std::size_t(k)];
    factors_ += now - f;
    f = now;
  }

  void document(const DocumentTerms &terms, std::uint16_t *topics, TokenUniforms &uniforms,
                WorkPoll &poll) {
    std::int64_t i = 0;
    for (std::size_t e = 0; e < terms.size(); ++e)
      for (auto left = std::int64_t(terms.counts[e]); left > 0; --left) document_.add(topics[i++]);
    for (int j = 0; j < document_.size; ++j) set_factor(document_.list[std::size_t(j)]);
    // Recomputed for each document, so that rounding errors do not accumulate.
    factors_ = sum(document_.factor.data(), stride_);
    for (std::size_t e = 0; e < terms.size(); ++e) {
      const std::int32_t w = terms.terms[e];
      if (e + 3 < terms.size()) prefetch_term(terms.terms[e + 3]);
      for (auto left = std::int64_t(terms.counts[e]); left > 0; --left) {
        poll(64 + std::size_t(stride_));
        token(w, *topics++, uniforms.next());
      }
    }
    for (int i = 0; i < document_.size; ++i) {
      const int k = document_.list[std::size_t(i)];
      chain_.histogram.add(k, document_.count[std::size_t(k)]);
      document_.count[std::size_t(k)] = 0;
      document_.factor[std::size_t(k)] = base(k);
    }
    document_.size = 0;
  }

  void prefetch_term(std::int32_t w) {
    if (lists_.has(w))
      prefetch(lists_.of(w).data(), int(lists_.of(w).size()));
    else
      prefetch(chain_.counts.row(w), stride_);
  }

  void token(std::int32_t w, std::uint16_t &topic, double u) {
    const std::int32_t *const n = chain_.counts.row(w);
    int next;
    if (lists_.has(w))
      next = choose_listed(w, n, topic, u);
    else if (const double *const added = chain_.added(w))
      next = choose(Seeded{n, added}, topic, u);
    else
      next = choose(Counted{n}, topic, u);
    if (next == topic) return;
    move(w, topic, next);
    topic = std::uint16_t(next);
  }

  /// The weight of a token's current topic, without this token, and the sum of the other weights.
  struct Weights {
    double current, others;
  };
  Weights weights(int old, double g, double sum) const {
    const double eta = chain_.prior.eta;
    const double current = (alpha(old) + double(document_.count[std::size_t(old)] - 1)) *
                           inverse_less_[std::size_t(old)] * (g - 1 + eta);
    const double f = document_.factor[std::size_t(old)];
    return {current, std::max(0.0, sum - f * g + eta * (factors_ - f))};
  }

  template <class Row> int choose(Row row, int old, double u) {
    const double *const f = document_.factor.data();
    const Weights weight = weights(old, row[old], dot(f, row, stride_));
    const double t = u * (weight.current + weight.others) - weight.current;
    if (t < 0) return old;
    const int next = search(f, row, chain_.prior.eta, stride_, old, t, document_.running.data());
    return next < 0 ? old : next;
  }

  int choose_listed(std::int32_t w, const std::int32_t *n, int old, double u) {
    const double *const f = document_.factor.data();
    const auto entries = lists_.of(w);
    double all = 0, odd = 0;
    std::size_t i = 0;
    for (; i + 1 < entries.size(); i += 2) {
      all += f[entries[i].topic] * double(entries[i].tokens);
      odd += f[entries[i + 1].topic] * double(entries[i + 1].tokens);
    }
    if (i < entries.size()) all += f[entries[i].topic] * double(entries[i].tokens);
    const Weights weight = weights(old, double(n[old]), all + odd);
    double t = u * (weight.current + weight.others) - weight.current;
    if (t < 0) return old;
    for (const auto &entry : entries) {
      if (entry.topic == old) continue;
      t -= f[entry.topic] * double(entry.tokens);
      if (t < 0) return entry.topic;
    }
    // The rest of the total weight belongs to eta.
    const int next =
        search(f, NoCounts{}, 1.0, stride_, old, t / chain_.prior.eta, document_.running.data());
    return next < 0 ? old : next;
  }
  struct NoCounts {
    simd::Vector at(int) const { return simd::Vector{}; }
  };

  void move(std::int32_t w, int from, int to) {
    std::int32_t *const n = chain_.counts.row(w);
    --n[from];
    ++n[to];
    --chain_.totals[std::size_t(from)];
    ++chain_.totals[std::size_t(to)];
    document_.remove(from);
    document_.add(to);
    for (const int k : {from, to}) {
      update_inverse(k);
      set_factor(k);
    }
    if (lists_.has(w)) {
      lists_.remove(w, from);
      lists_.add(w, to);
    }
  }

  TopicChain &chain_;
  const int stride_;
  TermLists lists_;
  DocumentTopics document_;
  /// 1 / (V eta + n_k), and the same with one token less
  std::vector<double> inverse_, inverse_less_;
  /// the sum of document_.factor
  double factors_ = 0;
};

}  // namespace

std::unique_ptr<TopicSampler> collapsed_topics(TopicChain &chain, Sparsity sparsity) {
  return std::make_unique<CollapsedTopics>(chain, sparsity);
}

}  // namespace bayes
