#include "markov/hmm_options.hpp"

#include <cmath>

#include "base/error.hpp"
#include "base/message.hpp"
#include "document/members.hpp"
#include "families/normal/covariance.hpp"

namespace bayes {
namespace {

/// Checks and normalises a distribution given by the user. One that sums to 1 up to rounding is
/// left unchanged, so that equal probabilities stay equal; a sum further from 1 than 1e-6 is an
/// error.
void normalise(double *p, std::int64_t size, const char *key) {
  double sum = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    if (!(p[i] >= 0))
      throw Error(
          Errc::invalid_argument,
          message("option \"{}\" contains {}, but must hold probabilities", key, describe(p[i])));
    sum += p[i];
  }
  if (!(std::abs(sum - 1) < 1e-6))
    throw Error(Errc::invalid_argument,
                message("option \"{}\" has numbers that sum to {}, but probabilities sum to 1", key,
                        describe(sum)),
                {}, "Divide them by their sum.");
  if (std::abs(sum - 1) > exact_sum)
    for (std::int64_t i = 0; i < size; ++i) p[i] /= sum;
}

/// Requires an object {"symbol": probability, ...} for each state.
void check_probabilities(const Document &given, int k) {
  const auto *list = given.as<Document::List>();
  if (!list || list->size() != std::size_t(k))
    throw Error(Errc::invalid_argument,
                message("option \"init.probabilities\" is {}, but must be an array of {} objects: "
                        "the probabilities of symbols in every state",
                        describe(given), k));
  for (const Document &state : *list) {
    const auto *object = state.as<Document::Object>();
    double sum = 0;
    for (std::size_t i = 0; object && i < object->size(); ++i) {
      const Document &value = (*object)[i].second;
      const auto p = to_number(value, false);
      if (!p || !(*p >= 0 && *p <= 1))
        throw Error(Errc::invalid_argument,
                    message("option \"init.probabilities\" contains {}, but must hold "
                            "probabilities",
                            describe(value)));
      sum += *p;
    }
    if (!object || sum > 1 + 1e-6)
      throw Error(
          Errc::invalid_argument,
          message("option \"init.probabilities\" has {} for state {}, but must hold objects "
                  "{\"symbol\": probability, ...} whose probabilities sum to 1 at most",
                  object ? "probabilities that sum to " + describe(sum) : describe(state),
                  1 + (&state - list->data())),
          "Symbols that are not named share the remaining probability.");
  }
}

void check_means(std::optional<Tensor> &means, int k) {
  if (!means) return;
  if (means->shape.size() == 1 && means->shape[0] == k) means->shape.push_back(1);
  if (means->shape.size() != 2 || means->shape[0] != k)
    throw Error(
        Errc::invalid_argument,
        message("option \"init.means\" is {}, but must be an array of {} x d numbers: an "
                "observation for every state",
                means->shape.empty() ? describe(means->values[0]) : describe_shape(means->shape),
                k));
}

void init_lines(OptionTable &t, HmmOptions &o) {
  const std::int64_t k = o.k;
  std::optional<Tensor> initial, transitions;  // row by row
  if (o.initial) initial = Tensor{{k}, to_vector(*o.initial)};
  if (o.transitions) transitions = Tensor{{k, k}, row_major(*o.transitions)};
  t.tensor({"initial", "first probabilities of the initial state", "k probabilities"}, initial,
           {k});
  t.tensor({"transitions", "first transition probabilities", "k x k probabilities"}, transitions,
           {k, k});
  t.number_or_tensor({"means", "first means", "k, or k x d numbers"}, o.means, !o.symbols);
  const auto read_probabilities = [&](const Document &given) {
    check_probabilities(given, o.k);
    o.probabilities = given;
  };
  t.other(
      {"probabilities", "first probabilities of symbols", "an array of k objects"},
      read_probabilities, [&] { return o.probabilities; }, o.symbols);
  if (!t.reads()) return;
  check_means(o.means, o.k);
  if (initial) {
    normalise(initial->values.data(), k, "init.initial");
    o.initial = Eigen::Map<const Vector>(initial->values.data(), k);
  }
  if (transitions) {
    double *const p = transitions->values.data();
    for (std::int64_t i = 0; i < k; ++i) normalise(p + i * k, k, "init.transitions");
    o.transitions = Eigen::Map<const Matrix>(p, k, k).transpose();
  }
}

void read_init(const Document &given, HmmOptions &o) {
  if (!given.as<Document::Object>())
    throw Error(Errc::invalid_argument,
                message("option \"init\" is {}, but must be an object with initial, transitions, "
                        "and {}",
                        describe(given), o.symbols ? "probabilities" : "means"));
  OptionTable t = OptionTable::reading(given, "init.");
  init_lines(t, o);
  t.finish(o.symbols ? "observations that are symbols" : "observations that are numbers");
}

Document write_init(HmmOptions &o) {
  if (!o.given_start()) return {};
  OptionTable t = OptionTable::writing();
  init_lines(t, o);
  return t.document();
}

/// Dirichlet parameters: one number for all entries, or a tensor of this shape; with `mode` none
/// below 1.
void dirichlet_line(OptionTable &t, const OptionKey &line, DirichletOption &member,
                    const std::vector<std::int64_t> &shape, bool mode) {
  std::optional<Tensor> given;
  t.number_or_tensor(line, given);
  if (!given) return;
  const std::string_view key = line.key;
  if (!given->shape.empty() && given->shape != shape)
    throw Error(Errc::invalid_argument,
                message("option \"prior.{}\" is {}, but must be a number or {}", key,
                        describe_shape(given->shape), describe_shape(shape)));
  for (const double a : given->values) {
    if (!(a > 0))
      throw Error(
          Errc::invalid_argument,
          message("option \"prior.{}\" contains {}, but must be greater than 0", key, describe(a)),
          {},
          "To forbid transitions or initial states, use zeros in option init.transitions or "
          "init.initial, or option topology.");
    if (mode && a < 1)
      throw Error(Errc::invalid_argument,
                  message("option \"prior.{}\" contains {}, but method map needs Dirichlet "
                          "parameters of at least 1",
                          key, describe(a)),
                  "Below 1 the density has no interior mode.", "Use method vi.");
  }
  member.given = std::move(*given);
}

void read_prior(const Document &given, bool is_inherited, HmmOptions &o) {
  OptionTable t = OptionTable::reading(given, "prior.");
  const bool map = o.method == Method::map;
  const std::string standard = describe_number(DirichletOption().given.values[0]);
  dirichlet_line(
      t,
      {"initial", "Dirichlet parameters of the initial state", "a number, or k numbers", standard},
      o.initial_prior, {o.k}, map);
  dirichlet_line(t,
                 {"transition", "Dirichlet parameters of the transitions",
                  "a number, or k x k numbers", standard},
                 o.transition_prior, {o.k, o.k}, map);
  o.products ? o.prior.lines(t, o.emission) : o.normal_prior.lines(t);
  if (!is_inherited) t.finish();
}

/// Method, emission and covariance, on which all other options depend.
void emission_lines(OptionTable &t, HmmOptions &o) {
  // A fit that starts from a model inherits its emissions.
  const bool open = !o.started || !t.reads();
  const auto read_own = [&](const Document &given) {
    o.emission = read_likelihood(given, "emission");
    o.products = given.as<Document::List>() || !o.emission[0].is(normal_family);
  };
  const auto write_own = [&] {
    return likelihood_document(o.emission, o.products && o.emission[0].is(normal_family));
  };
  o.method_line(t, hmm_methods);
  t.other({"emission", "the distribution of the observations, or of each column",
           "a name, an object, or an array of them"},
          read_own, write_own, open);
  if (o.products) check_method(o.method, o.emission, "emission");
  t.choice(covariance_key, o.covariance,
           {full_covariance.name, diagonal_covariance.name, spherical_covariance.name,
            tied_covariance.name},
           open && !o.products);
}

void lines(OptionTable &t, HmmOptions &o) {
  categories_line(t, o.categories, o.emission, "emission", !o.started && !o.symbols);
  t.choice({"topology", "whether states may be returned to"}, o.topology,
           {"ergodic", "left-to-right"}, !o.started);
  o.linear_response_line(t);
  o.iteration_lines(t, 10000, 0);  // 0 iterations: a model of the given parameters
  o.chains.stored_line(t, o.sampled());
  o.restart_line(t, o.update || o.sampled(), "10; 1 where init gives emissions");
  t.other(
      {"init", "the parameters that the fit starts from", "an object"},
      [&](const Document &given) { read_init(given, o); }, [&] { return write_init(o); },
      !o.started);
  o.common_lines(t, {"marginalize", "error"});
  t.number(minimum_key, o.minimum, {1e-12, 0.5}, !o.bayesian() && o.products);
  t.number(covariance_floor_key, o.covariance_floor, above(0, 1), !o.bayesian() && !o.products);
  o.degenerate_line(t, !o.bayesian());
  o.plan_lines(t);
  o.prior_line(
      t, [&](const Document &given, bool is_inherited) { read_prior(given, is_inherited, o); }, {},
      o.bayesian() && !o.update);
  // Symbols that the model to be updated does not know still need the prior that was given to it.
  if (t.reads() && o.update && !o.given_prior.is_null()) read_prior(o.given_prior, true, o);
}

/// The default of option emission.
const char *default_emission(SequenceElements elements, bool vectors) {
  switch (elements) {
    case SequenceElements::symbols: return categorical_family;
    case SequenceElements::booleans: return bernoulli_family;
    case SequenceElements::integers: return vectors ? normal_family : categorical_family;
    case SequenceElements::numbers: break;
  }
  return normal_family;
}

/// Checks that the chosen emissions are possible for such sequences.
void check_emission(HmmOptions &o, SequenceElements elements, bool vectors) {
  o.symbols = !vectors && o.emission.size() == 1 && o.emission[0].is(categorical_family);
  if (elements == SequenceElements::symbols && !o.symbols)
    throw Error(
        Errc::invalid_argument,
        message("option \"emission\" is \"{}\", but the elements of the sequences are not numbers",
                o.emission[0].name()),
        {}, "Leave it out, or cast the elements.");
  if (!vectors) check_likelihood_count(o.emission, 1, "emission");
}

}  // namespace

