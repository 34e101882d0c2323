#include "mixture/gmm_options.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "families/normal/covariance.hpp"

namespace bayes {
namespace {

constexpr std::string_view shapes[] = {full_covariance.name, diagonal_covariance.name,
                                       spherical_covariance.name, tied_covariance.name};

void prior_lines(OptionTable &t, GmmOptions &o) {
  t.either({"type", "whether means and covariances have a joint prior, or one each"}, o.independent,
           "linked", "independent");
  o.alpha_line(t);
  t.number_or_tensor({"C", "covariance of the prior of the means"}, o.C, o.independent);
  o.prior.lines(t, !o.independent);
}

void read_prior(const Document &given, bool is_inherited, GmmOptions &o) {
  OptionTable t = OptionTable::reading(given, "prior.");
  prior_lines(t, o);
  if (!is_inherited) t.finish(o.independent ? "prior.type independent" : "prior.type linked");
  if (o.independent && (!(o.method == Method::vi || o.method == Method::svi) ||
                        o.covariance != std::vector<std::string>{"full"}))
    throw Error(Errc::invalid_argument,
                "option \"prior.type\" is \"independent\", but that prior exists for methods vi "
                "and svi with covariance full only",
                {}, "Use the linked prior, which every method and covariance has.");
}

/// k: the number of means that init must have, -1 for any number.
void lines(OptionTable &t, GmmOptions &o, std::int64_t k, bool select) {
  o.method_line(t, gmm_methods);
  o.linear_response_line(t);
  const bool kmeans = o.method == Method::kmeans;
  const std::string of_prior = o.covariance[0];
  t.flag({"scale", "whether columns are divided by their standard deviations"}, o.scale, kmeans);
  // One variance for all columns, in the unit of each.
  if (kmeans) o.covariance = {(o.scale ? diagonal_covariance : spherical_covariance).name};
  const std::string_view one[] = {of_prior};
  t.choices({"covariance", "shape of the covariances; gmm_select takes an array too"}, o.covariance,
            o.update ? std::span<const std::string_view>(one) : std::span(shapes), select, !kmeans);
  o.order.line(t);
  o.iteration_lines(t, kmeans ? 300 : 10000);
  o.chains.stored_line(t, o.sampled());
  o.sample_line(t);
  const Document *const init = t.given("init");
  const bool means = o.means || (init && !init->as<std::string>());
  o.restart_line(t, o.update || o.sampled() || means);
  const bool fresh = !o.started || o.restarts > 1;
  t.choice({"init", "how the first means are chosen, or these",
            "\"kmeans\", \"kmeans++\", \"random\", or k x d numbers"},
           o.init, {"kmeans", "kmeans++", "random"}, fresh && !means);
  t.tensor("init", o.means, {k, -1}, !o.started && means);
  o.common_lines(t, {"marginalize", "error", "skip"});
  t.number(covariance_floor_key, o.covariance_floor, above(0, 1), !o.bayesian() && !kmeans);
  o.degenerate_line(t, !o.bayesian() && !kmeans);
  o.plan_lines(t);
  o.minibatch_line(t);
  // For another covariance shape, the numbers of the prior have another meaning.
  if (o.started && o.covariance[0] != of_prior) o.given_prior = {};
  o.prior_line(
      t, [&](const Document &given, bool is_inherited) { read_prior(given, is_inherited, o); }, {},
      o.bayesian() && !o.update);
}

}  // namespace

GmmOptions read_gmm_options(std::span<const int> ks, const Document &options,
                            const GaussianMixture *start, bool update, bool select) {
  require_components(ks, gmm_max_components);
  require_object(options, "{\"method\": \"em\", \"restarts\": 10}");
  if (update && !start->has_posterior()) start->posterior(0);  // throws, saying why

  GmmOptions out;
  if (start) {
    out.inherit(start->info, update);
    out.order.inherit(start->info);
    out.covariance = {start->covariance()};
    inherit_number(start->info, "covariance_floor", above(0, 1), out.covariance_floor);
    out.scale = start->info.options.find("scale") != nullptr;
  }
  OptionTable t = OptionTable::reading(options);
  lines(t, out, select ? -1 : ks[0], select);
  if (out.method == Method::collapsed &&
      std::count(out.covariance.begin(), out.covariance.end(), tied_covariance.name))
    throw Error(Errc::invalid_argument,
                "option \"covariance\" is \"tied\", which method collapsed cannot fit",
                "It integrates the parameters out component by component; a covariance that all "
                "share ties the components together.",
                "Use method gibbs.");
  if (out.means && ks.size() > 1)
    throw Error(Errc::invalid_argument,
                "option \"init\" gives means for one k, but several k are to be tried", {},
                "Use init kmeans, kmeans++ or random.");
  t.finish((out.means ? "a fit with given means by " : "") + out.setting());
  return out;
}

Document GmmOptions::document() const {
  GmmOptions in_force = *this;
  OptionTable t = OptionTable::writing();
  lines(t, in_force, -1, false);
  return t.document();
}

Document GmmOptions::prior_document() const {
  GmmOptions in_force = *this;
  OptionTable t = OptionTable::writing();
  prior_lines(t, in_force);
  return t.document();
}

}  // namespace bayes
