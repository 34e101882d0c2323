// Functions of a model and one row, called once per row.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "pg/input/model_readers.hpp"
#include "pg/values/convert.hpp"
#include "pg/values/model_value.hpp"
#include "pg/values/results.hpp"

namespace bayes::pg {

/// Reads rows of one SQL type for the models of a call site.
class RowsOfModels {
 public:
  /// `type`: of the rows. PostgreSQL's allocations go below `context`, which must outlive this.
  /// `report_unknown`: a NOTICE tells of labels that the model does not know.
  RowsOfModels(MemoryContext context, Oid type, AbsentColumns absent, bool report_unknown)
      : context_(context),
        type_(type),
        absent_(absent),
        report_unknown_(report_unknown),
        arrays_(is_array_type(type)) {}

  /// The numbers of a row, valid until the next call. Missing values are treated by the option
  /// missing of the model's fit: marginalize accepts them, error throws, and skip returns nullopt.
  /// Throws Error(wrong_family) for a model that takes no rows, before the type of the rows is
  /// looked at.
  std::optional<std::span<const double>> read(const std::shared_ptr<const Model> &model, Datum row);
  /// The same, with missing values treated as `missing` says.
  std::optional<std::span<const double>> read(const std::shared_ptr<const Model> &model, Datum row,
                                              Missing missing);

 private:
  MemoryContext context_;
  Oid type_;
  AbsentColumns absent_;
  bool report_unknown_;
  /// rows are arrays
  bool arrays_;
  std::optional<ModelReaders> readers_;
};

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

inline constexpr double default_level = 0.95;
/// The level of intervals, argument `at` (from 0).
double level_argument(FunctionCallInfo fcinfo, int at = 1);
/// A number of draws, argument `at`: 0 or more.
int count_argument(FunctionCallInfo fcinfo, int at);

/// The description of the composite values that the function returns, looked up once. Call it after
/// model_and_row.
TupleDesc scalar_result_row(FunctionCallInfo fcinfo);

/// Like model_and_row, for arguments (state, model, row), but missing values are kept whatever the
/// model's options. `keep` keeps the model alive.
ModelAndRow incomplete_row_of_model(FunctionCallInfo fcinfo, std::shared_ptr<const Model> &keep);

}  // namespace bayes::pg
