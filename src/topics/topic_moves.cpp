// Moves of whole topics.
//
// Samplers that move one token at a time, and variational inference, end in local optima in which
// some topics combine two subjects and others divide one: moving a single token never helps. So one
// topic is split in two and at the same time two others are merged, if this increases log p(w, z).
// These are split-merge moves like those of Jain and Neal (2004) for mixtures, but as a search: the
// two parts of a topic are found by a model of two topics for its tokens alone.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "topics/topic_chain.hpp"

namespace bayes {
namespace {

/// Sweeps of a split over documents, then over tokens.
constexpr int document_sweeps = 6, token_sweeps = 6;
/// Candidates for a merge with a topic: for each of its most frequent terms the topics with most
/// tokens of the term.
constexpr int frequent_terms = 20, candidates_per_term = 5;

/// The tokens of a topic, document by document.
struct TopicTokens {
  std::size_t size() const { return terms.size(); }
  std::size_t document_count() const { return documents.size(); }
  std::int64_t count(std::size_t document) const { return begin[document + 1] - begin[document]; }

  /// for every token its term, later replaced by its index in `distinct`, and its number among all
  /// tokens
  std::vector<std::int32_t> terms;
  std::vector<std::int64_t> tokens;
  /// documents with the topic, and the offsets of their tokens
  std::vector<std::int64_t> documents, begin{0};
  /// its distinct terms, ascending, and the number of tokens of each
  std::vector<std::int32_t> distinct;
  std::vector<std::int64_t> counts;
  std::int64_t max_in_document = 0;
  /// whether each token is in the second half of the split, and the gain of the split
  std::vector<char> second;
  double gain = -HUGE_VAL;
};

struct Merge {
  double gain;
  int kept, freed;  // kept < 0: `freed` has no tokens
};

class TopicMoves {
 public:
  TopicMoves(TopicChain &chain, bool own_alphas, int index, Control &control)
      : chain_(chain),
        own_alphas_(own_alphas),
        index_(index),
        control_(control),
        eta_(chain.prior.eta),
        topics_(std::size_t(chain.topics())),
        rising_(eta_, max_term_count()) {}

  int run() {
    collect();
    const double operations = 1e3 * double(chain_.tokens.tokens());
    const int threads = plan_tasks(operations, 0, control_).threads;
    run_tasks(topics_.size(), threads, control_,
              [&](std::size_t k, const Stop &stop) { split(k, stop); });
    find_merges(threads);
    return apply();
  }

 private:
  double alpha(std::size_t k) const { return chain_.prior.alpha[k]; }
  /// V eta
  double eta_total() const { return eta_ * double(chain_.terms()); }

  std::int64_t max_term_count() const {
    std::int64_t out = 0;
    WorkPoll poll;
    for (std::int32_t w = 0; w < chain_.terms(); ++w) {
      poll(2 * topics_.size());
      const std::int32_t *const n = chain_.counts.row(w);
      out = std::max(out, std::accumulate(n, n + chain_.topics(), std::int64_t(0)));
    }
    return out;
  }

  void collect() {
    std::int64_t polled = 0;
    for (std::int64_t s = 0; s < chain_.corpus.stretches(); ++s)
      for (const CorpusPiece &piece : chain_.corpus.stretch(s))
        each_document(piece, [&](std::int64_t d, const DocumentTerms &document) {
          std::int64_t at = chain_.tokens.begin[std::size_t(d)];
          if (at - polled >= 1 << 16) {
            polled = at;
            control_.poll();
          }
          for (std::size_t e = 0; e < document.size(); ++e)
            for (auto left = std::int64_t(document.counts[e]); left > 0; --left, ++at) {
              TopicTokens &topic = topics_[chain_.assigned[std::size_t(at)]];
              if (topic.documents.empty() || topic.documents.back() != d) {
                topic.documents.push_back(d);
                topic.begin.push_back(topic.begin.back());
              }
              topic.terms.push_back(document.terms[e]);
              topic.tokens.push_back(at);
              ++topic.begin.back();
            }
          return true;
        });
  }