HmmOptions read_hmm_options(int k, const Document &options, SequenceElements elements, bool vectors,
                            const HiddenMarkovModel *start, bool update) {
  require_components({&k, 1}, hmm_max_states);
  require_object(options, "{\"method\": \"em\", \"restarts\": 10}");
  // throws the error that says why there is no posterior
  if (update && !start->has_posterior()) start->posterior([](const HmmPosterior &) {});

  HmmOptions out;
  out.k = k;
  out.emission = {likelihood_of(default_emission(elements, vectors))};
  out.plan.batch_rows = 16;
  out.restarts = 0;
  if (start) {
    out.inherit(start->info, update);
    inherit_number(start->info, "minimum", {1e-12, 0.5}, out.minimum);
    inherit_number(start->info, "covariance_floor", above(0, 1), out.covariance_floor);
    out.emission = start->emission();
    out.symbols = start->symbols();
    if (start->multivariate()) out.covariance = start->covariance();
  }
  out.products = start ? !start->multivariate() : !out.emission[0].is(normal_family);
  OptionTable t = OptionTable::reading(options);
  emission_lines(t, out);
  if (!start) check_emission(out, elements, vectors);
  lines(t, out);
  out.batch_given = t.given("batch_size");
  // With given emissions all restarts would begin at the same point.
  if (out.restarts == 0) {
    out.restarts = out.means || !out.probabilities.is_null() ? 1 : 10;
    out.restarts_settled = true;
  }
  t.finish(out.setting() + (out.symbols    ? " with symbols"
                            : out.products ? " with these emissions"
                                           : " with multivariate normals"));
  return out;
}

HmmRowOptions HmmOptions::rows() const { return {symbols, missing == "error"}; }

Document HmmOptions::document() const {
  HmmOptions in_force = *this;
  OptionTable t = OptionTable::writing();
  emission_lines(t, in_force);
  lines(t, in_force);
  return t.document();
}

HmmRowOptions hmm_check_options(int k, const Document &options, SequenceElements elements,
                                bool vectors, const HiddenMarkovModel *start, bool update) {
  return read_hmm_options(start ? start->size() : k, options, elements, vectors, start, update)
      .rows();
}

HmmRowOptions hmm_check_select_options(std::span<const int> ks, const Document &options,
                                       SequenceElements elements, bool vectors) {
  HmmRowOptions out;
  for (const int k : ks) out = hmm_check_options(k, options, elements, vectors);
  return out;
}

}  // namespace bayes
