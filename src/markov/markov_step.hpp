// The local step of hidden Markov models: expected (or drawn) occupancies, transitions and emission
// statistics of all sequences at given parameters, in one pass over any number of rows, on any
// number of threads.
//
// Threads divide the pieces, in which sequences lie entirely; sequences longer than a piece follow
// one after the other. A sequence longer than a window is first run forward to save checkpoints,
// then backward window by window, forward variables being recomputed from the previous checkpoint:
// memory grows at most with the square root of its length.
#pragma once

#include <cstdint>
#include <vector>

#include "base/control.hpp"
#include "base/random.hpp"
#include "data/pass.hpp"
#include "markov/markov_window.hpp"

namespace bayes {

/// The sums of a pass over the sequences.
struct MarkovSums {
  /// sum of weight x log p(sequence)
  double objective = 0;
  /// K: weight of the sequences that begin in a state
  std::vector<double> initial;
  /// K x K, [from][to]
  std::vector<double> transitions;
  /// K: steps
  std::vector<double> visits;
  /// of the emissions (emission_scorer.hpp)
  std::vector<double> counts, raw;
  /// K x K, [state][reference state] of drawn paths
  std::vector<double> confusion;
  /// first row of the first sequence without a path of positive probability; -1: none
  std::int64_t impossible = -1;

  /// of expectations
  template <class F> void fields(F &f) {
    f.number("objective", objective);
    f.values("initial", initial);
    f.values("transitions", transitions);
    f.values("visits", visits);
    f.values("counts", counts);
    f.values("raw", raw);
  }
  void add(const MarkovSums &part);
};

/// Draws paths instead of taking expectations (forward filtering, backward sampling: Chib 1996),
/// for sequences of weight 1.
struct PathDraws {
  /// two uniform numbers for every row
  RowRandom random;
  /// if not null: receives the state of every row
  std::uint16_t *labels = nullptr;
  /// if not null: states of another pass, for the confusion matrix
  const std::uint16_t *reference = nullptr;
};

/// Checkpoints of a sequence take no more doubles than this, unless the square root of the number
/// of windows alone needs more.
inline constexpr std::int64_t max_checkpoint_doubles = 1 << 20;

/// Sums over all sequences. Throws Error(invalid_argument), naming the first sequence that is
/// impossible. `draws`: nullptr for expectations.
BAYES_API MarkovSums markov_step(const Sequences &sequences, Control &control,
                                 const MarkovChain &chain, const EmissionScorer &scorer,
                                 const PathDraws *draws = nullptr,
                                 std::int64_t checkpoint_doubles = max_checkpoint_doubles);

/// The pass of markov_step(). The server of a part makes the scorer and the chain, as the request
/// says (models/passes.cpp).
struct MarkovPass {
  static constexpr const char *name = "markov";
  using Sums = MarkovSums;
  const MarkovChain *chain = nullptr;
  const EmissionScorer *scorer = nullptr;
  const PathDraws *draws = nullptr;
  std::int64_t checkpoint_doubles = max_checkpoint_doubles;
  /// the logarithms of the chain: K, and K x K, [from][to]; for other servers
  std::vector<double> initial = {}, transition = {};

  template <class F> void fields(F &f, const Sequences &) {
    if constexpr (!F::reading) describe(f.document());
    f.numbers("initial", initial);
    f.numbers("transition", transition);
  }
  Sums nothing(const Sequences &) const;
  Sums here(const Sequences &sequences, Control &control) const;

 private:
  /// Sets the numbers of the chain, and adds the scorer to a request. Throws
  /// Error(invalid_argument) for drawn paths.
  void describe(Document &request);
};

}  // namespace bayes
