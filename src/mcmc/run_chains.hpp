// Runs the chains of any sampler: warmup and thinning, progress, recorded quantities, choice of the
// stored draws, and convergence.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/api.hpp"
#include "base/control.hpp"
#include "document/model.hpp"

namespace bayes {

// The number and length of MCMC chains, and which draws are stored: options that all samplers
// share.

class OptionTable;

/// A chain makes `draws` sweeps. The first `warmup` are discarded, and of the others every thin-th
/// is a draw.
struct ChainPlan {
  int chains = 4;
  int draws = 1000;
  int warmup = 500;
  int thin = 1;
  /// Number of draws that a model stores completely; 0: chosen by draws_to_store().
  int stored_draws = 0;
  /// number of draws of one chain after warmup and thinning
  int stored() const { return (draws - warmup) / thin; }
  std::int64_t all_stored() const { return std::int64_t(chains) * stored(); }

  /// Options chains, draws, warmup, thin. Throws Error: invalid_argument, or too_large for more
  /// than 4 million draws of all chains.
  void lines(OptionTable &t, bool applies);
  /// Option stored_draws, for models that store complete draws.
  void stored_line(OptionTable &t, bool applies);
};

/// One chain of a sampler.
class ChainSampler {
 public:
  virtual ~ChainSampler() = default;
  /// Makes sweep number `index` (0, 1, ...), which selects the random stream. Returns the log joint
  /// density of the resulting draw.
  virtual double sweep(int index, Control &control) = 0;
  /// Called once, before the first sweep after the warmup.
  virtual void end_warmup() {}
  /// Appends the quantities of that draw; called for draws after warmup and thinning. Quantities
  /// must not depend on the numbering of components.
  virtual void record(std::vector<double> &values) const = 0;
  /// Keeps that draw until the end of the run, for estimates from all kept draws.
  virtual void keep(double /*log_joint*/) {}
  /// Stores that draw in the model; called only for kept draws.
  virtual void store(double log_joint) = 0;
  /// Writes or reads all that the sweeps from here on depend on.
  virtual void exchange_state(StateNumbers &numbers) = 0;
};

struct ChainSettings {
  const char *method = "";
  ChainPlan plan;
  /// names of the quantities that record() appends; log_joint comes first
  std::vector<std::string> quantities;
  /// maximal number of stored draws, evenly spaced among the kept ones
  std::int64_t max_stored_draws = 0;
  /// name of the inputs, for the overflow hint
  const char *data = "columns";
  /// maximal number of kept draws, evenly spaced among all; at least max_stored_draws
  std::int64_t max_kept_draws = 0;
  /// Called at the end if chains that were cut short have made different numbers of draws: with the
  /// indices, ascending, of the kept draws and of the stored draws that are to remain, as many of
  /// each chain.
  std::function<void(std::span<const int> kept, std::span<const int> stored)> retain = {};
  /// Writes or reads what one chain, the last one that has begun, has collected in keep() and
  /// store(), given how many of its draws were kept and stored.
  std::function<void(StateNumbers &, int chain, std::int64_t kept, std::int64_t stored)> exchange =
      {};
  /// Called when a chain whose draws count has made the last of them. Sums over draws are made for
  /// each chain, then added up, so that they do not depend on when a chain was extended.
  std::function<void()> end_chain = {};
  /// How many draws can be stored while the chains run: if a fit can be resumed, it stores all
  /// draws, of which max_stored_draws remain in the end, so that it can be extended. 0: it stores
  /// max_stored_draws.
  std::int64_t max_held_draws = 0;
};

/// Results of the chains, apart from the stored draws.
struct ChainRun {
  Draws quantities;
  /// largest log joint density of all draws after warmup and thinning
  double best = 0;
  /// Whether R-hat of all quantities indicates convergence; quantities that never change are
  /// ignored.
  bool agree = false;
  /// The plan; if chains were cut short, with as many draws of each as the shortest one has made.
  ChainPlan made;
  /// the number of sweeps of a chain, of the shortest one
  int sweeps = 0;
  /// Was a chain or its warmup cut short, as the time was over?
  bool cut = false;
};

/// Runs the chains one after another; make(chain) begins chain number 0, 1, .... Throws
/// Error(numeric) if a density overflows.
///
/// Of the control's budget each chain has an equal share, which begins when the chain before ends.
/// Half of a chain's share is for its start and its warmup; if these take longer, the warmup ends
/// there. Every chain makes at least one draw, and none makes more than the first.
///
/// If the fit can be resumed, a chain has all the time instead, and where that ends it is recorded,
/// and no other chain begins: the result has the chains that are complete, or, if there is none,
/// the draws of this one, of which there is at least one. A fit that has ended can be resumed with
/// a plan of more draws: then each chain goes on where it ended. Throws Error(invalid_argument) if
/// the longer fit stores draws that the shorter one has left out.
BAYES_API ChainRun run_chains(const ChainSettings &settings, Control &control,
                              const std::function<std::unique_ptr<ChainSampler>(int chain)> &make);

/// Rounds a number to 34 bits, so that it does not depend on the order of summation, and R-hat does
/// not mistake rounding errors for differences between chains. run_chains() rounds the log joint
/// density itself.
double without_rounding_errors(double x);

}  // namespace bayes
