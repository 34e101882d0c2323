// Functions that mean the same for every model, bayes_parameters, bayes_predict, ..., are bound
// once to the virtual functions of Model (document/model.hpp). Families use the functions below.
#pragma once

#include "document/model.hpp"
#include "pg/server/boundary.hpp"

namespace bayes::pg {

/// NOTICE, once in a statement, if the rows do not tell the components of the model apart, so that
/// its parameters have no standard deviations.
void report_overlap(const Model &model);

/// F_predict(model, row) -> int: the most probable component of a model of this family.
Datum component_of_row(FunctionCallInfo fcinfo, const char *family);

}  // namespace bayes::pg
