// Convergence diagnostics of MCMC chains: R-hat, effective sample sizes, Monte Carlo standard
// error.
//
// After Vehtari, Gelman, Simpson, Carpenter and Bürkner, "Rank-normalization, folding, and
// localization: an improved R-hat for assessing convergence of MCMC", Bayesian Analysis 16 (2021);
// results are those of the R package posterior, maintained by its authors.
//
// All diagnostics split every chain into halves (dropping the middle one of an odd number of
// draws), so that one chain is enough and drift is detected. The result is empty if a diagnostic is
// undefined: too few draws (fewer than 4 per chain for rhat, 6 for the others), all draws equal, or
// a draw that is not finite. Throws Error(invalid_argument) if chains have different numbers of
// draws. Time is O(n log n), memory about 80 bytes per draw; the control is polled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/api.hpp"
#include "base/control.hpp"

namespace bayes {

/// The draws of one quantity by one chain, in their order.
struct Chain {
  /// the chain's number in messages
  std::int64_t number;
  std::span<const double> draws;
};

/// The largest number of draws that callers may collect.
inline constexpr std::size_t max_diagnosed_draws = 10'000'000, max_diagnosed_chains = 10'000;

/// The rank-normalised split R-hat, the larger of those of the draws and of their distances from
/// the median ("folded", sensitive to scale). About 1 if the chains agree; infinite if each half is
/// constant and the constants differ. If all distances are equal, as with two stuck chains, only
/// the draws are used (posterior: NA).
BAYES_API std::optional<double> rhat(std::span<const Chain> chains, Control &control);

/// The effective sample size for the bulk of the distribution, that of the rank-normalised draws.
/// At most S log10 S for a total of S draws.
BAYES_API std::optional<double> ess_bulk(std::span<const Chain> chains, Control &control);

/// The effective sample size for the tails, the smaller of those for the 5 % and 95 % quantiles.
/// Empty if, because of ties, a quantile is an extreme draw with no draws beyond it.
BAYES_API std::optional<double> ess_tail(std::span<const Chain> chains, Control &control);

/// The Monte Carlo standard error of the mean of all draws.
BAYES_API std::optional<double> mcse_mean(std::span<const Chain> chains, Control &control);

// Autocovariances of several series at once, at all lags.

/// The mean over the series of (1 / n) sum_s x[s] x[s + lag], for the lags 0 to n - 1. `series`:
/// concatenated, each of n >= 1 numbers with mean 0 whose squares are within the range of a double.
///
/// By fast Fourier transform, in O(n log n) per series; rounding errors are about 1e-15 of lag 0.
/// Polls the control.
BAYES_API std::vector<double> mean_autocovariance(std::span<const double> series, std::size_t n,
                                                  Control &control);

}  // namespace bayes
