// Common to functions that fit several models and choose the best.
#pragma once

#include <deque>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "data/scores.hpp"
#include "document/model.hpp"
#include "pg/bind/aggregate.hpp"
#include "pg/bind/binding.hpp"
#include "pg/bind/query_rows.hpp"
#include "pg/input/fit_request.hpp"
#include "pg/values/results.hpp"

namespace bayes::pg {

/// The criterion by which the fits of a selection are compared.
struct Criterion {
  /// name of its column
  const char *name;
  /// score of a fit: larger is better; NaN if the fit cannot be compared
  double score;
  /// Scores within this distance of the best count as equally good; of these fits that with the
  /// smallest k is chosen.
  double allowed;
  /// `allowed` in words, for column reason
  const char *allowance;
  /// Scores of the held-out rows, the same for all fits; if there are any, `allowed` is in standard
  /// errors of the difference of two fits over these rows.
  std::vector<Score> held_out = {};

  /// Does a fit count as equally good as this one, the best?
  bool allows(const Criterion &other) const;
};

/// The fits of one selection. At the end their rows are passed to `take`, each with two more cells:
/// whether the fit is the best, and for the best one the reason.
class Choice {
 public:
  Choice(const FitRequest &request, const TakeCells &take) : models_(request.models), take_(take) {}

  /// Column model of a fit: NULL unless option models asks for it.
  Cell model(Model &model);
  /// Adds a fit.
  void add(int k, Criterion criterion, std::initializer_list<Cell> cells);
  /// Adds a fit to `data`, which is compared by its evidence lower bound (elbo) if it is
  /// variational, or else by bic, and issues its WARNINGs. The cells of a row are k, `after_k`,
  /// method, objective, log_likelihood, parameters, bic, `after_bic`, elbo, converged, degenerate,
  /// model.
  template <class C>
  void add(Model &model, C &data, Control &control, std::initializer_list<Cell> after_k = {},
           std::initializer_list<Cell> after_bic = {}) {
    describe_rows(model, data, models_, control);
    add(model, after_k, after_bic);
  }

  /// Receives a k whose fit failed, with the error: the others are compared without it.
  std::function<void(int k, const Error &)> failed() {
    return [this](int k, const Error &error) { failures_.emplace_back(k, error); };
  }

  /// Calls fits(), which adds the fits, and then passes their rows to `take`, also if a later fit
  /// has failed. NOTICE for every k that has no fit, and if the best k is the largest of several.
  /// Throws the first failure if no k has a fit.
  template <class F> void run(F fits) {
    try {
      fits();
    } catch (const Error &) {
      finish();
      throw;
    }
    finish();
  }

 private:
  struct Row {
    int k;
    Criterion criterion;
    std::vector<Cell> cells;
  };
  void add(Model &model, std::initializer_list<Cell> after_k,
           std::initializer_list<Cell> after_bic);
  void add_row(int k, Criterion criterion, std::vector<Cell> cells);
  void finish();

  const bool models_;
  const TakeCells &take_;
  std::deque<std::string> kept_;  // texts and models of cells
  std::vector<Row> rows_;
  std::vector<std::pair<int, Error>> failures_;
};

// Functions that fit several models for comparison: an aggregate, and a relation over the rows of a
// query.

template <class C> Datum selection_transition(FunctionCallInfo fcinfo, const Binding<C> &binding) {
  return transition<C>(fcinfo, binding.family, binding.check_selection);
}

template <class C>
void fit_selection(const Binding<C> &binding, const FitRequest &request, FitData<C> &data,
                   const TakeCells &take) {
  attempt_fit(data,
              [&](Control &control) { binding.fit_selection(request, *data, control, take); });
}

/// The final function of F_select(data, ks [, options]).
template <class C> Datum selection_final(FunctionCallInfo fcinfo, const Binding<C> &binding) {
  FitState<C> *const state = final_state<C>(fcinfo);
  if (!state) PG_RETURN_NULL();
  const FitRequest &request = state->request(binding.family, binding.check_selection);
  CompositeArray result(fcinfo);
  fit_selection(binding, request, state->data, [&result](Cells cells) { result.add(cells); });
  if (result.empty()) PG_RETURN_NULL();
  return result.finish();
}

/// F_select(query text, ks [, options]) of rows; `pushed`: as for QueryRows.
inline Datum selection_query(FunctionCallInfo fcinfo, const Binding<RowCollector> &binding,
                             const PushedMethods &pushed = {}) {
  ResultRows result(fcinfo);
  QueryRows query(fcinfo, binding.family, binding.check_selection, by_ks, nullptr, pushed);
  fit_selection(binding, query.request, query.data(),
                [&result](Cells cells) { result.row(cells); });
  query.end();
  return Datum(0);
}

}  // namespace bayes::pg
