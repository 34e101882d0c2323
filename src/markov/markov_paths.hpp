// One sequence at given parameters: its likelihood, its states step by step, and its most probable
// paths. Sequences may be longer than memory has room for what is computed of them: windows are
// gone through from checkpoints, as in markov_step.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/control.hpp"
#include "markov/markov_window.hpp"

namespace bayes {

/// What is known at the end of a sequence.
struct SequenceEnd {
  /// -infinity: impossible
  double log_likelihood;
  /// p(last state | sequence); the chain's initial probabilities (which then sum to 1) for no
  /// steps; empty if impossible
  std::vector<double> states;
};

/// The sequence stands in rows 0 .. one.steps - 1, here and below.
BAYES_API SequenceEnd sequence_end(const Sequences &one, Control &control, const MarkovChain &chain,
                                   const EmissionScorer &scorer);

/// take(first step, steps, K posterior probabilities for each), in order of time. Throws
/// Error(numeric) if the sequence is impossible.
BAYES_API void smooth_sequence(
    const Sequences &one, Control &control, const MarkovChain &chain, const EmissionScorer &scorer,
    const std::function<void(std::int64_t first, int steps, const double *probabilities)> &take);

struct StatePath {
  double log_probability;
  std::vector<int> states;
};

/// The most probable path (Viterbi 1967). Of equally probable ones that whose last state is
/// smallest, then the last but one, and so on. Throws Error(numeric) if the sequence is impossible.
BAYES_API StatePath best_path(const Sequences &one, Control &control, const MarkovChain &chain,
                              const EmissionScorer &scorer);

/// The `count` most probable paths, fewer if there are no more of positive probability (Seshadri
/// and Sundberg 1994: every state keeps its best `count` ways in). Throws Error(too_large) if what
/// has to be kept does not fit into control.memory.
BAYES_API std::vector<StatePath> best_paths(const Sequences &one, int count, Control &control,
                                            const MarkovChain &chain, const EmissionScorer &scorer);

}  // namespace bayes
