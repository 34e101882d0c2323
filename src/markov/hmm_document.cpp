// The documents of hidden Markov models: their options, read and checked, and the models
// themselves.

#include "markov/hmm_state.hpp"

#include <cmath>
#include <set>
#include <span>

#include "base/control.hpp"
#include "base/error.hpp"
#include "base/message.hpp"
#include "document/members.hpp"
#include "families/normal/covariance.hpp"
#include "families/normal/normal_document.hpp"
#include "families/product/product_document.hpp"

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
  o.order.line(t);
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
    out.order.inherit(start->info);
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

namespace {

Tensor by_rows(const Matrix &m) { return {{m.rows(), m.cols()}, row_major(m)}; }

Matrix read_rows(const MemberReader &in, const char *key, std::int64_t rows, std::int64_t columns) {
  const Tensor t = in.tensor(key, {rows, columns});
  return Eigen::Map<const Matrix>(t.values.data(), columns, rows).transpose();
}

// Plain loops over numbers, because Eigen's expressions take much longer to compile.

void require_not_negative(const MemberReader &in, const char *key, const Matrix &m) {
  for (const double x : std::span(m.data(), std::size_t(m.size())))
    if (!(x >= 0)) in.reject(key, "must not be negative");
}

/// Requires every row to be a distribution (`probabilities`), or the parameters of a Dirichlet with
/// a positive, finite sum.
void require_rows(const MemberReader &in, const char *key, const Matrix &rows, bool probabilities) {
  require_not_negative(in, key, rows);
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    double sum = 0;
    for (Eigen::Index j = 0; j < rows.cols(); ++j) sum += rows(i, j);
    if (probabilities ? !(std::abs(sum - 1) < 1e-9) : !(sum > 0 && std::isfinite(sum)))
      in.reject(key, probabilities ? "must sum to 1" : "must have a positive, finite sum");
  }
}

/// All draws concatenated, as one chain and emissions with draws x K states. The tied covariance of
/// each draw is stored in the form of a full one.
struct JoinedChain {
  Matrix initial;     // draws x K
  Matrix transition;  // (draws x K) x K
};
template <class P> JoinedChain joined_chain(const std::vector<MarkovPoint<P>> &draws) {
  const Eigen::Index k = draws[0].initial.size(), n = Eigen::Index(draws.size());
  JoinedChain out{Matrix(n, k), Matrix(n * k, k)};
  for (Eigen::Index s = 0; s < n; ++s)
    for (Eigen::Index i = 0; i < k; ++i) {
      out.initial(s, i) = draws[std::size_t(s)].initial(i);
      for (Eigen::Index j = 0; j < k; ++j)
        out.transition(s * k + i, j) = draws[std::size_t(s)].transition(i, j);
    }
  return out;
}

CovarianceShape shape_of_draws(const CovarianceShape &shape) {
  return shape.shared ? full_covariance : shape;
}

NormalPoint joined_emissions(const std::vector<MarkovPoint<NormalPoint>> &draws) {
  const NormalPoint &first = draws[0].emissions;
  const Eigen::Index k = first.mean.cols();
  NormalPoint out{
      shape_of_draws(first.shape), Matrix(first.mean.rows(), k * Eigen::Index(draws.size())), {}};
  for (std::size_t s = 0; s < draws.size(); ++s) {
    const NormalPoint &from = draws[s].emissions;
    out.mean.middleCols(Eigen::Index(s) * k, k) = from.mean;
    out.covariance.insert(out.covariance.end(), from.covariance.begin(), from.covariance.end());
  }
  return out;
}
ProductPoint joined_emissions(const std::vector<MarkovPoint<ProductPoint>> &draws) {
  const ProductPoint &first = draws[0].emissions;
  const Eigen::Index k = first.values.cols();
  ProductPoint out{first.columns, Matrix(first.values.rows(), k * Eigen::Index(draws.size()))};
  for (std::size_t s = 0; s < draws.size(); ++s)
    out.values.middleCols(Eigen::Index(s) * k, k) = draws[s].emissions.values;
  return out;
}

/// The emissions of draw s out of the concatenated ones.
NormalPoint separated(const NormalPoint &all, const CovarianceShape &shape, int s, int k) {
  const auto first = all.covariance.begin() + s * shape.count(k);
  return {shape, all.mean.middleCols(Eigen::Index(s) * k, k), {first, first + shape.count(k)}};
}
ProductPoint separated(const ProductPoint &all, int s, int k) {
  return {all.columns, all.values.middleCols(Eigen::Index(s) * k, k)};
}

