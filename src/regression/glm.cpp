// Coefficients and predictions of a fitted generalized linear model.
#include "regression/glm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/error.hpp"
#include "base/message.hpp"
#include "base/random.hpp"
#include "base/special.hpp"
#include "document/members.hpp"
#include "families/marginal.hpp"
#include "families/parameter.hpp"
#include "regression/glm_state.hpp"
#include "regression/level_responses.hpp"
#include "regression/regression_model.hpp"
#include "regression/response_prediction.hpp"

namespace bayes {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

double inner_product(const double *u, std::span<const double> v) {
  double out = 0;
  for (std::size_t j = 0; j < v.size(); ++j) out += u[j] * v[j];
  return out;
}

/// The terms of a row in the model's units, and 0 for all other unknowns; empty if one is missing.
std::vector<double> standardized(const Glm::State &state, std::span<const double> row) {
  std::vector<double> z(state.size());
  if (!state.terms.expand(row, z.data())) return {};
  for (std::size_t j = 0; j < state.scales.scale.size(); ++j)
    z[j] = (z[j] - state.scales.centre[j]) / state.scales.scale[j];
  return z;
}

/// Adds `weight` times the coefficient of column j to a'u, whose predictor has the unknowns from
/// `first` on. The coefficient is u_j / scale, or for the intercept the linear predictor where all
/// other terms are 0.
void add_coefficient(const Glm::State &s, std::size_t first, std::size_t j, double weight,
                     std::vector<double> &a) {
  if (!s.terms.is_intercept(int(j))) {
    a[first + j] += weight / s.scales.scale[j];
    return;
  }
  for (std::size_t i = 0; i < s.scales.scale.size(); ++i)
    a[first + i] += weight * (i == j ? 1 : -s.scales.centre[i] / s.scales.scale[i]);
}

/// A mean, a deviation or a quantile of a prediction.
double checked_moment(double x) {
  if (!std::isfinite(x))
    throw Error(Errc::numeric, "the prediction of a row overflows",
                "The rows of the fit hardly determine it.", "Use a narrower prior.");
  return x;
}

double checked_predictor(double x) {
  if (!std::isfinite(x))
    throw Error(
        Errc::numeric, "the linear predictor of a row overflows",
        "Its values are too far outside the range of the rows that the model was fitted to.");
  return x;
}

/// What a row adds to the linear predictor, and its trials. Throws Error(invalid_argument) for
/// numbers that they cannot be.
struct Apart {
  double offset = 0, trials = 1;
};
Apart apart_of(const GlmColumns &columns, std::span<const double> row) {
  Apart out{0, columns.every};
  const auto at = [row](int column) { return row[std::size_t(column)]; };
  if (columns.offset >= 0) out.offset = at(columns.offset);
  if (columns.exposure >= 0) {
    if (!(at(columns.exposure) > 0))
      throw Error(Errc::invalid_argument,
                  message("the exposure of a row is {}", describe_number(at(columns.exposure))),
                  "It must be positive.");
    out.offset += std::log(at(columns.exposure));
  }
  if (columns.trials >= 0) out.trials = at(columns.trials);
  if (!(out.trials >= 0 && out.trials == std::floor(out.trials)))
    throw Error(Errc::invalid_argument, message("a row has {} trials", describe_number(out.trials)),
                "It must be a whole number.");
  return out;
}

/// z'u in every stored draw.
std::vector<double> predictors_of_draws(const Glm::State &state, std::span<const double> z) {
  std::vector<double> out;
  out.reserve(state.draws.size() / z.size());
  for (std::size_t at = 0; at < state.draws.size(); at += z.size())
    out.push_back(checked_predictor(inner_product(state.draws.data() + at, z)));
  return out;
}

}  // namespace

Glm::Glm(GlmFamily family, const ResponseFamily *response)
    : state(std::make_unique<State>()),
      family_(family),
      response_(response ? response
                         : &bernoulli(family == GlmFamily::logreg ? Link::logit : Link::probit)) {
  info.family = family == GlmFamily::glm      ? "glm"
                : family == GlmFamily::logreg ? "logreg"
                                              : "probit";
}
Glm::~Glm() = default;

