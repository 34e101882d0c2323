#include "markov/hmm_parameters.hpp"

#include "base/control.hpp"
#include "families/normal/normal_parameters.hpp"
#include "families/product/product_parameters.hpp"

namespace bayes {
namespace {

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

}  // namespace

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

}  // namespace bayes
