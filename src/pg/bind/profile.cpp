#include "pg/bind/profile.hpp"

#include <cmath>

#include "base/error.hpp"
#include "pg/values/results.hpp"

namespace bayes::pg {

ProfileState *profile_state(FunctionCallInfo fcinfo) {
  return PG_ARGISNULL(0) ? nullptr : reinterpret_cast<ProfileState *>(PG_GETARG_POINTER(0));
}

void require_same_model(const Model &first, const Model &model) {
  // A model that has left the cache is parsed anew, so its address may differ.
  const ModelInfo &a = first.info, &b = model.info;
  if (&first != &model && (a.objective != b.objective || a.seconds != b.seconds ||
                           a.components != b.components || a.dimension != b.dimension))
    throw Error(Errc::invalid_argument, "the rows of a profile have different models", {},
                "Group the rows by the model: GROUP BY model.");
}

Datum profile_final(FunctionCallInfo fcinfo) {
  const ProfileState *const state = profile_state(fcinfo);
  if (!state) PG_RETURN_NULL();
  const RowColumns &columns = state->model->info.columns;
  const std::vector<std::string> *const symbols = state->symbols;
  CompositeArray result(fcinfo);
  for (const ProfileEntry &e : state->profile.entries()) {
    poll_interrupts();
    const RowColumn *const column = columns.empty() ? nullptr : &columns[std::size_t(e.element)];
    const bool category = !std::isnan(e.category);
    const std::string *const label = !category ? nullptr
                                     : symbols ? &(*symbols)[std::size_t(e.category)]
                                     : column  ? label_of(*column, e.category)
                                               : nullptr;
    const Cell cells[] = {e.component + 1,
                          e.element + 1,
                          column ? Cell::text(column->name) : Cell(),
                          category && !symbols ? Cell(std::int64_t(e.category)) : Cell(),
                          label ? Cell::text(*label) : Cell(),
                          e.rows,
                          Cell::or_null(e.value),
                          Cell::or_null(e.others),
                          Cell::or_null(e.difference),
                          Cell::or_null(e.effect),
                          Cell::or_null(e.missing),
                          e.rank > 0 ? Cell(e.rank) : Cell()};
    result.add(cells);
  }
  return result.finish();
}

}  // namespace bayes::pg
