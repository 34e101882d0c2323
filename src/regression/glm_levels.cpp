// What a generalized linear model of a labelled response says about its levels.
//
// Probabilities are averages over the posterior of the predictors of a row and of the gaps between
// cuts. It is normal, or given by draws; a normal one of up to most_dimensions numbers is replaced
// by points that have its mean and its covariance exactly, and are spread as evenly as it is;
// one of more numbers, by points of the posterior of all unknowns.

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.hpp"
#include "base/linalg.hpp"
#include "base/message.hpp"
#include "base/random.hpp"
#include "base/special.hpp"
#include "families/marginal.hpp"
#include "families/parameter.hpp"
#include "regression/glm_state.hpp"
#include "regression/level_responses.hpp"
#include "regression/regression_model.hpp"

namespace bayes {
namespace {

/// Points come in pairs about the mean.
constexpr int pairs = 256, level_points_of_normal = 2 * pairs;
constexpr int most_dimensions = 64;

/// `pairs` vectors of standard normal numbers whose squares and products average to those of the
/// distribution: number j of vector s at [j * pairs + s]. In few dimensions they are quantiles of a
/// sequence that fills the unit cube evenly, multiples of powers of a number that generalizes the
/// golden section (Roberts 2018).
std::vector<double> even_normals(int dimensions) {
  std::vector<double> out(std::size_t(dimensions) * pairs);
  double golden = 2;  // golden^(dimensions + 1) = golden + 1
  for (int i = 0; i < 60; ++i) golden = std::pow(1 + golden, 1 / (double(dimensions) + 1));
  Random random(1);
  double rate = 1;
  for (int j = 0; j < dimensions; ++j) {
    rate /= golden;
    for (int s = 0; s < pairs; ++s) {
      const double at = 0.5 + rate * (s + 1);
      out[std::size_t(j * pairs + s)] =
          dimensions <= 16 ? normal_quantile(at - std::floor(at)) : random.normal();
    }
  }
  const Eigen::Map<const Matrix> points(out.data(), pairs, dimensions);
  Matrix lower;
  if (!cholesky(Matrix(points.transpose() * points / pairs), lower)) return out;
  const Matrix white = inverse_lower(lower) * points.transpose();
  for (int j = 0; j < dimensions; ++j)
    for (int s = 0; s < pairs; ++s) out[std::size_t(j * pairs + s)] = white(j, s);
  return out;
}

/// By how much points of the logarithm of a gap are below its mode. The posterior of a gap is about
/// a gamma distribution, whose mean is at the mode of its logarithm; the mean of the exponential of
/// a normal variable is above that, which adds up over gaps. Of a gap that next to nothing is known
/// of neither holds.
double shift_of_gap(double variance) { return 0.5 * variance * std::max(0.0, 1 - variance); }

/// `pairs` pairs of points of the posterior of all unknowns, one vector after the other;
/// `first_gap`: the first of them that is the logarithm of a gap.
std::vector<double> posterior_points(const Glm::State &s, std::size_t first_gap) {
  const std::size_t p = s.size();
  std::vector<double> out(p * level_points_of_normal), off(p), normals(p), centre = s.mean;
  for (std::size_t j = first_gap; j < p; ++j)
    centre[j] -= shift_of_gap(packed_column_square(s.root, p, j));
  for (std::size_t i = 0; i < std::size_t(pairs); ++i) {
    poll_here();
    Random random(1, i);
    std::fill(off.begin(), off.end(), 0.0);
    for (double &each : normals) each = random.normal();
    add_packed_draw(s.root, normals, off);
    for (std::size_t j = 0; j < p; ++j) {
      out[2 * i * p + j] = centre[j] + off[j];
      out[(2 * i + 1) * p + j] = centre[j] - off[j];
    }
  }
  return out;
}

}  // namespace

const std::vector<std::string> &Glm::levels() const { return state->levels; }

int Glm::predictors() const { return response_->predictors(state->columns.levels); }

std::string Glm::prefix(int predictor) const {
  return response_->classes() ? state->levels[std::size_t(predictor) + 1] + ": " : std::string();
}

std::optional<std::string> Glm::reference_prefix() const {
  if (!response_->classes()) return std::nullopt;
  return state->levels[0] + ": ";
}

int Glm::outcomes() const {
  return response_->binary() ? 2 : response_->labelled() ? state->columns.levels : 0;
}

void Glm::require_numbers() const {
  if (!response_->labelled()) return;
  throw Error(
      Errc::wrong_family, message("a response of distribution {} has no mean", response_->name),
      "It is one of several labels.", "glm_probabilities(model, x) has the probability of each.");
}

namespace {

/// The predictors of a row under unknowns, and after them the unknowns besides coefficients.
class RowPredictors {
 public:
  RowPredictors(const Glm::State &state, const GlmRow &row, std::size_t predictors)
      : state_(state),
        row_(row),
        terms_(std::size_t(state.terms.size())),
        predictors_(predictors) {}
  std::size_t size() const { return predictors_ + state_.size() - terms_ * predictors_; }

