// Coefficients and predictions of a fitted linear regression.
#include "regression/linreg.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.hpp"
#include "base/special.hpp"
#include "distributions/standard.hpp"
#include "families/marginal.hpp"
#include "families/parameter.hpp"
#include "regression/linreg_state.hpp"
#include "regression/regression_model.hpp"

namespace bayes {
namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// The probability below the upper bound of an interval; less than 1 even where (1 + level) / 2 is
/// rounded to 1.
double upper_share(double level) { return std::min((1 + level) / 2, std::nextafter(1.0, 0.0)); }

/// Standard deviation and interval of a distribution.
struct Summary {
  double sd = no_number, lower = no_number, upper = no_number;
};

Summary summary_of(const std::vector<Marginal> &parts, double level) {
  const MarginalMixture mixture(parts);
  return {mixture.deviation(), mixture.quantile((1 - level) / 2),
          mixture.quantile(upper_share(level))};
}

Summary summary_of(std::vector<double> draws, double level) {
  const DrawSummary found = summary_of_draws(std::move(draws), level);
  return {found.deviation, found.lower, found.upper};
}

/// The summary of stored draws, moved to the mean and the standard deviation of all draws.
Summary moved(double stored_mean, const Summary &stored, double mean, double deviation) {
  const DrawSummary to =
      DrawSummary{stored_mean, stored.sd, stored.lower, stored.upper}.moved_to(mean, deviation);
  return {to.deviation, to.lower, to.upper};
}

/// The posteriors of linear combinations of a linear regression's coefficients.
class LinearForms {
 public:
  LinearForms(const LinregModel::State &state, double level) : s_(state), level_(level) {}

  /// The distribution about `location` with the variance `of_w` from the coefficients, in units of
  /// State::factor, plus `of_noise` times the noise's variance.
  Summary distribution(double location, double of_w, double of_noise) const {
    if (s_.known_variance) {
      const double noise = *s_.known_variance;
      return normal(location, (s_.noise_scaled ? noise * of_w : of_w) + noise * of_noise);
    }
    const double degrees = 2 * s_.noise.shape, noise = s_.noise.rate / s_.noise.shape;
    if (s_.noise_scaled) return student(location, noise * (of_w + of_noise), degrees);
    if (of_noise == 0) return normal(location, of_w);
    // A normal plus a Student t: approximated by a t of the same degrees of freedom.
    Summary out = student(location, of_w + noise * of_noise, degrees);
    if (degrees > 2) out.sd = std::sqrt(of_w + noise * of_noise * degrees / (degrees - 2));
    return out;
  }

  /// The log density at x of the distribution that distribution() summarises.
  double log_density(double location, double of_w, double of_noise, double x) const {
    if (s_.known_variance) {
      const double noise = *s_.known_variance;
      return normal_log_density(x, location,
                                (s_.noise_scaled ? noise * of_w : of_w) + noise * of_noise);
    }
    const double noise = s_.noise.rate / s_.noise.shape,
                 squared_scale = (s_.noise_scaled ? noise * of_w : of_w) + noise * of_noise;
    if (!(squared_scale > 0)) return at_point(x, location);
    return StudentDistribution(2 * s_.noise.shape, location, std::sqrt(squared_scale))
        .log_density(x);
  }
  /// The log of the density at x averaged over the stored draws.
  double log_density_over_draws(std::span<const double> about_center, double of_noise,
                                double x) const {
    std::vector<double> logs;
    for (std::size_t d = 0; d < s_.draws(); ++d)
      logs.push_back(
          normal_log_density(x, drawn_location(d, about_center, 1), of_noise / s_.drawn_alpha[d]));
    return log_sum_exp(logs) - std::log(double(s_.draws()));
  }

  /// The mean of the linear combination over the stored draws.
  double stored_mean(std::span<const double> about_center) const {
    double sum = 0;
    for (std::size_t d = 0; d < s_.draws(); ++d) sum += drawn_location(d, about_center, 1);
    return sum / double(s_.draws());
  }

  /// The summary over the stored draws; `of_noise` as in distribution().
  Summary over_draws(std::span<const double> about_center, double of_noise,
                     double origin = 1) const {
    std::vector<double> locations;
    std::vector<Marginal> parts;
    for (std::size_t d = 0; d < s_.draws(); ++d) {
      const double location = drawn_location(d, about_center, origin);
      if (of_noise > 0)
        parts.push_back(
            {Marginal::Kind::normal, 0, std::sqrt(of_noise / s_.drawn_alpha[d]), location});
      else
        locations.push_back(location);
    }
    return of_noise > 0 ? summary_of(parts, level_) : summary_of(std::move(locations), level_);
  }

