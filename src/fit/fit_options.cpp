#include "fit/fit_options.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/message.hpp"
#include "document/members.hpp"

namespace bayes {

void FitOptions::inherit(const ModelInfo &start, bool is_update) {
  started = true;
  update = is_update;
  method = start.method;
  given_prior = start.given_prior;
  const Document *const of_start = start.options.find("missing");
  if (of_start && of_start->as<std::string>()) missing = *of_start->as<std::string>();
}

void FitOptions::method_line(OptionTable &t, std::span<const Method> methods) {
  static constexpr Method of_updates[] = {Method::vi, Method::svi};
  t.choice({"method", "how the model is fitted"}, method, update ? of_updates : methods);
}

void time_lines(OptionTable &t, FitOptions &options, bool applies, bool resumes) {
  t.number({"max_seconds", "seconds after which the fit ends with the best result so far"},
           options.max_seconds, above(0, 1e9), applies);
  t.flag({"resumable", "whether the model keeps what its fit needs to be resumed"},
         options.resumable, applies && resumes);
}

void linear_response_line(OptionTable &t, std::optional<bool> &member, bool applies) {
  if (!t.reads() && !member) return;
  bool asked = member.value_or(false);
  t.boolean({"linear_response", "whether standard deviations are corrected for mean field", "",
             "where it costs less than the fit"},
            asked, applies);
  if (t.given("linear_response")) member = asked;
}

void FitOptions::linear_response_line(OptionTable &t) {
  bayes::linear_response_line(t, linear_response, method == Method::vi);
}

void FitOptions::iteration_lines(OptionTable &t, int default_iterations, int min_iterations) {
  chains.lines(t, sampled());
  if (t.reads()) {
    max_iterations = stochastic() ? 2000 : default_iterations;
    // Linear response is valid only at the optimum itself.
    tolerance = stochastic() ? 0.01 : linear_response.value_or(false) ? 1e-8 : 1e-4;
  }
  t.integer(max_iter_key, max_iterations, min_iterations, 1000000, !sampled());
  t.number(tol_key, tolerance, {0, 1e6}, !sampled());
}

void FitOptions::sample_line(OptionTable &t) {
  t.integer({"samples", "labels that an iteration draws for each row"}, samples, 1, 10000,
            method == Method::mcem);
}

void FitOptions::restart_line(OptionTable &t, bool one_run, std::string_view standard) {
  if (t.reads() && (one_run || started)) restarts = 1;
  t.integer({restarts_key.key, restarts_key.meaning, {}, standard}, restarts, 1, 1000, !one_run);
}

void FitOptions::degenerate_line(OptionTable &t, bool bounds) {
  t.either({"degenerate", "whether a run that ends with a degenerate component may be the best"},
           degenerate, "avoid", "allow", bounds);
}

void FitOptions::common_lines(OptionTable &t, OptionTable::Names missing_choices, bool resumes) {
  if (t.reads() &&
      std::find(missing_choices.begin(), missing_choices.end(), missing) == missing_choices.end())
    missing = *missing_choices.begin();
  t.seed(seed_key, seed);
  time_lines(t, *this, method != Method::exact, resumes);
  t.choice(missing_key, missing, missing_choices);
  t.either(on_error_key, null_on_error, "error", "null");
}

void FitOptions::plan_lines(OptionTable &t) {
  t.integer({"batch_size", "rows, sequences or documents of a minibatch"}, plan.batch_rows, 1,
            100000000, stochastic());
  t.number({"kappa", "step i has the size (t0 + i)^-kappa"}, plan.kappa, {0, 1}, stochastic());
  t.number({"t0", "delay of the step sizes"}, plan.t0, {1, 1e9}, stochastic());
  plan.seed = seed;
}

void FitOptions::minibatch_line(OptionTable &t) {
  if (t.reads() || plan.by_hash)
    t.either({"minibatch", "whether minibatches are dealt in groups of rows, or by a hash of each"},
             plan.by_hash, "groups", "hash", stochastic());
}

void FitOptions::prior_line(
    OptionTable &t, const std::function<void(const Document &prior, bool is_inherited)> &read,
    const std::function<Document()> &write, bool applies) {
  const Document *const given = t.given("prior");
  t.other(
      prior_key, [&](const Document &prior) { read(prior, false); }, write, applies);
  if (!t.reads() || !applies) return;
  if (given) {
    const auto *const keys = given->as<Document::Object>();
    given_prior = keys && !keys->empty() ? *given : Document();
  } else if (!given_prior.is_null()) {
    try {
      read(given_prior, true);
    } catch (const Error &error) {
      throw Error(error.code(), error.what(),
                  "The prior was inherited from the model that the fit starts from.",
                  "Set option prior; {\"prior\": {}} stands for the default prior.");
    }
  }
}

void FitOptions::alpha_line(OptionTable &prior) {
  prior.number({"alpha", "parameter of the Dirichlet prior of the weights"}, alpha,
               method == Method::map ? OptionRange{1, 1e9} : above(0, 1e9));
}

std::string FitOptions::setting() const {
  return (update    ? "an update by method "
          : started ? "a fit that starts from a model by method "
                    : "method ") +
         std::string(method_name(method));
}

void inherit_number(const ModelInfo &start, std::string_view key, OptionRange range,
                    double &member) {
  const Document *const given = start.options.find(key);
  const auto number = given ? to_number(*given, false) : std::nullopt;
  if (number && *number <= range.high &&
      (range.low_open ? *number > range.low : *number >= range.low))
    member = *number;
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
