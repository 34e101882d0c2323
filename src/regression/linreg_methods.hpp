// The methods of linear regression. Each fills the state of a model, and sets objective and trace.
#pragma once

#include "fit/fit_run.hpp"
#include "regression/linreg_problem.hpp"

namespace bayes {

/// The posterior in closed form: with known noise a normal (002 L2), else Normal-inverse-gamma:
/// exactly so under the conjugate prior, otherwise by Laplace's method for the noise, which is
/// exact in the limit of a flat prior. Throws Error(numeric) if there is no posterior.
void fit_exactly(const LinregSystem &system, const LeastSquares &least,
                 const LinregOptions &options, LinregModel &model);

/// EM for the mode of p(w | y), alpha and lambda integrated out (002 L5), with method laplace
/// followed by Laplace's approximation there; or variational inference (002 L6).
void fit_by_iteration(const LinregProblem &problem, const LinregOptions &options,
                      LinregModel &model, FitRun &run);

/// Gibbs sampling of w, alpha and lambda from their full conditionals.
void fit_by_gibbs(const LinregProblem &problem, const LinregOptions &options, LinregModel &model,
                  FitRun &run, Control &control);

}  // namespace bayes
