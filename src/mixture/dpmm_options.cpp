#include "mixture/dpmm_options.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/message.hpp"
#include "document/members.hpp"

namespace bayes {
namespace {

void gamma_lines(OptionTable &t, GammaPrior &prior) {
  t.number({"shape", "shape of the gamma prior"}, prior.shape, above(0, 1e9));
  t.number({"rate", "rate of the gamma prior"}, prior.rate, above(0, 1e9));
}

void read_concentration(const Document &given, DpmmOptions &o) {
  if (given.as<Document::Object>()) {
    OptionTable t = OptionTable::reading(given, "concentration.");
    gamma_lines(t, *o.learned);
    t.finish();
    return;
  }
  if (!to_number(given, false))
    throw Error(Errc::invalid_argument,
                message("option \"concentration\" is {}, but must be a number greater than 0, or "
                        "an object with shape and rate",
                        describe(given)),
                {},
                "Write {\"concentration\": 1} for a fixed one, or {\"concentration\": {\"shape\": "
                "2, \"rate\": 4}} for a gamma prior.");
  const Document options(Document::Object{{"concentration", given}});
  OptionTable::reading(options).number("concentration", o.concentration, above(0, 1e9));
  o.learned.reset();
}

Document write_concentration(DpmmOptions &o) {
  if (!o.learned) return o.concentration;
  OptionTable t = OptionTable::writing();
  gamma_lines(t, *o.learned);
  return t.document();
}

void read_prior(const Document &given, bool is_inherited, DpmmOptions &o) {
  OptionTable t = OptionTable::reading(given, "prior.");
  o.products ? o.prior.lines(t, o.likelihood) : o.normal_prior.lines(t);
  if (!is_inherited) t.finish();
}

void set_likelihood(const Document &given, DpmmOptions &o) {
  o.likelihood = read_likelihood(given);
  // a single normal likelihood means the multivariate normal
  o.products = given.as<Document::List>() || !o.likelihood[0].is(normal_family);
}

/// Inherits from a start model the options that FitOptions::inherit leaves out.
void inherit_model(const DirichletProcessMixture &start, DpmmOptions &o) {
  const Document &options = start.info.options;
  const auto option = [&options](const char *key) {
    const Document *const found = options.find(key);
    return found ? *found : Document();
  };
  if (const Document likelihood = option("likelihood"); !likelihood.is_null())
    set_likelihood(likelihood, o);
  if (const Document covariance = option("covariance"); covariance.as<std::string>())
    o.covariance = *covariance.as<std::string>();
  if (const Document concentration = option("concentration"); !concentration.is_null())
    read_concentration(concentration, o);
  if (const auto truncation = to_number(option("truncation"), false))
    o.truncation = int(*truncation);
  o.start_clusters = start.size();
  o.start_dimension = start.dimension();
  o.truncation = std::max({o.truncation, o.start_clusters, 2});
  o.restarts = 1;
}

void lines(OptionTable &t, DpmmOptions &o) {
  const auto read_own = [&](const Document &given) {
    if (!o.started) return set_likelihood(given, o);
    DpmmOptions other;
    set_likelihood(given, other);
    if (other.products != o.products) other.likelihood.clear();
    require_likelihood_of_start(other.likelihood, o.likelihood, o.start_dimension);
  };
  const auto write_own = [&] {
    return likelihood_document(o.likelihood, o.products && o.likelihood[0].is(normal_family));
  };
  o.method_line(t, dpmm_methods);
  t.other(likelihood_key, read_own, write_own);
  if (o.products) check_method(o.method, o.likelihood);
  const std::string of_start = o.covariance;
  t.choice(covariance_key, o.covariance, {"full", "diagonal", "spherical"}, !o.products);
  if (t.reads() && o.started && o.covariance != of_start)
    throw Error(Errc::invalid_argument,
                message("option \"covariance\" is {}, but that of the start model is {}",
                        describe(o.covariance), describe(of_start)),
                {}, "Leave it out.");
  categories_line(t, o.categories, o.likelihood, "likelihood", !o.started);
  t.other(
      {"concentration", "concentration of the process, or its gamma prior",
       "a number, or an object with shape and rate"},
      [&](const Document &given) { read_concentration(given, o); },
      [&] { return write_concentration(o); });
  o.order.line(t);
  t.seed(seed_key, o.seed);
  time_lines(t, o);
  t.choice(missing_key, o.missing, {"marginalize", "error", "skip"});
  t.either(on_error_key, o.null_on_error, "error", "null");
  o.prior_line(
      t, [&](const Document &given, bool is_inherited) { read_prior(given, is_inherited, o); }, {},
      true);
  o.chains.lines(t, o.sampled());
  o.chains.stored_line(t, o.sampled());
  t.either({"init", "whether chains start from partitions of several kinds"}, o.one_start, "varied",
           "one", o.sampled() && !o.started);
  t.choice({"estimate", "the loss that the estimated partition makes least"}, o.estimate,
           {"binder", "vi", "bipartition", "map"}, o.sampled());
  t.number({"level", "probability of the credible ball of partitions"}, o.level, above(0, 1),
           o.sampled());
  t.integer({"truncation", "the most clusters"}, o.truncation, std::max(2, o.start_clusters),
            dpmm_max_clusters, !o.sampled());
  t.integer(restarts_key, o.restarts, 1, 1000, !o.sampled());
  o.restarts_settled = t.reads() && !o.started && !t.given("restarts");
  t.integer(max_iter_key, o.max_iterations, 1, 1000000, !o.sampled());
  t.number(tol_key, o.tolerance, {0, 1e6}, !o.sampled());
  o.linear_response_line(t);
}

}  // namespace

PartitionLoss DpmmOptions::loss() const {
  return estimate == "binder"        ? PartitionLoss::binder
         : estimate == "vi"          ? PartitionLoss::information
         : estimate == "bipartition" ? PartitionLoss::bipartition
                                     : PartitionLoss::map;
}

DpmmOptions read_dpmm_options(const Document &options, const DirichletProcessMixture *start) {
  require_object(options, "{\"method\": \"slice\", \"draws\": 2000}");
  DpmmOptions out;
  if (start) {
    out.inherit(start->info, false);
    out.order.inherit(start->info);
    inherit_model(*start, out);
  }
  OptionTable t = OptionTable::reading(options);
  lines(t, out);
  t.finish(out.setting() + (out.products ? " with this likelihood" : ""));
  return out;
}

Document DpmmOptions::document() const {
  DpmmOptions in_force = *this;
  OptionTable t = OptionTable::writing();
  lines(t, in_force);
  return t.document();
}

RowOptions dpmm_check_options(const Document &options, const DirichletProcessMixture *start) {
  return read_dpmm_options(options, start).rows();
}

}  // namespace bayes
