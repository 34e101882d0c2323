#include "topics/topic_starts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.hpp"
#include "base/simd.hpp"

namespace bayes {
namespace {

/// Of the corpus so many entries are looked at.
constexpr std::int64_t most_entries = 2'000'000;
/// Of so many numbers the projections of words may consist.
constexpr std::size_t most_projected = 4'000'000;
/// How much of a topic's start is its anchor's company; the rest is the average of all.
constexpr double share_of_company = 0.3;

constexpr std::uint64_t stream = 1;

std::uint64_t hash_of(const std::string &text) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : text) hash = (hash ^ std::uint8_t(c)) * 0x100000001b3;
  return hash ^ hash >> 29;
}

/// to += factor * from, and the scalar product; of a multiple of 8 numbers.
void add_multiple(double *to, double factor, const double *from, int size) {
  for (int i = 0; i < size; i += simd::lanes)
    simd::store(to + i, simd::madd(factor, simd::load(from + i), simd::load(to + i)));
}
double scalar_product(const double *a, const double *b, int size) {
  simd::Vector sums[simd::registers] = {};
  for (int i = 0; i < size; i += simd::sum_lanes)
    for (int g = 0; g < simd::registers; ++g)
      sums[g] = simd::madd(simd::load(a + i + g * simd::lanes), simd::load(b + i + g * simd::lanes),
                           sums[g]);
  return simd::sum(sums);
}

/// f(document) for the first documents.
template <class F> void each_first(Corpus &corpus, Control &control, F f) {
  std::int64_t entries = 0;
  for (std::int64_t s = 0; s < corpus.stretches() && entries < most_entries; ++s)
    for (const CorpusPiece &piece : corpus.stretch(s)) {
      control.poll();
      each_document(piece, [&](std::int64_t, const DocumentTerms &document) {
        f(document);
        return (entries += std::int64_t(document.size())) < most_entries;
      });
      if (entries >= most_entries) return;
    }
}

class Anchors {
 public:
  Anchors(Corpus &corpus, const std::vector<std::string> &terms, int topics, std::uint64_t seed,
          int restart, Control &control)
      : corpus_(corpus),
        control_(control),
        v_(std::int32_t(terms.size())),
        k_(topics),
        size_(std::clamp((2 * topics + 63) / 64 * 64, 128, 1024)),
        signs_(std::size_t(v_) * std::size_t(size_ / 64)),
        places_(std::size_t(v_), -1) {
    for (std::int32_t w = 0; w < v_; ++w) {
      poll_in_loop(std::size_t(w));
      Random random(seed, std::uint64_t(restart), hash_of(terms[std::size_t(w)]), stream);
      for (int i = 0; i < size_ / 64; ++i)
        signs_[std::size_t(w) * std::size_t(size_ / 64) + std::size_t(i)] = random.bits();
    }
  }

  /// Terms, at most as many as topics.
  std::vector<std::int32_t> find() {
    choose_candidates();
    project();
    return corners();
  }

 private:
  /// Words of too few documents have company by chance.
  void choose_candidates() {
    std::vector<std::int64_t> documents_of(std::size_t(v_), 0);
    std::int64_t documents = 0;
    each_first(corpus_, control_, [&](const DocumentTerms &document) {
      ++documents;
      for (const std::int32_t w : document.terms) ++documents_of[std::size_t(w)];
    });
    const std::int64_t least = std::int64_t(std::sqrt(double(documents)) / 2);
    for (std::int32_t w = 0; w < v_; ++w)
      if (documents_of[std::size_t(w)] >= std::max<std::int64_t>(1, least))
        candidates_.push_back(w);
    const std::size_t most = most_projected / std::size_t(size_);
    if (candidates_.size() > most) {
      std::stable_sort(candidates_.begin(), candidates_.end(), [&](std::int32_t a, std::int32_t b) {
        return documents_of[std::size_t(a)] > documents_of[std::size_t(b)];
      });
      candidates_.resize(most);
    }
    for (std::size_t i = 0; i < candidates_.size(); ++i)
      places_[std::size_t(candidates_[i])] = std::int32_t(i);
  }