  double operator()(const double *u, std::size_t i) const {
    if (i >= predictors_) return u[first(i)];
    return row_.offset + product(u + first(i), terms_);
  }

  /// At points of their normal distribution: mean plus and minus a root of the covariance times the
  /// pairs of even_normals().
  std::vector<double> at_points(const std::vector<double> &normals) const {
    const std::size_t n = size();
    const Matrix root = covariance_root();
    std::vector<double> out(n * level_points_of_normal);
    for (std::size_t i = 0; i < n; ++i) {
      double *const above = out.data() + i * level_points_of_normal, *const below = above + pairs;
      for (std::size_t j = 0; j <= i; ++j) {
        const double of = root(Eigen::Index(i), Eigen::Index(j));
        for (std::size_t s = 0; s < std::size_t(pairs); ++s)
          above[s] += of * normals[j * pairs + s];
      }
      const double shift =
          i < predictors_ ? 0 : shift_of_gap(root.row(Eigen::Index(i)).squaredNorm());
      const double mean = (*this)(state_.mean.data(), i) - shift;
      for (std::size_t s = 0; s < std::size_t(pairs); ++s) {
        below[s] = mean - above[s];
        above[s] += mean;
      }
    }
    return out;
  }

 private:
  /// where what number i depends on begins among the unknowns
  std::size_t first(std::size_t i) const {
    return i < predictors_ ? i * terms_ : terms_ * predictors_ + i - predictors_;
  }
  double product(const double *u, std::size_t terms) const {
    double out = 0;
    for (std::size_t j = 0; j < terms; ++j) out += u[j] * row_.terms[j];
    return out;
  }

  /// A lower triangular root of the covariance, with zeros for what has no variance left.
  Matrix covariance_root() const {
    const auto n = Eigen::Index(size()), p = Eigen::Index(state_.size());
    // the root of the covariance of all unknowns, times what they are multiplied by
    Matrix image = Matrix::Zero(p, n);
    const double *row = state_.root.data();
    for (Eigen::Index r = 0; r < p; row += ++r)
      for (Eigen::Index i = 0; i < n; ++i) {
        const auto at = first(std::size_t(i));
        if (at > std::size_t(r)) continue;
        const std::size_t known = std::min(terms_, std::size_t(r) + 1 - at);
        image(r, i) = std::size_t(i) < predictors_ ? product(row + at, known) : row[at];
      }
    const Matrix covariance = image.transpose() * image;
    Matrix out = Matrix::Zero(n, n);
    for (Eigen::Index j = 0; j < n; ++j) {
      const double left = covariance(j, j) - out.row(j).head(j).squaredNorm();
      if (!(left > 1e-14 * covariance(j, j))) continue;
      out(j, j) = std::sqrt(left);
      for (Eigen::Index i = j + 1; i < n; ++i)
        out(i, j) = (covariance(i, j) - out.row(i).head(j).dot(out.row(j).head(j))) / out(j, j);
    }
    return out;
  }

