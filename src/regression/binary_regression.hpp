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
#include "data/scores.hpp"
#include "regression/link_moments.hpp"
#include "regression/regression_model.hpp"

namespace bayes {

inline constexpr Method logreg_methods[] = {Method::laplace, Method::gibbs};
inline constexpr Method probit_methods[] = {Method::laplace, Method::em, Method::vi, Method::gibbs};

/// The posterior distribution of the probability that y = 1.
struct BinaryPrediction {
  /// its posterior mean, which is the predictive probability of y = 1
  double mean;
  /// its posterior standard deviation and the bounds of its credible interval; NaN for a model with
  /// a point estimate only
  double sd, lower, upper;
};

class BAYES_API BinaryRegression final : public RegressionModel {
 public:
  explicit BinaryRegression(Link link);
  ~BinaryRegression() override;

  std::int64_t stored_draws() const override;
  /// the number of terms that vary
  double free_parameters() const override;
  /// the sum of the rows' weights
  double observations() const override;

  const RegressionTerms &terms() const override;
  void coefficients(double level, const TakeCoefficient &take) const override;
  Coefficient contrast(std::span<const double> weights, double level) const override;
  /// The predictive probability alone; nullopt for a row with a missing value.
  std::optional<double> probability(std::span<const double> row) const;
  /// The score of a response, 0 or 1: the log of its probability, and whether the other response is
  /// more probable; if both are as probable, whether it is 1. Accurate also where the probability
  /// is small.
  std::optional<Score> score(std::span<const double> row, double response) const;
  /// 0 < level < 1
  std::optional<BinaryPrediction> predict(std::span<const double> row, double level) const;

  const ModelWords &words() const override;
  /// The coefficients, each with its term as label.
  void describe_parameters(std::optional<double> level, const TakeParameter &take) const override;
  using Model::predict;
  /// false and true
  int outcomes() const override { return 2; }
  void probabilities(std::span<const double> x, std::span<double> out) const override;
  std::optional<RowPrediction> predict_row(std::span<const double> x, double level) const override;

  struct State;
  const std::unique_ptr<State> state;

 protected:
  void write(Document &document) const override;

 private:
  /// The posterior of a'u.
  Coefficient combination(std::span<const double> a, double level) const;
  const Link link_;
};

/// The warnings of a fit: names of terms.
struct BinaryWarnings {
  /// terms that are constant, or linear combinations of earlier ones, whose coefficients are
  /// determined by the prior alone
  std::vector<std::string> constant, dependent;
  /// terms that the rows determine so badly that their prior does: the likelihood rises with the
  /// coefficients without end, or nearly
  std::vector<std::string> undetermined;
};

/// Throws Error(invalid_argument) for invalid options.
BAYES_API RowOptions binary_check_options(Link link, const Document &options);

/// Fits rows whose element 0 is y, 0 or 1; the others are predictors, none missing, with these
/// columns, or with none if they come from arrays. Throws Error: invalid_argument, numeric or
/// too_large.
BAYES_API std::unique_ptr<BinaryRegression> binary_fit(Link link, RowSource &rows,
                                                       const RowColumns &columns,
                                                       const Document &options, Control &control,
                                                       BinaryWarnings &warnings);

std::unique_ptr<Model> read_logistic_regression(const Document &document);
std::unique_ptr<Model> read_probit_regression(const Document &document);

}  // namespace bayes
