// Bayesian linear regression (002 L2, L5, L6). Fitting, and the accessors of a fitted model.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/control.hpp"
#include "data/scores.hpp"
#include "document/document.hpp"
#include "document/model.hpp"
#include "regression/regression_model.hpp"

namespace bayes {

inline constexpr Method linreg_methods[] = {Method::exact, Method::em, Method::laplace, Method::vi,
                                            Method::gibbs};

class LinregSums;

/// The prediction for a row.
struct LinregPrediction {
  /// expected response
  double mean;
  /// standard deviation of a new response, and the bounds of its predictive interval
  double sd, lower, upper;
  /// posterior standard deviation of the expected response, and the bounds of its credible
  /// interval; NaN for a point estimate
  double mean_sd, mean_lower, mean_upper;
};

class BAYES_API LinregModel final : public RegressionModel {
 public:
  LinregModel();
  ~LinregModel() override;

  std::int64_t stored_draws() const override;
  double free_parameters() const override;
  double observations() const override;

  const RegressionTerms &terms() const override;
  /// A term is left out because it is constant or a combination of others and the prior is flat.
  void coefficients(double level, const TakeCoefficient &take) const override;
  Coefficient contrast(std::span<const double> weights, double level) const override;
  /// The posterior of the noise's variance, as a coefficient without a term.
  Coefficient noise_variance(double level) const;

  /// The log posterior predictive density of a response; `row` as in predict(). No value for a row
  /// with a missing value.
  std::optional<double> log_density(std::span<const double> row, double response) const;

  /// The score of a response, with the squared error of the expected one.
  std::optional<Score> score(std::span<const double> row, double response) const;

  /// `row`: the values of the model's columns. No value for a row with a missing value.
  std::optional<LinregPrediction> predict(std::span<const double> row, double level) const;

  struct State;
  const std::unique_ptr<State> state;

  const ModelWords &words() const override;
  /// The coefficients, each with its term as label, and the variance of the noise.
  ParameterDraws draw_parameters(std::uint64_t seed) const override;
  void describe_parameters(std::optional<double> level, const TakeParameter &take) const override;
  using Model::log_density;
  using Model::predict;
  std::optional<RowPrediction> predict_row(std::span<const double> x, double level) const override;

  /// Throws Error(wrong_family): posteriors cannot be added, only statistics can.
  void merge(const Model &other) override;

 protected:
  void write(Document &document) const override;

 private:
  /// The centred terms of a row, the expected response, and the posterior variance of the
  /// response's centre in units of the noise's variance.
  struct CentredRow {
    std::vector<double> x;
    double mean, of_mean;
  };
  std::optional<CentredRow> centred(std::span<const double> row) const;
  double log_density(const CentredRow &row, double response) const;
};

/// The options that determine how rows are read.
struct LinregRows {
  /// missing = error
  bool missing_is_error = false;
};

/// Throws Error(invalid_argument) for invalid options.
BAYES_API LinregRows linreg_check_options(const Document &options);

/// The warnings of a fit.
struct LinregWarnings {
  /// names of terms that are constant, or linear combinations of earlier terms
  std::vector<std::string> constant, dependent;
  /// indices (from 0) of predictors that equal the response in every row, if it varies
  std::vector<int> response;
  /// are these terms excluded from the model?
  bool constant_left_out = false, dependent_left_out = false;
  /// The response is constant, and no prior tells how large its noise may be: method exact takes it
  /// to be 0.
  bool no_noise = false;
};

/// nullptr if the response is constant and neither the rows nor a prior tell of the noise (no_noise
/// in `warnings`). Throws Error: invalid_argument, numeric or too_large.
BAYES_API std::unique_ptr<LinregModel> linreg_fit(const LinregSums &sums, const Document &options,
                                                  Control &control, LinregWarnings &warnings);

std::unique_ptr<Model> read_linreg_model(const Document &document);

}  // namespace bayes
