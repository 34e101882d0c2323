// The steps of a hidden Markov model as rows: the distribution of one step of which nothing is
// known but that it is one.
//
// It is the mixture of the emissions in which a state has the share of the steps of the fit that is
// expected to be in it. That is where the steps of the data came from, also for chains that end in
// a state or never leave one, whose stationary distribution would be that state alone.
#include "markov/hmm_state.hpp"
#include "questions/make.hpp"

namespace bayes {
namespace {

/// The states of all draws, one draw after the other. A covariance that the states of a draw share
/// becomes that of each.
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
