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

/// Reads the arguments (model, row) of a strict function. `family`: the family that the model must
/// have; nullptr: any that takes rows. Missing values are treated by the option missing of the fit:
/// marginalize accepts them, error throws, and skip returns nullopt.
std::optional<ModelAndRow> model_and_row(FunctionCallInfo fcinfo, const char *family);

/// The description of the composite values that the function returns, looked up once. Call it after
/// model_and_row.
TupleDesc scalar_result_row(FunctionCallInfo fcinfo);

/// Like model_and_row, for arguments (state, model, row), but missing values are kept whatever the
/// model's options. `keep` keeps the model alive.
ModelAndRow incomplete_row_of_model(FunctionCallInfo fcinfo, const char *family,
                                    std::shared_ptr<const Model> &keep);

}  // namespace bayes::pg
