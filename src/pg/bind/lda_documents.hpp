// Topic models in SQL: the documents of a query, and how well a model predicts documents.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "pg/input/document_collector.hpp"
#include "topics/lda_evaluation.hpp"

namespace bayes::pg {

/// Reads the documents of a function F(query bayes_query, ...) into `data`, which is made below
/// `context`; `begin` is called before the query runs.
void collect_documents(FunctionCallInfo fcinfo, MemoryContext context,
                       std::optional<DocumentCollector> &data,
                       const std::function<void(DocumentCollector &documents)> &begin);

/// How documents are evaluated.
struct Evaluation {
  /// document completion, or the left-to-right estimator
  std::string method = "completion";
  LeftToRight plan;
};

/// The log probability of documents that a model has not seen, on all threads.
HeldOut evaluate(const TopicModel &model, Corpus &corpus, const Evaluation &how, Control &control);

}  // namespace bayes::pg
