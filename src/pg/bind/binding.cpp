#include "pg/bind/binding.hpp"

#include <cmath>
#include <limits>
#include <optional>

#include "base/message.hpp"
#include "document/members.hpp"
#include "pg/server/server_control.hpp"

namespace bayes::pg {
namespace {

/// The last change of the objective in the best restart, the one that ended at the model's
/// objective.
double last_change(const Model &model) {
  const std::vector<double> *best = nullptr;
  for (const auto &restart : model.trace)
    if (restart.size() >= 2 && (!best || std::fabs(restart.back() - model.info.objective) <
                                             std::fabs(best->back() - model.info.objective)))
      best = &restart;
  return best ? best->back() - (*best)[best->size() - 2] : std::numeric_limits<double>::quiet_NaN();
}

/// A number among the options in force, NaN if there is none.
double number_option(const Model &model, const char *key) {
  const Document *const given = model.info.options.find(key);
  const std::optional<double> number = given ? to_number(*given, false) : std::nullopt;
  return number.value_or(std::numeric_limits<double>::quiet_NaN());
}

/// A sentence on the last change of the objective and the tolerance; empty if there is no change.
std::string course_of(const Model &model) {
  const ModelWords &words = model.words();
  const double change = last_change(model), tol = number_option(model, "tol");
  if (std::isnan(change) || std::isnan(tol)) return {};
  char detail[160];
  std::snprintf(detail, sizeof detail,
                "The objective changed by %.3g in the last iteration; option tol is %.3g%s.",
                change, tol,
                words.tolerance_per_unit ? message(" for each {}", words.unit).c_str() : "");
  return detail;
}

/// The WARNING about a fit that max_seconds ended.
void warn_of_time(const Model &model) {
  const ModelInfo &info = model.info;
  const bool sampled = model.draws.chains > 0;
  const int made = sampled ? model.draws.draws : info.iterations;
  const double planned = (number_option(model, "draws") - number_option(model, "warmup")) /
                         number_option(model, "thin");
  report(WARNING,
         message("{} fit by {} is unfinished: max_seconds ended it after {} {}{}{}", info.family,
                 info.method, made, sampled ? "draw" : "iteration", made == 1 ? "" : "s",
                 sampled ? " of each chain" : ""),
         sampled ? message("Each chain was to make {} draws.", std::int64_t(planned))
                 : course_of(model),
         sampled ? "Raise max_seconds, or ask for fewer draws."
                 : "Raise max_seconds; bayes_trace(model) shows the course of the objective.");
}

}  // namespace

bool attempt(FitProgress &progress, bool null_on_error, const std::function<bool(Control &)> &fit) {
  struct End {
    FitProgress &progress;
    ~End() { progress.end(); }
  } const end{progress};
  try {
    ServerControl control(&progress);
    return fit(control);
  } catch (const Error &error) {
    if (!null_on_error) throw;
    warn_of_failure(error);
    return false;
  }
}

void refuse_zero_weights(const char *item_name) {
  throw Error(Errc::invalid_argument, "all weights are zero",
              message("A {} of weight 0 does not count.", item_name));
}

void warn_if_not_converged(const Model &model) {
  const ModelInfo &info = model.info;
  if (info.converged) return;
  if (info.out_of_time) return warn_of_time(model);
  if (model.draws.chains > 0) {
    report(WARNING,
           message("{} fit by {} did not converge: its chains disagree", info.family, info.method),
           "R-hat of a quantity of the draws is 1.1 or more.",
           "Raise draws (and with it warmup); bayes_rhat over bayes_draws(model) shows which "
           "quantities.");
    return;
  }
  if (std::isnan(number_option(model, "tol"))) return;  // a method without a criterion
  report(WARNING,
         message("{} fit by {} did not converge in {} iterations", info.family, info.method,
                 info.iterations),
         course_of(model),
         "Raise max_iter or tol; bayes_trace(model) shows the course of the objective.");
}

void warn_if_degenerate(const Model &model) {
  const ModelInfo &info = model.info;
  const Document *const option = info.options.find("degenerate");
  const std::string *const chosen = option ? option->as<std::string>() : nullptr;
  if (info.degenerate.empty() || (chosen && *chosen == "allow")) return;
  constexpr std::size_t most = 10;
  std::string numbers;
  for (std::size_t i = 0; i < std::min(most, info.degenerate.size()); ++i)
    numbers += (i ? ", " : "") + std::to_string(info.degenerate[i] + 1);
  if (info.degenerate.size() > most) numbers += ", ...";
  const bool one = info.degenerate.size() == 1;
  const ModelWords &words = model.words();
  const char *const bound = info.options.find("minimum") ? "minimum" : "covariance_floor";
  std::string says =
      message("{} fit by {} is degenerate: {} {} {} at the bound of option {}", info.family,
              info.method, one ? words.part : words.parts, numbers, one ? "is" : "are", bound);
  if (words.degenerate_if_few)
    says += message(" or {} too few {}s", one ? "has" : "have", words.unit);
  report(WARNING, says,
         "Without the bound the likelihood would be higher, and usually unbounded: the variance of "
         "few or equal rows goes to 0. The log-likelihood, bic and icl depend on the bound and "
         "cannot be compared with those of other fits.",
         message("Use fewer {}, method map or vi{}, or a larger {}; \"degenerate\": \"allow\" "
                 "accepts such a fit.",
                 words.parts, info.options.find("restarts") ? ", more restarts" : "", bound));
}

}  // namespace bayes::pg