  static void number_terms(TopicTokens &topic) {
    topic.distinct = topic.terms;
    std::sort(topic.distinct.begin(), topic.distinct.end());
    topic.distinct.erase(std::unique(topic.distinct.begin(), topic.distinct.end()),
                         topic.distinct.end());
    topic.counts.assign(topic.distinct.size(), 0);
    for (std::int32_t &term : topic.terms) {
      term = std::int32_t(std::lower_bound(topic.distinct.begin(), topic.distinct.end(), term) -
                          topic.distinct.begin());
      ++topic.counts[std::size_t(term)];
    }
    for (std::size_t d = 0; d < topic.document_count(); ++d)
      topic.max_in_document = std::max(topic.max_in_document, topic.count(d));
  }

  /// Counts of the terms in the two halves of a split.
  struct Halves {
    explicit Halves(std::size_t terms) : counts{Buffer(terms, 0.0), Buffer(terms, 0.0)} {}
    void add(int half, std::int32_t term, double tokens) {
      counts[half][std::size_t(term)] += tokens;
      totals[half] += tokens;
    }
    Buffer counts[2];
    double totals[2] = {0, 0};
  };

  void split(std::size_t k, const Stop &stop) {
    TopicTokens &topic = topics_[k];
    // may be repeated after an interrupt
    if (topic.distinct.empty()) number_terms(topic);
    topic.second.assign(topic.size(), 0);
    topic.gain = -HUGE_VAL;
    if (topic.distinct.size() < 2) return;
    Random random(chain_.seed, std::uint64_t(chain_.number), std::uint64_t(index_) << 32 | k,
                  std::uint64_t(TopicStream::moves));
    Halves halves(topic.distinct.size());
    if (!divide_documents(topic, halves, random, stop)) return;
    const double share = own_alphas_ ? alpha(k) / 2 : alpha(k);
    if (!divide_tokens(topic, share, halves, random, stop)) return;
    topic.gain = gain_of(topic, k, share, halves);
  }

  /// Divides documents between the halves: a mixture of two components.
  bool divide_documents(TopicTokens &topic, Halves &halves, Random &random, const Stop &stop) {
    const std::size_t documents = topic.document_count();
    std::vector<char> half(documents);
    double sizes[2] = {0, 0};
    const auto put = [&](std::size_t d, double sign) {
      sizes[int(half[d])] += sign;
      for (std::int64_t i = topic.begin[d]; i < topic.begin[d + 1]; ++i)
        halves.add(half[d], topic.terms[std::size_t(i)], sign);
    };
    for (std::size_t d = 0; d < documents; ++d) {
      half[d] = random.uniform() < 0.5;
      put(d, 1);
    }
    for (int sweep = 0; sweep < document_sweeps; ++sweep)
      for (std::size_t d = 0; d < documents; ++d) {
        if (stop()) return false;
        put(d, -1);
        // Tokens of a document are treated as independent, which suffices for a starting point.
        double odds = std::log((sizes[1] + 1) / (sizes[0] + 1)) +
                      double(topic.count(d)) * std::log((halves.totals[0] + eta_total()) /
                                                        (halves.totals[1] + eta_total()));
        double ratio = 1;
        for (std::int64_t i = topic.begin[d]; i < topic.begin[d + 1]; ++i) {
          const auto term = std::size_t(topic.terms[std::size_t(i)]);
          ratio *= (halves.counts[1][term] + eta_) / (halves.counts[0][term] + eta_);
          if (ratio > 1e100 || ratio < 1e-100) {
            odds += std::log(ratio);
            ratio = 1;
          }
        }
        odds += std::log(ratio);
        half[d] =
            sweep + 1 == document_sweeps ? odds > 0 : random.uniform() * (1 + std::exp(-odds)) < 1;
        put(d, 1);
      }
    for (std::size_t d = 0; d < documents; ++d)
      std::fill(topic.second.begin() + topic.begin[d], topic.second.begin() + topic.begin[d + 1],
                half[d]);
    return true;
  }

