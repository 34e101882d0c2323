#include "models/gmm_options.hpp"

#include "core/members.hpp"
#include "core/options.hpp"

namespace bayes {
namespace {

const std::vector<std::string_view> shapes = {FullCovariance::name, DiagonalCovariance::name, SphericalCovariance::name, TiedCovariance::name};
const std::vector<std::string_view> all_keys = {"covariance_floor", "prior", "batch_size", "kappa", "t0", "restarts", "init", "covariance"};

/// A number, or numbers in one or two dimensions; given_scale() checks the shape.
std::optional<Tensor> number_or_tensor(OptionReader &in, const char *key) {
  const Document *raw = in.raw(key);
  if (!raw || raw->is_null()) return std::nullopt;
  if (const auto number = to_number(*raw, false)) return Tensor{{}, {*number}};
  auto tensor = to_tensor(*raw, false);
  if (!tensor || tensor->shape.empty() || tensor->shape.size() > 2)
    throw Error(Errc::invalid_argument, std::string("option \"prior.") + key + "\" is " + describe(*raw) + ", but must be a number or an array of numbers");
  return tensor;
}

void read_prior(const Document &prior, GmmOptions &out) {
  OptionReader in(prior, "prior.");
  out.independent = in.choice("type", "linked", {"linked", "independent"}) == "independent";
  out.alpha = in.number("alpha", out.alpha, out.method == "map" ? 1 : 0, 1e9, out.method != "map");
  if (const auto m = in.tensor("m", {-1})) out.m = Eigen::Map<const Vector>(m->values.data(), Eigen::Index(m->values.size()));
  if (in.has("a")) out.a = in.number("a", 0, 0, 1e9, true);
  out.B = number_or_tensor(in, "B");
  if (out.independent) out.C = number_or_tensor(in, "C");
  else if (in.has("c")) out.c = in.number("c", 0, 0, 1e9, true);
  in.finish(out.independent ? "prior.type independent" : "prior.type linked", {"c", "C"});
  if (out.independent && (out.method == "map" || out.covariance != std::vector<std::string>{"full"}))
    throw Error(Errc::invalid_argument, "option \"prior.type\" is \"independent\", but that prior exists for methods vi and svi with covariance full only", {},
                "Use the linked prior, which every method and covariance has.");
}

}  // namespace

GmmOptions read_gmm_options(std::span<const int> ks, const Document &options, const GaussianMixture *start, bool update, bool select) {
  if (ks.empty()) throw Error(Errc::invalid_argument, "there is no k to try: the array of ks is empty");
  for (const int k : ks)
    if (k < 1 || k > gmm_max_components)
      throw Error(Errc::invalid_argument, "k is " + std::to_string(k) + ", but must be a whole number from 1 to " + std::to_string(gmm_max_components));
  if (!options.is_null() && !options.as<Document::Object>())
    throw Error(Errc::invalid_argument, std::string("options must be a JSON object, but are of kind ") + options.kind(), {},
                "Write options as '{\"method\": \"em\", \"restarts\": 10}'.");
  if (update && !start->has_posterior()) start->posterior(0);  // throws, saying why

  GmmOptions out;
  OptionReader in(options);
  out.method = in.choice("method", start ? start->info.method : out.method,
                         update ? std::vector<std::string_view>{"vi", "svi"} : std::vector<std::string_view>{"em", "map", "vi", "svi", "kmeans"});
  const bool kmeans = out.method == "kmeans", stochastic = out.method == "svi";
  const std::string shape = start ? start->covariance() : "full";
  if (kmeans) out.covariance = {SphericalCovariance::name};
  else if (select) out.covariance = in.choices("covariance", shape, shapes);
  else if (update) out.covariance = {in.choice("covariance", shape, {shape})};  // the prior has this shape
  else out.covariance = {in.choice("covariance", shape, shapes)};

  out.max_iterations = int(in.integer("max_iter", kmeans ? 300 : stochastic ? 2000 : 1000, 1, 1000000));
  out.tolerance = in.number("tol", stochastic ? 1e-3 : 1e-6, 0, 1e6);
  out.seed = std::uint64_t(in.integer("seed", 1, 0, std::numeric_limits<std::int64_t>::max()));
  out.max_seconds = in.number("max_seconds", out.max_seconds, 0, 1e9, true);
  out.rows.skip_missing = in.choice("missing", "error", {"error", "skip"}) == "skip";
  out.rows.null_on_error = in.choice("on_error", "error", {"error", "null"}) == "null";
  if (out.method == "em") out.covariance_floor = in.number("covariance_floor", out.covariance_floor, 0, 1, true);
  if (!start) {
    const Document *init = in.raw("init");
    if (init && !init->is_null() && !init->as<std::string>()) {
      out.means = in.tensor("init", {select ? -1 : std::int64_t(ks[0]), -1});
      out.restarts = 1;
      if (select && ks.size() > 1)
        throw Error(Errc::invalid_argument, "option \"init\" gives means for one k, but several k are to be tried", {}, "Name an init: kmeans, kmeans++ or random.");
    } else {
      out.init = in.choice("init", out.init, {"kmeans", "kmeans++", "random"});
      out.restarts = int(in.integer("restarts", out.restarts, 1, 1000));
    }
  } else {
    out.started = true;
    out.restarts = 1;
  }
  if (stochastic) {
    out.plan.batch_rows = in.integer("batch_size", out.plan.batch_rows, 1, 100000000);
    out.plan.kappa = in.number("kappa", out.plan.kappa, 0, 1);
    out.plan.t0 = in.number("t0", out.plan.t0, 1, 1e9);
    out.plan.seed = out.seed;
  }
  if (out.bayesian() && !update)
    if (const Document *prior = in.raw("prior"); prior && !prior->is_null()) read_prior(*prior, out);
  const std::string setting = update ? "an update by " : start ? "a fit that starts from a model by " : out.means ? "a fit with given means by " : "";
  in.finish(setting + "method " + out.method, all_keys);
  return out;
}

Document GmmOptions::document() const {
  Document out = Document::object();
  out.set("method", method);
  if (method != "kmeans") out.set("covariance", covariance[0]);
  out.set("max_iter", max_iterations).set("tol", tolerance);
  if (means) out.set("init", *means);
  else if (!started) out.set("restarts", restarts).set("init", init);
  out.set("seed", std::int64_t(seed));
  if (std::isfinite(max_seconds)) out.set("max_seconds", max_seconds);
  out.set("missing", rows.skip_missing ? "skip" : "error").set("on_error", rows.null_on_error ? "null" : "error");
  if (method == "em") out.set("covariance_floor", covariance_floor);
  if (method == "svi") out.set("batch_size", plan.batch_rows).set("kappa", plan.kappa).set("t0", plan.t0);
  return out;
}

}  // namespace bayes
