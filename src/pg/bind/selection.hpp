// Functions that fit several models for comparison: an aggregate, and a relation over the rows of a
// query.
#pragma once

#include "pg/bind/aggregate.hpp"
#include "pg/bind/query_rows.hpp"

namespace bayes::pg {

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
