// Hidden Markov models in SQL: helpers of their functions.
#pragma once

#include <memory>

#include "markov/hmm.hpp"
#include "pg/values/model_value.hpp"
#include "pg/values/results.hpp"

namespace bayes::pg {

inline constexpr const char *hmm_family = "hmm";

/// the limit of sampled steps in one call
inline constexpr int max_sampled = 100000000;

inline const HiddenMarkovModel &hidden(const Model &model) {
  return static_cast<const HiddenMarkovModel &>(model);
}

/// The model argument of a function called once.
inline std::unique_ptr<Model> hmm_argument(Datum value) { return load_model(value, hmm_family); }

/// Emits the rows of hmm_states.
void emit_states(ResultRows &result, const HiddenMarkovModel &model);

}  // namespace bayes::pg
