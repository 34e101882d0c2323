#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <mutex>

#include "topics/topic_samplers.hpp"
#include "topics/topic_step.hpp"

namespace bayes {
namespace {

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

}  // namespace bayes
