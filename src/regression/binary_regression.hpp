// Logistic regression (002 L3) and probit regression (002 L4, L6; Albert and Chib 1993): fitting,
// and the accessors of a fitted model.
//
// P(y = 1 | x) = F(x'w), with F the logistic function or the standard normal cdf; w has independent
// normal priors about 0.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "base/control.hpp"
#include "data/rows.hpp"
#include "document/model.hpp"
#include "regression/coefficients.hpp"
#include "regression/link_moments.hpp"
#include "regression/terms.hpp"

namespace bayes {

inline constexpr Method logreg_methods[] = {Method::laplace, Method::gibbs};
inline constexpr Method probit_methods[] = {Method::laplace, Method::em, Method::vi, Method::gibbs};

/// Of the probability that y = 1.
struct BinaryPrediction {
  /// its posterior mean, which is the predictive probability of y = 1
  double mean;
  /// its posterior standard deviation, and the quantiles that bound an interval of a level; NaN of
  /// a model that has but a point
  double sd, lower, upper;
};

class BAYES_API BinaryRegression final : public Model {
 public:
  explicit BinaryRegression(Link link);
  ~BinaryRegression() override;

  std::int64_t stored_draws() const override;
  /// the terms that vary
  double free_parameters() const override;
  /// rows, by their weights
  double observations() const override;

  /// In units of the columns.
  void coefficients(double level, const TakeCoefficient &take) const;
  const RegressionTerms &terms() const;
  /// The posterior of a linear combination of coefficients, on the scale of the linear predictor
  /// (log odds of logreg), as a coefficient without a term: `weights` of all terms, in their order.
  Coefficient contrast(std::span<const double> weights, double level) const;
  /// The predictive probability alone; nullopt for a row that misses something.
  std::optional<double> probability(std::span<const double> row) const;
  /// 0 < level < 1
  std::optional<BinaryPrediction> predict(std::span<const double> row, double level) const;

  const ModelWords &words() const override;
  /// The coefficients, each with its term as label.
  void describe_parameters(std::optional<double> level, const TakeParameter &take) const override;
  using Model::predict;
  std::optional<RowPrediction> predict_row(std::span<const double> x, double level) const override;

  struct State;
  const std::unique_ptr<State> state;

 protected:
  void write(Document &document) const override;

 private:
  /// Of a'u.
  Coefficient combination(std::span<const double> a, double level) const;
  const Link link_;
};

/// Throws Error(invalid_argument) for options that cannot be.
BAYES_API RowOptions binary_check_options(Link link, const Document &options);

/// Fits rows whose element 0 is y, 0 or 1; the others are predictors, none missing, with these
/// columns, or with none if they come from arrays. `constant`: gets the names of predictors whose
/// coefficients come from the prior alone. Throws Error: invalid_argument, numeric or too_large.
BAYES_API std::unique_ptr<BinaryRegression> binary_fit(Link link, RowSource &rows,
                                                       const RowColumns &columns,
                                                       const Document &options, Control &control,
                                                       std::vector<std::string> &constant);

std::unique_ptr<Model> read_logistic_regression(const Document &document);
std::unique_ptr<Model> read_probit_regression(const Document &document);

}  // namespace bayes
