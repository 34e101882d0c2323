// Adaptive random-walk Metropolis sampling of any density (004; 002 L3).
//
// A proposal is x + s L z, z standard normal, accepted with probability min(1, p(proposal) / p(x)).
// During the warmup L L' follows the covariance of the chain (Haario, Saksman and Tamminen 2001),
// and s is adapted to the acceptance rate, which is best near 0.234 in many dimensions and near
// 0.44 in one (Roberts, Gelman and Gilks 1997; updated as in algorithm 4 of Andrieu and Thoms
// 2008). If the warmup is long enough, its first steps propose single elements, each with a scale
// adapted to its acceptance rate: if the scales differ by orders of magnitude, the covariance of
// the chain would adapt too slowly. After the warmup the proposals are fixed, so the draws are
// those of one Markov chain, whose stationary distribution is exactly the given one.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/api.hpp"
#include "base/control.hpp"
#include "document/document.hpp"
#include "mcmc/run_chains.hpp"

namespace bayes {

struct BAYES_API MetropolisOptions {
  ChainPlan plan;
  std::uint64_t seed = 0;
  /// guesses of the d standard deviations of the distribution; the first proposals have 2.38 /
  /// sqrt(d) times these
  std::vector<double> scale;
  /// false: proposals are determined by `scale` alone
  bool adapt = true;
  /// the time that all chains may take together
  double max_seconds = std::numeric_limits<double>::infinity();
  /// Option keys chains, draws, warmup, thin, seed, scale (a number or an array of d), adapt,
  /// max_seconds.
  /// Throws Error(invalid_argument).
  static MetropolisOptions read(const Document &options, std::size_t dimension);
};

/// Log of a density up to a constant: finite, or -infinity outside of the support. May throw.
using LogDensity = std::function<double(std::span<const double> x)>;

struct MetropolisDraw {
  /// from 1
  int chain, draw;
  std::span<const double> x;
  double log_density;
  /// acceptance rate since the previous draw
  double accepted;
};

struct MetropolisRun {
  /// of each chain
  int draws = 0;
  /// Time was over before the end of a chain's warmup.
  bool short_warmup = false;
  /// acceptance rate of each chain after warmup
  std::vector<double> acceptance;
  /// The largest R-hat, of the log density (`worst` 0) or of an element of x (from 1); of long runs
  /// from evenly spaced draws. NaN if undefined.
  double rhat = std::numeric_limits<double>::quiet_NaN();
  std::size_t worst = 0;
};

/// Runs the chains one after the other and hands out their draws. In a limited time they take turns
/// after their warmups, which have half of it, so that all make as many draws, at least one.
/// `starts`: d finite numbers for each chain; or d numbers, at which the first chain begins, and
/// the others nearby (about `scale` away, where the density is positive). Throws
/// Error(invalid_argument) for a start outside of the support, Error(numeric) for a density that is
/// NaN or +infinity, naming the point. The control is polled at every step.
BAYES_API MetropolisRun metropolis(const LogDensity &log_density, std::span<const double> starts,
                                   std::size_t dimension, const MetropolisOptions &options,
                                   Control &control,
                                   const std::function<void(const MetropolisDraw &)> &take);

/// `{1, 2.5}`, for messages
BAYES_API std::string point_text(std::span<const double> x);

}  // namespace bayes
