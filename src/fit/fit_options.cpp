#include "fit/fit_options.hpp"

#include <cmath>

#include "base/error.hpp"
#include "mcmc/chain_plan.hpp"

namespace bayes {

void FitOptions::read_common(OptionReader &in, int default_iterations,
                             const std::vector<std::string_view> &missing_choices,
                             int least_iterations) {
  if (sampled()) {
    read_chain_plan(in, chains);
  } else {
    max_iterations = int(in.integer("max_iter", stochastic() ? 2000 : default_iterations,
                                    least_iterations, 1000000));
    tolerance = in.number("tol", stochastic() ? 1e-3 : 1e-6, 0, 1e6);
    max_seconds = in.number("max_seconds", max_seconds, 0, 1e9, true);
  }
  if (method == "mcem") samples = int(in.integer("samples", samples, 1, 10000));
  seed = std::uint64_t(in.integer("seed", 1, 0, std::numeric_limits<std::int64_t>::max()));
  missing = in.choice("missing", missing_choices.front(), missing_choices);
  null_on_error = in.choice("on_error", "error", {"error", "null"}) == "null";
}

void FitOptions::read_plan(OptionReader &in) {
  if (!stochastic()) return;
  plan.batch_rows = in.integer("batch_size", plan.batch_rows, 1, 100000000);
  plan.kappa = in.number("kappa", plan.kappa, 0, 1);
  plan.t0 = in.number("t0", plan.t0, 1, 1e9);
  plan.seed = seed;
}

void FitOptions::read_alpha(OptionReader &prior) {
  alpha = prior.number("alpha", alpha, method == "map" ? 1 : 0, 1e9, method != "map");
}

std::string FitOptions::setting(bool update) const {
  return (update    ? "an update by method "
          : started ? "a fit that starts from a model by method "
                    : "method ") +
         method;
}

void FitOptions::write_iterations(Document &out) const {
  if (sampled())
    write_chain_plan(out, chains);
  else
    out.set("max_iter", max_iterations).set("tol", tolerance);
  if (method == "mcem") out.set("samples", samples);
}

void FitOptions::write_common(Document &out) const {
  out.set("seed", std::int64_t(seed));
  if (std::isfinite(max_seconds)) out.set("max_seconds", max_seconds);
  out.set("missing", missing).set("on_error", null_on_error ? "null" : "error");
}

void FitOptions::write_plan(Document &out) const {
  if (stochastic())
    out.set("batch_size", plan.batch_rows).set("kappa", plan.kappa).set("t0", plan.t0);
}

void require_object(const Document &options, const char *example) {
  if (!options.is_null() && !options.as<Document::Object>())
    throw Error(Errc::invalid_argument,
                std::string("options must be a JSON object, but are of kind ") + options.kind(), {},
                std::string("Write options as '") + example + "'.");
}

void require_components(int k, int most) {
  if (k < 1 || k > most)
    throw Error(Errc::invalid_argument, "k is " + std::to_string(k) +
                                            ", but must be a whole number from 1 to " +
                                            std::to_string(most));
}

}  // namespace bayes
