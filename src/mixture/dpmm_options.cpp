#include "mixture/dpmm_options.hpp"

#include "base/error.hpp"
#include "base/message.hpp"
#include "document/members.hpp"

namespace bayes {
namespace {

void gamma_lines(OptionTable &t, GammaPrior &prior) {
  t.number("shape", prior.shape, above(0, 1e9));
  t.number("rate", prior.rate, above(0, 1e9));
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

void read_prior(const Document &given, DpmmOptions &o) {
  OptionTable t = OptionTable::reading(given, "prior.");
  o.products ? o.prior.lines(t, o.likelihood) : o.normal_prior.lines(t);
  t.finish();
}

void lines(OptionTable &t, DpmmOptions &o) {
  const auto read_own = [&](const Document &given) {
    o.likelihood = read_likelihood(given);
    // a single normal likelihood means the multivariate normal
    o.products = given.as<Document::List>() || !o.likelihood[0].is(normal_family);
  };
  const auto write_own = [&] {
    return likelihood_document(o.likelihood, o.products && o.likelihood[0].is(normal_family));
  };
  o.method_line(t, dpmm_methods);
  t.other("likelihood", read_own, write_own);
  if (o.products) check_method(o.method, o.likelihood);
  t.choice("covariance", o.covariance, {"full", "diagonal", "spherical"}, !o.products);
  categories_line(t, o.categories, o.likelihood);
  t.other(
      "concentration", [&](const Document &given) { read_concentration(given, o); },
      [&] { return write_concentration(o); });
  t.seed("seed", o.seed);
  time_lines(t, o);
  t.choice("missing", o.missing, {"marginalize", "error", "skip"});
  t.either("on_error", o.null_on_error, "error", "null");
  t.other("prior", [&](const Document &given) { read_prior(given, o); });
  o.chains.lines(t, o.sampled());
  o.chains.stored_line(t, o.sampled());
  t.either("init", o.one_start, "varied", "one", o.sampled());
  t.choice("estimate", o.estimate, {"binder", "vi", "bipartition", "map"}, o.sampled());
  t.number("level", o.level, above(0, 1), o.sampled());
  t.integer("truncation", o.truncation, 2, 10000, !o.sampled());
  t.integer("restarts", o.restarts, 1, 1000, !o.sampled());
  t.integer("max_iter", o.max_iterations, 1, 1000000, !o.sampled());
  t.number("tol", o.tolerance, {0, 1e6}, !o.sampled());
  o.linear_response_line(t);
}

}  // namespace

PartitionLoss DpmmOptions::loss() const {
  return estimate == "binder"        ? PartitionLoss::binder
         : estimate == "vi"          ? PartitionLoss::information
         : estimate == "bipartition" ? PartitionLoss::bipartition
                                     : PartitionLoss::map;
}

DpmmOptions read_dpmm_options(const Document &options) {
  require_object(options, "{\"method\": \"slice\", \"draws\": 2000}");
  DpmmOptions out;
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

RowOptions dpmm_check_options(const Document &options) { return read_dpmm_options(options).rows(); }

}  // namespace bayes
