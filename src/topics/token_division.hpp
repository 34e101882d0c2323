// How the tokens of a document are divided among topics: the inner loop of all variational local
// steps.
//
// With weights t_k of the document and factors b_wk of its terms, a token of term w has topic k
// with probability t_k b_wk / n_w, where n_w = sum_k t_k b_wk.
#pragma once

#include <vector>

#include "base/control.hpp"
#include "data/corpus.hpp"
#include "topics/term_topics.hpp"

namespace bayes {

class TopicFactors;

/// Of one document after another: memory of a thread. Polls, as documents may be large.
class TokenDivision {
 public:
  /// must live as long
  explicit TokenDivision(const TopicFactors &factors);

  void take(const DocumentTerms &document);
  /// n_w, c_w / n_w, and sum_w c_w b_wk / n_w, for weights t_k (padded_topics numbers; those of the
  /// padding, which has no factors, are not used).
  void divide(const double *weights);
  /// sum_w c_w log n_w with the scales of the factors, after divide().
  double log_norms(const DocumentTerms &document) const;
  /// Adds the same without them, sum_w c_w log_scale(w) less, to topic_lanes partial sums.
  void add_log_norms(double *partial) const;

  /// padded_topics numbers; the padding is 0, but of a document without terms
  const double *sums() const { return sums_.data(); }
  double *sums() { return sums_.data(); }
  /// c_w / n_w
  const double *ratios() const { return ratios_.data(); }

 private:
  template <int Eights> void divide_by(const double *weights);
  void divide_by_many(const double *weights);

  const TopicFactors &factors_;
  const int stride_;
  std::size_t blocks_ = 0;
  std::vector<const double *> rows_;
  Buffer ones_, counts_, norms_, ratios_, sums_;
  WorkPoll poll_;
};

}  // namespace bayes
