// Coefficients and predictions of a fitted binary regression.
#include "regression/binary_regression.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/error.hpp"
#include "base/special.hpp"
#include "families/marginal.hpp"
#include "families/parameter.hpp"
#include "regression/binary_state.hpp"
#include "regression/regression_model.hpp"

namespace bayes {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

double product(const double *u, std::span<const double> v) {
  double out = 0;
  for (std::size_t j = 0; j < v.size(); ++j) out += u[j] * v[j];
  return out;
}

/// The terms of a row in the model's units; empty if one is missing.
std::vector<double> standardized(const BinaryRegression::State &state,
                                 std::span<const double> row) {
  std::vector<double> z(state.size());
  if (!state.terms.expand(row, z.data())) return {};
  for (std::size_t j = 0; j < z.size(); ++j)
    z[j] = (z[j] - state.scales.centre[j]) / state.scales.scale[j];
  return z;
}

double checked_predictor(double x) {
  if (!std::isfinite(x))
    throw Error(
        Errc::numeric, "the linear predictor of a row overflows",
        "Its values are too far outside the range of the rows that the model was fitted to.");
  return x;
}

/// z'u in every stored draw.
std::vector<double> predictors(const BinaryRegression::State &state, std::span<const double> z) {
  std::vector<double> out;
  out.reserve(state.draws.size() / z.size());
  for (std::size_t at = 0; at < state.draws.size(); at += z.size())
    out.push_back(checked_predictor(product(state.draws.data() + at, z)));
  return out;
}

}  // namespace

BinaryRegression::BinaryRegression(Link link) : state(std::make_unique<State>()), link_(link) {
  info.family = link == Link::logit ? "logreg" : "probit";
}
BinaryRegression::~BinaryRegression() = default;

std::int64_t BinaryRegression::stored_draws() const {
  return std::int64_t(state->draws.size() / state->size());
}
double BinaryRegression::free_parameters() const { return double(state->parameters); }
double BinaryRegression::observations() const { return state->observations; }

const RegressionTerms &BinaryRegression::terms() const { return state->terms; }

Coefficient BinaryRegression::combination(std::span<const double> a, double level) const {
  const State &s = *state;
  Coefficient out;
  out.mean = product(s.mean.data(), a);
  out.sd = out.lower = out.upper = unknown;
  if (!s.draws.empty()) {
    const DrawSummary found = summary_of_draws(predictors(s, a), level);
    // As in predictions, the mean is that of all draws, and all else is computed from the stored
    // ones.
    out.sd = found.deviation;
    out.lower = found.lower;
    out.upper = found.upper;
  } else if (!s.root.empty()) {
    const double reach = -normal_quantile((1 - level) / 2);
    out.sd = std::sqrt(packed_square(s.root, a));
    out.lower = out.mean - reach * out.sd;
    out.upper = out.mean + reach * out.sd;
  }
  return out;
}

Coefficient BinaryRegression::contrast(std::span<const double> weights, double level) const {
  require_level(level);
  const State &s = *state;
  std::vector<double> a(s.size(), 0.0);
  for (std::size_t j = 0; j < a.size(); ++j) {
    if (weights[j] == 0) continue;
    if (s.terms[int(j)].column >= 0) {
      a[j] += weights[j] / s.scales.scale[j];
      continue;
    }
    // the intercept is the linear predictor where all other terms are 0
    for (std::size_t i = 0; i < a.size(); ++i)
      a[i] += weights[j] * (i == j ? 1 : -s.scales.centre[i] / s.scales.scale[i]);
  }
  return combination(a, level);
}

void BinaryRegression::coefficients(double level, const TakeCoefficient &take) const {
  const State &s = *state;
  const std::size_t p = s.size();
  const double z = -normal_quantile((1 - level) / 2);
  // Coefficient j of the columns is a'u: u_j / scale, or for the intercept the linear predictor
  // where all other terms are 0.
  std::vector<double> a(p);
  WorkPoll poll;
  for (std::size_t j = 0; j < p; ++j) {
    const bool intercept = s.terms[int(j)].column < 0;
    std::fill(a.begin(), a.end(), 0.0);
    if (intercept)
      for (std::size_t i = 0; i < p; ++i)
        a[i] = i == j ? 1 : -s.scales.centre[i] / s.scales.scale[i];
    else
      a[j] = 1 / s.scales.scale[j];
    Coefficient out;
    out.term = &s.terms.name(int(j));
    out.mean = product(s.mean.data(), a);
    out.sd = out.lower = out.upper = unknown;
    poll(p + s.draws.size());
    if (!s.draws.empty()) {
      DrawSummary found = summary_of_draws(predictors(s, a), level);
      if (!s.deviations.empty())
        found = found.moved_to(out.mean, s.deviations[j] * (intercept ? 1 : a[j]));
      out.sd = found.deviation;
      out.lower = found.lower;
      out.upper = found.upper;
    } else if (!s.root.empty()) {
      out.sd = intercept ? std::sqrt(packed_square(s.root, a))
                         : std::sqrt(packed_column_square(s.root, p, j)) * a[j];
      out.lower = out.mean - z * out.sd;
      out.upper = out.mean + z * out.sd;
    }
    take(out);
  }
}

