// Functions of a query text: the request, and the rows of the query.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "pg/bind/binding.hpp"
#include "pg/input/fit_request.hpp"
#include "pg/input/query.hpp"
#include "pg/parts/pushed_rows.hpp"
#include "pg/values/model_value.hpp"

namespace bayes::pg {

// Option push_down of the functions of a query: the fit runs where the rows are.

/// The methods of a function of a query that can be computed where the rows are.
struct PushedMethods {
  std::span<const Method> methods;
  /// the method of a fit that names none and starts from no model
  Method by_default = {};

  PushedMethods() = default;
  /// The first of the methods is the default.
  template <std::size_t n>
  PushedMethods(const Method (&methods)[n]) : methods(methods),
                                              by_default(methods[0]) {}
  PushedMethods(std::span<const Method> methods, Method by_default)
      : methods(methods),
        by_default(by_default) {}
};

/// The rows of a fit that has been pushed down, if it is. Must outlive the collector that reads
/// them.
class PushDown {
 public:
  /// Removes option push_down of the request; if it says so, has the rows of query `sql` kept where
  /// they are, as `data`. Returns false if they are to be collected here, after a NOTICE why
  /// ("auto"). Throws Error for a query or a request that cannot be pushed down (true).
  bool collect(FunctionCallInfo fcinfo, const char *sql, FitRequest &request,
               const PushedMethods &methods, const char *hint, PushedData &data);
  /// To be called after a fit: other servers forget their rows. If it fails, they do so when the
  /// transaction is aborted.
  void end() {
    if (rows_) rows_->forget();
  }

 private:
  std::unique_ptr<PushedRows> rows_;
};

/// The arguments by which a function of a query with option push_down reads its rows.
struct PushedFit {
  PushDown &push;
  FitRequest &request;
  /// as for PushDown::collect()
  PushedMethods methods;
};

/// The text of the query of a function F(query bayes_query, roles...); `hint` is for a NULL.
const char *query_text(FunctionCallInfo fcinfo, const char *hint);

/// The options in an argument that is not NULL, as jsonb. Functions declare them as "any" where a
/// literal would otherwise be ambiguous.
Datum options_of(FunctionCallInfo fcinfo, int argument);

/// The request in the other arguments of such a function. An argument after those of `roles` is a
/// model to start from, in place of Role::k or Role::rank.
FitRequest query_request(FunctionCallInfo fcinfo, const char *family, std::span<const Role> roles);

/// The rows of a function F(query bayes_query, roles...), and the request. Without `pushed`, the
/// function has no option push_down.
class QueryRows {
 public:
  QueryRows(FunctionCallInfo fcinfo, const char *family, RowCollector::Check check,
            std::span<const Role> roles, NamedValues *names = nullptr,
            const PushedMethods &pushed = {});
  FitData<RowCollector> &data() { return *data_; }
  /// To be called after a fit: other servers forget their rows.
  void end() { push_.end(); }
  FitRequest request;

 private:
  ScopedContext context_;
  PushDown push_;
  std::optional<FitData<RowCollector>> data_;
};

/// Fits the data of a function of a query; `bytes`, unless nullptr, receives the model's byte form.
/// nullptr without data.
using FitQuery = std::unique_ptr<Model> (*)(FunctionCallInfo fcinfo, std::string *bytes);

/// F_fit(query bayes_query, ...): the rows that `show` makes of the fitted model; none without
/// data.
template <class Show> Datum show_query_fit(FunctionCallInfo fcinfo, FitQuery fit, Show show) {
  ResultRows result(fcinfo);
  if (const auto model = fit(fcinfo, nullptr)) show(result, *model);
  return Datum(0);
}

/// F_model(query bayes_query, ...): the model itself; NULL without data.
inline Datum query_model(FunctionCallInfo fcinfo, FitQuery fit) {
  std::string bytes;
  if (!fit(fcinfo, &bytes)) PG_RETURN_NULL();
  return store_bytes(bytes);
}

}  // namespace bayes::pg
