// How model families are bound to SQL: a table for each. The functions that fit (aggregates,
// windows, relations) are written once against this table, for all model families and all kinds of
// data; a kind of data is a collector (pg/input/collector.hpp).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/control.hpp"
#include "base/error.hpp"
#include "data/row_reference.hpp"
#include "document/model.hpp"
#include "pg/input/collector.hpp"
#include "pg/input/fit_request.hpp"
#include "pg/input/row_collector.hpp"
#include "pg/values/model_value.hpp"
#include "pg/values/results.hpp"

namespace bayes::pg {

/// Receives one row of results.
using TakeCells = std::function<void(Cells)>;

template <class C> struct Binding {
  /// as in ModelInfo::family
  const char *family;
  /// Checks all that can be checked before the data are read; throws Error.
  typename C::Check check;
  /// Fits a model to the data, which are not empty.
  std::unique_ptr<Model> (*fit)(const FitRequest &request, C &data, Control &control);

  /// For window functions that label rows, if labels do not follow from a model and a row: fits,
  /// and returns the label of every fitted row, from 0.
  std::vector<int> (*fit_labels)(const FitRequest &request, C &data, Control &control) = nullptr;

  // ---- for functions that fit several models to choose from ----

  typename C::Check check_selection = {};
  /// Fits all models that the request's ks and options name, each a row of the result.
  void (*fit_selection)(const FitRequest &request, C &data, Control &control,
                        const TakeCells &take) = nullptr;
};

// Roles of the arguments that follow the data in window functions and in functions of a query.
inline constexpr Role by_k[] = {Role::k, Role::options};
inline constexpr Role by_rank[] = {Role::rank, Role::options};
inline constexpr Role by_options[] = {Role::options};
inline constexpr Role by_ks[] = {Role::ks, Role::options};

/// Calls `fit`, which returns whether there were data to fit. Returns false if there were none, or
/// if the fit failed under on_error = null (`null_on_error`): then a WARNING reports the error.
/// `progress` shows the fit to other sessions until it ends.
bool attempt(FitProgress &progress, bool null_on_error, const std::function<bool(Control &)> &fit);

/// Throws Error: all items have weight 0. `item_name`: "row", "sequence", "document".
[[noreturn]] void refuse_zero_weights(const char *item_name);

/// Calls `fit` if there are data, after putting exchangeable items into an order that does not
/// depend on the input. Returns false otherwise; a WARNING reports an item that was refused.
template <class C> bool attempt_fit(FitData<C> &data, const std::function<void(Control &)> &fit) {
  if (!data) {
    FitProgress none;
    return attempt(none, true, [&data](Control &) -> bool { throw Error(*data.refusal()); });
  }
  data->progress.has_read(data->seen());
  return attempt(data->progress, data.null_on_error(), [&](Control &control) {
    if (data->all_weights_zero()) refuse_zero_weights(data->item_name());
    if (data->empty()) return false;
    if constexpr (requires { data->arrange(control); }) data->arrange(control);
    fit(control);
    return true;
  });
}

/// WARNING if the fit ran out of time or iterations, with the last change of the objective and the
/// tolerance, or if its chains disagree.
void warn_if_not_converged(const Model &model);
/// WARNING if components of a maximum likelihood fit are at a bound (are degenerate), unless
/// options allow it.
void warn_if_degenerate(const Model &model);
/// Issues all WARNINGs about a fit.
inline void warn_of(const Model &model) {
  warn_if_not_converged(model);
  warn_if_degenerate(model);
}

/// Gives a fitted model the columns of its rows and, if it is to be stored, the reference that
/// bayes_drift needs.
template <class C> void describe_rows(Model &model, C &data, bool stored, Control &control) {
  if constexpr (requires { data.columns(); }) model.info.columns = data.columns();
  if constexpr (requires { data.before(); })
    if (stored && !model.words().takes)
      model.info.reference = reference_of(model, data.source(), data.before(), control);
}

/// Fits, and stores the model's byte form in `bytes`, unless nullptr, before issuing WARNINGs about
/// it. nullptr if there are no data, or if an item, the fit or the byte form failed under on_error
/// = null.
template <class C>
std::unique_ptr<Model> fit_model(const Binding<C> &binding, const FitRequest &request,
                                 FitData<C> &data, std::string *bytes = nullptr) {
  std::unique_ptr<Model> model;
  const bool fitted = attempt_fit(data, [&](Control &control) {
    std::optional<ResumableFit> resumable;
    if (bytes)
      resumable.emplace(
          request, [&] { return data->hash(control); }, control);
    model = binding.fit(request, *data, control);
    if (model) describe_rows(*model, *data, bytes != nullptr, control);
    if (model && resumable) resumable->save(*model);
    data->progress.writing();
    if (model && bytes) *bytes = bytes_of(*model);
  });
  if (!fitted) return nullptr;
  if (model) warn_of(*model);
  return model;
}

}  // namespace bayes::pg
