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

/// The number of terms that lda_fit(query, k) returns for each topic.
inline constexpr int default_top_terms = 10;

inline const TopicModel &topics(const Model &model) {
  return static_cast<const TopicModel &>(model);
}

/// Checks an argument `top`, the number of `what` to return: throws Error unless it is at least 1.
std::size_t top_argument(int top, const char *what);

/// The indices of the `top` largest values in decreasing order, ties by index; stored in `order`.
std::span<const std::int32_t> largest(std::span<const double> values, std::size_t top,
                                      std::vector<std::int32_t> &order);

/// Emits rows (topic, rank, term, probability): the `top` most probable terms of every topic.
void emit_topics(ResultRows &result, const TopicModel &model, std::size_t top);

/// Reads documents, with the terms numbered as in a model.
class ModelDocument {
 public:
  /// `type`: the SQL type of the documents
  ModelDocument(MemoryContext context, Oid type) : reader_(context, type) {}

  /// The terms of a document and their counts; valid until the next call. Terms that the model does
  /// not know are left out, with a WARNING, once, for a document that has no known term.
  DocumentTerms read(const TopicModel &model, Datum document);

 private:
  DocumentReader reader_;
  std::vector<std::pair<std::int32_t, double>> entries_;
  std::vector<std::int32_t> terms_;
  std::vector<double> counts_;
  bool warned_ = false;
};

}  // namespace bayes::pg
