#include "regression/glm_chains.hpp"

#include <cmath>
#include <limits>
#include <optional>

#include "base/error.hpp"
#include "base/linalg.hpp"
#include "base/random.hpp"

namespace bayes {
namespace {

/// A random stream is selected by the seed, the chain, the sweep and one of these.
enum GlmStream : std::uint64_t { stream_of_coefficients, stream_of_rows };

/// L'v for lower triangular L
Vector transposed_times(const Matrix &lower, const Vector &v) {
  Vector out(v.size());
  for (Eigen::Index j = 0; j < v.size(); ++j)
    out(j) = lower.col(j).tail(v.size() - j).dot(v.tail(v.size() - j));
  return out;
}

/// The part that all samplers share.
class GlmChain : public ChainSampler {
 public:
  GlmChain(const GlmTask &task, int chain) : task_(task), chain_(std::uint64_t(chain)) {
    const Matrix spread = inverse_lower(task.mode.factor);
    Random random = stream(0);
    u_ = task.mode.state + 2 * transposed_times(spread, normals(random));
  }

  double sweep(int index, Control &control) override {
    const std::uint64_t number = std::uint64_t(index) + 1;
    if (swept_ == 0) sums_ = sums_at(u_, rows_of(0));
    Random random = stream(number);
    move(random, number, control);
    swept_ = number;
    return sums_.log_likelihood + task_.prior.log_density(u_) + task_.log_units;
  }

  void record(std::vector<double> &values) const override {
    values.push_back(without_rounding_errors(sums_.log_likelihood));
    for (const double each : task_.recorded(u_)) values.push_back(without_rounding_errors(each));
  }

  void exchange_state(StateNumbers &numbers) override {
    numbers.dense(u_);
    numbers.whole(swept_, 0, std::numeric_limits<int>::max());
    if (!numbers.reads()) return;
    // Draws of the rows' variables would not end.
    if (!(u_.array().abs() < 1e100).all()) refuse_checkpoint();
    if (swept_ > 0) sums_ = sums_at(u_, rows_of(swept_));
  }

  void keep(double) override { task_.moments.add(reported(u_), reported(expected_)); }

  void store(double) override {
    task_.draws.insert(task_.draws.end(), u_.data(), u_.data() + u_.size());
  }

 protected:
  /// The sums at u, of samplers with latent variables those with new ones given u.
  virtual GlmSums sums_at(const Vector &u, const RowRandom &random) = 0;
  /// Draws u_, and sets sums_ to those at it and expected_ to the mean of the distribution that it
  /// was drawn from, or to u_ itself.
  virtual void move(Random &random, std::uint64_t number, Control &control) = 0;

  Vector normals(Random &random) const {
    Vector out(task_.prior.precision.size());
    for (double &each : out) each = random.normal();
    return out;
  }
  RowRandom rows_of(std::uint64_t number) const {
    return RowRandom(task_.seed, chain_, number, stream_of_rows);
  }

  const GlmTask &task_;
  Vector u_, expected_;
  GlmSums sums_;
  /// the number of sweeps
  std::uint64_t swept_ = 0;

 private:
  Random stream(std::uint64_t number) const {
    return Random(task_.seed, chain_, number, stream_of_coefficients);
  }
  Vector reported(const Vector &u) const {
    Vector out = u;
    const int coefficients = task_.rows.coefficients();
    for (int j = 0; task_.rows.intercept() && j < coefficients;
         j += coefficients / task_.rows.predictors())
      out(j) = task_.of_column(u, j);
    return out;
  }

  const std::uint64_t chain_;
};

/// u given the latent variables of the rows, then these given u.
class LatentChain : public GlmChain {
  using GlmChain::GlmChain;

  void move(Random &random, std::uint64_t number, Control &) override {
    draw(random);
    sums_ = sums_at(u_, rows_of(number));
  }
  /// Draws u_ given the sums, and sets expected_ to the mean of its conditional distribution.
  virtual void draw(Random &random) = 0;
};

class ProbitChain final : public LatentChain {
  using LatentChain::LatentChain;

  GlmSums sums_at(const Vector &u, const RowRandom &random) override {
    return task_.rows.augment(u, random);
  }

  void draw(Random &random) override {
    // With u integrated out, y* has a density proportional to exp(-(y*'y* - b'A^-1 b) / 2) where
    // its signs agree with y.
    Vector image = bayes::product(task_.root, sums_.gradient);
    const double rest = std::max(sums_.squares - image.squaredNorm(), 1e-300);
    image *= std::sqrt(2 * random.gamma(0.5 * task_.rows.weight()) / rest);
    expected_ = transposed_times(task_.root, image);
    u_ = transposed_times(task_.root, image + normals(random));
  }
};

class LogitChain final : public LatentChain {
  using LatentChain::LatentChain;