  const Glm::State &state_;
  const GlmRow &row_;
  const std::size_t terms_, predictors_;
};

}  // namespace

std::optional<LevelPoints> Glm::level_points(std::span<const double> row) const {
  const std::optional<GlmRow> own = in_own_units(row);
  return own ? std::optional(points_of(*own)) : std::nullopt;
}

LevelPoints Glm::points_of(const GlmRow &own) const {
  const State &s = *state;
  const RowPredictors predictors(s, own, std::size_t(this->predictors()));
  const std::size_t n = predictors.size();
  const bool normal = s.draws.empty() && n <= std::size_t(most_dimensions);
  std::call_once(s.points_made, [&] {
    if (s.draws.empty())
      s.points = normal ? even_normals(int(n))
                        : posterior_points(
                              s, response_->ordered() ? std::size_t(s.terms.size()) : s.size());
  });
  LevelPoints out;
  out.points = out.stride = level_points_of_normal;
  if (normal) {
    out.at = predictors.at_points(s.points);
  } else {
    const std::vector<double> &draws = s.draws.empty() ? s.points : s.draws;
    constexpr std::size_t together = LevelResponse::points_at_once;
    out.points = draws.size() / s.size();
    out.stride = (out.points + together - 1) / together * together;
    out.at.resize(n * out.stride);
    for (std::size_t r = 0; r < out.points; ++r)
      for (std::size_t i = 0; i < n; ++i)
        out.at[i * out.stride + r] = predictors(draws.data() + r * s.size(), i);
  }
  for (const double each : out.at)
    if (!std::isfinite(each))
      throw Error(
          Errc::numeric, "the linear predictor of a row overflows",
          "Its values are too far outside the range of the rows that the model was fitted to.");
  out.probabilities.resize(std::size_t(s.columns.levels) * out.stride);
  static_cast<const LevelResponse &>(*response_)
      .probabilities({s.columns.levels, s.columns.anchor}, int(out.stride), out.at.data(),
                     out.probabilities.data());
  return out;
}

std::optional<std::vector<LevelPrediction>> Glm::predict_levels(std::span<const double> row,
                                                                double level) const {
  require_level(level);
  if (!response_->labelled())
    throw Error(Errc::wrong_family,
                message("a response of distribution {} has no levels", response_->name));
  const std::optional<LevelPoints> points = level_points(row);
  if (!points) return std::nullopt;
  const std::vector<double> means = points->means();
  std::vector<LevelPrediction> out;
  for (std::size_t k = 0; k < state->levels.size(); ++k) {
    const auto p = points->of(k);
    const DrawSummary found = summary_of_draws({p.begin(), p.end()}, level);
    out.push_back({means[k], found.deviation, found.lower, found.upper});
  }
  return out;
}

std::optional<RowPrediction> Glm::most_probable_level(std::span<const double> row) const {
  const std::optional<LevelPoints> points = level_points(row);
  if (!points) return std::nullopt;
  const std::vector<double> p = points->means();
  RowPrediction out;
  out.component = int(std::max_element(p.begin(), p.end()) - p.begin());
  out.label = &state->levels[std::size_t(out.component)];
  return out;
}

Score Glm::score_level(const LevelPoints &points, std::size_t level) const {
  const std::vector<double> p = points.means();
  // Half the squared distance of the probabilities from 1 for the level and 0 for all others: with
  // two levels, that of a yes or no.
  double square = 0;
  for (std::size_t k = 0; k < p.size(); ++k) square += 0.5 * std::pow(double(k == level) - p[k], 2);
  if (p[level] > 1e-8) return {1, std::log(p[level]), square};
  std::vector<double> logs(points.stride);
  static_cast<const LevelResponse &>(*response_)
      .log_probabilities({int(p.size()), state->columns.anchor}, int(level), int(points.stride),
                         points.at.data(), logs.data());
  logs.resize(points.points);
  return {1, log_sum_exp(logs) - std::log(double(points.points)), square};
}

void Glm::take_cuts(double level, const TakeCoefficient &take) const {
  const State &s = *state;
  const std::size_t terms = std::size_t(s.terms.size());
  const std::vector<double> cuts =
      cuts_of(std::span(s.mean).subspan(terms), s.columns.anchor);  // of the gaps' logarithms
  // Where x is 0, the predictor is the intercept in units of the columns.
  std::vector<double> a(s.size(), 0.0);
  for (std::size_t i = 0; i < terms; ++i)
    a[i] = i == 0 ? -1 : s.scales.centre[i] / s.scales.scale[i];
  double intercept = 0;
  for (std::size_t i = 0; i < terms; ++i) intercept += a[i] * s.mean[i];
  const double reach = -normal_quantile((1 - level) / 2);
  // of draws: the cuts of each
  std::vector<std::vector<double>> drawn(s.draws.empty() ? 0 : cuts.size());
  for (std::size_t at = 0; at < s.draws.size(); at += s.size()) {
    const std::span u = std::span(s.draws).subspan(at, s.size());
    double moved = 0;
    for (std::size_t i = 0; i < terms; ++i) moved += a[i] * u[i];
    const std::vector<double> own = cuts_of(u.subspan(terms), s.columns.anchor);
    for (std::size_t k = 0; k < own.size(); ++k) drawn[k].push_back(own[k] + moved);
  }
  for (std::size_t k = 0; k < cuts.size(); ++k) {
    // its slopes by the logarithms of the gaps between it and the anchor
    const std::size_t anchor = std::size_t(s.columns.anchor);
    for (std::size_t i = 1; i < cuts.size(); ++i)
      a[terms + i - 1] = (i > anchor && i <= k   ? 1
                          : i <= anchor && i > k ? -1
                                                 : 0) *
                         (cuts[i] - cuts[i - 1]);
    const std::string name = s.levels[k] + "|" + s.levels[k + 1];
    Coefficient out;
    out.term = &name;
    if (!drawn.empty()) {
      const DrawSummary found = summary_of_draws(std::move(drawn[k]), level);
      out.mean = found.mean;
      out.spread(found);
    } else {
      out.mean = cuts[k] + intercept;
      out.spread(std::sqrt(packed_square(s.root, a)), reach);
    }
    take(out);
  }
}

}  // namespace bayes
