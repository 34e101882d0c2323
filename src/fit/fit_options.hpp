// The number of runs of a fit without option restarts: as many as are cheap. The work of a run is
// estimated, never measured, so the same rows get the same runs on every machine.
#pragma once

#include <algorithm>
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
#include "fit/schedule.hpp"
#include "mcmc/run_chains.hpp"

namespace bayes {

/// The work of one run of a learner, as estimated before the run.
struct RunEffort {
  /// size of an iteration: rows (tokens, cells) x parameters used for each of them
  double numbers;
  /// expected number
  double iterations;

  /// On one core of 2020. The work for each number differs between families by a small factor,
  /// which does not matter here.
  double seconds() const { return numbers * iterations / 1e8; }
};

/// The number of runs that take two seconds in total by this estimate, but at least `least` and at
/// most `most`. `least` is the number that a family needs even if a run is expensive; more than
/// `most` runs seldom find a better optimum.
inline int affordable_restarts(const RunEffort &effort, int least, int most) {
  const double runs = 2 / effort.seconds();
  return int(std::clamp(runs, double(least), double(most)));
}

struct FitOptions {
  Method method = Method::vi;
  int max_iterations = 10000;
  /// on the objective (Schedule::tolerance)
  double tolerance = 1e-4;
  /// 0: by the rule of fit/fit_options.hpp, once the size of the data is known
  int restarts = 0;
  /// the number of restarts was not given: a fit makes fewer where it can (fit_run.cpp)
  bool restarts_settled = false;
  /// the fit starts from a model: its first run begins there
  bool started = false;
  /// the posterior of the start model is the prior
  bool update = false;
  std::uint64_t seed = 1;
  double max_seconds = std::numeric_limits<double>::infinity();
  /// the model keeps what is needed to resume its fit (base/checkpoint.hpp)
  bool resumable = false;
  /// empty: the default of the model family
  std::string missing;
  bool null_on_error = false;
  StochasticPlan plan;
  /// for samplers
  ChainPlan chains;
  /// for mcem: labels drawn for each row in an iteration
  int samples = 10;
  /// parameter of the Dirichlet prior of the weights
  double alpha = 1;
  /// for maximum likelihood: a restart that ends with a degenerate component may be the best
  bool degenerate = false;

  /// for vi: whether standard deviations of the parameters are corrected (fit/linear_response.hpp);
  /// if not given, where that takes no longer than the fit
  std::optional<bool> linear_response;
  bool corrected() const { return method == Method::vi && linear_response.value_or(true); }

  /// option prior as it was given, to this fit or to the start model; null if the whole prior is
  /// the default
  Document given_prior;

  bool bayesian() const { return method == Method::map || is_variational(method) || sampled(); }
  bool sampled() const { return is_sampler(method); }
  bool stochastic() const { return method == Method::svi; }
  /// Is the objective known only by noisy estimates?
  bool noisy() const { return traits(method).noisy; }
  RowOptions rows() const { return {missing == "skip", missing == "marginalize"}; }

  /// Inherits from a start model the options that all model families inherit, before options are
  /// read; a family inherits its own options where it reads them. The rule (docs/rows.md): a fit
  /// inherits the method and the options that define the model (columns and their likelihoods,
  /// covariance, bounds of maximum likelihood, missing, and the prior as far as it was given), but
  /// not the options of the run (seed, iterations, tolerance, restarts, time, chains).
  void inherit(const ModelInfo &start, bool is_update);

  // Lines of a model's table (document/option_table.hpp), in parts between which a model puts its
  // own. The first part begins every table, as the others depend on the method.

  /// method, one of these; for an update, one with a posterior in closed form
  void method_line(OptionTable &t, std::span<const Method> methods);
  /// linear_response, for method vi; must precede iteration_lines
  void linear_response_line(OptionTable &t);
  /// max_iter and tol, whose defaults depend on the method, or the chain options of a sampler
  void iteration_lines(OptionTable &t, int default_iterations = 10000, int min_iterations = 1);
  /// samples, for method mcem
  void sample_line(OptionTable &t);
  /// restarts, unless the fit makes only one run; 1 by default if the fit starts from a model.
  /// `standard`: of OptionKey.
  void restart_line(OptionTable &t, bool one_run, std::string_view standard = {});
  /// degenerate, where maximum likelihood has bounds
  void degenerate_line(OptionTable &t, bool bounds);
  /// seed, max_seconds, resumable, missing (one of these, the first by default), on_error
  void common_lines(OptionTable &t, OptionTable::Names missing_choices, bool resumes = true);
  /// batch_size, kappa, t0
  void plan_lines(OptionTable &t);
  /// how minibatches of rows are drawn
  void minibatch_line(OptionTable &t);
  /// prior, which `read` reads and `write` writes, if it applies. If it is not given, the prior
  /// that was given to the start model is read, with `is_inherited` true: members that have no
  /// meaning for this fit are then ignored.
  void prior_line(OptionTable &t,
                  const std::function<void(const Document &prior, bool is_inherited)> &read,
                  const std::function<Document()> &write, bool applies);
  /// alpha of the prior; at least 1 for method map
  void alpha_line(OptionTable &prior);

  /// Sets the number of restarts if it was not given (fit/fit_options.hpp). To be called before a
  /// FitPlan is made from the options, and before they are written.
  void settle_restarts(const RunEffort &effort, int least, int most) {
    if (restarts != 0) return;
    restarts = affordable_restarts(effort, least, most);
    restarts_settled = true;
  }

  /// The name, for messages, of the setting to which a key does not apply.
  std::string setting() const;
};

/// Copies number `key` from the options of a start model to `member`, if it is in the range.
void inherit_number(const ModelInfo &start, std::string_view key, OptionRange range,
                    double &member);

/// Throws Error(invalid_argument) unless options are null or an object; `example` is for the hint.
void require_object(const Document &options, const char *example);
/// Throws Error(invalid_argument) unless there is at least one k, and all are from 1 to `most`.
void require_components(std::span<const int> ks, int most);

/// Lines max_seconds, the time of the fit, and resumable, if the fit can be resumed.
void time_lines(OptionTable &t, FitOptions &options, bool applies = true, bool resumes = true);

/// Line linear_response: true or false; if it is not given, the cost decides.
void linear_response_line(OptionTable &t, std::optional<bool> &member, bool applies);

}  // namespace bayes
