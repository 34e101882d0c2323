// Functions of a query text: the request, and the rows of the query.
#pragma once

#include <span>

#include "pg/bind/binding.hpp"
#include "pg/input/query.hpp"

namespace bayes::pg {

/// The text of the query of a function F(query bayes_query, roles...); `hint` is for a NULL.
const char *query_text(FunctionCallInfo fcinfo, const char *hint);

/// The request in the other arguments of such a function.
FitRequest query_request(FunctionCallInfo fcinfo, const char *family, std::span<const Role> roles);

/// The rows of a function F(query bayes_query, roles...), and the request.
class QueryRows {
 public:
  QueryRows(FunctionCallInfo fcinfo, const char *family, RowCollector::Check check,
            std::span<const Role> roles, NamedValues *names = nullptr);
  RowCollector &data() { return *data_; }
  FitRequest request;

 private:
  ScopedContext context_;
  RowCollector *data_ = nullptr;
};

}  // namespace bayes::pg
