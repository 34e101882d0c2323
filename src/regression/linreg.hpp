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

  /// With those that have no coefficient.
  const RegressionTerms &terms() const;
  std::int64_t stored_draws() const override;
  double free_parameters() const override;
  double observations() const override;

  /// The posterior of every coefficient, in the order of terms(): all numbers are NaN for a term
  /// that was left out, as it is constant or a combination of others and the prior is flat; sd and
  /// bounds are for a point estimate. Throws Error(invalid_argument) for a level that is not
  /// between 0 and 1.
  void coefficients(double level, const TakeCoefficient &take) const;
  /// The posterior of the noise's variance, as a coefficient without a term.
  Coefficient noise_variance(double level) const;

  /// `row` as of the model's columns. No value for a row that misses something.
  std::optional<LinregPrediction> predict(std::span<const double> row, double level) const;

  struct State;
  const std::unique_ptr<State> state;

  /// Throws Error(wrong_family): posteriors do not add up, statistics do.
  void merge(const Model &other) override;

 protected:
  void write(Document &document) const override;
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
  /// have those no coefficient?
  bool constant_left_out = false, dependent_left_out = false;
};

/// "x", "y" and 3 more
BAYES_API std::string list_of_terms(const std::vector<std::string> &names);

BAYES_API std::unique_ptr<LinregModel> linreg_fit(const LinregSums &sums, const Document &options,
                                                  Control &control, LinregWarnings &warnings);

std::unique_ptr<Model> read_linreg_model(const Document &document);

}  // namespace bayes
