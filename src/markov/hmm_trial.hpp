// The part of many sequences on which restarts run.
#pragma once

#include <cstdint>

#include "base/control.hpp"
#include "data/sequences.hpp"

namespace bayes {

/// More steps than this, and restarts run on some of the sequences.
inline constexpr std::int64_t most_trial_steps = 100000;

/// Some of many sequences, the longest cut short.
class Trial {
 public:
  Trial(const Sequences &from, std::uint64_t seed, Control &control);
  const Sequences &sequences() const { return sequences_; }

 private:
  MemoryRows rows_;
  Sequences sequences_;
};

}  // namespace bayes
