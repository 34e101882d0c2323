// A model whose rows come from a mixture: it predicts by its flat mixture (row_distribution.hpp),
// which also answers all questions, so that nothing about rows is computed in two ways.
#pragma once

#include <memory>
#include <span>

#include "document/model.hpp"

namespace bayes {

/// With a posterior, predictions use the predictive density of each component, with its parameters
/// integrated out; with draws, the average of these over the draws. Not thread-safe.
class BAYES_API RowMixture : public Model {
 public:
  RowMixture();
  ~RowMixture() override;
  // For a row as checked() takes it. NaN is a missing value, which is integrated out. An unseen
  // category (base/unseen.hpp) counts as missing, except in log densities, where it has a
  // probability (families/product/unseen_categories.hpp).
  int predict(std::span<const double> x) const override;
  void probabilities(std::span<const double> x, std::span<double> out) const override;
  double log_density(std::span<const double> x) const override;
  PredictiveErrors mcse(std::span<const double> x, Control &control) const override;

 protected:
  /// The row as the flat mixture takes it, by default as it is. Throws Error(invalid_argument) for
  /// values that a column does not allow, naming the column. Valid until the next call.
  virtual std::span<const double> checked(std::span<const double> x) const { return x; }
  /// made for the first row, unless it was set
  RowDistribution &rows() const;
  void set_rows(std::unique_ptr<RowDistribution> rows);

 private:
  mutable std::unique_ptr<RowDistribution> rows_;
};

}  // namespace bayes