  GlmSums sums_at(const Vector &u, const RowRandom &random) override {
    return task_.rows.augment_logit(u, random);
  }

  void draw(Random &random) override {
    Matrix precision = std::move(sums_.curvature), lower;
    precision.diagonal() += task_.prior.precision;
    if (!cholesky(precision, lower))
      throw Error(Errc::numeric, "the precision of the coefficients is not positive definite",
                  "Columns are nearly collinear, and the prior is wide.",
                  "Give a smaller prior.c, or leave out columns.");
    const Vector half = forward_solved(lower, sums_.gradient);
    expected_ = backward_solved(lower, half);
    u_ = backward_solved(lower, half + normals(random));
  }
};

/// Degrees of freedom of the Student t distribution that takes the place of a prior.
constexpr double slice_degrees = 10;

class SliceChain final : public GlmChain {
  using GlmChain::GlmChain;

  GlmSums sums_at(const Vector &u, const RowRandom &) override {
    return task_.rows.likelihood(u, false);
  }

  /// Given a variance drawn with it, the point is on an ellipse through itself and a draw of that
  /// normal distribution about the mode; the angle is drawn from those at which what is left of the
  /// density exceeds a uniform share of it, by shrinking their bracket towards the point.
  void move(Random &random, std::uint64_t, Control &control) override {
    const GlmMode &mode = task_.mode;
    // A start that is too far from the mode.
    if (!within_bounds(task_.rows, u_) || !std::isfinite(sums_.log_likelihood)) {
      u_ = mode.state;
      sums_ = task_.rows.likelihood(u_, false);
    }
    const Vector from = point_of(u_);
    const double p = double(u_.size()), variance = 0.5 * (slice_degrees + from.squaredNorm()) /
                                                   random.gamma(0.5 * (slice_degrees + p));
    const Vector to = std::sqrt(variance) * normals(random);
    const double threshold = left_of_density(sums_, u_, from) + std::log(random.uniform());
    constexpr double turn = 6.283185307179586;
    double angle = turn * random.uniform(), low = angle - turn, high = angle;
    // Rounding errors may hide that the density at u itself is large enough.
    for (int i = 0; i < 200; ++i) {
      control.poll();
      const Vector at = std::cos(angle) * from + std::sin(angle) * to, u = unknowns_at(at);
      const std::optional<GlmSums> sums = sums_within(u);
      if (sums && left_of_density(*sums, u, at) > threshold) {
        u_ = u;
        sums_ = *sums;
        break;
      }
      (angle < 0 ? low : high) = angle;
      angle = low + (high - low) * random.uniform();
    }
    expected_ = u_;
  }

  // Points are standard normal if the posterior is normal. Where coefficients vary in proportion to
  // the root of a dispersion, points have them in units of it: the posterior of few rows is a
  // funnel, in which no distance fits all dispersions.

  Vector unknowns_at(const Vector &point) const {
    const GlmMode &mode = task_.mode;
    Vector out = backward_solved(mode.factor, point);
    const int coefficients = task_.rows.coefficients();
    out.head(coefficients) *= growth(out(out.size() - 1));
    return out + mode.state;
  }
  Vector point_of(const Vector &u) const {
    const GlmMode &mode = task_.mode;
    Vector off = u - mode.state;
    const int coefficients = task_.rows.coefficients();
    off.head(coefficients) /= growth(off(off.size() - 1));
    return transposed_times(mode.factor, off);
  }
  double growth(double off_of_log_dispersion) const {
    return task_.rows.response().scales() ? std::exp(0.5 * off_of_log_dispersion) : 1;
  }

  /// none where the density is 0 to all digits
  std::optional<GlmSums> sums_within(const Vector &u) {
    if (!within_bounds(task_.rows, u)) return std::nullopt;
    return task_.rows.likelihood(u, false);
  }

  /// The logarithm of the density of a point over that of the Student t distribution.
  double left_of_density(const GlmSums &sums, const Vector &u, const Vector &point) const {
    const double off = u(u.size() - 1) - task_.mode.state(u.size() - 1);
    return sums.log_likelihood + task_.prior.log_density(u) +
           task_.rows.coefficients() * std::log(growth(off)) +
           0.5 * (slice_degrees + double(u.size())) *
               std::log1p(point.squaredNorm() / slice_degrees);
  }
};

}  // namespace

std::unique_ptr<ChainSampler> glm_chain(Method method, const GlmTask &task, int chain) {
  if (method == Method::slice) return std::make_unique<SliceChain>(task, chain);
  if (task.rows.response().link == Link::logit) return std::make_unique<LogitChain>(task, chain);
  return std::make_unique<ProbitChain>(task, chain);
}

}  // namespace bayes
