// Functions of a fitted model that mean the same in every family: F_parameters, F_predict, ... and
// bayes_parameters, bayes_predict, ... over all models, which are bound once to the virtual
// functions of Model (document/model.hpp). `family`: the one that the model must be of; nullptr:
// any.
#pragma once

#include "pg/server/boundary.hpp"

namespace bayes::pg {

inline constexpr double default_level = 0.95;

/// The level of the intervals, argument `at` (from 0).
double level_argument(FunctionCallInfo fcinfo, int at = 1);

/// (model [, level]): every number of the model, a row for each.
Datum parameter_rows(FunctionCallInfo fcinfo, const char *family);

/// (model, row) -> int: the most probable component.
Datum component_of_row(FunctionCallInfo fcinfo, const char *family);
/// (model, row) -> float8[]
Datum row_probabilities(FunctionCallInfo fcinfo, const char *family);
/// Their Monte Carlo standard errors; NULL where they are undefined.
Datum row_probabilities_mcse(FunctionCallInfo fcinfo, const char *family);
/// (model, row) -> float8
Datum row_log_density(FunctionCallInfo fcinfo, const char *family);
/// Its Monte Carlo standard error; NULL where it is undefined.
Datum row_log_density_mcse(FunctionCallInfo fcinfo, const char *family);

/// (model, n, seed): component and row. One row per call, so that memory does not grow with n.
Datum sample_rows(FunctionCallInfo fcinfo, const char *family);

}  // namespace bayes::pg
