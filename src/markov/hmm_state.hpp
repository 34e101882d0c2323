// The options of hidden Markov models, and the internal state of a fitted one, for the files of
// this model only.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/linalg.hpp"
#include "families/normal/normal_options.hpp"
#include "families/normal/normal_wishart.hpp"
#include "families/product/product_components.hpp"
#include "families/product/product_options.hpp"
#include "fit/component_order.hpp"
#include "fit/fit_options.hpp"
#include "markov/hmm.hpp"
#include "markov/markov_learners.hpp"

namespace bayes {

// The options of hidden Markov models.

/// Dirichlet parameters: one for all entries, or one each.
struct DirichletOption {
  Tensor given{{}, {1.0}};
  Vector row(int k) const {
    return given.shape.empty() ? Vector(Vector::Constant(k, given.values[0]))
                               : Vector(Eigen::Map<const Vector>(given.values.data(), k));
  }
  Matrix square(int k) const {
    if (given.shape.empty()) return Matrix::Constant(k, k, given.values[0]);
    return Eigen::Map<const Matrix>(given.values.data(), k, k).transpose();  // row by row
  }
};

/// Given probabilities whose sum is this close to 1 are not normalised.
inline constexpr double exact_sum = 1e-12;

struct HmmOptions : FitOptions {
  int k = 0;
  std::vector<ColumnSpec> emission;  // likelihoods: one for all elements or one for each
  // elements are independent columns; else one multivariate normal
  bool products = false;
  // option batch_size was given; else it is derived from the lengths of the sequences
  bool batch_given = false;
  bool symbols = false;  // the one element is a name
  std::string covariance = "full";
  Document categories;  // null, or as given
  std::string topology = "ergodic";
  ComponentOrder order;
  double minimum = 1e-6, covariance_floor = 1e-6;
  std::optional<Vector> initial;  // option init: the parts that were given
  std::optional<Matrix> transitions;
  std::optional<Tensor> means;  // K x d
  Document probabilities;       // null, or K objects
  DirichletOption initial_prior, transition_prior;
  ProductPriorKeys prior;        // of the emissions, if they are products
  NormalPriorKeys normal_prior;  // if not

  bool given_start() const { return initial || transitions || means || !probabilities.is_null(); }
  HmmRowOptions rows() const;
  Document document() const;
};

HmmOptions read_hmm_options(int k, const Document &options, SequenceElements elements, bool vectors,
                            const HiddenMarkovModel *start, bool update);

/// Posterior standard deviations from draws, or by linear response: of probabilities, including
/// those of Bernoulli and categorical elements; of other emission parameters where available.
struct HmmDeviations {
  Vector initial;
  Matrix transition;
  /// point size x K; of normals 2 d x K, of the means, then of the variances, or empty
  Matrix emissions;
};

template <class P, class Q> struct HmmFitted {
  using Point = P;
  using Posterior = Q;
  MarkovPoint<P> point;
  std::optional<MarkovPosterior<Q>> posterior;  // of vi and svi
  std::optional<HmmDeviations> deviations;      // of gibbs, and of vi with linear response
  /// of gibbs: stored draws of the parameters, with states numbered as in `point`
  std::vector<MarkovPoint<P>> draws;

  /// f(point) for all points under which sequences are scored: the draws, or without draws the
  /// point
  template <class F> void for_each_point(F f) const {
    if (draws.empty()) return f(point);
    for (const MarkovPoint<P> &draw : draws) f(draw);
  }
};
using NormalHmm = HmmFitted<NormalPoint, NormalWishart>;
using ProductHmm = HmmFitted<ProductPoint, ProductPosterior>;

struct HiddenMarkovModel::State {
  std::variant<NormalHmm, ProductHmm> fitted;
  Vector visits;        // K expected occupancies
  Matrix transitions;   // K x K expected transitions, (from, to)
  double weight = 0;    // of all steps
  double observed = 0;  // of those that are not entirely missing
  int zeros = 0;        // structural zeros of initial probabilities and transitions
  bool vectors = false, whole_steps = false;
  std::vector<std::string> symbols;  // names of the one categorical element's values; empty: none

  bool is_symbols() const { return !symbols.empty(); }
  /// K: the expected shares of the states in the steps of the fit; equal if there were none
  Vector shares() const;
};

}  // namespace bayes
