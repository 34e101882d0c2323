// Hidden Markov models in SQL: what their functions share.
#pragma once

#include <cmath>
#include <memory>

#include "markov/hmm.hpp"
#include "pg/input/sequence_intake.hpp"
#include "pg/values/model_value.hpp"
#include "pg/values/results.hpp"

namespace bayes::pg {

inline constexpr const char *hmm_family = "hmm";

inline const HiddenMarkovModel &hidden(const Model &model) {
  return static_cast<const HiddenMarkovModel &>(model);
}

/// The model argument of a function that needs it once.
inline std::unique_ptr<Model> hmm_argument(Datum value) { return load_model(value, hmm_family); }

/// Fits what an intake has read, with the WARNINGs that belong to it. nullptr: no sequences, or a
/// fit that failed under on_error = null.
std::unique_ptr<HiddenMarkovModel> fit_sequences(SequenceIntake &intake, const FitRequest &request);

/// An int[] of states, counted from 1, in CurrentMemoryContext.
Datum array_of_states(const std::vector<int> &states);

inline Cell number_or_null(double x) { return std::isnan(x) ? Cell() : Cell(x); }

}  // namespace bayes::pg
