// The options of probabilistic matrix factorization.
#pragma once

#include <optional>
#include <string>

#include "factor/factor_table.hpp"
#include "factor/pmf.hpp"
#include "factor/pmf_chain.hpp"
#include "fit/fit_options.hpp"

namespace bayes {

/// Of FitOptions those of samplers.
struct PmfOptions : FitOptions {
  PmfOptions() {
    method = Method::gibbs;
    chains.chains = 4;
    chains.draws = 200;
    restarts = 1;
  }

  int rank = 1;
  /// treatment of cells that occur more than once: error, average or last
  std::string repeated = "error";
  bool means = true;
  /// the model stores which cells had numbers
  bool rated = true;
  /// prior.noise_variance and prior.c: values, or gamma priors of the precisions; in the units of
  /// the numbers
  std::optional<double> noise_variance, c;
  std::optional<PrecisionPrior> noise_prior, c_prior;
  bool hierarchical = false;

  Document document() const;
};

/// Reads and checks; a start model hands on its rank, means, rated, repeated and, unless another is
/// given, the prior. Throws Error(invalid_argument).
PmfOptions read_pmf_options(int rank, const Document &options, const PmfModel *start = nullptr);

}  // namespace bayes
