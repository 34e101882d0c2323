// Options that the fits of all models with a fixed number of components share.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "data/rows.hpp"
#include "document/model.hpp"
#include "document/option_table.hpp"
#include "fit/effort.hpp"
#include "fit/stochastic_plan.hpp"
#include "mcmc/chain_plan.hpp"

namespace bayes {

struct FitOptions {
  Method method = Method::vi;
  int max_iterations = 10000;
  /// of the objective
  double tolerance = 1e-4;
  /// 0: by the rule of fit/effort.hpp, once the size of the data is known
  int restarts = 0;
  /// from a model: the first run begins there
  bool started = false;
  /// and the posterior of that model is the prior
  bool update = false;
  std::uint64_t seed = 1;
  double max_seconds = std::numeric_limits<double>::infinity();
  /// empty: the default of the model family
  std::string missing;
  bool null_on_error = false;
  StochasticPlan plan;
  /// of a sampler
  ChainPlan chains;
  /// labels drawn for each row in an iteration of mcem
  int samples = 10;
  /// of the prior of the weights
  double alpha = 1;
  /// of maximum likelihood: a restart that ends with a degenerate component may be the best
  bool degenerate = false;

  /// of vi: are standard deviations of the parameters to be corrected (fit/linear_response.hpp)? If
  /// nobody says so where that takes no longer than the fit.
  std::optional<bool> linear_response;
  bool corrected() const { return method == Method::vi && linear_response.value_or(true); }

  /// option prior as it was given, here or to the start model; null: everything is default
  Document given_prior;

  bool bayesian() const { return method == Method::map || is_variational(method) || sampled(); }
  bool sampled() const { return is_sampler(method); }
  bool stochastic() const { return method == Method::svi; }
  /// Is the objective known only by noisy estimates?
  bool noisy() const { return traits(method).noisy; }
  RowOptions rows() const { return {missing == "skip", missing == "marginalize", null_on_error}; }

  /// Before options are read: what a fit that starts from a model takes over from it, as far as all
  /// model families do; the model's own part is added where its options are read. The rule, of
  /// which docs/rows.md tells: what says what the model is is handed on (columns and their
  /// likelihoods, covariance, bounds of maximum likelihood, missing, and the prior as far as it was
  /// given), and the method; what concerns the run (seed, iterations, tolerance, restarts, time,
  /// chains) is not.
  void inherit(const ModelInfo &start, bool is_update);

  // Lines of a model's table (document/option_table.hpp), in parts between which a model puts its
  // own. The first part begins every table, as the others depend on the method.

  /// method, one of these; of an update one that has a posterior in closed form
  void method_line(OptionTable &t, std::span<const Method> methods);
  /// linear_response, of method vi; stands before iteration_lines
  void linear_response_line(OptionTable &t);
  /// max_iter and tol, whose defaults are the method's, or the chains of a sampler
  void iteration_lines(OptionTable &t, int default_iterations = 10000, int least_iterations = 1);
  /// samples, of method mcem
  void sample_line(OptionTable &t);
  /// restarts, unless there is `one_run`; by default one, if that begins at a model
  void restart_line(OptionTable &t, bool one_run);
  /// degenerate, where maximum likelihood has bounds
  void degenerate_line(OptionTable &t, bool bounds);
  /// seed, max_seconds, missing (one of these, the first by default), on_error
  void common_lines(OptionTable &t, OptionTable::Names missing_choices);
  /// batch_size, kappa, t0
  void plan_lines(OptionTable &t);
  /// prior, which `read` reads and `write` writes, if it applies. If it is not given, the prior
  /// that was given to the start model is read, then with `handed_on`: what of it has no meaning to
  /// this fit is left out.
  void prior_line(OptionTable &t,
                  const std::function<void(const Document &prior, bool handed_on)> &read,
                  const std::function<Document()> &write, bool applies);
  /// alpha of the prior; at least 1 for method map
  void alpha_line(OptionTable &prior);

  /// The restarts, if they were not given (fit/effort.hpp). To be called before a FitPlan is made
  /// of the options, and before they are written.
  void settle_restarts(const RunEffort &effort, int least, int most) {
    if (restarts == 0) restarts = affordable_restarts(effort, least, most);
  }

  /// What a message calls the setting that a key does not apply to.
  std::string setting() const;
};

/// A number among the options in force of a start model, if it is one that the fit can have.
void hand_on_number(const ModelInfo &start, std::string_view key, OptionRange range,
                    double &member);

/// Throws Error(invalid_argument) unless options are null or an object; `example` is for the hint.
void require_object(const Document &options, const char *example);
/// Throws Error(invalid_argument) unless there are ks, and all from 1 to `most`.
void require_components(std::span<const int> ks, int most);

/// Line linear_response: true or false; without it the cost decides.
void linear_response_line(OptionTable &t, std::optional<bool> &member, bool applies);

}  // namespace bayes
