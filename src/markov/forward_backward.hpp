// The forward-backward recursions (002 L11) of a hidden Markov model with K states, over
// consecutive steps of one sequence.
//
// States lie in the lanes: every quantity of a step is K numbers, padded with zeros to whole
// vectors. A step's likelihoods under the states are divided by the largest (whose logarithm is the
// step's shift). Forward and backward variables are scaled step by step (Rabiner 1989), and
// computed in one loop, as neither depends on the other. If scaling could lose a state for good,
// because it cannot be entered again from states that explain the current step better, recursions
// use logarithms.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "base/linalg.hpp"
#include "base/random.hpp"

namespace bayes {

/// the logarithm of an impossible event's probability
inline constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
/// a multiple of every number of lanes
inline constexpr int max_states = 1000;

/// K rounded up to whole SIMD vectors: the numbers stored for a step.
int padded_states(int k);

/// Initial and transition probabilities. They need not sum to 1: in variational inference they are
/// exp E[log ...].
class BAYES_API MarkovChain {
 public:
  /// log_initial: K; log_transition: K x K, (from, to); -infinity for structural zeros.
  MarkovChain(const Vector &log_initial, const Matrix &log_transition);

  int states() const { return k_; }
  int padded() const { return padded_; }
  /// Are all probabilities large enough that scaled recursions cannot lose a state?
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

/// n consecutive steps of one sequence, and workspace for the recursions: [step][padded] each.
struct ChainSteps {
  std::int64_t n;
  /// scaled: likelihoods; else their logarithms
  double *emission;
  /// scaled: logarithms of the largest likelihoods; else unused
  const double *shift;
  /// preceded by space for one more step
  double *forward;
  double *backward;
  /// n numbers, preceded by space for one more
  double *scale;
};

/// Scaled recursions. Forward variables of step t sum to scale[t] = p(x_t | earlier ones) /
/// e^shift[t].
namespace scaled_recursion {

/// Begins a sequence (`begins`), or continues from forward[-1] and scale[-1]. False if a state was
/// lost, which cannot happen if chain.safe().
bool forward(const MarkovChain &chain, const ChainSteps &steps, bool begins);
/// log p(the steps | earlier ones).
double log_likelihood(const ChainSteps &steps);

/// Backward variables: `last` holds those of the last step, ones at the end of a sequence, and on
/// return those of the step before the first.
void backward(const MarkovChain &chain, const ChainSteps &steps, double *last);
/// forward() and backward() in one loop.
bool forward_backward(const MarkovChain &chain, const ChainSteps &steps, bool begins, double *last);

/// Turns backward variables into weight x posterior probabilities of the states, and emissions into
/// the factors from which add_transitions computes pairwise ones (zero at the beginning of a
/// sequence). False if the posterior of a step underflowed, which cannot happen if chain.safe().
bool posterior(const MarkovChain &chain, const ChainSteps &steps, bool begins, double weight);
/// sums[from][to] += forward[t - 1][from] x factor[t][to]; multiplied by the transition
/// probabilities these are the expected transitions. `begins`: there is no step before step 0.
void add_transitions(int k, int padded, const ChainSteps &steps, bool begins, double *sums);

}  // namespace scaled_recursion

/// The same on logarithms: an order of magnitude slower, and safe for any probabilities.
namespace log_recursion {

/// forward[t]: log p(state | steps so far); scale[t]: log p(x_t | earlier ones), -infinity if that
/// is impossible (then later forward variables are undefined).
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
/// state: on entry at the step before the first (unless `begins`), on return at the last; emission:
/// logarithms. from, if not null: [step][padded] the previous state, the smallest one in case of
/// ties.
void viterbi(const MarkovChain &chain, std::int64_t n, const double *emission, bool begins,
             double *best, std::uint16_t *from);

}  // namespace bayes