  /// Continues token by token: a model of two topics.
  bool divide_tokens(TopicTokens &topic, double alpha, Halves &halves, Random &random,
                     const Stop &stop) const {
    for (int sweep = 0; sweep < token_sweeps; ++sweep)
      for (std::size_t d = 0; d < topic.document_count(); ++d) {
        if (stop()) return false;
        const auto begin = std::size_t(topic.begin[d]), end = std::size_t(topic.begin[d + 1]);
        double own[2] = {alpha, alpha};
        for (std::size_t i = begin; i < end; ++i) ++own[int(topic.second[i])];
        for (std::size_t i = begin; i < end; ++i) {
          const std::int32_t w = topic.terms[i];
          char &half = topic.second[i];
          --own[int(half)];
          halves.add(half, w, -1);
          double p[2];
          for (int h = 0; h < 2; ++h)
            p[h] = own[h] * (halves.counts[h][std::size_t(w)] + eta_) *
                   (halves.totals[1 - h] + eta_total());
          half = random.uniform() * (p[0] + p[1]) >= p[0];
          ++own[int(half)];
          halves.add(half, w, 1);
        }
      }
    return true;
  }

  /// The increase of log p(w, z) by a split.
  double gain_of(const TopicTokens &topic, std::size_t k, double share,
                 const Halves &halves) const {
    double out = log_rising(eta_total(), double(topic.size())) -
                 log_rising(eta_total(), halves.totals[0]) -
                 log_rising(eta_total(), halves.totals[1]);
    for (std::size_t w = 0; w < topic.counts.size(); ++w)
      out += rising_(std::int64_t(halves.counts[0][w])) +
             rising_(std::int64_t(halves.counts[1][w])) - rising_(topic.counts[w]);
    const LogRisingTable half(share, topic.max_in_document), whole(alpha(k), topic.max_in_document);
    for (std::size_t d = 0; d < topic.document_count(); ++d) {
      const auto ones = std::count(topic.second.begin() + topic.begin[d],
                                   topic.second.begin() + topic.begin[d + 1], char(1));
      out += half(ones) + half(topic.count(d) - ones) - whole(topic.count(d));
    }
    return out;
  }

  void find_merges(int threads) {
    std::vector<std::pair<int, int>> pairs;
    std::vector<int> all(topics_.size());
    std::iota(all.begin(), all.end(), 0);
    std::vector<std::size_t> frequent;
    std::vector<int> candidates;
    for (std::size_t k = 0; k < topics_.size(); ++k) {
      control_.poll();
      const TopicTokens &topic = topics_[k];
      if (topic.size() == 0) merges_.push_back({0, -1, int(k)});
      frequent.resize(topic.distinct.size());
      std::iota(frequent.begin(), frequent.end(), std::size_t(0));
      const auto last =
          frequent.begin() + std::min<std::ptrdiff_t>(frequent_terms, std::ssize(frequent));
      std::partial_sort(frequent.begin(), last, frequent.end(), [&](std::size_t a, std::size_t b) {
        return topic.counts[a] != topic.counts[b] ? topic.counts[a] > topic.counts[b] : a < b;
      });
      for (auto w = frequent.begin(); w != last; ++w) {
        const std::int32_t *const n = chain_.counts.row(topic.distinct[*w]);
        candidates.resize(std::min<std::size_t>(topics_.size(), candidates_per_term));
        std::partial_sort_copy(all.begin(), all.end(), candidates.begin(), candidates.end(),
                               [&](int a, int b) { return n[a] != n[b] ? n[a] > n[b] : a < b; });
        for (const int j : candidates)
          if (j != int(k) && n[j] > 0) pairs.push_back(std::minmax(int(k), j));
      }
    }
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    const std::size_t first = merges_.size();
    merges_.resize(first + pairs.size());
    constexpr std::size_t at_once = 16;
    run_tasks((pairs.size() + at_once - 1) / at_once, threads, control_,
              [&](std::size_t task, const Stop &stop) {
                for (std::size_t i = task * at_once;
                     i < std::min(pairs.size(), (task + 1) * at_once) && !stop(); ++i) {
                  const auto [a, b] = pairs[i];
                  merges_[first + i] = {gain_of_merge(std::size_t(a), std::size_t(b)), a, b};
                }
              });
  }

  /// Joins two ascending lists: calls both(i, j), only_a(i) and only_b(j).
  template <class List, class Both, class OnlyA, class OnlyB>
  static void join(const List &a, const List &b, Both both, OnlyA only_a, OnlyB only_b) {
    std::size_t i = 0, j = 0;
    while (i < a.size() && j < b.size())
      if (a[i] < b[j])
        only_a(i++);
      else if (b[j] < a[i])
        only_b(j++);
      else
        both(i++, j++);
    while (i < a.size()) only_a(i++);
    while (j < b.size()) only_b(j++);
  }

