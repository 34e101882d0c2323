// The coefficients of every regression, F_predict(model, x [, level]), and what fits of regressions
// say of their rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "pg/bind/any_model.hpp"
#include "pg/bind/scalar.hpp"
#include "regression/regression_model.hpp"

namespace bayes::pg {

/// The rows (term, mean, sd, lower, upper) of bayes_coefficients(model), with the default level.
void emit_coefficients(ResultRows &result, const Model &model);

/// HINT on errors of a regression's query: the columns that it should return.
inline constexpr const char *response_hint =
    "Select the response and then the predictors, as columns (SELECT y, a, b FROM ...), or as an "
    "array or a record (SELECT y, x FROM ...).";

/// WARNING that the rows do not determine the coefficients of the predictors `names`, which are
/// then left out of the model, or come from the prior: because they are constant, or linear
/// combinations of earlier ones. Nothing if `names` is empty.
void warn_constant_predictors(const std::vector<std::string> &names, bool left_out);
void warn_dependent_predictors(const std::vector<std::string> &names, bool left_out);

/// WARNING that there is no model because all rows were left out; `detail` says why they were.
void warn_no_complete_row(const char *family, const char *detail);

/// (model, row [, level]) -> a composite value: cells(prediction) returns its columns. NULL for a
/// row with a missing value, which is an error if the model was fitted with missing = error. A
/// model of class M has predict(row, level), which returns nullopt for a row with a missing value.
template <class M, class CellsOf>
Datum prediction(FunctionCallInfo fcinfo, const char *family, CellsOf cells) {
  const double level = level_argument(fcinfo, 2);
  const auto given = model_and_row(fcinfo, family);
  if (!given) PG_RETURN_NULL();
  const auto found = static_cast<const M &>(given->model).predict(given->x, level);
  if (!found) PG_RETURN_NULL();
  const auto row = cells(*found);
  return composite(scalar_result_row(fcinfo), Cells(row));
}

}  // namespace bayes::pg
