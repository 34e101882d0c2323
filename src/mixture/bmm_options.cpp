#include "mixture/bmm_options.hpp"

#include "base/error.hpp"

namespace bayes {
namespace {

/// dimension: that of the model that a fit starts from.
void lines(OptionTable &t, BmmOptions &o, int dimension) {
  const auto read_own = [&](const Document &given) {
    std::vector<ColumnSpec> likelihood = read_likelihood(given);
    if (o.started)
      require_likelihood_of_start(likelihood, o.likelihood, dimension);
    else
      o.likelihood = std::move(likelihood);
  };
  const auto read_prior = [&](const Document &given, bool is_inherited) {
    OptionTable prior = OptionTable::reading(given, "prior.");
    o.alpha_line(prior);
    o.prior.lines(prior, o.likelihood);
    if (!is_inherited) prior.finish();
  };
  o.method_line(t, bmm_methods);
  t.other(likelihood_key, read_own, [&] { return likelihood_document(o.likelihood); });
  check_method(o.method, o.likelihood);
  categories_line(t, o.categories, o.likelihood, "likelihood", !o.started);
  o.order.line(t);
  o.linear_response_line(t);
  o.iteration_lines(t);
  o.chains.stored_line(t, o.sampled());
  o.sample_line(t);
  o.restart_line(t, o.update || o.sampled());
  t.choice({"init", "the rows from which components start"}, o.init,
           {"varied", "kmeans++", "random"}, !o.started || o.restarts > 1);
  o.common_lines(t, {"marginalize", "error", "skip"});
  t.number(minimum_key, o.minimum, {1e-12, 0.5}, !o.bayesian());
  o.degenerate_line(t, !o.bayesian());
  o.plan_lines(t);
  o.minibatch_line(t);
  o.prior_line(t, read_prior, {}, o.bayesian() && !o.update);
  // Categories that are new to the model to be updated have the prior that was given to it.
  if (t.reads() && o.update && !o.given_prior.is_null()) read_prior(o.given_prior, true);
}

}  // namespace

BmmOptions read_bmm_options(std::span<const int> ks, const Document &options,
                            const BernoulliMixture *start, bool update) {
  require_components(ks, bmm_max_components);
  require_object(options, "{\"method\": \"em\", \"restarts\": 10}");
  if (update && !start->has_posterior()) start->posterior(0);  // throws, saying why

  BmmOptions out;
  if (start) {
    out.inherit(start->info, update);
    out.order.inherit(start->info);
    inherit_number(start->info, "minimum", {1e-12, 0.5}, out.minimum);
    out.likelihood = start->likelihood();
    if (all_equal(out.likelihood)) out.likelihood.resize(1);
  }
  OptionTable t = OptionTable::reading(options);
  lines(t, out, start ? start->dimension() : 0);
  t.finish(out.setting());
  return out;
}

Document BmmOptions::document() const {
  BmmOptions in_force = *this;
  OptionTable t = OptionTable::writing();
  lines(t, in_force, 0);
  return t.document();
}

}  // namespace bayes