 private:
  double drawn_location(std::size_t draw, std::span<const double> about_center,
                        double origin) const {
    const double *const w = s_.drawn.data() + draw * s_.size();
    double out = origin * s_.response_center;
    for (std::size_t j = 0; j < s_.size(); ++j) out += about_center[j] * w[j];
    return out;
  }
  static double at_point(double x, double location) {
    const double infinite = std::numeric_limits<double>::infinity();
    return x == location ? infinite : -infinite;
  }
  static double normal_log_density(double x, double location, double variance) {
    return variance > 0 ? NormalDistribution(location, std::sqrt(variance)).log_density(x)
                        : at_point(x, location);
  }
  Summary normal(double location, double variance) const {
    return around(location, variance, {Marginal::Kind::normal, 0, 1}, s_.normal_quantile);
  }
  Summary student(double location, double squared_scale, double degrees) const {
    return around(location, squared_scale, {Marginal::Kind::student, degrees, 1},
                  s_.student_quantile);
  }
  /// The summary of `standard`, a symmetric distribution, after a change of location and scale.
  /// `known` caches its quantile, which takes longer than the rest of a prediction and is the same
  /// for all rows.
  Summary around(double location, double squared_scale, const Marginal &standard,
                 LevelQuantile &known) const {
    if (!(squared_scale > 0)) return {0, location, location};
    if (known.level != level_) known = {level_, -standard.quantile((1 - level_) / 2)};
    const double scale = std::sqrt(squared_scale), half = scale * known.quantile;
    return {scale * standard.deviation(), location - half, location + half};
  }
  const LinregModel::State &s_;
  const double level_;
};

}  // namespace

LinregModel::LinregModel() : state(std::make_unique<State>()) { info.family = "linreg"; }
LinregModel::~LinregModel() = default;

void LinregModel::merge(const Model &) {
  throw Error(
      Errc::wrong_family, "models of family \"linreg\" cannot be merged",
      "Posteriors cannot be added, but the sufficient statistics that they are computed from can.",
      "Store linreg_stats(y, x), add them with bayes_rollup and fit the sum with linreg_fit.");
}

std::int64_t LinregModel::stored_draws() const { return std::int64_t(state->draws()); }
double LinregModel::observations() const { return state->weight; }

double LinregModel::free_parameters() const {
  const State &s = *state;
  const auto left_out = std::count_if(s.coefficients.begin(), s.coefficients.end(),
                                      [](double w) { return std::isnan(w); });
  return double(s.size()) - double(left_out) + (s.intercept ? 1 : 0) + (s.known_variance ? 0 : 1);
}

void LinregModel::coefficients(double level, const TakeCoefficient &take) const {
  require_level(level);
  const State &s = *state;
  const LinearForms forms(s, level);
  std::vector<double> z(s.size(), 0.0);
  const auto give = [&](const std::string &name, double mean, const Summary &summary) {
    take({&name, mean, summary.sd, summary.lower, summary.upper});
  };
  WorkPoll poll;
  if (s.intercept) {
    const std::string &name = s.terms.name(0);
    if (s.draws() > 0) {
      for (std::size_t j = 0; j < s.size(); ++j) z[j] = -s.center[j];
      const Summary stored = forms.over_draws(z, 1 / s.weight);
      give(name, s.intercept_mean,
           s.noise_mean > 0
               ? moved(forms.stored_mean(z), stored, s.intercept_mean, s.intercept_deviation)
               : stored);
    } else if (s.factor.empty() && s.size() > 0) {
      give(name, s.intercept_mean, {});
    } else {
      give(name, s.intercept_mean,
           forms.distribution(s.intercept_mean, s.intercept_spread, 1 / s.weight));
    }
  }
  for (std::size_t j = 0; j < s.size(); ++j) {
    poll(4 * s.size());
    const std::string &name = s.terms.name(int(j) + (s.intercept ? 1 : 0));
    const double mean = s.coefficients[j];
    if (std::isnan(mean) || (s.factor.empty() && s.draws() == 0)) {
      give(name, mean, {});
    } else if (s.draws() > 0) {
      std::vector<double> draws;
      for (std::size_t d = 0; d < s.draws(); ++d) draws.push_back(s.drawn[d * s.size() + j]);
      DrawSummary found = summary_of_draws(std::move(draws), level);
      if (!s.deviations.empty()) found = found.moved_to(mean, s.deviations[j]);
      give(name, mean, {found.deviation, found.lower, found.upper});
    } else {
      give(name, mean, forms.distribution(mean, packed_column_square(s.factor, s.size(), j), 0));
    }
  }
}

