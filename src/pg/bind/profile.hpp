// F_profile(model, row): aggregates that describe how the components of a fitted model differ,
// implemented once for all families with component probabilities of rows; hmm_profile(model,
// sequence) for states.
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
  /// names of categories that are not labels of a column (the symbols of a hidden Markov model), or
  /// nullptr
  const std::vector<std::string> *symbols = nullptr;
};

/// The state of an aggregate's earlier calls, or nullptr.
ProfileState *profile_state(FunctionCallInfo fcinfo);
/// All rows must be of one model.
void require_same_model(const Model &first, const Model &model);
/// (internal) -> bayes_profile[]
Datum profile_final(FunctionCallInfo fcinfo);

/// the categories of every element; empty if it is not categorical
std::vector<std::vector<double>> categories_of(const Model &model);

/// (internal, model, row) -> internal; rows that are NULL are skipped.
Datum profile_transition(FunctionCallInfo fcinfo, const char *family);

}  // namespace bayes::pg
