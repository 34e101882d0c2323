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

/// Reads the documents of such a function one by one, over the terms of a model, with their names,
/// UTF-8: the query must have some. `context` is for what is read and not yet handed on.
void each_named_document(FunctionCallInfo fcinfo, MemoryContext context, const TopicModel &model,
                         const DocumentCollector::Take &take);

/// How documents are evaluated.
struct Evaluation {
  /// document completion, or the left-to-right estimator
  std::string method = "completion";
  LeftToRight plan;
};

/// The log probability of documents that a model has not seen, on all threads. `terms`: of the
/// documents, in the order of their bytes. `known`: for every one of them whether the model's fit
/// had it; empty: those that are the model's.
HeldOut evaluate(const TopicModel &model, Corpus &corpus, const std::vector<std::string> &terms,
                 const Evaluation &how, std::span<const char> known, Control &control);

}  // namespace bayes::pg