  /// The increase of log p(w, z) by a merge.
  double gain_of_merge(std::size_t a, std::size_t b) const {
    const TopicTokens &x = topics_[a], &y = topics_[b];
    double out = log_rising(eta_total(), double(x.size())) +
                 log_rising(eta_total(), double(y.size())) -
                 log_rising(eta_total(), double(x.size() + y.size()));
    const auto nothing = [](std::size_t) {};
    join(
        x.distinct, y.distinct,
        [&](std::size_t i, std::size_t j) {
          out += rising_(x.counts[i] + y.counts[j]) - rising_(x.counts[i]) - rising_(y.counts[j]);
        },
        nothing, nothing);
    const LogRisingTable of_x(alpha(a), x.max_in_document), of_y(alpha(b), y.max_in_document),
        merged(own_alphas_ ? alpha(a) + alpha(b) : alpha(a), x.max_in_document + y.max_in_document);
    join(
        x.documents, y.documents,
        [&](std::size_t i, std::size_t j) {
          out += merged(x.count(i) + y.count(j)) - of_x(x.count(i)) - of_y(y.count(j));
        },
        [&](std::size_t i) { out += merged(x.count(i)) - of_x(x.count(i)); },
        [&](std::size_t j) { out += merged(y.count(j)) - of_y(y.count(j)); });
    return out;
  }

  /// Makes the best splits and merges, each topic in at most one.
  int apply() {
    std::sort(merges_.begin(), merges_.end(), [](const Merge &a, const Merge &b) {
      return a.gain != b.gain ? a.gain > b.gain : a.freed < b.freed;
    });
    std::vector<std::size_t> splits(topics_.size());
    std::iota(splits.begin(), splits.end(), std::size_t(0));
    std::stable_sort(splits.begin(), splits.end(), [&](std::size_t a, std::size_t b) {
      return topics_[a].gain > topics_[b].gain;
    });
    std::vector<char> taken(topics_.size(), 0);
    int made = 0;
    auto next = merges_.begin();
    for (const std::size_t k : splits) {
      if (taken[k]) continue;
      next = std::find_if(next, merges_.end(), [&](const Merge &merge) {
        return !taken[std::size_t(merge.freed)] && merge.freed != int(k) &&
               (merge.kept < 0 || (!taken[std::size_t(merge.kept)] && merge.kept != int(k)));
      });
      if (next == merges_.end() || !(topics_[k].gain + next->gain > 0)) break;
      move(k, *next);
      taken[k] = taken[std::size_t(next->freed)] = 1;
      if (next->kept >= 0) taken[std::size_t(next->kept)] = 1;
      ++made;
    }
    return made;
  }

  void move(std::size_t split, const Merge &merge) {
    const auto freed = std::size_t(merge.freed);
    if (merge.kept >= 0) {
      const TopicTokens &topic = topics_[freed];
      for (std::size_t i = 0; i < topic.size(); ++i)
        relabel(topic, i, freed, std::size_t(merge.kept));
    }
    const TopicTokens &topic = topics_[split];
    for (std::size_t i = 0; i < topic.size(); ++i)
      if (topic.second[i]) relabel(topic, i, split, freed);
    if (!own_alphas_) return;
    std::vector<double> &alpha = chain_.prior.alpha;
    if (merge.kept >= 0) alpha[std::size_t(merge.kept)] += alpha[freed];
    alpha[freed] = alpha[split] /= 2;
  }

  void relabel(const TopicTokens &topic, std::size_t i, std::size_t from, std::size_t to) {
    chain_.assigned[std::size_t(topic.tokens[i])] = std::uint16_t(to);
    std::int32_t *const n = chain_.counts.row(topic.distinct[std::size_t(topic.terms[i])]);
    --n[from];
    ++n[to];
    --chain_.totals[from];
    ++chain_.totals[to];
  }

  TopicChain &chain_;
  const bool own_alphas_;
  const int index_;
  Control &control_;
  const double eta_;
  std::vector<TopicTokens> topics_;
  /// for eta
  const LogRisingTable rising_;
  std::vector<Merge> merges_;
};

}  // namespace

int move_topics(TopicChain &chain, bool own_alphas, int index, Control &control) {
  return TopicMoves(chain, own_alphas, index, control).run();
}

}  // namespace bayes
