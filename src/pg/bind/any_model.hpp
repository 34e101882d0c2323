// Functions of a fitted model that mean the same in every family: F_parameters, F_predict, ... and
// bayes_parameters, bayes_predict, ... over all models, which are bound once to the virtual
// functions of Model (document/model.hpp). `family`: the family that the model must have; nullptr:
// any.
#pragma once

#include "document/model.hpp"
#include "pg/server/boundary.hpp"

namespace bayes::pg {

/// NOTICE, once in a statement, if the rows do not tell the components of the model apart, so that
/// its parameters have no standard deviations.
void report_overlap(const Model &model);

/// (model [, level]): all parameters of the model, one row each.
Datum parameter_rows(FunctionCallInfo fcinfo, const char *family);

/// (model, row) -> int: the most probable component.
Datum component_of_row(FunctionCallInfo fcinfo, const char *family);
/// (model, row) -> float8[]
Datum row_probabilities(FunctionCallInfo fcinfo, const char *family);
/// Monte Carlo standard errors of these probabilities; NULL where they are undefined.
Datum row_probabilities_mcse(FunctionCallInfo fcinfo, const char *family);
/// (model, row) -> float8
Datum row_log_density(FunctionCallInfo fcinfo, const char *family);
/// Monte Carlo standard error of this log density; NULL if it is undefined.
Datum row_log_density_mcse(FunctionCallInfo fcinfo, const char *family);

/// (model, n, seed): component and row. One row per call, so that memory does not grow with n.
Datum sample_rows(FunctionCallInfo fcinfo, const char *family);

}  // namespace bayes::pg
