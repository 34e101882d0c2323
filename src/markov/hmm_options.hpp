// The options of hidden Markov models.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/linalg.hpp"
#include "families/normal/normal_options.hpp"
#include "families/product/product_options.hpp"
#include "fit/fit_options.hpp"
#include "markov/hmm.hpp"

namespace bayes {

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

}  // namespace bayes