  /// The company of the candidates, a distribution over terms, in random directions.
  void project() {
    rows_.assign(candidates_.size() * std::size_t(size_), 0.0);
    weights_.assign(candidates_.size(), 0.0);
    const std::size_t size = std::size_t(size_);
    Buffer direction(size), sum(size);
    each_first(corpus_, control_, [&](const DocumentTerms &document) {
      const double tokens = document.tokens();
      if (!(tokens > 1)) return;
      std::fill(sum.begin(), sum.end(), 0.0);
      for (std::size_t i = 0; i < document.size(); ++i) {
        look(document.terms[i], direction);
        add_multiple(sum.data(), document.counts[i], direction.data(), size_);
      }
      for (std::size_t i = 0; i < document.size(); ++i) {
        const std::int32_t place = places_[std::size_t(document.terms[i])];
        if (place < 0) continue;
        // A token is not company of its own.
        const double weight = document.counts[i] / tokens;
        double *const to = row(place);
        look(document.terms[i], direction);
        add_multiple(to, weight / (tokens - 1), sum.data(), size_);
        add_multiple(to, -weight / (tokens - 1), direction.data(), size_);
        weights_[std::size_t(place)] += weight;
      }
    });
    Buffer mean(std::size_t(size_), 0.0);
    double all = 0;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      add_multiple(mean.data(), 1, row(std::int32_t(i)), size_);
      all += weights_[i];
    }
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      double *const of = row(std::int32_t(i));
      if (weights_[i] > 0)
        for (int j = 0; j < size_; ++j) of[j] /= weights_[i];
      if (all > 0) add_multiple(of, -1 / all, mean.data(), size_);
    }
  }

  /// Again and again the one that is farthest from the span of those before.
  std::vector<std::int32_t> corners() {
    std::vector<std::int32_t> out;
    std::vector<double> squares(candidates_.size());
    for (std::size_t i = 0; i < squares.size(); ++i)
      squares[i] = scalar_product(row(std::int32_t(i)), row(std::int32_t(i)), size_);
    const double largest = squares.empty() ? 0 : *std::max_element(squares.begin(), squares.end());
    Buffer direction(static_cast<std::size_t>(size_));
    while (int(out.size()) < std::min(k_, size_ / 2)) {
      control_.poll();
      const auto farthest = std::max_element(squares.begin(), squares.end());
      if (farthest == squares.end() || !(*farthest > 1e-9 * largest)) break;
      const std::int32_t place = std::int32_t(farthest - squares.begin());
      out.push_back(candidates_[std::size_t(place)]);
      std::copy_n(row(place), size_, direction.data());
      const double length = std::sqrt(*farthest);
      for (double &x : direction) x /= length;
      for (std::size_t i = 0; i < squares.size(); ++i) {
        double *const of = row(std::int32_t(i));
        add_multiple(of, -scalar_product(of, direction.data(), size_), direction.data(), size_);
        squares[i] = scalar_product(of, of, size_);
      }
      squares[std::size_t(place)] = 0;
    }
    return out;
  }

  double *row(std::int32_t place) { return rows_.data() + std::size_t(place) * std::size_t(size_); }
  /// A term's signs as numbers.
  void look(std::int32_t term, Buffer &direction) const {
    const std::uint64_t *const bits = signs_.data() + std::size_t(term) * std::size_t(size_ / 64);
    for (int i = 0; i < size_; ++i)
      direction[std::size_t(i)] = bits[i / 64] >> (i % 64) & 1 ? 1.0 : -1.0;
  }

  Corpus &corpus_;
  Control &control_;
  const std::int32_t v_;
  const int k_, size_;
  std::vector<std::uint64_t> signs_;
  std::vector<std::int32_t> candidates_, places_;
  Buffer rows_;
  std::vector<double> weights_;
};

}  // namespace

TermTopics starting_topics(Corpus &corpus, const std::vector<std::string> &terms, int topics,
                           std::uint64_t seed, int restart, Control &control) {
  const std::int32_t v = std::int32_t(terms.size());
  const std::vector<std::int32_t> anchors =
      Anchors(corpus, terms, topics, seed, restart, control).find();
  std::vector<int> topic_of(std::size_t(v), -1);
  for (std::size_t k = 0; k < anchors.size(); ++k) topic_of[std::size_t(anchors[k])] = int(k);
  // What documents with an anchor are about, and all documents together.
  TermTopics out(v, topics);
  std::vector<double> average(std::size_t(v), 0.0), totals(std::size_t(topics), 0.0);
  double all = 0;
  each_first(corpus, control, [&](const DocumentTerms &document) {
    const double tokens = document.tokens();
    all += tokens;
    for (std::size_t i = 0; i < document.size(); ++i) {
      average[std::size_t(document.terms[i])] += document.counts[i];
      const int topic = topic_of[std::size_t(document.terms[i])];
      if (topic < 0) continue;
      const double weight = document.counts[i] / tokens;
      for (std::size_t j = 0; j < document.size(); ++j)
        out.of(document.terms[j])[topic] += weight * document.counts[j];
      totals[std::size_t(topic)] += weight * tokens;
    }
  });
  const double each = corpus.totals().tokens / topics;
  for (std::int32_t w = 0; w < v; ++w) {
    poll_in_loop(std::size_t(w));
    Random random(seed, std::uint64_t(restart), hash_of(terms[std::size_t(w)]), stream + 1);
    // Those of later documents only may be any of them.
    const double usual = (average[std::size_t(w)] + 1.0 / v) / (all + 1);
    for (int k = 0; k < topics; ++k) {
      double &x = out.of(w)[k];
      const double noise = 0.5 + random.uniform(), total = totals[std::size_t(k)];
      x = each * (total > 0 ? share_of_company * x / total + (1 - share_of_company) * usual * noise
                            : usual * noise);
    }
  }
  return out;
}

}  // namespace bayes
