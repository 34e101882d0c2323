// F_parameters(model [, level]): the numbers of a model as rows, the same for every family M that
// has describe_parameters.
#pragma once

#include "document/parameter.hpp"
#include "pg/values/model_value.hpp"
#include "pg/values/results.hpp"

namespace bayes::pg {

/// A row of F_parameters.
void emit_parameter(ResultRows &result, const ModelInfo &info, const Parameter &parameter);

inline constexpr double default_level = 0.95;

/// The level of the intervals, argument `at` (from 0).
double level_argument(FunctionCallInfo fcinfo, int at = 1);

template <class M> Datum parameter_rows(FunctionCallInfo fcinfo, const char *family) {
  const double level = level_argument(fcinfo);
  ResultRows result(fcinfo);
  const auto model = load_model(PG_GETARG_DATUM(0), family);
  static_cast<const M &>(*model).describe_parameters(
      level, [&](const Parameter &parameter) { emit_parameter(result, model->info, parameter); });
  return Datum(0);
}

}  // namespace bayes::pg