Coefficient LinregModel::noise_variance(double level) const {
  require_level(level);
  const State &s = *state;
  Coefficient out;
  if (s.known_variance) {
    out.mean = out.lower = out.upper = *s.known_variance;
    return out;
  }
  if (s.draws() > 0) {
    std::vector<double> draws;
    for (const double alpha : s.drawn_alpha) draws.push_back(1 / alpha);
    // With few rows the variance has such long tails that its mean says nothing of its quantiles:
    // these are those of the stored draws.
    DrawSummary found = summary_of_draws(std::move(draws), level);
    if (s.noise_mean > 0) {
      found.mean = s.noise_mean;
      found.deviation = s.noise_deviation;
    }
    out.mean = found.mean;
    out.sd = found.deviation;
    out.lower = found.lower;
    out.upper = found.upper;
    return out;
  }
  const double a = s.noise.shape, b = s.noise.rate;
  out.mean = a > 1 ? b / (a - 1) : no_number;
  out.sd = a > 2 ? b / (a - 1) / std::sqrt(a - 2) : no_number;
  // Quantiles of the variance are the inverses of the opposite quantiles of the precision.
  const Marginal precision{Marginal::Kind::gamma, a, b > 0 ? b : 1};
  out.lower = b > 0 ? 1 / precision.quantile(upper_share(level)) : 0;
  out.upper = b > 0 ? 1 / precision.quantile((1 - level) / 2) : 0;
  return out;
}

const RegressionTerms &LinregModel::terms() const { return state->terms; }

const ModelWords &LinregModel::words() const {
  static constexpr ModelWords words = {
      .part = "coefficient",
      .parts = "coefficients",
      .response = true,
      .functions =
          "linreg_predict(model, x) predicts the response of a row, "
          "bayes_log_density(model, y, x) is the log density of a response."};
  return words;
}

ParameterDraws LinregModel::draw_parameters(std::uint64_t seed) const {
  const State &s = *state;
  if (s.draws() == 0 && s.factor.empty() && s.size() > 0) return Model::draw_parameters(seed);
  ParameterDraws out = undrawn_parameters();
  out.stored = stored_draws();
  out.draw = [&s, seed](std::uint64_t number) {
    Random random(seed, number);
    const bool stored = s.draws() > 0;
    const double noise = stored             ? 1 / s.drawn_alpha[number]
                         : s.known_variance ? *s.known_variance
                                            : s.noise.rate / random.gamma(s.noise.shape);
    std::vector<double> w = s.coefficients, values;
    if (stored) {
      const auto from = s.drawn.begin() + std::ptrdiff_t(number * s.size());
      std::copy(from, from + std::ptrdiff_t(s.size()), w.begin());
    } else {
      std::vector<double> normals(s.size());
      for (double &each : normals) each = (s.noise_scaled ? std::sqrt(noise) : 1) * random.normal();
      add_packed_draw(s.factor, normals, w);
    }
    if (s.intercept) {
      // That of a row with all terms at their means, less what these terms add.
      double value = s.intercept_mean + std::sqrt(noise / s.weight) * random.normal();
      for (std::size_t j = 0; j < s.size(); ++j)
        if (!std::isnan(s.coefficients[j])) value -= s.center[j] * (w[j] - s.coefficients[j]);
      values.push_back(value);
    }
    for (std::size_t j = 0; j < s.size(); ++j)
      values.push_back(std::isnan(s.coefficients[j]) ? Parameter::none : w[j]);
    values.push_back(noise);
    return values;
  };
  return out;
}

void LinregModel::describe_parameters(std::optional<double> level,
                                      const TakeParameter &take) const {
  const std::string_view known_by = state->draws() > 0             ? Parameter::draws
                                    : info.method == Method::exact ? Parameter::exact
                                    : info.method == Method::vi    ? Parameter::linear_response
                                                                : Parameter::normal_approximation;
  const double of = level.value_or(0.5);
  coefficients(of, [&](const Coefficient &coefficient) {
    take(parameter_of(coefficient, "coefficient", level.has_value(), known_by));
  });
  take(parameter_of(noise_variance(of), "noise_variance", level.has_value(), known_by));
}