std::optional<BinaryPrediction> BinaryRegression::predict(std::span<const double> row,
                                                          double level) const {
  const State &s = *state;
  const std::vector<double> z = standardized(s, row);
  if (z.empty()) return std::nullopt;
  if (!s.draws.empty()) {
    std::vector<double> all = predictors(s, z);
    for (double &a : all) a = probability_at(link_, a);
    const DrawSummary found = summary_of_draws(std::move(all), level);
    return BinaryPrediction{found.mean, found.deviation, found.lower, found.upper};
  }
  const double mean = checked_predictor(product(s.mean.data(), z));
  if (s.root.empty())
    return BinaryPrediction{probability_at(link_, mean), unknown, unknown, unknown};
  const double variance = checked_predictor(packed_square(s.root, z));
  const LinkMoments moments = link_moments(link_, mean, variance);
  const double reach = -normal_quantile((1 - level) / 2) * std::sqrt(variance);
  return BinaryPrediction{moments.mean, moments.sd, probability_at(link_, mean - reach),
                          probability_at(link_, mean + reach)};
}

const ModelWords &BinaryRegression::words() const {
  static constexpr const char *functions =
      "bayes_predict(model, x) has the probability that the response is true, and "
      "bayes_log_density(model, y, x) the log probability of a response.";
  static constexpr ModelWords logit = {
      .part = "coefficient", .parts = "coefficients", .response = true, .functions = functions};
  static constexpr ModelWords probit = {
      .part = "coefficient", .parts = "coefficients", .response = true, .functions = functions};
  return link_ == Link::logit ? logit : probit;
}

void BinaryRegression::describe_parameters(std::optional<double> level,
                                           const TakeParameter &take) const {
  if (level) require_level(*level);
  const std::string_view known_by = stored_draws() > 0          ? Parameter::draws
                                    : info.method == Method::vi ? Parameter::mean_field
                                                                : Parameter::normal_approximation;
  coefficients(level.value_or(0.5), [&](const Coefficient &coefficient) {
    take(parameter_of(coefficient, "coefficient", level.has_value(), known_by));
  });
}

std::optional<RowPrediction> BinaryRegression::predict_row(std::span<const double> x,
                                                           double level) const {
  require_level(level);
  const auto found = predict(x, level);
  if (!found) return std::nullopt;
  return RowPrediction{-1, nullptr, found->mean, found->sd, found->lower, found->upper};
}

std::optional<double> BinaryRegression::probability(std::span<const double> row) const {
  const auto found = predict(row, 0.5);
  return found ? std::optional(found->mean) : std::nullopt;
}

void BinaryRegression::probabilities(std::span<const double> x, std::span<double> out) const {
  const double yes = probability(x).value_or(std::numeric_limits<double>::quiet_NaN());
  out[0] = 1 - yes;
  out[1] = yes;
}

std::optional<Score> BinaryRegression::score(std::span<const double> row, double response) const {
  const State &s = *state;
  const std::vector<double> z = standardized(s, row);
  if (z.empty()) return std::nullopt;
  // P(y = 0) is P(y = 1) at the opposite predictor: a difference from 1 would lose its digits.
  const double sign = response > 0 ? 1 : -1;
  double log_p = 0;
  if (!s.draws.empty()) {
    std::vector<double> all = predictors(s, z);
    for (double &a : all) a = log_probability_at(link_, sign * a);
    log_p = log_sum_exp(all) - std::log(double(all.size()));
  } else {
    const double mean = sign * checked_predictor(product(s.mean.data(), z));
    log_p = log_link_mean(link_, mean,
                          s.root.empty() ? 0 : checked_predictor(packed_square(s.root, z)));
  }
  const double p = std::exp(log_p);
  return Score{1, log_p, double(p < 0.5 || (p == 0.5 && response > 0))};
}

}  // namespace bayes
