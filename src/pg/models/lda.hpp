// Topic models in SQL: helpers of their functions.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "pg/input/document_reader.hpp"
#include "pg/values/model_value.hpp"
#include "pg/values/results.hpp"
#include "topics/lda.hpp"

namespace bayes::pg {

inline constexpr const char *lda_family = "lda";

/// Terms of each topic in the relation of lda_fit(query, k).
inline constexpr int shown_terms = 10;

inline const TopicModel &topics(const Model &model) {
  return static_cast<const TopicModel &>(model);
}

/// The argument that says how many of `what` are to be shown, at least 1.
std::size_t top_argument(int top, const char *what);

/// The indexes of the largest values, of equal ones the first; in `order`.
std::span<const std::int32_t> largest(std::span<const double> values, std::size_t top,
                                      std::vector<std::int32_t> &order);

/// Rows (topic, rank, term, probability) of the most probable terms of every topic.
void show_topics(ResultRows &result, const TopicModel &model, std::size_t top);

/// A document's terms as a model numbers them.
class ModelDocument {
 public:
  /// `type`: of the documents
  ModelDocument(MemoryContext context, Oid type) : reader_(context, type) {}

  /// Valid until the next call. Terms that the model does not know are left out; a WARNING, once,
  /// for a document all of whose terms are.
  DocumentTerms read(const TopicModel &model, Datum document);

 private:
  DocumentReader reader_;
  std::vector<std::pair<std::int32_t, double>> entries_;
  std::vector<std::int32_t> terms_;
  std::vector<double> counts_;
  bool warned_ = false;
};

}  // namespace bayes::pg
