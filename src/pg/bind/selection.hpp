// Functions that fit several models to choose from: an aggregate over rows, and a relation over the
// rows of a query.
#pragma once

#include <functional>

#include "pg/bind/family.hpp"
#include "pg/values/results.hpp"

namespace bayes::pg {

/// Fits what the request's ks and options ask for, one after another; `take` gets each one's row.
using SelectModels = void (*)(const FitRequest &request, RowSource &rows, Control &control,
                              const std::function<void(Cells)> &take);

/// The final function of F_select(row, ks [, options]).
Datum selection_final(FunctionCallInfo fcinfo, const Family &family, CheckRequest check,
                      SelectModels select);

/// F_select(query text, ks [, options]).
Datum selection_query(FunctionCallInfo fcinfo, const Family &family, CheckRequest check,
                      SelectModels select);

/// The roles of both.
inline constexpr Role selection_roles[] = {Role::ks, Role::options};

}  // namespace bayes::pg
