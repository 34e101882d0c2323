#include "mixture/bmm_options.hpp"

#include <algorithm>

#include "document/members.hpp"
#include "families/product/product_prior.hpp"

namespace bayes {
namespace {

const std::vector<std::string_view> all_keys = {
    "minimum",     "prior",  "batch_size", "kappa",  "t0",   "restarts", "max_iter", "tol",
    "max_seconds", "chains", "draws",      "warmup", "thin", "samples",  "init",     "categories"};

}  // namespace

BmmOptions read_bmm_options(std::span<const int> ks, const Document &options,
                            const BernoulliMixture *start, bool update) {
  if (ks.empty())
    throw Error(Errc::invalid_argument, "there is no k to try: the array of ks is empty");
  for (const int k : ks) require_components(k, bmm_max_components);
  require_object(options, "{\"method\": \"em\", \"restarts\": 10}");
  if (update && !start->has_posterior()) start->posterior(0);  // throws, saying why

  BmmOptions out;
  OptionReader in(options);
  out.method = in.choice("method", start ? start->info.method : out.method,
                         update ? std::vector<std::string_view>{"vi", "svi"}
                                : std::vector<std::string_view>{"em", "map", "vi", "svi", "gibbs",
                                                                "collapsed", "mcem"});
  if (start) {
    std::vector<std::string> known;
    for (const ColumnSpec &spec : start->state->columns().specs()) known.emplace_back(spec.name());
    if (std::equal(known.begin() + 1, known.end(), known.begin())) known.resize(1);
    out.likelihood = read_likelihood(in, known);
    if (out.likelihood != known &&
        !(known.size() == 1 &&
          std::count(out.likelihood.begin(), out.likelihood.end(), known[0]) == start->dimension()))
      throw Error(Errc::invalid_argument,
                  "option \"likelihood\" is not that of the model which the fit starts from", {},
                  "Leave it out.");
    out.likelihood = known;
  } else {
    out.likelihood = read_likelihood(in, out.likelihood);
    out.categories = read_categories(in, out.likelihood);
  }
  out.read_common(in, 1000, {"error", "skip", "marginalize"});
  if (!out.bayesian()) out.minimum = in.number("minimum", out.minimum, 1e-12, 0.5);
  if (!start) {
    out.init = in.choice("init", out.init, {"varied", "kmeans++", "random"});
    out.restarts = out.sampled() ? 1 : int(in.integer("restarts", out.restarts, 1, 1000));
  } else {
    out.started = true;
    out.restarts = 1;
  }
  out.read_plan(in);
  if (out.bayesian() && !update)
    if (const Document *prior = in.raw("prior"); prior && !prior->is_null()) {
      OptionReader own(*prior, "prior.");
      out.read_alpha(own);
      check_product_prior(out.likelihood, *prior, {"alpha"});
      out.prior = *prior;
    }
  in.finish(out.setting(update), all_keys);
  return out;
}

Document BmmOptions::document() const {
  Document out = Document::object();
  out.set("method", method);
  if (likelihood.size() == 1)
    out.set("likelihood", likelihood[0]);
  else
    out.set("likelihood", Document::List(likelihood.begin(), likelihood.end()));
  if (!categories.is_null()) out.set("categories", categories);
  write_iterations(out);
  if (!started && !sampled()) out.set("restarts", restarts);
  if (!started) out.set("init", init);
  write_common(out);
  if (method == "em" || method == "mcem") out.set("minimum", minimum);
  write_plan(out);
  return out;
}

}  // namespace bayes
