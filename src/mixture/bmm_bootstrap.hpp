// The parametric bootstrap of a latent class model's fit to a table.
#pragma once

#include "mixture/bmm_fit_statistics.hpp"

namespace bayes {

/// How the fit statistics of the rows compare with those of tables that are drawn from the model
/// and refitted (Efron and Tibshirani 1993, section 16.2; for latent classes Collins and others
/// 1993).
struct BmmBootstrap {
  int draws = 0;
  /// rows without missing elements: those that are compared, and the number of rows in each draw
  std::int64_t rows = 0;
  double g2 = 0, x2 = 0;
  /// (1 + number of draws whose g2 or x2 is at least as large) / (1 + draws)
  double g2_p = 0, x2_p = 0;
};

/// Options: draws (99 by default, 1 to 100000), seed, and restarts of the refits, whose first run
/// begins at the model. Throws Error(invalid_argument).
struct BmmBootstrapOptions {
  int draws = 99, restarts = 1;
  std::uint64_t seed = 1;
};
BAYES_API BmmBootstrapOptions read_bmm_bootstrap_options(const Document &options);

/// Refits by the model's own method. Throws Error as bmm_fit_statistics and bmm_fit do;
/// invalid_argument where there is no table: no complete rows, or elements with an unlimited number
/// of values; too_large if the rows to draw do not fit into the memory for rows.
BAYES_API BmmBootstrap bmm_bootstrap(const BernoulliMixture &model, RowSource &rows,
                                     const BmmBootstrapOptions &options, Control &control);

}  // namespace bayes
