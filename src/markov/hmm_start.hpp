// Where restarts of a hidden Markov model begin: on a path of its states, and on a subset of the
// sequences if there are many.
#pragma once

#include <cstdint>
#include <vector>

#include "base/control.hpp"
#include "data/sequences.hpp"
#include "markov/emission_scorer.hpp"
#include "markov/hmm_observations.hpp"
#include "markov/markov_learners.hpp"

namespace bayes {

// Starting points of hidden Markov models that are found on a path of their states.

/// A chain, and the emissions that its states begin with.
struct PathStart {
  /// of the path; a pseudo-count is added to every transition, so that none is impossible
  MarkovCounts counts;
  /// K: the given state whose emissions a state begins with
  std::vector<int> emissions;
};

/// Draws a path at given parameters of K >= 2 states, and divides its states anew. First states
/// that are hard to tell apart, or have few steps, are merged until at most `keep` have steps.
/// Then, one by one, each state without steps takes those steps of another state that follow a
/// certain state. Mergers are drawn by how often two states are confused, divisions by how much
/// better what follows is then predicted. So a chain that visits a symbol several times in a cycle
/// gets a state for each visit, which iterations from any emissions seldom find (state splitting:
/// Siddiqi, Gordon and Moore 2007).
///
/// `seed` and `number` select the random streams. The sequences must be those of this server.
/// Polls.
PathStart start_on_path(const Sequences &sequences, Control &control, const MarkovChain &chain,
                        const EmissionScorer &scorer, int keep, std::uint64_t seed, int number);

// The subset on which restarts run if there are many sequences.

/// Beyond this number of steps restarts run on a subset of the sequences.
inline constexpr std::int64_t max_trial_steps = 100000;

/// The first sequence and a random sample of the others, each truncated to max_trial_steps / 2
/// steps.
class Trial {
 public:
  Trial(const Sequences &from, std::uint64_t seed, Control &control);
  const Sequences &sequences() const { return sequences_; }

 private:
  MemoryRows rows_;
  Sequences sequences_;
};

}  // namespace bayes