std::int64_t Glm::stored_draws() const { return std::int64_t(state->draws.size() / state->size()); }
double Glm::free_parameters() const {
  return double(state->parameters + response_->extras(state->columns.levels));
}
double Glm::observations() const { return state->observations; }

const RegressionTerms &Glm::terms() const { return state->terms; }

std::optional<GlmRow> Glm::in_own_units(std::span<const double> row) const {
  std::vector<double> terms = standardized(*state, row);
  if (terms.empty()) return std::nullopt;
  const Apart apart = apart_of(state->columns, row);
  const std::vector<double> &mean = state->mean;
  const double predictor = checked_predictor(inner_product(mean.data(), terms)) + apart.offset;
  return GlmRow{
      std::move(terms),
      apart.offset,
      apart.trials,
      {predictor, apart.trials, response_->dispersed() ? mean.back() : 0, state->columns.degrees}};
}

std::vector<double> Glm::State::draw(std::uint64_t seed, std::uint64_t number) const {
  std::vector<double> out = mean;
  Random random(seed, number);
  std::vector<double> normals(root.empty() ? 0 : size());
  for (double &each : normals) each = random.normal();
  add_packed_draw(root, normals, out);
  return out;
}

std::vector<double> Glm::State::posterior_unknowns(std::size_t count, std::uint64_t seed) const {
  const std::size_t p = size(), stored = draws.size() / p;
  std::vector<double> out;
  out.reserve(count * p);
  for (std::size_t s = 0; s < count; ++s) {
    poll_here();
    const std::size_t at = std::size_t((double(s) + 0.5) / double(count) * double(stored));
    const auto from = draws.begin() + std::ptrdiff_t(p * at);
    const std::vector<double> u =
        stored > 0 ? std::vector<double>(from, from + std::ptrdiff_t(p)) : draw(seed, s);
    out.insert(out.end(), u.begin(), u.end());
  }
  return out;
}

double Glm::of_column(std::span<const double> u, std::size_t k) const {
  const State &s = *state;
  const std::size_t terms = std::size_t(s.terms.size()), term = k % terms;
  if (!s.terms.is_intercept(int(term))) return u[k] / s.scales.scale[term];
  double out = u[k];
  for (std::size_t i = 1; i < terms; ++i) out -= u[k + i] * s.scales.centre[i] / s.scales.scale[i];
  return out;
}

std::vector<double> Glm::quantities_of(std::span<const double> u) const {
  const std::size_t coefficients = std::size_t(state->terms.size() * predictors());
  std::vector<double> out;
  if (response_->ordered())
    for (const double cut : cuts_of(u.subspan(coefficients), state->columns.anchor))
      out.push_back(cut - of_column(u, 0));
  for (std::size_t k = response_->ordered() ? 1 : 0; k < coefficients; ++k)
    out.push_back(of_column(u, k));
  for (std::size_t k = u.size(); !response_->ordered() && k > coefficients; --k)
    out.push_back(std::exp(u[k - 1]));
  return out;
}

ParameterDraws Glm::draw_parameters(std::uint64_t seed) const {
  const State &s = *state;
  if (s.root.empty() && s.draws.empty()) return Model::draw_parameters(seed);
  ParameterDraws out = undrawn_parameters();
  out.stored = stored_draws();
  out.draw = [this, &s, seed](std::uint64_t number) {
    const std::size_t p = s.size();
    return quantities_of(s.draws.empty()
                             ? s.draw(seed, number)
                             : std::vector(s.draws.begin() + std::ptrdiff_t(number * p),
                                           s.draws.begin() + std::ptrdiff_t((number + 1) * p)));
  };
  return out;
}

