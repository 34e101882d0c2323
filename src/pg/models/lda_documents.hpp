// Topic models in SQL: the documents of a query, and how well a model predicts documents.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "pg/bind/query_rows.hpp"
#include "pg/input/collector.hpp"
#include "pg/input/document_collector.hpp"
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

}  // namespace bayes::pg
