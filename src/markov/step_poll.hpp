// Polls in loops over the steps of a sequence.
#pragma once

#include "base/control.hpp"
#include "markov/forward_backward.hpp"

namespace bayes {

/// operations that take as long as an exponential
inline constexpr std::size_t of_exponential = 16;

/// Counts `operations` for every pair of states in each step, and polls when it is due: with many
/// states a window of steps takes more than a second.
class StepPoll {
 public:
  explicit StepPoll(const MarkovChain &chain, std::size_t operations = 1)
      : operations_(operations * std::size_t(chain.states()) * std::size_t(chain.padded())) {}
  void operator()() { work_(operations_); }

 private:
  std::size_t operations_;
  WorkPoll work_;
};

}  // namespace bayes