Coefficient Glm::combination(std::span<const double> a, double level) const {
  const State &s = *state;
  Coefficient out;
  out.mean = inner_product(s.mean.data(), a);
  out.sd = out.lower = out.upper = unknown;
  if (!s.draws.empty()) {
    // As in predictions, the mean is that of all draws, and all else is computed from the stored
    // ones.
    out.spread(summary_of_draws(predictors_of_draws(s, a), level));
  } else if (!s.root.empty()) {
    out.spread(std::sqrt(packed_square(s.root, a)), -normal_quantile((1 - level) / 2));
  }
  return out;
}

Coefficient Glm::contrast(std::span<const double> weights, double level) const {
  require_level(level);
  const State &s = *state;
  std::vector<double> a(s.size(), 0.0);
  const std::size_t terms = std::size_t(s.terms.size());
  for (std::size_t k = 0; k < weights.size(); ++k)
    if (weights[k] != 0) add_coefficient(s, k / terms * terms, k % terms, weights[k], a);
  return combination(a, level);
}

void Glm::coefficients(double level, const TakeCoefficient &take) const {
  const State &s = *state;
  const std::size_t p = s.size(), terms = std::size_t(s.terms.size());
  const double z = -normal_quantile((1 - level) / 2);
  if (response_->ordered()) take_cuts(level, take);
  std::vector<double> a(p);
  WorkPoll poll;
  for (std::size_t k = 0; k < terms * std::size_t(predictors()); ++k) {
    const std::size_t j = k % terms;
    const bool intercept = s.terms.is_intercept(int(j));
    if (intercept && response_->ordered()) continue;
    std::fill(a.begin(), a.end(), 0.0);
    add_coefficient(s, k - j, j, 1, a);
    const std::string name = prefix(int(k / terms)) + s.terms.name(int(j));
    Coefficient out;
    out.term = &name;
    if (response_->classes()) {
      out.own_term = &s.terms.name(int(j));
      out.of_class = &s.levels[k / terms + 1];
    }
    out.mean = inner_product(s.mean.data(), a);
    out.sd = out.lower = out.upper = unknown;
    poll(p + s.draws.size());
    if (!s.draws.empty()) {
      DrawSummary found = summary_of_draws(predictors_of_draws(s, a), level);
      if (!s.deviations.empty())
        found = found.moved_to(out.mean, s.deviations[k] * (intercept ? 1 : a[k]));
      out.spread(found);
    } else if (!s.root.empty()) {
      out.spread(intercept ? std::sqrt(packed_square(s.root, a))
                           : std::sqrt(packed_column_square(s.root, p, k)) * a[k],
                 z);
    }
    take(out);
  }
}

std::optional<MeanPrediction> Glm::predict(std::span<const double> row, double level) const {
  require_numbers();
  const std::optional<GlmRow> own = in_own_units(row);
  return own ? std::optional(mean_of(*own, level)) : std::nullopt;
}

MeanPrediction Glm::mean_of(const GlmRow &own, double level) const {
  const State &s = *state;
  const Link link = response_->link;
  const auto mean_of = [&](double a) { return own.trials * mean_at(link, a); };
  if (!s.draws.empty()) {
    std::vector<double> all = predictors_of_draws(s, own.terms);
    for (double &a : all) a = mean_of(a + own.offset);
    const DrawSummary found = summary_of_draws(std::move(all), level);
    return {found.mean, found.deviation, found.lower, found.upper};
  }
  const double mean = own.fitted.predictor;
  if (s.root.empty()) return {mean_of(mean), unknown, unknown, unknown};
  const double variance = checked_predictor(packed_square(s.root, own.terms));
  const LinkMoments moments = link_moments(link, mean, variance);
  const double reach = -normal_quantile((1 - level) / 2) * std::sqrt(variance);
  return {own.trials * checked_moment(moments.mean), own.trials * checked_moment(moments.sd),
          mean_of(mean - reach), checked_moment(mean_of(mean + reach))};
}

