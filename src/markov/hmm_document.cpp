// A hidden Markov model as a document, and back, with every number checked.
//
// A model with a posterior stores only that, as it determines the point estimate.
#include <cmath>
#include <set>
#include <span>

#include "base/control.hpp"
#include "base/message.hpp"
#include "families/normal/normal_document.hpp"
#include "families/product/product_document.hpp"
#include "markov/hmm_state.hpp"

namespace bayes {
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
