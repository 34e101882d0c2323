// F_profile(model, row): aggregates that say what makes the components of a fitted model different,
// the same for every family that has probabilities of rows; hmm_profile(model, sequence) for
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

/// of every element; none of those that are not categorical
std::vector<std::vector<double>> categories_of(const Model &model);

/// (internal, model, row) -> internal; a row that is NULL is left out.
Datum profile_transition(FunctionCallInfo fcinfo, const char *family);

}  // namespace bayes::pg
