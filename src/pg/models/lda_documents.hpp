// Topic models in SQL: the documents of a query, and how well a model predicts documents.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "pg/bind/push_down.hpp"
#include "pg/input/document_collector.hpp"
#include "pg/input/fit_data.hpp"
#include "topics/lda_evaluation.hpp"

namespace bayes::pg {

/// Reads the documents of a function F(query bayes_query, ...) into `data`, which is allocated
/// below `context`; `begin` is called before the query runs. `push`: for a function that has option
/// push_down; else null.
void collect_documents(FunctionCallInfo fcinfo, MemoryContext context,
                       std::optional<FitData<DocumentCollector>> &data,
                       const std::function<void(FitData<DocumentCollector> &documents)> &begin,
                       const PushedFit *push = nullptr);

/// Reads the documents of such a function one by one and passes each to `take`, with its name
/// (UTF-8) and its terms numbered as in the model. The query must return names. Documents that have
/// been read but not yet passed on are kept in `context`.
void each_named_document(FunctionCallInfo fcinfo, MemoryContext context, const TopicModel &model,
                         const DocumentCollector::Take &take);

/// How documents are evaluated.
struct Evaluation {
  /// document completion, or the left-to-right estimator
  std::string method = "completion";
  LeftToRight plan;
};

/// The log probability of held-out documents, computed on all threads. `terms`: the vocabulary of
/// the documents, in the order of their bytes. `known`: for each of these terms, whether it
/// occurred in the documents of the fit; if empty, all terms of the model count as known.
HeldOut evaluate(const TopicModel &model, Corpus &corpus, const std::vector<std::string> &terms,
                 const Evaluation &how, std::span<const char> known, Control &control);

}  // namespace bayes::pg
