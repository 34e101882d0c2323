// Autocovariances of several series at once, at all lags.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/api.hpp"
#include "base/control.hpp"

namespace bayes {

/// The mean over the series of (1 / n) sum_s x[s] x[s + lag], for the lags 0 to n - 1. `series`:
/// concatenated, each of n >= 1 numbers with mean 0 whose squares are within the range of a double.
///
/// By fast Fourier transform, in O(n log n) per series; rounding errors are about 1e-15 of lag 0.
/// Polls the control.
BAYES_API std::vector<double> mean_autocovariance(std::span<const double> series, std::size_t n,
                                                  Control &control);

}  // namespace bayes
