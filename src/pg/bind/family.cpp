#include "pg/bind/family.hpp"

#include <cmath>
#include <limits>

#include "pg/server/server_control.hpp"

namespace bayes::pg {
namespace {

/// The last change of the objective in the restart that was kept: the one that ended where the
/// model's objective is.
double last_change(const Model &model) {
  const std::vector<double> *kept = nullptr;
  for (const auto &restart : model.trace)
    if (restart.size() >= 2 && (!kept || std::fabs(restart.back() - model.info.objective) <
                                             std::fabs(kept->back() - model.info.objective)))
      kept = &restart;
  return kept ? kept->back() - (*kept)[kept->size() - 2] : std::numeric_limits<double>::quiet_NaN();
}

double tolerance(const Model &model) {
  const Document *tol = model.info.options.find("tol");
  if (tol && tol->as<double>()) return *tol->as<double>();
  if (tol && tol->as<std::int64_t>()) return double(*tol->as<std::int64_t>());
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

void prepare(RowIntake &intake, const FitRequest &request, FitPolicy policy, int max_dimension) {
  intake.missing = policy.missing;
  intake.max_dimension = max_dimension;
  if (request.start) intake.expect(request.start->info.dimension, "the model");
}

bool has_rows(const RowIntake &intake) {
  if (intake.all_weights_zero())
    throw Error(Errc::invalid_argument, "all weights are zero",
                "A row of weight 0 counts as if it were not there.");
  return intake.rows.rows() > 0;
}

bool attempt_fit(FitPolicy policy, RowIntake &intake, const std::function<void(Control &)> &fit) {
  try {
    if (!has_rows(intake)) return false;
    ServerControl control;
    fit(control);
    return true;
  } catch (const Error &error) {
    if (!policy.null_on_error) throw;
    warn_of_failure(error);
    return false;
  }
}

std::unique_ptr<Model> fit_rows(const Family &family, const FitRequest &request, FitPolicy policy,
                                RowIntake &intake) {
  std::unique_ptr<Model> model;
  attempt_fit(policy, intake,
              [&](Control &control) { model = family.fit(request, intake.rows, control); });
  if (model) warn_if_not_converged(*model);
  return model;
}

std::optional<std::vector<int>> fit_labels(const Family &family, const FitRequest &request,
                                           FitPolicy policy, RowIntake &intake) {
  std::optional<std::vector<int>> labels;
  attempt_fit(policy, intake,
              [&](Control &control) { labels = family.fit_labels(request, intake.rows, control); });
  return labels;
}

void warn_if_not_converged(const Model &model) {
  const ModelInfo &info = model.info;
  if (info.converged) return;
  if (model.draws.chains > 0) {
    report(
        WARNING, info.family + " fit by " + info.method + " did not converge: its chains disagree",
        "R-hat of a quantity of the draws is 1.1 or more.",
        "Raise draws (and with it warmup); rhat over bayes_draws(model) shows which quantities.");
    return;
  }
  const double tol = tolerance(model);
  if (std::isnan(tol)) return;  // a method that runs for a given time has nothing to converge to
  const double change = last_change(model);
  char detail[160] = "";
  if (!std::isnan(change))
    std::snprintf(
        detail, sizeof detail,
        "The objective changed by %.3g in the last iteration; the tolerance is %.3g per row.",
        change, tol);
  const bool hurried = info.options.find("max_seconds") != nullptr;
  report(WARNING,
         info.family + " fit by " + info.method + " did not converge in " +
             std::to_string(info.iterations) + " iterations",
         detail,
         std::string(hurried ? "Raise max_seconds, max_iter or tol" : "Raise max_iter or tol") +
             "; bayes_trace(model) shows the course of the objective.");
}

void warn_of_failure(const Error &error) {
  report(WARNING, std::string("no model: ") + error.what(), error.detail(), error.hint());
}

}  // namespace bayes::pg
