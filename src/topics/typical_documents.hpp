// The most typical documents of each topic.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/api.hpp"
#include "topics/lda.hpp"

namespace bayes {

/// Keeps, of every topic, the documents in which it has the largest share beyond doubt: by the
/// logarithm of the expected proportion p less two standard deviations of that, sd / p each. By the
/// proportion alone short documents would come first, as one word may be all of them; of these it
/// is uncertain. (By p - 2 sd, of documents that hardly have the topic those without it would.)
class BAYES_API TypicalDocuments {
 public:
  using Name = std::optional<std::string>;
  struct Entry {
    /// the order, the largest first
    double least;
    double proportion, deviation;
    std::shared_ptr<const Name> name;
  };

  /// `top` of each of so many topics
  TypicalDocuments(int topics, std::size_t top) : top_(top), heaps_(std::size_t(topics)) {}

  void add(const Name &name, const LdaProportions &proportions);
  /// Of a topic, the most typical first; of equal ones in the order of their names' bytes, those
  /// without a name last.
  std::vector<Entry> ranked(int topic) const;

 private:
  std::size_t top_;
  /// the last of each topic on top
  std::vector<std::vector<Entry>> heaps_;
};

}  // namespace bayes
