// Random-walk Metropolis sampling of any density (004; 002 L3), which learns its proposals.
//
// A proposal is x + s L z, z standard normal, accepted with probability min(1, p(proposal) / p(x)).
// During the warmup L L' follows the covariance of the chain (Haario, Saksman and Tamminen 2001),
// and s the share of proposals that are accepted, which is best near 0.234 in many dimensions and
// near 0.44 in one (Roberts, Gelman and Gilks 1997; updated as in algorithm 4 of Andrieu and Thoms
// 2008). At first, if there is time, a step proposes one element alone, whose scale learns from
// what is accepted: from elements of scales that differ by orders of magnitude the covariance of
// the chain would learn too slowly. After the warmup all this stays, so that the draws that count
// are those of one Markov chain whose stationary distribution is the density's, exactly.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/api.hpp"
#include "base/control.hpp"
#include "document/document.hpp"
#include "mcmc/chain_plan.hpp"

namespace bayes {

struct BAYES_API MetropolisOptions {
  ChainPlan plan;
  std::uint64_t seed = 0;
  /// a guess of the distribution's standard deviations, d of them: those of the first proposals are
  /// 2.38 / sqrt(d) times that
  std::vector<double> scale;
  /// false: proposals stay what `scale` makes them
  bool adapt = true;
  /// Option keys chains, draws, warmup, thin, seed, scale (a number or an array of d), adapt.
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
  /// the share of the proposals since the draw before that were accepted
  double accepted;
};

struct MetropolisRun {
  /// of each chain after warmup, the share of proposals that were accepted
  std::vector<double> acceptance;
  /// The largest R-hat, of the log density (`worst` 0) or of an element of x (from 1); of long runs
  /// from every so many-th draw. NaN if none exists.
  double rhat;
  std::size_t worst;
};

/// Runs the chains one after the other and hands out their draws. `starts`: d finite numbers for
/// all chains, of which the first begins there and the others nearby (about `scale` away, where the
/// density is positive); or d for each chain. Throws Error(invalid_argument) for a start outside of
/// the support, Error(numeric) for a density that is NaN or +infinity, naming the point. The
/// control is polled at every step.
BAYES_API MetropolisRun metropolis(const LogDensity &log_density, std::span<const double> starts,
                                   std::size_t dimension, const MetropolisOptions &options,
                                   Control &control,
                                   const std::function<void(const MetropolisDraw &)> &take);

/// `{1, 2.5}`, for messages
BAYES_API std::string point_text(std::span<const double> x);

}  // namespace bayes
