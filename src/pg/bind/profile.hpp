// bayes_profile(model, row): an aggregate that describes how the components of a fitted model
// differ, for all families with component probabilities of rows, and of sequences for states.
#pragma once

#include <memory>
#include <vector>

#include "data/profile.hpp"
#include "pg/bind/score.hpp"

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

/// Adds the data of models of one family, at one call site.
class ProfileReader {
 public:
  virtual ~ProfileReader() = default;
  /// The state has been made for the model; value: not NULL.
  virtual void add(const std::shared_ptr<const Model> &model, Datum value, ProfileState &state) = 0;
};

/// How bayes_profile reads the argument after the model, if models take no rows of columns.
using ProfileFamily = FamilyReader<ProfileReader>;

/// All rows must be of one model.
void require_same_model(const Model &first, const Model &model);

}  // namespace bayes::pg
