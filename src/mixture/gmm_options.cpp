#include "mixture/gmm_options.hpp"

#include "document/members.hpp"
#include "document/options.hpp"

namespace bayes {
namespace {

const std::vector<std::string_view> shapes = {full_covariance.name, diagonal_covariance.name,
                                              spherical_covariance.name, tied_covariance.name};
const std::vector<std::string_view> all_keys = {"covariance_floor",
                                                "prior",
                                                "batch_size",
                                                "kappa",
                                                "t0",
                                                "restarts",
                                                "max_iter",
                                                "tol",
                                                "max_seconds",
                                                "chains",
                                                "draws",
                                                "warmup",
                                                "thin",
                                                "samples",
                                                "init",
                                                "covariance"};

void read_prior(const Document &prior, GmmOptions &out) {
  OptionReader in(prior, "prior.");
  out.independent = in.choice("type", "linked", {"linked", "independent"}) == "independent";
  out.read_alpha(in);
  out.prior.read(in, !out.independent);
  if (out.independent) out.C = in.number_or_tensor("C");
  in.finish(out.independent ? "prior.type independent" : "prior.type linked", {"c", "C"});
  if (out.independent && (!(out.method == "vi" || out.method == "svi") ||
                          out.covariance != std::vector<std::string>{"full"}))
    throw Error(Errc::invalid_argument,
                "option \"prior.type\" is \"independent\", but that prior exists for methods vi "
                "and svi with covariance full only",
                {}, "Use the linked prior, which every method and covariance has.");
}

}  // namespace

GmmOptions read_gmm_options(std::span<const int> ks, const Document &options,
                            const GaussianMixture *start, bool update, bool select) {
  if (ks.empty())
    throw Error(Errc::invalid_argument, "there is no k to try: the array of ks is empty");
  for (const int k : ks) require_components(k, gmm_max_components);
  require_object(options, "{\"method\": \"em\", \"restarts\": 10}");
  if (update && !start->has_posterior()) start->posterior(0);  // throws, saying why

  GmmOptions out;
  OptionReader in(options);
  out.method = in.choice("method", start ? start->info.method : out.method,
                         update ? std::vector<std::string_view>{"vi", "svi"}
                                : std::vector<std::string_view>{"em", "map", "vi", "svi", "gibbs",
                                                                "collapsed", "mcem", "kmeans"});
  const bool kmeans = out.method == "kmeans";
  const std::string shape = start ? start->covariance() : "full";
  if (kmeans)
    out.covariance = {spherical_covariance.name};
  else if (select)
    out.covariance = in.choices("covariance", shape, shapes);
  // the prior has this shape
  else if (update)
    out.covariance = {in.choice("covariance", shape, {shape})};
  else
    out.covariance = {in.choice("covariance", shape, shapes)};

  if (out.method == "collapsed")
    for (const std::string &each : out.covariance)
      if (each == tied_covariance.name)
        throw Error(Errc::invalid_argument,
                    "option \"covariance\" is \"tied\", which method collapsed does not know",
                    "It integrates every component's parameters out by themselves; a covariance "
                    "that all share ties them together.",
                    "Use method gibbs.");
  out.read_common(in, kmeans ? 300 : 1000, {"error", "skip"});
  if (!out.bayesian() && !kmeans)
    out.covariance_floor = in.number("covariance_floor", out.covariance_floor, 0, 1, true);
  if (!start) {
    const Document *init = in.raw("init");
    if (init && !init->is_null() && !init->as<std::string>()) {
      out.means = in.tensor("init", {select ? -1 : std::int64_t(ks[0]), -1});
      out.restarts = 1;
      if (select && ks.size() > 1)
        throw Error(Errc::invalid_argument,
                    "option \"init\" gives means for one k, but several k are to be tried", {},
                    "Name an init: kmeans, kmeans++ or random.");
    } else {
      out.init = in.choice("init", out.init, {"kmeans", "kmeans++", "random"});
      out.restarts = out.sampled() ? 1 : int(in.integer("restarts", out.restarts, 1, 1000));
    }
  } else {
    out.started = true;
    out.restarts = 1;
  }
  out.read_plan(in);
  if (out.bayesian() && !update)
    if (const Document *prior = in.raw("prior"); prior && !prior->is_null())
      read_prior(*prior, out);
  in.finish((out.means ? "a fit with given means by " : "") + out.setting(update), all_keys);
  return out;
}

Document GmmOptions::document() const {
  Document out = Document::object();
  out.set("method", method);
  if (method != "kmeans") out.set("covariance", covariance[0]);
  write_iterations(out);
  if (means)
    out.set("init", *means);
  else if (!started && !sampled())
    out.set("restarts", restarts).set("init", init);
  else if (!started)
    out.set("init", init);
  write_common(out);
  if (method == "em" || method == "mcem") out.set("covariance_floor", covariance_floor);
  write_plan(out);
  return out;
}

}  // namespace bayes
