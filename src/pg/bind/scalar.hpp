// Functions of a model and one row, called for row after row.
#pragma once

#include <span>

#include "pg/values/convert.hpp"
#include "pg/values/model_value.hpp"

namespace bayes::pg {

/// A model, parsed once for many calls, and the row of this call, of the model's dimension, ready
/// to be scored.
struct ModelAndRow {
  const Model &model;
  std::span<const double> x;
};

/// Reads the arguments (model, row) of a strict function. `takes_missing`: may elements of this
/// model's rows be missing? Without it they may not.
ModelAndRow model_and_row(FunctionCallInfo fcinfo, const char *family,
                          bool (*takes_missing)(const Model &) = nullptr);

}  // namespace bayes::pg
