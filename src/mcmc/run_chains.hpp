// One way to run chains, for a sampler of anything: warmup and thinning, progress, what is recorded
// of every draw that counts, which draws are stored, and whether the chains agree.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/control.hpp"
#include "document/model.hpp"
#include "mcmc/chain_plan.hpp"

namespace bayes {

/// One chain of a sampler.
class ChainSampler {
 public:
  virtual ~ChainSampler() = default;
  /// Sweep number `index` (0, 1, ...), which names the random numbers. Returns the log joint
  /// density of the draw that it leads to.
  virtual double sweep(int index, Control &control) = 0;
  /// Appends the quantities of that draw; called for draws that count. None of them may depend on
  /// how components are numbered.
  virtual void record(std::vector<double> &values) const = 0;
  /// Keeps that draw, while the chains run, for what is estimated from all of them.
  virtual void keep(double /*log_joint*/) {}
  /// Stores that draw, which is one of those kept.
  virtual void store(double log_joint) = 0;
};

struct ChainSettings {
  const char *method = "";
  ChainPlan plan;
  /// what record() appends; log_joint comes before them
  std::vector<std::string> quantities;
  /// draws stored at most, evenly spaced over those kept
  std::int64_t most_stored = 0;
  /// what a user would rescale if a density overflows
  const char *data = "columns";
  /// draws kept at most, evenly spaced over all that count; not fewer than are stored
  std::int64_t most_kept = 0;
};

/// What chains leave beside the stored draws.
struct ChainRun {
  Draws quantities;
  /// largest log joint density of all draws that count
  double best = 0;
  /// The chains have forgotten where they began, by R-hat of the quantities; one that never changes
  /// does not count.
  bool agree = false;
};

/// Runs the chains one after another; make(chain) begins chain number 0, 1, .... Throws
/// Error(numeric) if a density overflows.
ChainRun run_chains(const ChainSettings &settings, Control &control,
                    const std::function<std::unique_ptr<ChainSampler>(int chain)> &make);

/// A number without the last 19 of its 53 bits: the same draw, its sums taken in another order, has
/// the same density, and rounding errors, which stay for many draws, are not taken for what tells
/// chains apart. The log joint density is rounded by run_chains.
double without_rounding_errors(double x);

}  // namespace bayes
