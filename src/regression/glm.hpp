// Generalized linear models (McCullagh and Nelder 1989), among them logistic regression (002 L3)
// and probit regression (002 L4, L6; Albert and Chib 1993): fitting, and the accessors of a fitted
// model.
//
// The mean of y given x is the inverse link of x'w plus an offset (responses.hpp); w has
// independent normal priors.
#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <span>

#include "base/control.hpp"
#include "data/rows.hpp"
#include "data/scores.hpp"
#include "regression/regression_model.hpp"
#include "regression/response_prediction.hpp"
#include "regression/responses.hpp"

namespace bayes {

/// The names under which these models are fitted: glm has a response by option.
enum class GlmFamily : char { glm, logreg, probit };

inline constexpr Method glm_methods[] = {Method::laplace, Method::slice};
inline constexpr Method logreg_methods[] = {Method::laplace, Method::gibbs, Method::slice};
inline constexpr Method probit_methods[] = {Method::laplace, Method::em, Method::vi, Method::gibbs,
                                            Method::slice};

/// The posterior distribution of the mean of y: of a binary response the probability of 1.
struct MeanPrediction {
  /// its posterior mean, which is the predictive mean of y
  double mean;
  /// its posterior standard deviation and the bounds of its credible interval; NaN for a model with
  /// a point estimate only
  double sd, lower, upper;
};

/// The predictive distribution of a new response.
struct ResponsePrediction {
  MeanPrediction mean;
  /// standard deviation (NaN if it has none) and the bounds of an interval of the response itself
  double sd, lower, upper;
};

/// The posterior distribution of the probability of a level.
struct LevelPrediction {
  /// its posterior mean, which is the predictive probability
  double mean;
  double sd, lower, upper;
};

/// Points that stand for the posterior of what the probabilities of a row depend on.
struct LevelPoints {
  /// number i of point s at [i * stride + s]; stride >= points
  std::vector<double> at;
  /// of level k at [k * stride + s]
  std::vector<double> probabilities;
  std::size_t points = 0, stride = 0;

  std::span<const double> of(std::size_t level) const {
    return std::span(probabilities).subspan(level * stride, points);
  }
  /// of the levels
  std::vector<double> means() const {
    std::vector<double> out;
    for (std::size_t k = 0; k * stride < probabilities.size(); ++k) {
      const auto p = of(k);
      out.push_back(std::min(1.0, std::accumulate(p.begin(), p.end(), 0.0) / double(points)));
    }
    return out;
  }
};

/// A row in the units of a model.
struct GlmRow {
  /// its terms, and 0 for all other unknowns
  std::vector<double> terms;
  /// what it adds to the linear predictor, and its trials
  double offset = 0, trials = 1;
  /// the response at the posterior mean of the unknowns
  ResponsePoint fitted = {};
};

class BAYES_API Glm final : public RegressionModel {
 public:
  /// `response`: that of the family, unless it is glm
  explicit Glm(GlmFamily family, const ResponseFamily *response = nullptr);
  ~Glm() override;

  std::int64_t stored_draws() const override;
  /// the number of terms that vary, and the dispersion
  double free_parameters() const override;
  /// the sum of the rows' weights
  double observations() const override;

  const RegressionTerms &terms() const override;
  bool binary() const override { return response_->binary(); }
  bool labelled() const override { return response_->labelled(); }
  int predictors() const override;
  std::string prefix(int predictor) const override;
  std::optional<std::string> reference_prefix() const override;
  bool multiplies() const override {
    return response_->link == Link::log || response_->link == Link::logit;
  }
  void coefficients(double level, const TakeCoefficient &take) const override;
  Coefficient contrast(std::span<const double> weights, double level) const override;
  /// Of a binary response the predictive probability alone; nullopt for a row with a missing value.
  std::optional<double> probability(std::span<const double> row) const;
  /// The score of a response that is allowed: its log density, and the square of its distance from
  /// the mean; of logreg and probit, whether the other response is more probable, and if both are
  /// as probable, whether it is 1. Accurate also where the probability is small.
  std::optional<Score> score(std::span<const double> row, double response) const;
  /// 0 < level < 1
  std::optional<MeanPrediction> predict(std::span<const double> row, double level) const;
  /// Throws Error(numeric) where moments overflow.
  std::optional<ResponsePrediction> predict_response(std::span<const double> row,
                                                     double level) const;
  /// The posteriors of the probabilities of all levels of a labelled response.
  std::optional<std::vector<LevelPrediction>> predict_levels(std::span<const double> row,
                                                             double level) const;
  /// What these come from, which takes a tenth of the time; and the score of a level.
  std::optional<LevelPoints> level_points(std::span<const double> row) const;
  Score score_level(const LevelPoints &points, std::size_t level) const;
  /// The labels of such a response, in their order.
  const std::vector<std::string> &levels() const;
  const ResponseFamily &response() const { return *response_; }
  /// of a response that is a number
  const NumberResponse &numbers() const { return static_cast<const NumberResponse &>(*response_); }
  /// nullopt for a row with a missing value. Throws Error(invalid_argument) for an exposure or
  /// trials that cannot be.
  std::optional<GlmRow> in_own_units(std::span<const double> row) const;

