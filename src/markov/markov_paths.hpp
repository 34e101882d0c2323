// One sequence at given parameters: its likelihood, state probabilities and most probable paths.
// Memory does not limit the length: windows are recomputed from checkpoints, as in markov_step.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/control.hpp"
#include "markov/markov_window.hpp"

namespace bayes {

/// A chain and its emissions at one point of the parameters.
struct ScoredChain {
  const MarkovChain *chain = nullptr;
  const EmissionScorer *emissions = nullptr;
};

/// The likelihood of a sequence, and the distribution of its last state.
struct SequenceEnd {
  /// -infinity if the sequence is impossible
  double log_likelihood;
  /// p(last state | sequence); for no steps the initial probabilities (which must sum to 1); empty
  /// if impossible
  std::vector<double> states;
};

/// The sequence occupies rows 0 .. one.steps - 1, here and below.
BAYES_API SequenceEnd sequence_end(const Sequences &one, Control &control,
                                   const ScoredChain &point);

/// take(first step, steps, K posterior probabilities for each), in order of time. For several
/// points, which must have the same number of states, the averages over those under which the
/// sequence is possible; throws Error(numeric) if there are none.
BAYES_API void smooth_sequence(
    const Sequences &one, Control &control, std::span<const ScoredChain> points,
    const std::function<void(std::int64_t first, int steps, const double *probabilities)> &take);

struct StatePath {
  double log_probability;
  std::vector<int> states;
};

/// The most probable path (Viterbi 1967). Ties go to the path whose last state is smallest, then
/// the last but one, and so on. Throws Error(numeric) if the sequence is impossible.
BAYES_API StatePath best_path(const Sequences &one, Control &control, const ScoredChain &point);

/// The `count` most probable paths, fewer if there are no more of positive probability (Seshadri
/// and Sundberg 1994: every state keeps the `count` best paths that end in it). Throws
/// Error(too_large) if these do not fit into control.memory.
BAYES_API std::vector<StatePath> best_paths(const Sequences &one, int count, Control &control,
                                            const ScoredChain &point);

}  // namespace bayes