std::vector<UncertainPredictor> Glm::posterior(const GlmRow &own) const {
  const State &s = *state;
  const std::vector<double> &z = own.terms;
  UncertainPredictor out;
  out.mean = own.fitted.predictor;
  out.trials = own.trials;
  out.degrees = s.columns.degrees;
  out.log_dispersion = own.fitted.log_dispersion;
  if (!s.draws.empty()) {
    constexpr std::size_t most = 500;
    const std::size_t all = s.draws.size() / z.size(), count = std::min(all, most);
    std::vector<UncertainPredictor> draws(count, out);
    for (std::size_t i = 0; i < count; ++i) {
      const double *const u = s.draws.data() + (2 * i + 1) * all / (2 * count) * z.size();
      draws[i].mean = checked_predictor(inner_product(u, z)) + own.offset;
      if (response_->dispersed()) draws[i].log_dispersion = u[z.size() - 1];
      if (response_->learns_degrees()) draws[i].degrees = std::exp(u[z.size() - 2]);
    }
    return draws;
  }
  if (!s.root.empty()) out.variance = checked_predictor(packed_square(s.root, z));
  if (!response_->dispersed()) return {out};
  // The last row of R: its last number is the deviation of the logarithm of the dispersion.
  const double *const last = s.root.data() + s.root.size() - z.size();
  const double deviation = last[z.size() - 1];
  out.dispersion_variance = deviation * deviation;
  out.covariance = inner_product(last, z) * deviation;
  return {out};
}

std::optional<ResponsePrediction> Glm::predict_response(std::span<const double> row,
                                                        double level) const {
  require_numbers();
  const std::optional<GlmRow> own = in_own_units(row);
  if (!own) return std::nullopt;
  const MeanPrediction mean = mean_of(*own, level);
  const double tail = (1 - level) / 2;
  if (response_->binary()) {
    // The mean is all there is to know of it.
    const double p = mean.mean;
    return ResponsePrediction{mean, std::sqrt(p * (1 - p)), double(1 - p < tail),
                              double(1 - p < 1 - tail)};
  }
  const std::vector<UncertainPredictor> of = posterior(*own);
  const double variance = predictive_variance(numbers(), of);
  return ResponsePrediction{
      mean, std::isnan(variance) ? unknown : std::sqrt(checked_moment(variance)),
      predictive_quantile(numbers(), of, tail), predictive_quantile(numbers(), of, 1 - tail)};
}

const ModelWords &Glm::words() const {
  static constexpr ModelWords probabilities = {
      .part = "coefficient",
      .parts = "coefficients",
      .response = true,
      .functions =
          "bayes_predict(model, x) has the probability that the response is true, and "
          "bayes_log_density(model, y, x) the log probability of a response."};
  static constexpr ModelWords responses = {
      .part = "coefficient",
      .parts = "coefficients",
      .response = true,
      .functions =
          "glm_predict(model, x) has the mean of the response and its interval, and "
          "bayes_log_density(model, y, x) the log density of a response."};
  static constexpr ModelWords labels = {
      .part = "coefficient",
      .parts = "coefficients",
      .response = true,
      .functions =
          "glm_probabilities(model, x) has the probability of each level of the response, and "
          "bayes_log_density(model, y, x) the log probability of a response."};
  return response_->binary() ? probabilities : response_->labelled() ? labels : responses;
}

void Glm::describe_parameters(std::optional<double> level, const TakeParameter &take) const {
  if (level) require_level(*level);
  const std::string_view known_by = stored_draws() > 0          ? Parameter::draws
                                    : info.method == Method::vi ? Parameter::mean_field
                                                                : Parameter::normal_approximation;
  coefficients(level.value_or(0.5), [&](const Coefficient &coefficient) {
    take(parameter_of(coefficient, "coefficient", level.has_value(), known_by));
  });
  const auto take_exponential = [&](std::size_t from_last, const char *name) {
    take(parameter_of(exponential(state->size() - from_last, level.value_or(0.5)), name,
                      level.has_value(), known_by));
  };
  if (response_->dispersed()) take_exponential(1, "dispersion");
  if (response_->learns_degrees()) take_exponential(2, "df");
}

void Glm::take_degrees() {
  if (response_->learns_degrees()) state->columns.degrees = std::exp(state->mean.end()[-2]);
}

