#include "pg/bind/selection.hpp"

#include "pg/bind/aggregate.hpp"
#include "pg/bind/query_rows.hpp"
#include "pg/server/server_control.hpp"

namespace bayes::pg {
namespace {

void select_models(const FitRequest &request, FitPolicy policy, RowIntake &rows,
                   SelectModels select, const std::function<void(Cells)> &take) {
  try {
    if (!has_rows(rows)) return;
    ServerControl control;
    select(request, rows.rows, control, take);
  } catch (const Error &error) {
    if (!policy.null_on_error) throw;
    warn_of_failure(error);
  }
}

}  // namespace

Datum selection_final(FunctionCallInfo fcinfo, const Family &family, CheckRequest check,
                      SelectModels select) {
  FitState *const state = final_state(fcinfo);
  if (!state) PG_RETURN_NULL();
  const FitState::Asked &asked = state->asked(family.name, check);
  CompositeArray result(fcinfo);
  select_models(asked.request, asked.policy, state->intake, select,
                [&result](Cells cells) { result.add(cells); });
  if (result.empty()) PG_RETURN_NULL();
  return result.finish();
}

Datum selection_query(FunctionCallInfo fcinfo, const Family &family, CheckRequest check,
                      SelectModels select) {
  ResultRows result(fcinfo);
  QueryRows query(fcinfo, family.name, family.max_dimension, check, selection_roles);
  select_models(query.request, query.policy, query.rows(), select,
                [&result](Cells cells) { result.row(cells); });
  return Datum(0);
}

}  // namespace bayes::pg
