// A Gaussian mixture prepared for scoring single rows: components lie in the lanes, so that one row
// is scored under all of them at once. A row with missing elements (NaN) has the marginal density
// of the observed ones.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "families/marginal_scorers.hpp"
#include "mixture/gmm_state.hpp"

namespace bayes {

/// Not for use by two threads at a time: it has its own workspace.
class GmmScorer {
 public:
  /// The state must outlive this if rows miss elements.
  explicit GmmScorer(const GaussianMixture::State &state);

  /// log (weight_k x predictive density of x under component k) for every component; the span is
  /// valid until the next call.
  std::span<const double> log_joint(std::span<const double> x);

  /// FiniteDrawsScorer::masses, of a model with draws.
  std::vector<double> masses(std::span<const double> x);

 private:
  /// the scorer for a row that misses some elements, but not all
  GmmScorer &marginal(std::span<const double> x);
  std::span<const double> log_weights();
  void compile_constants(int k, double log_determinant);
  void compile_dense(const CovarianceShape &shape, const std::vector<FactoredScale> &scales);
  void compile_variances(const CovarianceShape &shape, const std::vector<FactoredScale> &scales);
  void compile_quadrature(const MixturePosterior<NormalIndependent> &q);
  void quadratic_dense(const double *x);
  void quadratic_tied(const double *x);
  void quadratic_variances(const double *x);
  void product_of_students(const double *x);

  enum class Form { dense, tied, variances, students, quadrature } form_ = Form::dense;
  bool student_ = false;
  int d_ = 0, k_ = 0, padded_ = 0;  // padded_: components up to a multiple of the lanes
  // [..][padded_]: the mean, and W row by row or reciprocal deviations
  Buffer mean_, scale_;
  Buffer constant_, half_, inverse_degrees_;  // log constant; (nu + d) / 2; 1 / nu
  Buffer y_, out_;
  Matrix whiten_;  // tied
  Vector centre_;
  /// The independent prior's predictive of one component.
  struct Integral {
    Matrix rotation;
    Vector mean, variance;
    double nu, constant;
    double log_density(const double *x) const;
  };
  std::vector<Integral> integrals_;
  const GmmFitted *fitted_;
  MarginalScorers<GmmScorer> marginal_;
  // for a model with draws: these compute log_joint() and masses()
  std::function<std::span<const double>(const double *x)> drawn_;
  std::function<std::vector<double>(const double *x)> masses_;
};

}  // namespace bayes
