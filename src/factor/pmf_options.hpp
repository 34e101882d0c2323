// The options of probabilistic matrix factorization.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "document/option_table.hpp"
#include "factor/factor_table.hpp"
#include "factor/pmf_prior.hpp"
#include "mcmc/chain_plan.hpp"

namespace bayes {

struct PmfOptions {
  int rank = 1;
  ChainPlan chains;
  std::uint64_t seed = 1;
  double max_seconds = std::numeric_limits<double>::infinity();
  bool null_on_error = false;
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

PmfOptions read_pmf_options(int rank, const Document &options);

}  // namespace bayes
