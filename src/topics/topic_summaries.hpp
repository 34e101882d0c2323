// Summaries of topics: coherence, typical documents, and distances between documents.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/api.hpp"
#include "topics/lda.hpp"

namespace bayes {

/// Coherence of topics: how often their top terms occur in the same documents.
class BAYES_API TopicCoherence {
 public:
  /// `top`: for every topic its most probable terms, in descending order.
  explicit TopicCoherence(std::vector<std::vector<std::int32_t>> top);

  void add(const DocumentTerms &document);
  /// adds the counts of another object for the same terms
  void add(const TopicCoherence &other);
  std::int64_t documents() const { return documents_; }

  /// Mimno, Wallach, Talley, Leenders and McCallum 2011: the sum over pairs of terms, l above m, of
  /// log((D(l, m) + 1) / D(l)), where D counts documents with the given terms. Pairs whose upper
  /// term occurs in no document are ignored. At most about 0; empty if no pair remains.
  std::optional<double> umass(int topic) const;
  /// The mean over pairs of terms of log(p(l, m) / (p(l) p(m))) / -log p(l, m) (Bouma 2009; Aletras
  /// and Stevenson 2013), where p is the proportion of documents: from -1 (never together) through
  /// 0 (independent) to 1 (always together). Empty without pairs or documents.
  std::optional<double> npmi(int topic) const;

 private:
  std::int64_t &together(int topic, std::size_t a, std::size_t b);
  std::int64_t together(int topic, std::size_t a, std::size_t b) const {
    return const_cast<TopicCoherence *>(this)->together(topic, a, b);
  }
  std::vector<std::vector<std::int32_t>> top_;
  /// for every top term its topics, and its rank in each
  std::unordered_map<std::int32_t, std::vector<std::pair<std::int32_t, std::int32_t>>> places_;
  /// numbers of documents with both terms of a pair; on the diagonal with one term
  std::vector<std::vector<std::int64_t>> counts_;
  std::int64_t documents_ = 0;
  /// workspace of add()
  std::vector<std::vector<std::int32_t>> present_;
  std::vector<std::int32_t> touched_;
};

/// Keeps the most typical documents of every topic, ranked by log p - 2 sd(p) / p, a lower bound of
/// the log proportion. Ranking by p alone would favour short documents, whose proportions are
/// uncertain; ranking by p - 2 sd(p) would rank documents without the topic above documents with a
/// small proportion.
class BAYES_API TypicalDocuments {
 public:
  using Name = std::optional<std::string>;
  struct Entry {
    /// log p - 2 sd(p) / p
    double lower_bound;
    double proportion, deviation;
    std::shared_ptr<const Name> name;
  };

  /// keeps `top` documents of each topic
  TypicalDocuments(int topics, std::size_t top) : top_(top), heaps_(std::size_t(topics)) {}

  void add(const Name &name, const LdaProportions &proportions);
  /// The documents of a topic, the most typical first; ties in the order of the names' bytes,
  /// documents without a name last.
  std::vector<Entry> ranked(int topic) const;

 private:
  std::size_t top_;
  /// heaps with the least typical document on top
  std::vector<std::vector<Entry>> heaps_;
};

/// Hellinger distance of two distributions, sqrt(sum_k (sqrt p_k - sqrt q_k)^2 / 2): from 0 to 1.
/// Throws Error(array_shape) if they differ in length.
BAYES_API double hellinger_distance(std::span<const double> p, std::span<const double> q);

}  // namespace bayes
