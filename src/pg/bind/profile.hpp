// F_profile(model, row): aggregates that say what makes the components of a fitted model different,
// the same for every family M that has probabilities of rows; hmm_profile(model, sequence) for
// states.
#pragma once

#include <memory>
#include <vector>

#include "data/profile.hpp"
#include "pg/bind/aggregate.hpp"
#include "pg/bind/scalar.hpp"

namespace bayes::pg {

/// The transition state.
struct ProfileState {
  ProfileState(MemoryContext, const std::shared_ptr<const Model> &model,
               std::vector<std::vector<double>> categories, std::size_t probabilities)
      : model(model),
        profile(model->info.components, std::move(categories)),
        probabilities(probabilities) {}
  std::shared_ptr<const Model> model;
  Profile profile;
  std::vector<double> probabilities;
  /// names of the categories that are no labels of a column, if there are such
  const std::vector<std::string> *symbols = nullptr;
};

/// The state of an aggregate's earlier calls, or nullptr.
ProfileState *profile_state(FunctionCallInfo fcinfo);
/// All rows must be of one model.
void require_same_model(const Model &first, const Model &model);
/// (internal) -> bayes_profile[]
Datum profile_final(FunctionCallInfo fcinfo);

template <class M> std::vector<std::vector<double>> categories_of(const M &model) {
  std::vector<std::vector<double>> out(std::size_t(model.dimension()));
  if constexpr (requires { model.categories(0); })
    for (std::size_t j = 0; j < out.size(); ++j) out[j] = model.categories(int(j));
  return out;
}

/// (internal, model, row) -> internal; a row that is NULL is left out. A row has a probability for
/// every component, and `more`.
template <class M>
Datum profile_transition(FunctionCallInfo fcinfo, const char *family, int more = 0) {
  const MemoryContext context = aggregate_context(fcinfo);
  ProfileState *state = profile_state(fcinfo);
  if (PG_ARGISNULL(1) || PG_ARGISNULL(2)) {
    if (!state) PG_RETURN_NULL();
    PG_RETURN_POINTER(state);
  }
  std::shared_ptr<const Model> keep;
  const ModelAndRow row = incomplete_row_of_model(fcinfo, family, keep);
  const M &model = static_cast<const M &>(row.model);
  if (!state)
    state = make_in<ProfileState>(context, "pg_bayes profile", keep, categories_of(model),
                                  std::size_t(model.size() + more));
  else
    require_same_model(*state->model, model);
  model.probabilities(row.x, state->probabilities);
  state->profile.add(row.x, state->probabilities);
  PG_RETURN_POINTER(state);
}

}  // namespace bayes::pg
