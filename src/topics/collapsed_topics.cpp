#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "topics/topic_samplers.hpp"
#include "topics/topic_step.hpp"

namespace bayes {
namespace {

using namespace topic_step;

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
