#include "fit/fit_options.hpp"

#include "base/error.hpp"
#include "base/message.hpp"

namespace bayes {

void FitOptions::method_line(OptionTable &t, OptionTable::Names methods) {
  if (update)
    t.choice("method", method, {"vi", "svi"});
  else
    t.choice("method", method, methods);
}

void FitOptions::linear_response_line(OptionTable &t) {
  t.flag("linear_response", linear_response, method == "vi");
}

void FitOptions::iteration_lines(OptionTable &t, int default_iterations, int least_iterations) {
  chains.lines(t, sampled());
  if (t.reads()) {
    max_iterations = stochastic() ? 2000 : default_iterations;
    // Linear response holds at the optimum itself.
    tolerance = stochastic() ? 0.01 : linear_response ? 1e-8 : 1e-4;
  }
  t.integer("max_iter", max_iterations, least_iterations, 1000000, !sampled());
  t.number("tol", tolerance, {0, 1e6}, !sampled());
}

void FitOptions::sample_line(OptionTable &t) {
  t.integer("samples", samples, 1, 10000, method == "mcem");
}

void FitOptions::restart_line(OptionTable &t, bool one_run) {
  if (one_run) restarts = 1;
  t.integer("restarts", restarts, 1, 1000, !one_run);
}

void FitOptions::degenerate_line(OptionTable &t, bool bounds) {
  t.either("degenerate", degenerate, "avoid", "allow", bounds);
}

void FitOptions::common_lines(OptionTable &t, OptionTable::Names missing_choices) {
  if (t.reads()) missing = *missing_choices.begin();
  t.seed("seed", seed);
  t.number("max_seconds", max_seconds, above(0, 1e9), !sampled());
  t.choice("missing", missing, missing_choices);
  t.either("on_error", null_on_error, "error", "null");
}

void FitOptions::plan_lines(OptionTable &t) {
  t.integer("batch_size", plan.batch_rows, 1, 100000000, stochastic());
  t.number("kappa", plan.kappa, {0, 1}, stochastic());
  t.number("t0", plan.t0, {1, 1e9}, stochastic());
  plan.seed = seed;
}

void FitOptions::alpha_line(OptionTable &prior) {
  prior.number("alpha", alpha, method == "map" ? OptionRange{1, 1e9} : above(0, 1e9));
}

std::string FitOptions::setting() const {
  return (update    ? "an update by method "
          : started ? "a fit that starts from a model by method "
                    : "method ") +
         method;
}

void require_object(const Document &options, const char *example) {
  if (!options.is_null() && !options.as<Document::Object>())
    throw Error(Errc::invalid_argument,
                message("options must be a JSON object, but are of kind {}", options.kind()), {},
                message("Write options as '{}'.", example));
}

void require_components(std::span<const int> ks, int most) {
  if (ks.empty())
    throw Error(Errc::invalid_argument, "there is no k to try: the array of ks is empty");
  for (const int k : ks)
    if (k < 1 || k > most)
      throw Error(Errc::invalid_argument,
                  message("k is {}, but must be a whole number from 1 to {}", k, most));
}

}  // namespace bayes
