// What a function F(query text, roles...) is asked, and the rows of its query.
#pragma once

#include <span>

#include "pg/bind/family.hpp"
#include "pg/input/query.hpp"

namespace bayes::pg {

/// The rows of a function F(query text, roles...), and what is asked of them.
class QueryRows {
 public:
  QueryRows(FunctionCallInfo fcinfo, const char *family, int max_dimension, CheckRequest check,
            std::span<const Role> roles, RowNames *names = nullptr);
  RowIntake &rows() { return *rows_; }
  FitRequest request;
  FitPolicy policy;

 private:
  ScopedContext context_;
  RowIntake *rows_ = nullptr;
};

}  // namespace bayes::pg
