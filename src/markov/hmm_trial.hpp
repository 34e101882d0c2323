// The subset on which restarts run if there are many sequences.
#pragma once

#include <cstdint>

#include "base/control.hpp"
#include "data/sequences.hpp"
#include "markov/hmm_observations.hpp"

namespace bayes {

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
