// Option push_down of the functions of a query: the fit runs where the rows are.
#pragma once

#include <memory>
#include <span>

#include "pg/input/fit_request.hpp"
#include "pg/parts/pushed_rows.hpp"

namespace bayes::pg {

/// The methods of a function of a query that can be computed where the rows are.
struct PushedMethods {
  std::span<const Method> methods;
  /// the method of a fit that names none and starts from no model
  Method by_default = {};

  PushedMethods() = default;
  /// `methods`: by default the first one is the default.
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

/// What a function of a query that has the option reads its rows with.
struct PushedFit {
  PushDown &push;
  FitRequest &request;
  /// as for PushDown::collect()
  PushedMethods methods;
};

}  // namespace bayes::pg
