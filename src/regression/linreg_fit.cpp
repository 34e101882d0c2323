// Fitting a linear regression from its sufficient statistics.
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/message.hpp"
#include "document/members.hpp"
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

/// A single row can be fitted, by the prior alone; other weights that add up to so little are taken
/// for a mistake.
void require_weight(const LinregSystem &system) {
  const double n = system.observations();
  if (n > 0 || (n == 0 && system.rows == 1)) return;
  throw Error(
      Errc::numeric,
      message("the weights of {} row{} add up to {}, which is too little to estimate a variance",
              system.rows, system.rows == 1 ? "" : "s", system.weight),
      "A weight is the number of times that its row counts, not a share of the whole.",
      "Multiply the weights so that they add up to the number of rows.");
}

/// Throws for columns whose products, coefficients or variances are so far from 1 that they would
/// lose digits or overflow.
void require_magnitudes(const LinregSystem &system) {
  // powers of 2: of the square root of a sum of squares, and of the ratio of two such roots
  constexpr int least = -400, max_ratio_exponent = 400;
  const auto refuse = [&](int i, const std::string &how) {
    throw Error(
        Errc::numeric,
        message("{} {}",
                i == system.size ? "the response"
                                 : message("predictor {}", describe(Document(system.name(i)))),
                how),
        "Results, or their squares, would be out of the range of float8.",
        "Rescale: multiply or divide the response, or the predictor, by a power of ten.");
  };
  const int of_y = system.exponent[std::size_t(system.size)];
  const bool constant_y = system.products(system.size, system.size).hi == 0;
  for (int i = system.size; i >= 0; --i) {
    const int of_i = system.exponent[std::size_t(i)];
    if (system.underflows[std::size_t(i)] || (of_i < least && !system.constant(i)))
      refuse(i, "varies too little for its squares to be added up");
    if (!system.constant(i) && !constant_y && std::abs(of_i - of_y) > max_ratio_exponent)
      refuse(i, "is too many orders of magnitude from the response");
  }
}

}  // namespace

LinregRows linreg_check_options(const Document &options) {
  const LinregOptions read = LinregOptions::read(options);
  return {read.missing == "error"};
}

namespace {

/// Is a scale needed, for the default prior of the noise or of the coefficients, that neither a
/// constant response nor a prior has?
bool lacks_scale(const LeastSquares &least, const LinregOptions &options) {
  return least.variance == 0 && !options.known_noise() &&
         !(options.b && (options.a || options.exact()));
}

/// Predictors that equal the response in every row, recognised by their equal sums.
std::vector<int> copies_of_response(const LinregSums &sums) {
  const auto same = [](DoubleDouble a, DoubleDouble b) { return a.hi == b.hi && a.lo == b.lo; };
  const DoubleDouble square = sums.at(response_cell, response_cell),
                     sum = sums.at(one_cell, response_cell);
  std::vector<int> out;
  if (!(square.hi * sums.weight() - sum.hi * sum.hi > 1e-12 * square.hi * sums.weight()))
    return out;
  for (int j = 0; j < sums.dimension; ++j) {
    if (!sums.columns.empty() && sums.columns[std::size_t(j)].kind == ValueKind::label) continue;
    const int cell = sums.cell_of(j);
    if (same(sums.at(cell, cell), square) && same(sums.at(cell, response_cell), square) &&
        same(sums.at(one_cell, cell), sum))
      out.push_back(j);
  }
  return out;
}

}  // namespace

std::unique_ptr<LinregModel> linreg_fit(const LinregSums &sums, const Document &given,
                                        Control &control, LinregWarnings &warnings) {
  const PollScope scope(control);
  LinregOptions options = LinregOptions::read(given);
  if (sums.rows == 0) throw Error(Errc::invalid_argument, "there are no rows to fit");
  const LinregSystem system(sums, options.intercept, options.reference);
  require_room(system, options, control);
  require_weight(system);
  require_magnitudes(system);
  options.reference = system.all_terms.reference();
  auto model = std::make_unique<LinregModel>();
  FitRun run(*model, options, control);
  run.set_weight(system.weight, system.rows);

  const LeastSquares least(system);
  warnings.no_noise = lacks_scale(least, options);
  if (warnings.no_noise && !(options.exact() && system.observations() > least.rank)) return nullptr;
  set_defaults(system, least, options);
  if (options.exact()) {
    fit_exactly(system, least, options, *model);
    warnings.no_noise |= least.variance == 0 && !options.known_noise() && *options.b == 0;
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
    if (std::isnan(model->state->coefficients[std::size_t(k)]))
      (constant ? warnings.constant_left_out : warnings.dependent_left_out) = true;
  }
  warnings.response = copies_of_response(sums);
  model->info.columns = sums.columns;
  run.describe(sums.rows, sums.skipped, sums.dimension, std::max(1, system.all_terms.size()),
               options.document());
  return model;
}

}  // namespace bayes
