// What the SQL side wants to know of a family of models: everything that reads rows and fits
// (aggregates, windows, relations) is written once against this description.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "base/control.hpp"
#include "data/rows.hpp"
#include "document/model.hpp"
#include "pg/input/fit_request.hpp"
#include "pg/input/row_intake.hpp"

namespace bayes::pg {

/// Options that concern rows and errors; everything else in the options is the kernel's.
struct FitPolicy {
  Missing missing = Missing::error;
  /// columns of a query may be booleans, which count as 1 and 0
  bool booleans = false;
  /// on_error = null
  bool null_on_error = false;
};

/// Checks everything that can be checked before the first row is read; throws Error.
using CheckRequest = FitPolicy (*)(const FitRequest &);

struct Family {
  /// as in ModelInfo::family
  const char *name;
  /// of a row
  int max_dimension;
  CheckRequest check;
  std::unique_ptr<Model> (*fit)(const FitRequest &request, RowSource &rows, Control &control);
  /// from 0
  int (*label)(const Model &model, std::span<const double> x);
  /// Where labels are not a matter of a model and a row: the label of every row that was fitted,
  /// from 0. nullptr: label() tells.
  std::vector<int> (*fit_labels)(const FitRequest &request, RowSource &rows,
                                 Control &control) = nullptr;
};

/// Makes an intake ready for a request's rows.
void prepare(RowIntake &intake, const FitRequest &request, FitPolicy policy, int max_dimension);

/// Are there rows to fit? Throws if there are but their weights are all zero.
bool has_rows(const RowIntake &intake);

/// The fit, with the WARNINGs that belong to it. nullptr: no rows, or a fit that failed under
/// on_error = null.
std::unique_ptr<Model> fit_rows(const Family &family, const FitRequest &request, FitPolicy policy,
                                RowIntake &intake);

/// Calls `fit` if there are rows. False: there are none, or it failed under on_error = null.
bool attempt_fit(FitPolicy policy, RowIntake &intake, const std::function<void(Control &)> &fit);

/// Labels by family.fit_labels, with the same WARNINGs. nullopt as above.
std::optional<std::vector<int>> fit_labels(const Family &family, const FitRequest &request,
                                           FitPolicy policy, RowIntake &intake);

/// WARNING with last change and tolerance if the model's fit ran out of iterations, or that its
/// chains disagree.
void warn_if_not_converged(const Model &model);

/// WARNING that stands for an error under on_error = null.
void warn_of_failure(const Error &error);

}  // namespace bayes::pg
