// Options that the fits of all finite mixtures share, read and checked.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "document/options.hpp"
#include "fit/stochastic_plan.hpp"
#include "mcmc/chain_plan.hpp"

namespace bayes {

struct FitOptions {
  std::string method = "vi";
  int max_iterations = 1000;
  double tolerance = 1e-6;
  int restarts = 20;
  bool started = false;  // from a model, which is the initialization of the single run
  std::uint64_t seed = 1;
  double max_seconds = std::numeric_limits<double>::infinity();
  std::string missing = "error";
  bool null_on_error = false;
  StochasticPlan plan;
  ChainPlan chains;  // of a sampler
  int samples = 10;  // labels drawn for each row in an iteration of mcem
  double alpha = 1;  // of the prior of the weights

  bool bayesian() const {
    return method == "map" || method == "vi" || method == "svi" || sampled();
  }
  bool sampled() const { return method == "gibbs" || method == "collapsed"; }
  bool stochastic() const { return method == "svi"; }

  /// Keys max_iter, tol, max_seconds (of samplers those of mcmc/chain_plan.hpp instead), seed,
  /// missing (one of `missing_choices`, the first by default), on_error; the defaults of the first
  /// two are the method's. Of mcem also samples.
  void read_common(OptionReader &in, int default_iterations,
                   const std::vector<std::string_view> &missing_choices, int least_iterations = 1);
  /// batch_size, kappa, t0 if the method is stochastic.
  void read_plan(OptionReader &in);
  /// alpha; at least 1 for method map.
  void read_alpha(OptionReader &prior);
  /// The setting that a key does not apply to, for messages.
  std::string setting(bool update) const;

  // The options in force, in three parts, between which a model inserts its own.
  void write_iterations(Document &out) const;
  void write_common(Document &out) const;
  void write_plan(Document &out) const;
};

/// Throws Error(invalid_argument) unless options are null or an object; `example` is for the hint.
void require_object(const Document &options, const char *example);
/// Throws Error(invalid_argument) unless 1 <= k <= most.
void require_components(int k, int most);

}  // namespace bayes
