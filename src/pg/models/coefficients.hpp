// F_coefficients(model [, level]), F_contrast(model, weights [, level]) and F_predict(model, x [,
// level]), the same for every regression.
//
// A model class M has
//   void coefficients(double level, const TakeCoefficient &take) const;
//   Coefficient contrast(std::span<const double> weights, double level) const;
//   const RegressionTerms &terms() const;
// and
//   std::optional<P> predict(std::span<const double> row, double level) const;
// which returns nullopt for a row with a missing value.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "pg/bind/any_model.hpp"
#include "pg/bind/scalar.hpp"
#include "pg/values/json.hpp"
#include "regression/coefficients.hpp"
#include "regression/terms.hpp"

namespace bayes::pg {

void emit_coefficient(ResultRows &result, const Coefficient &coefficient);
/// The row (mean, sd, lower, upper), without a term.
void emit_contrast(ResultRows &result, const Coefficient &coefficient);

/// (term, mean, sd, lower, upper)
template <class M> Datum coefficient_rows(FunctionCallInfo fcinfo, const char *family) {
  const double level = level_argument(fcinfo);
  ResultRows result(fcinfo);
  const auto model = load_model(PG_GETARG_DATUM(0), family);
  static_cast<const M &>(*model).coefficients(
      level, [&](const Coefficient &coefficient) { emit_coefficient(result, coefficient); });
  return Datum(0);
}

/// The rows of F_coefficients(model), with the default level.
template <class M> void emit_coefficients(ResultRows &result, const Model &model) {
  static_cast<const M &>(model).coefficients(default_level, [&](const Coefficient &coefficient) {
    emit_coefficient(result, coefficient);
  });
}

/// F_contrast(model, weights jsonb [, level]): (mean, sd, lower, upper), one row.
template <class M> Datum contrast_row(FunctionCallInfo fcinfo, const char *family) {
  const double level = level_argument(fcinfo, 2);
  ResultRows result(fcinfo);
  const auto loaded = load_model(PG_GETARG_DATUM(0), family);
  const M &model = static_cast<const M &>(*loaded);
  std::vector<double> weights =
      contrast_weights(document_of_jsonb(PG_GETARG_DATUM(1)), model.terms());
  // Scales the weights to at most 1: their squares may overflow where the contrast does not.
  double size = 0;
  for (const double w : weights) size = std::max(size, std::fabs(w));
  if (size > 0)
    for (double &w : weights) w /= size;
  Coefficient found = model.contrast(weights, level);
  if (size > 0)
    for (double *const x : {&found.mean, &found.sd, &found.lower, &found.upper}) *x *= size;
  emit_contrast(result, found);
  return Datum(0);
}

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
/// row with a missing value, which is an error if the model was fitted with missing = error.
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