Coefficient Glm::exponential(std::size_t unknown, double level) const {
  Coefficient out;
  const State &s = *state;
  if (!s.draws.empty()) {
    std::vector<double> all;
    for (std::size_t at = unknown; at < s.draws.size(); at += s.size())
      all.push_back(std::exp(s.draws[at]));
    const DrawSummary found = summary_of_draws(std::move(all), level);
    out.mean = found.mean;
    out.spread(found);
    return out;
  }
  const double variance = packed_column_square(s.root, s.size(), unknown),
               reach = -normal_quantile((1 - level) / 2) * std::sqrt(variance);
  out.mean = std::exp(s.mean[unknown] + variance / 2);
  out.sd = out.mean * std::sqrt(std::expm1(variance));
  out.lower = std::exp(s.mean[unknown] - reach);
  out.upper = std::exp(s.mean[unknown] + reach);
  return out;
}

std::optional<RowPrediction> Glm::predict_row(std::span<const double> x, double level) const {
  require_level(level);
  if (response_->labelled()) return most_probable_level(x);
  if (!response_->binary()) {
    const auto found = predict_response(x, level);
    if (!found) return std::nullopt;
    return RowPrediction{-1, nullptr, found->mean.mean, found->sd, found->lower, found->upper};
  }
  const auto found = predict(x, level);
  if (!found) return std::nullopt;
  return RowPrediction{-1, nullptr, found->mean, found->sd, found->lower, found->upper};
}

std::optional<double> Glm::probability(std::span<const double> row) const {
  const auto found = predict(row, 0.5);
  return found ? std::optional(found->mean) : std::nullopt;
}

void Glm::probabilities(std::span<const double> x, std::span<double> out) const {
  if (response_->labelled()) {
    const std::optional<LevelPoints> points = level_points(x);
    const std::vector<double> p = points ? points->means() : std::vector<double>();
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = points ? p[k] : unknown;
    return;
  }
  if (!response_->binary()) return Model::probabilities(x, out);
  const double yes = probability(x).value_or(std::numeric_limits<double>::quiet_NaN());
  out[0] = 1 - yes;
  out[1] = yes;
}

std::optional<Score> Glm::score(std::span<const double> row, double response) const {
  const State &s = *state;
  const std::optional<GlmRow> own = in_own_units(row);
  if (!own) return std::nullopt;
  if (!response_->allows(response) || (response_->labelled() && response >= state->columns.levels))
    throw Error(Errc::invalid_argument, message("the response is {}", describe_number(response)),
                message("A response of distribution {} must be {}.", response_->name,
                        response_->requirement));
  if (response_->labelled()) return score_level(points_of(*own), std::size_t(response));
  if (!response_->binary()) {
    if (response > own->trials && response_->has_trials())
      throw Error(Errc::invalid_argument,
                  message("the response is {} of {} trials", describe_number(response),
                          describe_number(own->trials)));
    const std::vector<UncertainPredictor> of = posterior(*own);
    const double off = response - predictive_mean(numbers(), of);
    return Score{1, log_predictive(numbers(), response, of), off * off};
  }
  // P(y = 0) is P(y = 1) at the opposite predictor: a difference from 1 would lose its digits.
  const double sign = response > 0 ? 1 : -1;
  double log_p = 0;
  if (!s.draws.empty()) {
    std::vector<double> all = predictors_of_draws(s, own->terms);
    for (double &a : all) a = log_probability_at(response_->link, sign * (a + own->offset));
    log_p = log_sum_exp(all) - std::log(double(all.size()));
  } else {
    log_p =
        log_link_mean(response_->link, sign * own->fitted.predictor,
                      s.root.empty() ? 0 : checked_predictor(packed_square(s.root, own->terms)));
  }
  const double p = std::exp(log_p);
  if (family_ == GlmFamily::glm) return Score{1, log_p, (1 - p) * (1 - p)};
  return Score{1, log_p, double(p < 0.5 || (p == 0.5 && response > 0))};
}

}  // namespace bayes
