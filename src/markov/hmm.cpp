// The parameters of a fitted hidden Markov model as its accessors give them.

#include "markov/hmm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/control.hpp"
#include "document/members.hpp"
#include "families/dirichlet.hpp"
#include "families/normal/normal_parameters.hpp"
#include "families/parameter.hpp"
#include "families/product/product_options.hpp"
#include "families/product/product_parameters.hpp"
#include "families/product/product_prior.hpp"
#include "families/product/unseen_categories.hpp"
#include "fit/component_overlap.hpp"
#include "markov/hmm_scorer.hpp"
#include "markov/hmm_state.hpp"
#include "markov/markov_learners.hpp"
#include "questions/make.hpp"

namespace bayes {
namespace {

// The parameters of a hidden Markov model, as results show them.

void describe_states(const ProductHmm &fitted, const std::vector<std::string> &symbols,
                     const ModelInfo &info, std::optional<double> level, const TakeParameter &take);

/// The posterior of a parameter: at most one of q and draws.
struct Known {
  const Marginal *q = nullptr;
  std::vector<double> draws = {};
  /// by linear response, or from all draws
  double deviation = Parameter::none;
};

void describe_one(Parameter parameter, Known known, const ParameterTable &out) {
  if (known.q) return out.under(parameter, *known.q, known.deviation);
  if (!known.draws.empty()) return out.over(parameter, std::move(known.draws), known.deviation);
  parameter.deviation = known.deviation;
  if (known.deviation == known.deviation) parameter.known_by = Parameter::draws;
  out.at_point(parameter);
}

/// value(draw) for all stored draws
template <class Fitted, class F> std::vector<double> over_draws(const Fitted &fitted, F value) {
  std::vector<double> out;
  for (const auto &draw : fitted.draws) out.push_back(value(draw));
  return out;
}

template <class Fitted>
void describe_chain(const Fitted &fitted, int i, const std::vector<Marginal> &initial,
                    const ParameterTable &out) {
  Parameter begin{.component = i, .name = "initial"};
  begin.value = fitted.point.initial(i);
  Known known{.draws = over_draws(fitted, [i](const auto &draw) { return draw.initial(i); })};
  if (fitted.posterior) known.q = &initial[std::size_t(i)];
  if (fitted.deviations) known.deviation = fitted.deviations->initial(i);
  describe_one(begin, std::move(known), out);

  const int k = int(initial.size());
  std::vector<Marginal> row(initial.size());
  if (fitted.posterior) {
    const Vector alpha = fitted.posterior->transition.row(i);
    dirichlet_marginals({alpha.data(), row.size()}, 0, row.data());
  }
  for (int j = 0; j < k; ++j) {
    const std::string to = std::to_string(j + 1);
    Parameter move{.component = i, .name = "transition", .category = j + 1.0, .label = &to};
    move.value = fitted.point.transition(i, j);
    Known of{.draws = over_draws(fitted, [i, j](const auto &d) { return d.transition(i, j); })};
    if (fitted.posterior) of.q = &row[std::size_t(j)];
    if (fitted.deviations) of.deviation = fitted.deviations->transition(i, j);
    describe_one(move, std::move(of), out);
  }
}

template <class Fitted>
void describe_emissions(const Fitted &fitted, int i, const std::vector<std::string> &symbols,
                        const ParameterTable &out) {
  const auto &point = fitted.point.emissions;
  for (int j = 0; j < point.dimension(); ++j) {
    std::vector<Parameter> parameters = element_parameters(point, i, j);
    std::vector<Marginal> marginals;
    if (fitted.posterior) add_marginals(fitted.posterior->emissions, i, j, marginals);
    std::vector<std::vector<Parameter>> drawn;
    for (const auto &draw : fitted.draws) {
      poll_here();
      drawn.push_back(element_parameters(draw.emissions, i, j));
    }
    for (std::size_t n = 0; n < parameters.size(); ++n) {
      Parameter &parameter = parameters[n];
      if (!symbols.empty()) {
        parameter.category = Parameter::none;
        parameter.label = &symbols[n];
      }
      Known known;
      if (fitted.posterior) known.q = &marginals[n];
      for (const std::vector<Parameter> &draw : drawn) known.draws.push_back(draw[n].value);
      // From draws only probabilities have deviations; those of other parameters are stored as 0.
      if (fitted.deviations && fitted.deviations->emissions.size() && parameter.number >= 0) {
        const double deviation = fitted.deviations->emissions(parameter.number, i);
        if (deviation > 0) known.deviation = deviation;
      }
      describe_one(parameter, std::move(known), out);
    }
    for (const Parameter &known : known_parameters(point, i, j)) out.at_point(known);
  }
}

template <class Fitted>
void describe_all(const Fitted &fitted, const std::vector<std::string> &symbols,
                  const ModelInfo &info, std::optional<double> level, const TakeParameter &take) {
  const ParameterTable corrected(level, take, source_of_variational(info, true)),
      mean_field(level, take, source_of_variational(info, false));
  const bool of_chain = fitted.deviations.has_value(),
             of_emissions = of_chain && fitted.deviations->emissions.size();
  const int k = int(fitted.point.initial.size());
  std::vector<Marginal> initial(static_cast<std::size_t>(k));
  if (fitted.posterior)
    dirichlet_marginals({fitted.posterior->initial.data(), initial.size()}, 0, initial.data());
  for (int i = 0; i < k; ++i) {
    describe_chain(fitted, i, initial, of_chain ? corrected : mean_field);
    describe_emissions(fitted, i, symbols, of_emissions ? corrected : mean_field);
  }
}

/// State by state: initial probability, transitions, emissions. `symbols`: names of the categories
/// of the only element; empty: none. `info`: of the model.
void describe_states(const NormalHmm &fitted, const std::vector<std::string> &symbols,
                     const ModelInfo &info, std::optional<double> level,
                     const TakeParameter &take) {
  describe_all(fitted, symbols, info, level, take);
}
void describe_states(const ProductHmm &fitted, const std::vector<std::string> &symbols,
                     const ModelInfo &info, std::optional<double> level,
                     const TakeParameter &take) {
  describe_all(fitted, symbols, info, level, take);
}

constexpr double none = std::numeric_limits<double>::quiet_NaN();

}  // namespace

HiddenMarkovModel::HiddenMarkovModel() : state(std::make_unique<State>()) { info.family = "hmm"; }
HiddenMarkovModel::~HiddenMarkovModel() = default;

bool HiddenMarkovModel::vectors() const { return state->vectors; }
bool HiddenMarkovModel::symbols() const { return state->is_symbols(); }
bool HiddenMarkovModel::multivariate() const { return state->whole_steps; }
std::vector<ColumnSpec> HiddenMarkovModel::emission() const {
  const auto *products = std::get_if<ProductHmm>(&state->fitted);
  return products ? likelihoods_of(*products->point.emissions.columns)
                  : std::vector<ColumnSpec>{likelihood_of(normal_family)};
}
std::string HiddenMarkovModel::covariance() const {
  const auto *normals = std::get_if<NormalHmm>(&state->fitted);
  return normals ? normals->point.emissions.shape.name : "";
}
const std::vector<std::string> &HiddenMarkovModel::symbol_names() const { return state->symbols; }

std::string HiddenMarkovModel::name_of_category(int element, int value, double number) const {
  if (symbols()) return state->symbols[std::size_t(value)];
  if (!info.columns.empty())
    if (const std::string *label = label_of(info.columns[std::size_t(element)], number))
      return *label;
  return std::to_string(std::int64_t(number));
}

int HiddenMarkovModel::code(std::string_view symbol) const {
  if (!codes_) {
    codes_ = std::make_unique<std::unordered_map<std::string_view, int>>();
    for (std::size_t v = 0; v < state->symbols.size(); ++v)
      codes_->emplace(state->symbols[v], int(v));
  }
  const auto at = codes_->find(symbol);
  return at == codes_->end() ? -1 : at->second;
}

bool HiddenMarkovModel::has_posterior() const {
  return std::visit([](const auto &fitted) { return fitted.posterior.has_value(); }, state->fitted);
}

std::int64_t HiddenMarkovModel::stored_draws() const {
  return std::visit([](const auto &fitted) { return std::int64_t(fitted.draws.size()); },
                    state->fitted);
}

double HiddenMarkovModel::free_parameters() const {
  return std::visit(
      [&]<class Fitted>(const Fitted &fitted) {
        const double chain = double(size()) * size() - 1 - state->zeros;
        double each = 0;
        if constexpr (std::is_same_v<Fitted, ProductHmm>) {
          fitted.point.emissions.columns->for_each(
              [&](int, const Column &column, const ColumnOffsets &) {
                each += column.free_parameters();
              });
          return chain + size() * each;
        } else {
          const CovarianceShape &shape = fitted.point.emissions.shape;
          return chain + double(size()) * dimension() + shape.parameters(dimension(), size());
        }
      },
      state->fitted);
}

double HiddenMarkovModel::observations() const { return state->observed; }

const ModelWords &HiddenMarkovModel::words() const {
  static constexpr ModelWords words = {
      .part = "state",
      .parts = "states",
      .unit = "step",
      .degenerate_if_few = false,
      .takes = "sequences",
      .functions =
          "hmm_decode, hmm_probabilities, hmm_log_likelihood and hmm_predict take a model "
          "and a sequence, hmm_sample draws one."};
  return words;
}

ComponentOverlaps HiddenMarkovModel::overlaps(const Model &other) const {
  return overlaps_of(densities(), static_cast<const HiddenMarkovModel &>(other).densities());
}

ComponentDensities HiddenMarkovModel::densities() const {
  return std::visit(
      [&](const auto &fitted) -> ComponentDensities {
        return {state->shares(), fitted.point.emissions, columns_of_steps()};
      },
      state->fitted);
}

std::unique_ptr<HiddenMarkovModel> HiddenMarkovModel::with_labels_of(
    const RowColumns &columns) const {
  auto out = std::make_unique<HiddenMarkovModel>();
  out->info = info;
  *out->state = *state;
  if (auto *const fitted = std::get_if<ProductHmm>(&out->state->fitted)) {
    const SharedColumns shared =
        bayes::with_labels_of(*fitted->point.emissions.columns, info.columns, columns);
    fitted->point.emissions.columns = shared;
    if (fitted->posterior) fitted->posterior->emissions.columns = shared;
    for (auto &draw : fitted->draws) draw.emissions.columns = shared;
  }
  return out;
}

std::vector<int> HiddenMarkovModel::never_left() const {
  const Matrix &transition = std::visit(
      [](const auto &fitted) -> const Matrix & { return fitted.point.transition; }, state->fitted);
  const double none = markov::negligible_count({{}, state->transitions, state->visits});
  std::vector<int> out;
  for (Eigen::Index i = 0; i < transition.rows(); ++i)
    if (state->visits(i) > none && !(state->transitions.row(i).sum() > none) &&
        (transition.row(i).array() > 0).count() > 1)
      out.push_back(int(i));
  return out;
}

HmmState HiddenMarkovModel::state_at(int index) const {
  return std::visit(
      [&](const auto &fitted) {
        const double leave = fitted.point.transition.row(index).head(index).sum() +
                             fitted.point.transition.row(index).tail(size() - 1 - index).sum();
        if (stationary_.empty())
          stationary_ = to_vector(markov::stationary(fitted.point.transition));
        HmmState out{fitted.point.initial(index), none,     none, stationary_[std::size_t(index)],
                     state->visits(index),        1 / leave};
        if (fitted.posterior) {
          out.initial_alpha = fitted.posterior->initial(index);
          if (info.told_apart)
            out.initial_deviation =
                dirichlet_deviation(out.initial_alpha, fitted.posterior->initial.sum());
        }
        if (fitted.deviations)
          correct_deviation(out.initial_deviation, fitted.deviations->initial(index), out.initial);
        return out;
      },
      state->fitted);
}

void HiddenMarkovModel::transitions(const std::function<void(const HmmTransition &)> &take) const {
  std::visit(
      [&](const auto &fitted) {
        for (int i = 0; i < size(); ++i)
          for (int j = 0; j < size(); ++j) {
            HmmTransition out{i,    j,    fitted.point.transition(i, j),
                              none, none, state->transitions(i, j)};
            if (fitted.posterior) {
              out.alpha = fitted.posterior->transition(i, j);
              if (info.told_apart)
                out.deviation =
                    dirichlet_deviation(out.alpha, fitted.posterior->transition.row(i).sum());
            }
            if (fitted.deviations)
              correct_deviation(out.deviation, fitted.deviations->transition(i, j),
                                out.probability);
            take(out);
          }
      },
      state->fitted);
}

void HiddenMarkovModel::emissions(const std::function<void(const HmmEmission &)> &take) const {
  std::visit(
      [&]<class Fitted>(const Fitted &fitted) {
        const auto &point = fitted.point.emissions;
        if constexpr (!std::is_same_v<Fitted, ProductHmm>) {
          const CovarianceShape &shape = fitted.point.emissions.shape;
          for (int k = 0; k < size(); ++k)
            take({k, -1, nullptr, none, none, to_vector(point.mean.col(k)),
                  row_major(dense_form(shape, point.covariance[std::size_t(shape.index(k))],
                                       dimension()))});
        } else {
          std::vector<double> deviations(std::size_t(point.columns->size().point), none);
          const std::string one = "1";
          for (int k = 0; k < size(); ++k)
            for (int j = 0; j < dimension(); ++j) {
              const Column &column = point.columns->column(j);
              const double *const at = point.column(k, j);
              std::fill(deviations.begin(), deviations.end(), none);
              if (fitted.posterior && info.told_apart)
                column.deviations(fitted.posterior->emissions.column(k, j), deviations.data());
              if (fitted.deviations && column.probabilities) {
                const double *const corrected =
                    fitted.deviations->emissions.col(k).data() + point.columns->offsets(j).point;
                for (int i = 0; i < column.size().point; ++i)
                  correct_deviation(deviations[std::size_t(i)], corrected[i], at[i]);
              }
              if (column.probabilities && column.by_value) {
                for (int v = 0; v < column.numbers_per_name(); ++v) {
                  const std::string name = name_of_category(j, v, column.value(v));
                  take({k, j, &name, at[v], deviations[std::size_t(v)], {}, {}});
                }
              } else if (column.probabilities) {
                take({k, j, &one, at[0], deviations[0], {}, {}});
              } else {
                take({k, j, nullptr, none, none, {column.mean(at)}, {column.variance(at)}});
              }
            }
        }
      },
      state->fitted);
}

void HiddenMarkovModel::posterior(const std::function<void(const HmmPosterior &)> &take) const {
  std::visit(
      [&]<class Fitted>(const Fitted &fitted) {
        if (!fitted.posterior) refuse_posterior(info);
        const auto &q = fitted.posterior->emissions;
        if constexpr (!std::is_same_v<Fitted, ProductHmm>) {
          const CovarianceShape &shape = fitted.point.emissions.shape;
          for (int k = 0; k < size(); ++k) {
            take({k, -1, nullptr, "m", to_vector(q.m.col(k)), false});
            take({k, -1, nullptr, "c", {q.c(k)}, false});
            take({k, -1, nullptr, "a", {q.a(shape.index(k))}, false});
            take({k, -1, nullptr, "B",
                  row_major(dense_form(shape, q.B[std::size_t(shape.index(k))], dimension())),
                  true});
          }
        } else {
          for (int k = 0; k < size(); ++k)
            for (int j = 0; j < dimension(); ++j) {
              const Column &column = q.columns->column(j);
              const double *at = q.column(k, j);
              for (const char *const key : column.prior_keys)
                for (int v = 0; v < column.numbers_per_name(); ++v, ++at) {
                  if (column.by_value) {
                    const std::string name = name_of_category(j, v, column.value(v));
                    take({k, j, &name, key, {*at}, false});
                  } else {
                    take({k, j, nullptr, key, {*at}, false});
                  }
                }
            }
        }
      },
      state->fitted);
}

void HiddenMarkovModel::describe_parameters(std::optional<double> level,
                                            const TakeParameter &take) const {
  std::visit(
      [&](const auto &fitted) { describe_states(fitted, state->symbols, info, level, take); },
      state->fitted);
}

ParameterDraws HiddenMarkovModel::draw_parameters(std::uint64_t seed) const {
  if (stored_draws() == 0) return Model::draw_parameters(seed);
  ParameterDraws out = undrawn_parameters();
  out.stored = stored_draws();
  out.draw = [this](std::uint64_t number) {
    std::vector<double> values;
    std::visit(
        [&]<class Fitted>(const Fitted &fitted) {
          Fitted one;
          one.point = fitted.draws[number];
          describe_states(one, state->symbols, info, {},
                          [&values](const Parameter &each) { values.push_back(each.value); });
        },
        state->fitted);
    return values;
  };
  return out;
}

void HiddenMarkovModel::check(std::span<const double> x, std::int64_t step) const {
  const auto *fitted = std::get_if<ProductHmm>(&state->fitted);
  if (!fitted || symbols()) return;
  fitted->point.emissions.columns->for_each([&](int j, const Column &column,
                                                const ColumnOffsets &) {
    const double value = x[std::size_t(j)];
    if (value == value && !column.allowed(value))
      throw Error(Errc::invalid_argument,
                  (!info.columns.empty()
                       ? "column " + describe(Document(info.columns[std::size_t(j)].name)) + " of "
                   : dimension() > 1 ? "element " + std::to_string(j + 1) + " of "
                                     : std::string()) +
                      "step " + std::to_string(step) + " is " + describe(value) + ", but must be " +
                      column.requirement(),
                  std::string("Its emission is ") + column.name + ".");
  });
}

// The steps of a hidden Markov model as rows: the distribution of a step whose place and past are
// unknown.
//
// It is the mixture of the emissions, weighted by the expected shares of the states in the steps of
// the fit. The steps of the data came from this mixture, also for chains that end in a state or
// never leave one, whose stationary distribution would be that state alone.

namespace {

/// The states of all draws, one draw after the other. A covariance that the states of a draw share
/// is repeated for each.
NormalPoint states_of(const std::vector<MarkovPoint<NormalPoint>> &draws) {
  const NormalPoint &first = draws[0].emissions;
  const int k = first.components();
  NormalPoint out{first.shape.shared ? full_covariance : first.shape,
                  Matrix(first.dimension(), Eigen::Index(draws.size()) * k),
                  {}};
  for (std::size_t s = 0; s < draws.size(); ++s) {
    const NormalPoint &draw = draws[s].emissions;
    out.mean.middleCols(Eigen::Index(s) * k, k) = draw.mean;
    for (int i = 0; i < k; ++i)
      out.covariance.push_back(draw.covariance[std::size_t(draw.shape.index(i))]);
  }
  return out;
}

ProductPoint states_of(const std::vector<MarkovPoint<ProductPoint>> &draws) {
  const ProductPoint &first = draws[0].emissions;
  const int k = first.components();
  ProductPoint out{first.columns, Matrix(first.values.rows(), Eigen::Index(draws.size()) * k)};
  for (std::size_t s = 0; s < draws.size(); ++s)
    out.values.middleCols(Eigen::Index(s) * k, k) = draws[s].emissions.values;
  return out;
}

std::unique_ptr<RowPart> emissions_part(const NormalHmm &fitted, const Vector &,
                                        const ModelInfo &info) {
  std::vector<int> elements = all_elements(info.dimension);
  if (fitted.posterior) return row_part(std::move(elements), fitted.posterior->emissions);
  return row_part(std::move(elements),
                  fitted.draws.empty() ? fitted.point.emissions : states_of(fitted.draws));
}

std::unique_ptr<RowPart> emissions_part(const ProductHmm &fitted, const Vector &visits,
                                        const ModelInfo &info) {
  std::vector<int> elements = all_elements(info.dimension);
  const Vector alphas = category_alphas(*fitted.point.emissions.columns, info);
  if (fitted.posterior) return row_part(std::move(elements), fitted.posterior->emissions, alphas);
  if (fitted.draws.empty())
    return row_part(std::move(elements), fitted.point.emissions, visits, alphas);
  return row_part(std::move(elements), states_of(fitted.draws),
                  visits.replicate(Eigen::Index(fitted.draws.size()), 1), alphas);
}

}  // namespace

Vector HiddenMarkovModel::State::shares() const {
  const double all = visits.sum();
  if (!(all > 0)) return Vector::Constant(visits.size(), 1.0 / double(visits.size()));
  return visits / all;
}

RowColumns HiddenMarkovModel::columns_of_steps() const {
  if (!info.columns.empty() || !state->is_symbols()) return info.columns;
  return {{"symbol", ValueKind::label, state->symbols}};
}

std::unique_ptr<RowDistribution> HiddenMarkovModel::row_distribution() const {
  return std::visit(
      [&](const auto &fitted) {
        const Vector shares = state->shares();
        std::vector<double> weights;
        for (std::size_t s = 0; s < std::max<std::size_t>(1, fitted.draws.size()); ++s)
          weights.insert(weights.end(), shares.begin(), shares.end());
        auto out = std::make_unique<RowDistribution>(
            columns_of_steps(), dimension(),
            flat_components(weights, int(weights.size()) / size()));
        out->add(emissions_part(fitted, state->visits, info));
        return out;
      },
      state->fitted);
}

}  // namespace bayes
