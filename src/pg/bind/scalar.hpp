// Functions of a model and one row, called once per row.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "pg/values/convert.hpp"
#include "pg/values/model_value.hpp"
#include "pg/values/results.hpp"

namespace bayes::pg {

/// A model, parsed once for many calls, and the row of this call, checked against the model's
/// dimension.
struct ModelAndRow {
  const Model &model;
  std::span<const double> x;
};

/// Reads the arguments (model, row) of a strict function. `family`: of the model; nullptr: of any
/// that takes rows. What a missing value means was said when the model was fitted, by option
/// missing: marginalize takes it, error refuses it, and skip leaves the row out: nullopt.
std::optional<ModelAndRow> model_and_row(FunctionCallInfo fcinfo, const char *family);

/// Of a function that calls model_and_row before: the description of the composite values that it
/// returns, looked up once.
TupleDesc scalar_result_row(FunctionCallInfo fcinfo);

/// The same of arguments (state, model, row), missing values kept whatever the model says. `keep`
/// keeps the model alive.
ModelAndRow incomplete_row_of_model(FunctionCallInfo fcinfo, const char *family,
                                    std::shared_ptr<const Model> &keep);

}  // namespace bayes::pg
