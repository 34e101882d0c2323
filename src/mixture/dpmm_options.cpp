#include "mixture/dpmm_options.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "document/members.hpp"
#include "document/options.hpp"
#include "families/product/product_prior.hpp"
#include "mcmc/chain_plan.hpp"

namespace bayes {
namespace {

const std::vector<std::string_view> all_keys = {
    "chains",     "draws",    "warmup",   "thin", "init",       "estimate",  "level",
    "truncation", "restarts", "max_iter", "tol",  "covariance", "categories"};

void read_concentration(OptionReader &in, DpmmOptions &out) {
  const Document *raw = in.raw("concentration");
  if (!raw || raw->is_null()) return;
  if (raw->as<Document::Object>()) {
    OptionReader prior(*raw, "concentration.");
    out.learned->shape = prior.number("shape", out.learned->shape, 0, 1e9, true);
    out.learned->rate = prior.number("rate", out.learned->rate, 0, 1e9, true);
    prior.finish();
    return;
  }
  if (!to_number(*raw, false))
    throw Error(Errc::invalid_argument,
                "option \"concentration\" is " + describe(*raw) +
                    ", but must be a number greater than 0, or an object with shape and rate",
                {},
                "Write {\"concentration\": 1} for a fixed one, or {\"concentration\": {\"shape\": "
                "2, \"rate\": 4}} for a gamma prior.");
  out.concentration = in.number("concentration", 1, 0, 1e9, true);
  out.learned.reset();
}

}  // namespace

PartitionLoss DpmmOptions::loss() const {
  return estimate == "binder"        ? PartitionLoss::binder
         : estimate == "vi"          ? PartitionLoss::information
         : estimate == "bipartition" ? PartitionLoss::bipartition
                                     : PartitionLoss::map;
}

DpmmOptions read_dpmm_options(const Document &options) {
  if (!options.is_null() && !options.as<Document::Object>())
    throw Error(Errc::invalid_argument,
                std::string("options must be a JSON object, but are of kind ") + options.kind(), {},
                "Write options as '{\"method\": \"slice\", \"draws\": 2000}'.");
  DpmmOptions out;
  OptionReader in(options);
  out.method = in.choice("method", out.method, {"collapsed", "gibbs", "slice", "vi"});
  const Document *likelihood = in.raw("likelihood");
  out.likelihood = read_likelihood(in, out.likelihood);
  // one normal for all elements is multivariate
  out.products = (likelihood && likelihood->as<Document::List>()) || out.likelihood[0] != "normal";
  if (!out.products)
    out.covariance = in.choice("covariance", out.covariance, {"full", "diagonal", "spherical"});
  out.categories = read_categories(in, out.likelihood);
  read_concentration(in, out);
  out.seed = std::uint64_t(in.integer("seed", 1, 0, std::numeric_limits<std::int64_t>::max()));
  out.rows.skip_missing = in.choice("missing", "error", {"error", "skip"}) == "skip";
  out.rows.null_on_error = in.choice("on_error", "error", {"error", "null"}) == "null";
  if (const Document *prior = in.raw("prior"); prior && !prior->is_null()) {
    out.prior = *prior;
    if (!out.prior.as<Document::Object>())
      throw Error(Errc::invalid_argument,
                  "option \"prior\" is " + describe(out.prior) + ", but must be an object");
    if (out.products)
      check_product_prior(out.likelihood, out.prior);
    else {
      OptionReader own(out.prior, "prior.");
      out.normal_prior.read(own);
      own.finish();
    }
  }
  if (out.sampled()) {
    read_chain_plan(in, out.chains);
    out.one_start = in.choice("init", "varied", {"varied", "one"}) == "one";
    out.estimate = in.choice("estimate", out.estimate, {"binder", "vi", "bipartition", "map"});
    out.level = in.number("level", out.level, 0, 1, true);
  } else {
    out.truncation = int(in.integer("truncation", out.truncation, 2, 10000));
    out.restarts = int(in.integer("restarts", out.restarts, 1, 1000));
    out.max_iterations = int(in.integer("max_iter", out.max_iterations, 1, 1000000));
    out.tolerance = in.number("tol", out.tolerance, 0, 1e6);
  }
  in.finish(
      out.products ? "method " + out.method + " with this likelihood" : "method " + out.method,
      all_keys);
  return out;
}

Document DpmmOptions::document() const {
  Document out = Document::object();
  out.set("method", method);
  if (likelihood.size() == 1 && !(products && likelihood[0] == "normal")) {
    out.set("likelihood", likelihood[0]);
  } else {
    Document::List names(likelihood.begin(), likelihood.end());
    out.set("likelihood", std::move(names));
  }
  if (!products) out.set("covariance", covariance);
  if (!categories.is_null()) out.set("categories", categories);
  if (learned)
    out.set("concentration",
            Document::object().set("shape", learned->shape).set("rate", learned->rate));
  else
    out.set("concentration", concentration);
  out.set("seed", std::int64_t(seed))
      .set("missing", rows.skip_missing ? "skip" : "error")
      .set("on_error", rows.null_on_error ? "null" : "error");
  if (sampled()) {
    write_chain_plan(out, chains);
    out.set("init", one_start ? "one" : "varied").set("estimate", estimate).set("level", level);
  } else {
    out.set("truncation", truncation)
        .set("restarts", restarts)
        .set("max_iter", max_iterations)
        .set("tol", tolerance);
  }
  return out;
}

DpmmRowOptions dpmm_check_options(const Document &options) {
  return read_dpmm_options(options).rows;
}

}  // namespace bayes