void write_emissions(Document &out, const ProductPoint &point, int) { write_point(out, point); }
void write_emissions(Document &out, const NormalPoint &point, int d) {
  out.set("means", columns(point.mean))
      .set("covariances", scales(point.shape, point.covariance, d));
}

template <class Emissions> void write_chain(Document &out, const Emissions &of) {
  out.set("initial", tensor(of.initial)).set("transition", by_rows(of.transition));
}

template <class M> void read_chain(const MemberReader &in, int k, bool probabilities, M &out) {
  out.initial = read_vector(in, "initial", k);
  out.transition = read_rows(in, "transition", k, k);
  require_rows(in, "initial", out.initial.transpose(), probabilities);
  require_rows(in, "transition", out.transition, probabilities);
}

/// `emissions(in, count)` reads the emissions of all draws, and returns a function that gives those
/// of draw s.
template <class Emissions> auto read_draws(const MemberReader &in, int k, Emissions emissions) {
  const int count = int(in.integer("count", 1, 1000000));
  const Matrix initial = read_rows(in, "initial", count, k),
               transition = read_rows(in, "transition", std::int64_t(count) * k, k);
  require_rows(in, "initial", initial, true);
  require_rows(in, "transition", transition, true);
  const auto separate = emissions(in, count);
  std::vector<MarkovPoint<decltype(separate(0))>> out;
  for (int s = 0; s < count; ++s) {
    poll_here();
    out.push_back({{initial.row(s), transition.middleRows(Eigen::Index(s) * k, k)}, separate(s)});
  }
  return out;
}

}  // namespace

void HiddenMarkovModel::write(Document &document) const {
  document.set("weight", state->weight)
      .set("visits", tensor(state->visits))
      .set("transition_counts", by_rows(state->transitions))
      .set("vectors", state->vectors);
  if (state->observed != state->weight) document.set("observed", state->observed);
  if (state->zeros > 0) document.set("structural_zeros", state->zeros);
  if (symbols())
    document.set("symbols", Document::List(state->symbols.begin(), state->symbols.end()));
  std::visit(
      [&]<class Fitted>(const Fitted &fitted) {
        const int d = dimension();
        constexpr bool products = std::is_same_v<Fitted, ProductHmm>;
        if constexpr (products)
          write_columns(document, *fitted.point.emissions.columns);
        else
          document.set("covariance", fitted.point.emissions.shape.name);
        Document numbers = Document::object();
        if (fitted.posterior) {
          write_chain(numbers, *fitted.posterior);
          write_posterior(numbers, fitted.posterior->emissions);
          document.set("posterior", std::move(numbers));
        } else {
          write_chain(numbers, fitted.point);
          write_emissions(numbers, fitted.point.emissions, d);
          document.set("point", std::move(numbers));
        }
        if (!fitted.draws.empty()) {
          const JoinedChain chain = joined_chain(fitted.draws);
          Document draws = Document::object();
          draws.set("count", int(fitted.draws.size()))
              .set("initial", by_rows(chain.initial))
              .set("transition", by_rows(chain.transition));
          write_emissions(draws, joined_emissions(fitted.draws), d);
          document.set("draws_of_parameters", std::move(draws));
        }
        if (!fitted.deviations) return;
        Document deviations = Document::object();
        write_chain(deviations, *fitted.deviations);
        if (fitted.deviations->emissions.size())
          deviations.set("emissions", columns(fitted.deviations->emissions));
        document.set("deviations", std::move(deviations));
      },
      state->fitted);
}

