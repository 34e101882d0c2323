// The rows of a query that a chart shows under a model.
#pragma once

#include <memory>

#include "charts/charts.hpp"
#include "document/model.hpp"
#include "pg/server/boundary.hpp"

namespace bayes::pg {

/// Runs the query as the caller. For regressions and classifiers the first column is the response
/// or the label. For hmm rows are the steps of one sequence, in order, of which the first ones are
/// read, or before a forecast the last. For pmf rows are cells: two keys and a number. For lda they
/// are all documents, each after the group that it belongs to. Of others a sample is read.
ChartRows read_chart_rows(const std::shared_ptr<const Model> &model, const char *query,
                          const ChartSample &sample, bool forecast);

}  // namespace bayes::pg
