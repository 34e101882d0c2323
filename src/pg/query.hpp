// Rows from a query text.
#pragma once

#include <functional>
#include <span>

#include "pg/context.hpp"
#include "pg/family.hpp"

namespace bayes::pg {

/// Runs `text`, one SELECT (or VALUES, TABLE), as the caller, read-only, and takes its rows straight from the executor. Its columns are
/// one array of numbers, or an array and a numeric weight, or numeric columns, the features in order.
/// `make` is told whether the rows are weighted and gives the intake to fill.
void read_query(const char *text, const std::function<RowIntake &(bool weighted)> &make);

/// The rows of a function F(query text, roles...), and what is asked of them.
class QueryRows {
 public:
  QueryRows(FunctionCallInfo fcinfo, const char *family, int max_dimension, CheckRequest check, std::span<const Role> roles);
  RowIntake &rows() { return *rows_; }
  FitRequest request;
  FitPolicy policy;

 private:
  ScopedContext context_;
  RowIntake *rows_ = nullptr;
};

}  // namespace bayes::pg
