// Hidden Markov chains of K states: the recursions of 002 L11 over consecutive steps of one
// sequence.
//
// States lie in the lanes: whatever belongs to a step is K numbers, padded with zeros to whole
// vectors. A step enters as its likelihood under every state, divided by the largest (whose
// logarithm is the step's shift). Forward and backward variables are scaled step by step (Rabiner
// 1989), and run side by side: neither waits for the other. Where scaling could lose a state for
// good, because it cannot be entered again from states that explain the present better, recursions
// run on logarithms.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "base/linalg.hpp"
#include "base/random.hpp"
#include "base/simd.hpp"

namespace bayes {

/// a multiple of every number of lanes
inline constexpr int most_states = 1000;

/// Numbers of a step, up to whole vectors.
inline int padded_states(int k) { return (k + simd::lanes - 1) / simd::lanes * simd::lanes; }

/// Where a chain begins and how it goes on. The numbers need not sum to 1: in variational inference
/// they are exp E[log ...].
class BAYES_API MarkovChain {
 public:
  /// log_initial: K; log_transition: K x K, (from, to); -infinity for what cannot be.
  MarkovChain(const Vector &log_initial, const Matrix &log_transition);

  int states() const { return k_; }
  int padded() const { return padded_; }
  /// Is everything possible, and nothing so improbable that scaled recursions could lose it?
  bool safe() const { return safe_; }

  const double *initial() const { return initial_.data(); }
  /// [from][padded]
  const double *transition() const { return transition_.data(); }
  /// [to][padded]
  const double *transition_transposed() const { return transition_transposed_.data(); }
  /// -infinity in the padding, here and below
  const double *log_initial() const { return log_initial_.data(); }
  const double *log_transition() const { return log_transition_.data(); }
  const double *log_transition_transposed() const { return log_transition_transposed_.data(); }

 private:
  int k_, padded_;
  bool safe_;
  Buffer initial_, transition_, transition_transposed_, log_initial_, log_transition_,
      log_transition_transposed_;
};

/// n consecutive steps of one sequence, and room for what is computed of them: [step][padded] each.
struct ChainSteps {
  std::int64_t n;
  /// scaled: likelihoods; else their logarithms
  double *emission;
  /// scaled: logarithms that were taken out; else unused
  const double *shift;
  /// in front of it there is one more step's room
  double *forward;
  double *backward;
  /// n, and one before
  double *scale;
};

/// The recursions on scaled numbers. Forward variables of step t sum to scale[t] = p(x_t | earlier
/// ones) / e^shift[t].
namespace scaled_recursion {

/// Begins a sequence (`begins`), or goes on from forward[-1] and scale[-1]. False if a state got
/// lost, which cannot happen if chain.safe().
bool forward(const MarkovChain &chain, const ChainSteps &steps, bool begins);
/// log p(the steps | earlier ones).
double log_likelihood(const ChainSteps &steps);

/// Backward variables: `last` are those of the last step, ones at the end of a sequence; on return
/// it holds those of the step before the first.
void backward(const MarkovChain &chain, const ChainSteps &steps, double *last);
/// The same side by side with forward.
bool forward_backward(const MarkovChain &chain, const ChainSteps &steps, bool begins, double *last);

/// Turns backward variables into weight x posterior probabilities of the states, and emissions into
/// the factors with which add_transitions makes pairwise ones (zero at the beginning of a
/// sequence). False if the posterior got lost, as above.
bool posterior(const MarkovChain &chain, const ChainSteps &steps, bool begins, double weight);
/// sums[from][to] += forward[t - 1][from] x factor[t][to]; multiplied with the transition
/// probabilities these are expected transitions. `begins`: step 0 has none before it.
void add_transitions(int k, int padded, const ChainSteps &steps, bool begins, double *sums);

}  // namespace scaled_recursion

/// The same on logarithms: slower by an order of magnitude, and right whatever the numbers.
namespace log_recursion {

/// forward[t]: log p(state | steps so far); scale[t]: log p(x_t | earlier ones), -infinity if that
/// is impossible (then what follows is undefined).
void forward(const MarkovChain &chain, const ChainSteps &steps, bool begins);
double log_likelihood(const ChainSteps &steps);
/// `last`: logarithms, zeros at the end of a sequence.
void backward(const MarkovChain &chain, const ChainSteps &steps, double *last);
/// Turns backward variables into weight x posterior probabilities (not their logarithms), and adds
/// weight x expected transitions to sums, [from][padded]. Emissions become zeros.
void posterior(const MarkovChain &chain, const ChainSteps &steps, bool begins, double weight,
               double *sums);

}  // namespace log_recursion

/// Most probable paths. best: K (padded) log probabilities of the best path that ends in each
/// state, of the step before the first (unless `begins`) and then of the last; emission:
/// logarithms. from, if not null: [step][padded] the state before, the smallest of equally good
/// ones.
void viterbi(const MarkovChain &chain, std::int64_t n, const double *emission, bool begins,
             double *best, std::uint16_t *from);

}  // namespace bayes
