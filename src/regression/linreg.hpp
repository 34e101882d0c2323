// Bayesian linear regression (002 L2, L5, L6). Fitting, and the accessors of a fitted model.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/control.hpp"
#include "document/document.hpp"
#include "document/model.hpp"
#include "regression/coefficients.hpp"
#include "regression/terms.hpp"

namespace bayes {

inline constexpr Method linreg_methods[] = {Method::exact, Method::em, Method::laplace, Method::vi,
                                            Method::gibbs};

class LinregSums;

/// What is predicted for a row.
struct LinregPrediction {
  /// of the response
  double mean;
  /// of a new response: its standard deviation, and the quantiles that bound an interval
  double sd, lower, upper;
  /// of the mean, as far as it is uncertain; NaN for a point estimate
  double mean_sd, mean_lower, mean_upper;
};

class BAYES_API LinregModel final : public Model {
 public:
  LinregModel();
  ~LinregModel() override;

  std::int64_t stored_draws() const override;
  double free_parameters() const override;
  double observations() const override;

  /// The posterior of every coefficient, in the order of the terms: all numbers are NaN for a term
  /// that was left out, as it is constant or a combination of others and the prior is flat; sd and
  /// bounds are for a point estimate. Throws Error(invalid_argument) for a level that is not
  /// between 0 and 1.
  void coefficients(double level, const TakeCoefficient &take) const;
  /// The posterior of the noise's variance, as a coefficient without a term.
  Coefficient noise_variance(double level) const;

  /// The posterior of a linear combination of coefficients, as a coefficient without a term:
  /// `weights` of all terms, in their order. All numbers are NaN if a term with a weight was left
  /// out, sd and bounds for a point estimate. Throws Error(invalid_argument) as coefficients().
  Coefficient contrast(std::span<const double> weights, double level) const;
  const RegressionTerms &terms() const;

  /// log density of the posterior predictive distribution at a response, of a row as predict() has
  /// it. No value for a row that misses something.
  std::optional<double> log_density(std::span<const double> row, double response) const;

  /// `row` as of the model's columns. No value for a row that misses something.
  std::optional<LinregPrediction> predict(std::span<const double> row, double level) const;

  struct State;
  const std::unique_ptr<State> state;

  const ModelWords &words() const override;
  /// The coefficients, each with its term as label, and the standard deviation of the noise.
  void describe_parameters(std::optional<double> level, const TakeParameter &take) const override;
  using Model::log_density;
  using Model::predict;
  std::optional<RowPrediction> predict_row(std::span<const double> x, double level) const override;

  /// Throws Error(wrong_family): posteriors do not add up, statistics do.
  void merge(const Model &other) override;

 protected:
  void write(Document &document) const override;

 private:
  /// The terms of a row less their centres, what they predict, and the share of the noise's
  /// variance that the uncertainty of the response's centre adds to it.
  struct CentredRow {
    std::vector<double> x;
    double mean, of_mean;
  };
  std::optional<CentredRow> centred(std::span<const double> row) const;
};

/// Throws Error(invalid_argument) for options that cannot be. Are rows that miss something an
/// error?
struct LinregRows {
  bool missing_is_error = false;
  bool null_on_error = false;
};
BAYES_API LinregRows linreg_check_options(const Document &options);

/// What a fit has to say beside its model.
struct LinregWarnings {
  /// names of terms that are constant, or linear combinations of those before
  std::vector<std::string> constant, dependent;
  /// predictors (from 0) that equal a response that varies in every row
  std::vector<int> response;
  /// are these terms excluded from the model?
  bool constant_left_out = false, dependent_left_out = false;
};

BAYES_API std::unique_ptr<LinregModel> linreg_fit(const LinregSums &sums, const Document &options,
                                                  Control &control, LinregWarnings &warnings);

std::unique_ptr<Model> read_linreg_model(const Document &document);

}  // namespace bayes
