// The parameters of a mixture in results, from its draws, its posterior or its point estimate.
#pragma once

#include <numeric>
#include <span>
#include <vector>

#include "base/control.hpp"
#include "base/random.hpp"
#include "families/normal/normal_parameters.hpp"
#include "families/product/product_parameters.hpp"
#include "fit/learners.hpp"
#include "mixture/finite_draws.hpp"

namespace bayes {

/// The sources of the parameters; null or NaN if the mixture does not have them.
template <class P, class Q> struct DescribedMixture {
  const MixturePoint<P> &point;
  /// The weights are Dirichlet(alpha, rest).
  const Vector *alpha = nullptr;
  double rest = 0;
  const Q *posterior = nullptr;
  /// standard deviations by linear response: of the weights, and of the numbers of components'
  /// points
  const Vector *weight_deviations = nullptr;
  const Matrix *deviations = nullptr;
  const FiniteDraws<Q> *draws = nullptr;
  /// Given a draw's partition the weights are Dirichlet with this sum of all parameters.
  double sum_of_draw = Parameter::none;
};

namespace detail {

template <class P, class Q>
void describe_weights(const DescribedMixture<P, Q> &of, const ParameterTable &out, int k,
                      const std::vector<Marginal> &weights) {
  Parameter weight{.component = k, .name = "weight"};
  weight.value = of.point.weights(k);
  if (of.draws && of.sum_of_draw > 0) {
    std::vector<Marginal> given;
    const std::size_t components = std::size_t(of.point.weights.size());
    for (std::size_t i = std::size_t(k); i < of.draws->weights.size(); i += components) {
      const double a = of.draws->weights[i] * of.sum_of_draw;
      given.push_back(
          {Marginal::Kind::beta, a, components > 1 || of.rest > 0 ? of.sum_of_draw - a : 0});
    }
    out.over(weight, given);
  } else if (of.alpha && (of.weight_deviations || !of.deviations)) {
    out.under(weight, weights[std::size_t(k)],
              of.weight_deviations ? (*of.weight_deviations)(k) : Parameter::none);
  } else {
    out.at_point(weight);
  }
}

}  // namespace detail

/// A draw of a mixture given a partition of the rows. The weights have these means and are
/// Dirichlet, with this sum of all parameters; NaN: unknown, and so are the weights.
template <class Q>
auto drawn_mixture(std::span<const double> means, double sum, const Q &given, Random &random) {
  std::vector<double> alpha, drawn;
  double rest = sum;
  for (const double mean : means) {
    alpha.push_back(mean * sum);
    rest -= alpha.back();
  }
  // Rows that belong to none of these components have the rest, unless it is a rounding error.
  if (rest > 1e-9 * sum) alpha.push_back(rest);
  drawn.assign(alpha.size(), Parameter::none);
  if (sum > 0) random.dirichlet(alpha, drawn);
  const Vector weights = Eigen::Map<const Vector>(drawn.data(), Eigen::Index(means.size()));
  return MixturePoint<decltype(draw(given, random))>{weights, draw(given, random)};
}

/// The numbers of components [first, first + count).
inline std::vector<int> components_from(std::size_t first, int count) {
  std::vector<int> out(static_cast<std::size_t>(count));
  std::iota(out.begin(), out.end(), int(first));
  return out;
}

/// Reports, component by component, the weight and the parameters of every element.
template <class P, class Q>
void describe_mixture(const DescribedMixture<P, Q> &of, const ParameterTable &out) {
  const int components = int(of.point.weights.size()), d = of.point.components.dimension();
  std::vector<Marginal> weights, marginals, of_number;
  if (of.alpha) {
    weights.resize(std::size_t(components));
    dirichlet_marginals({of.alpha->data(), weights.size()}, of.rest, weights.data());
  }
  for (int k = 0; k < components; ++k) {
    detail::describe_weights(of, out, k, weights);
    for (int j = 0; j < d; ++j) {
      const std::vector<Parameter> parameters = element_parameters(of.point.components, k, j);
      marginals.clear();
      if (of.draws)
        for (int s = 0; s < of.draws->draws; ++s) {
          poll_here();
          add_marginals(of.draws->components, s * components + k, j, marginals);
        }
      else if (of.posterior)
        add_marginals(*of.posterior, k, j, marginals);
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (of.draws) {
          of_number.clear();
          for (std::size_t at = i; at < marginals.size(); at += parameters.size())
            of_number.push_back(marginals[at]);
          out.over(parameters[i], of_number);
        } else if (of.posterior) {
          const int number = parameters[i].number;
          out.under(parameters[i], marginals[i],
                    of.deviations && number >= 0 ? (*of.deviations)(number, k) : Parameter::none);
        } else {
          out.at_point(parameters[i]);
        }
      }
      for (const Parameter &known : known_parameters(of.point.components, k, j))
        out.at_point(known);
    }
  }
}

/// The values of the parameters at a point, in the order of describe_mixture().
template <class Q, class P> std::vector<double> values_at(const MixturePoint<P> &point) {
  std::vector<double> out;
  const TakeParameter take = [&out](const Parameter &each) { out.push_back(each.value); };
  describe_mixture(DescribedMixture<P, Q>{point}, ParameterTable({}, take));
  return out;
}

}  // namespace bayes
