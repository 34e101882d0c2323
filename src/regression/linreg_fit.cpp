// Fitting a linear regression from its sufficient statistics.
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/message.hpp"
#include "regression/linreg_methods.hpp"

namespace bayes {
namespace {

void require_room(const LinregSystem &system, const LinregOptions &options,
                  const Control &control) {
  const double p = system.size + 1, wide = 16 * p * p;
  const std::string what = message("a linear regression of {} terms", system.size);
  require_memory({what,
                  (options.exact() ? 4 : 3) * wide + (options.exact() ? 0 : 6 * 8 * p * p),
                  "statistics",
                  {},
                  "or combine rare labels."},
                 control);
  // A number takes some 20 bytes in the model's text.
  require_model_size(what, 20.0 / 8 * p * p / 2, "Combine rare labels into one.");
}

}  // namespace

LinregRows linreg_check_options(const Document &options) {
  const LinregOptions read = LinregOptions::read(options);
  return {read.missing == "error", read.null_on_error};
}

std::unique_ptr<LinregModel> linreg_fit(const LinregSums &sums, const Document &given,
                                        Control &control, LinregWarnings &warnings) {
  const PollScope scope(control);
  LinregOptions options = LinregOptions::read(given);
  if (sums.rows == 0) throw Error(Errc::invalid_argument, "there are no rows to fit");
  const LinregSystem system(sums, options.intercept, options.reference);
  require_room(system, options, control);
  options.reference = system.all_terms.reference();
  auto model = std::make_unique<LinregModel>();
  FitRun run(*model, options, control);
  run.set_weight(system.weight, system.rows);

  const LeastSquares least(system);
  set_defaults(system, least, options);
  std::vector<bool> left_out(std::size_t(system.size), false);
  if (options.exact()) {
    left_out.clear();
    fit_exactly(system, options, *model, left_out);
  } else {
    const LinregProblem problem(system, least, options);
    if (options.sampled())
      fit_by_gibbs(problem, options, *model, run, control);
    else
      fit_by_iteration(problem, options, *model, run);
  }
  for (int k = 0; k < system.size; ++k) {
    const bool constant = system.constant(k);
    if (constant || least.dependent[std::size_t(k)])
      (constant ? warnings.constant : warnings.dependent).push_back(system.name(k));
    warnings.left_out |= std::isnan(model->state->coefficients[std::size_t(k)]);
  }
  model->info.columns = sums.columns;
  run.describe(sums.rows, sums.skipped, sums.dimension, std::max(1, system.all_terms.size()),
               options.document());
  return model;
}

}  // namespace bayes