  ParameterDraws draw_parameters(std::uint64_t seed) const override;
  /// Coefficient k at unknowns, in units of the columns.
  double of_column(std::span<const double> unknowns, std::size_t k) const;
  /// The parameters at unknowns, in the order of describe_parameters().
  std::vector<double> quantities_of(std::span<const double> unknowns) const;

  const ModelWords &words() const override;
  /// The coefficients, each with its term as label.
  void describe_parameters(std::optional<double> level, const TakeParameter &take) const override;
  using Model::predict;
  /// false and true of binary responses, or the levels
  int outcomes() const override;
  void probabilities(std::span<const double> x, std::span<double> out) const override;
  std::optional<RowPrediction> predict_row(std::span<const double> x, double level) const override;

  struct State;
  const std::unique_ptr<State> state;
  /// Sets degrees of freedom that are learned to those at the posterior mean of their logarithm.
  void take_degrees();

 protected:
  void write(Document &document) const override;

 private:
  /// The posterior of a'u.
  Coefficient combination(std::span<const double> a, double level) const;
  /// The posterior of the exponential of an unknown: a dispersion, or degrees of freedom.
  Coefficient exponential(std::size_t unknown, double level) const;
  MeanPrediction mean_of(const GlmRow &own, double level) const;
  /// Throws Error(wrong_family) for a labelled response.
  void require_numbers() const;
  /// The cuts between ordered levels, as coefficients: where x is 0, P(y <= k) = F(cut k).
  void take_cuts(double level, const TakeCoefficient &take) const;
  std::optional<RowPrediction> most_probable_level(std::span<const double> row) const;
  LevelPoints points_of(const GlmRow &own) const;
  /// The posterior of the linear predictor of a row and of the dispersion; of draws some 500 at
  /// equal distances.
  std::vector<UncertainPredictor> posterior(const GlmRow &own) const;
  const GlmFamily family_;
  const ResponseFamily *response_;
};

/// The warnings of a fit: names of terms.
struct GlmWarnings {
  /// terms that are constant, or linear combinations of earlier ones, whose coefficients are
  /// determined by the prior alone
  std::vector<std::string> constant, dependent;
  /// terms that the rows determine so badly that their prior does: the likelihood rises with the
  /// coefficients without end, or nearly
  std::vector<std::string> undetermined;
  /// By which factor counts vary more than a Poisson distribution lets them: the sum of (y -
  /// mean)^2 / mean over the residual degrees of freedom (McCullagh and Nelder 1989, 6.2); 0 unless
  /// that is above 1 beyond chance.
  double overdispersion = 0;
  /// the number of rows if they are too few for a dispersion beside the coefficients; else 0
  std::int64_t few_rows = 0;
  /// Counts that are 0, and how many the model expects; 0 unless there are far more than that, and
  /// overdispersion does not say so already.
  double zeros = 0, zeros_expected = 0;
  /// levels of a labelled response that no row has
  std::vector<std::string> empty_levels;
};

/// How rows are to be read for a fit.
struct GlmCheck {
  RowOptions rows;
  const ResponseFamily *response;
  /// of a labelled response: option levels, or empty if it was not given
  std::vector<std::string> levels;
};

/// Throws Error(invalid_argument) for invalid options.
BAYES_API GlmCheck glm_check_options(GlmFamily family, const Document &options);

/// Fits rows whose element 0 is y, allowed by the response; of a labelled one it is the index of
/// its level in option levels, which must be given. The others are predictors, none missing, with
/// these columns, or with none if they come from arrays. Throws Error: invalid_argument, numeric or
/// too_large.
BAYES_API std::unique_ptr<Glm> glm_fit(GlmFamily family, RowSource &rows, const RowColumns &columns,
                                       const Document &options, Control &control,
                                       GlmWarnings &warnings);

std::unique_ptr<Model> read_glm(const Document &document);
std::unique_ptr<Model> read_logistic_regression(const Document &document);
std::unique_ptr<Model> read_probit_regression(const Document &document);

}  // namespace bayes
