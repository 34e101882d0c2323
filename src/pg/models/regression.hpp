// Common to regressions in SQL: their coefficients, predictions and scores of rows with a response.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/message.hpp"
#include "pg/bind/any_model.hpp"
#include "pg/bind/scalar.hpp"
#include "pg/bind/score.hpp"
#include "pg/values/array_elements.hpp"
#include "regression/regression_model.hpp"

namespace bayes::pg {

// The coefficients of every regression, F_predict(model, x [, level]), and messages about the rows
// of fits of regressions.

/// The rows (term, mean, sd, lower, upper) of bayes_coefficients(model), with the default level.
void emit_coefficients(ResultRows &result, const Model &model);
/// The same with effects, exp of mean, lower and upper: rows of glm_coefficients(model).
void emit_effects(ResultRows &result, const Model &model);

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

/// model.predict(x, level)
template <class M> auto predicted_mean(const M &model, std::span<const double> x, double level) {
  return model.predict(x, level);
}

/// (model, row [, level]) -> a composite value: cells(prediction) returns its columns. NULL for a
/// row with a missing value, which is an error if the model was fitted with missing = error.
/// `predict`(model, row, level) returns nullopt for a row with a missing value.
template <class M, class Predict, class CellsOf>
Datum prediction(FunctionCallInfo fcinfo, const char *family, Predict predict, CellsOf cells) {
  const double level = level_argument(fcinfo, 2);
  const auto given = model_and_row(fcinfo, family);
  if (!given) PG_RETURN_NULL();
  const auto found = predict(static_cast<const M &>(given->model), given->x, level);
  if (!found) PG_RETURN_NULL();
  const auto row = cells(*found);
  return composite(scalar_result_row(fcinfo), Cells(row));
}

// Scores and log densities of responses, the same for every regression.

/// Throws Error for a type that the response of a regression cannot have.
void require_response_type(Oid base, Oid type, bool binary);
/// The number of a response. Throws Error for one that is not allowed: binary ones are 0 or 1.
double response_of(Datum value, Oid base, bool binary);

/// The index of a label among those of a model; -1, with a NOTICE, if it is none of them. Throws
/// Error for a NaN.
int level_of(const std::vector<std::string> &levels, ElementType &type, Datum value);

/// Scores the responses of rows under models of a class with score(row, response). `binary`: the
/// response is true or false, or 1 or 0.
template <class M, bool binary> class ResponseScorer final : public RowScorer {
 public:
  /// `report_unknown`: a NOTICE tells of labels that the model does not know.
  ResponseScorer(MemoryContext context, const Oid *types, bool report_unknown = false)
      : base_(guarded([types] { return getBaseType(types[0]); })),
        rows_(context, types[1], AbsentColumns::as_missing, report_unknown) {
    require_response_type(base_, types[0], binary);
  }
  std::optional<Score> score(const std::shared_ptr<const Model> &model,
                             const NullableDatum *row) override {
    const double response = response_of(row[0].value, base_, binary);
    const auto x = rows_.read(model, row[1].value);
    if (!x) return std::nullopt;
    return static_cast<const M &>(*model).score(*x, response);
  }

 private:
  /// base type of the response
  Oid base_;
  RowsOfModels rows_;
};

/// bayes_log_density(model, response, row): its score is its log density.
template <class M, bool binary> class ResponseDensity final : public DensityReader {
 public:
  ResponseDensity(MemoryContext context, const Oid *types)
      : context_(context),
        literal_(types[0] == UNKNOWNOID),
        types_{literal_ ? binary ? BOOLOID : FLOAT8OID : types[0], types[1]} {}
  std::optional<double> log_density(const std::shared_ptr<const Model> &model, Datum response,
                                    const Datum *row) override {
    if (!row && types_[1] != UNKNOWNOID) return std::nullopt;
    if (!row) return model->log_density({});  // there is none of rows
    if (!scorer_) scorer_.emplace(context_, types_, true);
    if (literal_)
      response =
          guarded([response] { return DirectFunctionCall1(binary ? boolin : float8in, response); });
    const NullableDatum arguments[] = {{response, false}, {*row, false}};
    const auto found = scorer_->score(model, arguments);
    return found ? std::optional(found->log_density) : std::nullopt;
  }

 private:
  MemoryContext context_;
  /// The response is a literal, which has no type of its own.
  bool literal_;
  Oid types_[2];
  std::optional<ResponseScorer<M, binary>> scorer_;
};

}  // namespace bayes::pg