std::optional<RowPrediction> LinregModel::predict_row(std::span<const double> x,
                                                      double level) const {
  const auto found = predict(x, level);
  if (!found) return std::nullopt;
  return RowPrediction{-1, nullptr, found->mean, found->sd, found->lower, found->upper};
}

Coefficient LinregModel::contrast(std::span<const double> weights, double level) const {
  require_level(level);
  const State &s = *state;
  Coefficient out;
  out.mean = out.sd = out.lower = out.upper = no_number;
  // The intercept is the response's centre less the terms' centres times their coefficients.
  const double origin = s.intercept ? weights[0] : 0;
  std::vector<double> z(weights.begin() + (s.intercept ? 1 : 0), weights.end());
  double mean = origin * s.response_center;
  for (std::size_t j = 0; j < s.size(); ++j) {
    if (std::isnan(s.coefficients[j])) {
      if (z[j] != 0) return out;
      continue;
    }
    z[j] -= origin * s.center[j];
    mean += z[j] * s.coefficients[j];
  }
  out.mean = mean;
  const double of_noise = s.intercept ? origin * origin / s.weight : 0;
  const LinearForms forms(s, level);
  Summary found;
  if (s.draws() > 0) {
    // As in predictions, the mean is that of all draws, and all else is computed from the stored
    // ones.
    found = forms.over_draws(z, of_noise, origin);
  } else if (!s.factor.empty() || s.size() == 0) {
    found = forms.distribution(mean, packed_square(s.factor, z), of_noise);
  }
  out.sd = found.sd;
  out.lower = found.lower;
  out.upper = found.upper;
  return out;
}

std::optional<LinregModel::CentredRow> LinregModel::centred(std::span<const double> row) const {
  const State &s = *state;
  CentredRow out{std::vector<double>(std::size_t(s.terms.size())), s.response_center, 0};
  if (!s.terms.expand(row, out.x.data())) return std::nullopt;
  if (s.intercept) out.x.erase(out.x.begin());
  for (std::size_t j = 0; j < s.size(); ++j) {
    out.x[j] -= s.center[j];
    if (!std::isnan(s.coefficients[j])) out.mean += out.x[j] * s.coefficients[j];
  }
  if (s.intercept) out.of_mean = 1 / s.weight;
  return out;
}

double LinregModel::log_density(const CentredRow &row, double response) const {
  const State &s = *state;
  const auto &[x, mean, of_mean] = row;
  const LinearForms forms(s, 0.5);
  if (s.draws() > 0) return forms.log_density_over_draws(x, of_mean + 1, response);
  const bool point = s.factor.empty() && s.size() > 0;
  return forms.log_density(mean, point ? 0 : packed_square(s.factor, x), of_mean + 1, response);
}

std::optional<double> LinregModel::log_density(std::span<const double> row, double response) const {
  const auto found = centred(row);
  if (!found) return std::nullopt;
  return log_density(*found, response);
}

std::optional<Score> LinregModel::score(std::span<const double> row, double response) const {
  const auto found = centred(row);
  if (!found) return std::nullopt;
  const double error = response - found->mean;
  return Score{1, log_density(*found, response), error * error};
}

std::optional<LinregPrediction> LinregModel::predict(std::span<const double> row,
                                                     double level) const {
  require_level(level);
  const State &s = *state;
  const auto centred_row = centred(row);
  if (!centred_row) return std::nullopt;
  const auto &[x, mean, of_mean] = *centred_row;
  const LinearForms forms(s, level);
  Summary about, fresh;
  if (s.draws() > 0) {
    about = forms.over_draws(x, of_mean);
    fresh = forms.over_draws(x, of_mean + 1);
  } else {
    const bool point = s.factor.empty() && s.size() > 0;
    const double spread = point ? 0 : packed_square(s.factor, x);
    if (!point) about = forms.distribution(mean, spread, of_mean);
    fresh = forms.distribution(mean, spread, of_mean + 1);
  }
  return LinregPrediction{mean,     fresh.sd,    fresh.lower, fresh.upper,
                          about.sd, about.lower, about.upper};
}

}  // namespace bayes