namespace {

/// The chain and the emissions of a model. `draws` reads the emissions of all draws, and returns a
/// function that gives those of draw s; `deviations`: numbers of a state's emissions that have one.
template <class Fitted, class Posterior, class Point, class Draws>
Fitted read_fitted(const MemberReader &in, int k, Posterior posterior, Point point, Draws draws,
                   int deviations) {
  Fitted fitted;
  constexpr bool products = std::is_same_v<Fitted, ProductHmm>;
  if (in.has("posterior")) {
    const MemberReader q = in.object("posterior");
    fitted.posterior.emplace();
    read_chain(q, k, false, *fitted.posterior);
    fitted.posterior->emissions = posterior(q);
    fitted.point = mean_parameters(*fitted.posterior);
  } else {
    const MemberReader numbers = in.object("point");
    read_chain(numbers, k, true, fitted.point);
    fitted.point.emissions = point(numbers);
    // Models stored by the first version have no draws.
    if (in.has("draws_of_parameters"))
      fitted.draws = read_draws(in.object("draws_of_parameters"), k, draws);
  }
  if (in.has("deviations")) {
    const MemberReader from = in.object("deviations");
    HmmDeviations out{read_vector(from, "initial", k), read_rows(from, "transition", k, k), {}};
    // Absent for draws of normal emissions, and for linear response in models of the first
    // version.
    if (products || from.has("emissions"))
      out.emissions = read_columns(from, "emissions", deviations, k);
    require_not_negative(from, "initial", out.initial);
    require_not_negative(from, "transition", out.transition);
    require_not_negative(from, "emissions", out.emissions);
    fitted.deviations = std::move(out);
  }
  return fitted;
}

/// The names of symbols, which are the values of the one element of `columns`.
std::vector<std::string> read_symbols(const MemberReader &in, const Columns &columns,
                                      bool vectors) {
  const ColumnSpec &spec = columns.specs()[0];
  std::vector<std::string> symbols = in.texts("symbols", "name");
  if (vectors || !is_categorical(spec) || !spec.values.empty() ||
      symbols.size() != std::size_t(spec.categories))
    in.reject("symbols", "must be as many names as the one categorical element has values");
  std::set<std::string_view> seen;
  for (const std::string &name : symbols)
    if (!seen.insert(name).second)
      in.reject("symbols", message("contains {} twice", describe(Document(name))));
  return symbols;
}

}  // namespace

std::unique_ptr<Model> read_hidden_markov_model(const Document &document) {
  auto model = std::make_unique<HiddenMarkovModel>();
  const MemberReader in(document);
  const ModelInfo &info = model->info =
      read_model_info(document, hmm_methods, hmm_max_dimension, hmm_max_states);
  const int d = info.dimension, k = info.components;
  auto &state = *model->state;
  state.weight = in.number("weight", 0, 1e300, true);
  state.observed = in.has("observed") ? in.number("observed", 0, state.weight, true) : state.weight;
  state.visits = read_vector(in, "visits", k);
  state.transitions = read_rows(in, "transition_counts", k, k);
  require_not_negative(in, "visits", state.visits);
  require_not_negative(in, "transition_counts", state.transitions);
  if (in.has("structural_zeros"))
    state.zeros = int(in.integer("structural_zeros", 0, std::int64_t(k) * k - 1));
  state.vectors = in.boolean("vectors");
  if (!state.vectors && d != 1)
    in.reject("vectors", "must be true for observations of more than one element");

  if (!in.has("covariance")) {
    const SharedColumns columns = read_product_columns(in, d);
    state.fitted = read_fitted<ProductHmm>(
        in, k, [&](const MemberReader &q) { return read_posterior(q, columns, k); },
        [&](const MemberReader &p) { return read_point(p, columns, k); },
        [&](const MemberReader &p, int count) {
          return
              [all = read_point(p, columns, count * k), k](int s) { return separated(all, s, k); };
        },
        columns->size().point);
    if (in.has("symbols")) state.symbols = read_symbols(in, *columns, state.vectors);
    return model;
  }
  state.whole_steps = true;
  const std::string covariance = in.text("covariance");
  const CovarianceShape *const shape = covariance_named(covariance);
  if (!shape) in.reject("covariance", "must be full, diagonal, spherical or tied");
  state.fitted = read_fitted<NormalHmm>(
      in, k, [&](const MemberReader &q) { return read_posterior(*shape, q, d, k); },
      [&](const MemberReader &p) {
        return NormalPoint{*shape, read_columns(p, "means", d, k),
                           read_scales(*shape, p, "covariances", d, k)};
      },
      [&](const MemberReader &p, int count) {
        const CovarianceShape dense = shape_of_draws(*shape);
        NormalPoint all{dense, read_columns(p, "means", d, count * k),
                        read_scales(dense, p, "covariances", d, count * int(shape->count(k)))};
        return [all = std::move(all), shape, k](int s) { return separated(all, *shape, s, k); };
      },
      2 * d);
  FactoredScale factored;  // B / a may overflow or underflow
  for (const Matrix &scale : std::get<NormalHmm>(state.fitted).point.emissions.covariance)
    if (!factor(*shape, scale, d, factored))
      in.reject("posterior", "has a B for which B / a is not positive definite");
  return model;
}

}  // namespace bayes
