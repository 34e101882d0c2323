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
  if (!first.same_content(model))
    throw Error(Errc::invalid_argument, "the rows have different models", {},
                "Group the rows by the model: GROUP BY model.");
}

std::vector<std::vector<double>> categories_of(const Model &model) {
  std::vector<std::vector<double>> out(std::size_t(model.info.dimension));
  for (std::size_t j = 0; j < out.size(); ++j) out[j] = model.categories(int(j));
  return out;
}

Datum profile_transition(FunctionCallInfo fcinfo, const char *family) {
  const MemoryContext context = aggregate_context(fcinfo);
  ProfileState *state = profile_state(fcinfo);
  if (PG_ARGISNULL(1) || PG_ARGISNULL(2)) {
    if (!state) PG_RETURN_NULL();
    PG_RETURN_POINTER(state);
  }
  std::shared_ptr<const Model> keep;
  const auto [model, x] = incomplete_row_of_model(fcinfo, family, keep);
  if (!state)
    state = make_in<ProfileState>(context, "pg_bayes profile", keep, categories_of(model),
                                  std::size_t(model.outcomes()));
  else
    require_same_model(*state->model, model);
  model.probabilities(x, state->probabilities);
  state->profile.add(x, state->probabilities);
  PG_RETURN_POINTER(state);
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
