// How families of models are bound to SQL: a table for each family. The functions that fit
// (aggregates, windows, relations) are written once against this table, for all families and all
// kinds of data; a kind of data is a collector (pg/input/collector.hpp).
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/control.hpp"
#include "base/error.hpp"
#include "document/model.hpp"
#include "pg/input/fit_request.hpp"
#include "pg/input/row_collector.hpp"
#include "pg/values/results.hpp"

namespace bayes::pg {

/// Takes the row of one result.
using TakeCells = std::function<void(Cells)>;

template <class C> struct Binding {
  /// as in ModelInfo::family
  const char *family;
  /// Checks everything that can be checked before the data are read; throws Error.
  typename C::Check check;
  /// Fits a model to the data, of which there are some.
  std::unique_ptr<Model> (*fit)(const FitRequest &request, C &data, Control &control);

  // ---- for window functions that label rows; one of them ----

  /// The label of a row by a fitted model, from 0.
  int (*label)(const Model &model, std::span<const double> x) = nullptr;
  /// Where labels do not follow from a model and a row: fits, and gives the label of every row that
  /// was fitted, from 0.
  std::vector<int> (*fit_labels)(const FitRequest &request, C &data, Control &control) = nullptr;

  // ---- for functions that fit several models to choose from ----

  typename C::Check check_selection = nullptr;
  /// Fits what the request's ks and options ask for, one after another, each a row of the result.
  void (*fit_selection)(const FitRequest &request, C &data, Control &control,
                        const TakeCells &take) = nullptr;
};

// The arguments that follow the data.
inline constexpr Role by_k[] = {Role::k, Role::options, Role::weight};
inline constexpr Role by_start[] = {Role::start, Role::options, Role::weight};
inline constexpr Role by_prior[] = {Role::prior, Role::options, Role::weight};
inline constexpr Role by_options[] = {Role::options};
inline constexpr Role by_ks[] = {Role::ks, Role::options};

/// Calls `fit` if there are data. False: there are none, or the fit failed under on_error = null,
/// which is a WARNING.
bool attempt_fit(const Collector &data, const std::function<void(Control &)> &fit);

/// WARNING with last change and tolerance if the model's fit ran out of iterations, or that its
/// chains disagree.
void warn_if_not_converged(const Model &model);

/// The fit, with the WARNINGs that belong to it. nullptr: there are no data, or the fit failed
/// under on_error = null.
template <class C>
std::unique_ptr<Model> fit_model(const Binding<C> &binding, const FitRequest &request, C &data) {
  std::unique_ptr<Model> model;
  attempt_fit(data, [&](Control &control) { model = binding.fit(request, data, control); });
  if (model) warn_if_not_converged(*model);
  return model;
}

}  // namespace bayes::pg
