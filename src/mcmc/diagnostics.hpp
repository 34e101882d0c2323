// Have the chains of a sampler converged, and what are their draws worth? R-hat, effective sample
// sizes, Monte Carlo standard error.
//
// After Vehtari, Gelman, Simpson, Carpenter and Bürkner, "Rank-normalization, folding, and
// localization: an improved R-hat for assessing convergence of MCMC", Bayesian Analysis 16 (2021);
// results are those of the R package posterior, which its authors keep.
//
// All of them cut every chain into halves (the middle one of an odd number of draws is left out),
// so that one chain is enough and a drift shows. Nothing is returned where there is no answer: too
// few draws (fewer than 4 in a chain for rhat, 6 for the others), draws that are all equal, a draw
// that is not finite. Error(invalid_argument) if chains have different numbers of draws. Time is
// O(n log n), memory some 80 bytes a draw; the control is polled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/api.hpp"
#include "base/control.hpp"

namespace bayes {

/// The draws of one quantity by one chain, in their order.
struct Chain {
  /// as messages call it
  std::int64_t number;
  std::span<const double> draws;
};

/// What callers that collect draws keep to.
inline constexpr std::size_t max_diagnosed_draws = 10'000'000, max_diagnosed_chains = 10'000;

/// The rank-normalised split R-hat, the larger of those of the draws and of their distances from
/// the median ("folded": it sees differences of scale). About 1 when the chains agree; infinite if
/// each half stays at one value and these differ. Where all distances are equal, as of two chains
/// that are each stuck, the draws alone count (posterior: NA).
BAYES_API std::optional<double> rhat(std::span<const Chain> chains, Control &control);

/// How many independent draws would tell as much about the middle of the distribution: of the
/// rank-normalised draws. At most S log10 S for S draws in all.
BAYES_API std::optional<double> ess_bulk(std::span<const Chain> chains, Control &control);

/// The same of its tails: the smaller one of the 5 % and the 95 % quantile. Nothing if either
/// quantile is an extreme draw that so many others are equal to that none lies beyond.
BAYES_API std::optional<double> ess_tail(std::span<const Chain> chains, Control &control);

/// The Monte Carlo standard error of the mean of all draws.
BAYES_API std::optional<double> mcse_mean(std::span<const Chain> chains, Control &control);

}  // namespace bayes
