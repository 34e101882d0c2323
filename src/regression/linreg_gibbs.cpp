// Gibbs sampling for linear regression: core models 2.0 and 3.0 of 002 L5, whose full conditionals
// are a normal and gamma distributions.
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/message.hpp"
#include "base/random.hpp"
#include "mcmc/draw_moments.hpp"
#include "mcmc/stored_draws.hpp"
#include "regression/linreg_methods.hpp"

namespace bayes {
namespace {

/// The largest number of coefficients that bayes_draws shows.
constexpr int max_recorded = 50;
/// The number of draws that a model stores by default, and the largest size of these.
constexpr double default_stored = 2000, max_stored_doubles = 2e6;

class LinregChain final : public ChainSampler {
 public:
  LinregChain(const LinregProblem &problem, std::uint64_t seed, int number, bool records,
              LinregModel::State &state, DrawMoments &moments)
      : problem_(problem),
        seed_(seed),
        number_(std::uint64_t(number)),
        records_(records),
        state_(state),
        moments_(moments),
        lambda_(Vector::Constant(problem.lambdas(), problem.lambda.value_or(1))) {
    // Chains begin at dispersed points, apart by about an order of magnitude.
    Random random(seed, number_, 0, stream_of_start);
    const double noise = std::max(1e-6, problem.residual_squares / problem.observations);
    alpha_ = std::exp(random.normal()) / noise;
    if (!problem.lambda)
      for (double &each : lambda_) each *= std::exp(random.normal());
  }

  double sweep(int index, Control &control) override {
    control.poll();
    Random random(seed_, number_, std::uint64_t(index), stream_of_sweeps);
    draw_coefficients(random);
    residual_squares_ = problem_.residual_squares_at(v_);
    const double shape = problem_.noise_prior.shape + problem_.observations / 2,
                 rate = problem_.noise_prior.rate + residual_squares_ / 2;
    alpha_ = random.gamma(shape) / rate;
    expected_noise_ = shape > 1 ? rate / (shape - 1) : 1 / alpha_;
    if (!problem_.lambda)
      for (Eigen::Index k = 0; k < lambda_.size(); ++k)
        lambda_[k] = random.gamma(problem_.lambda_prior.shape + problem_.sharing() / 2) /
                     (problem_.lambda_prior.rate + squares(k) / 2);
    return log_joint();
  }

  void record(std::vector<double> &values) const override {
    values.push_back(alpha_ / (problem_.unit * problem_.unit));
    if (problem_.learns_lambda())
      values.push_back(std::exp(lambda_.array().log().mean()) / problem_.lambda_unit);
    for (Eigen::Index j = 0; records_ && j < v_.size(); ++j)
      values.push_back(problem_.scale[j] * v_[j]);
  }

  void keep(double) override {
    const auto all = [this](const Vector &v, double noise) {
      Vector out(v.size() + 2);
      out << v, intercept_offset(v), noise;
      return out;
    };
    moments_.add(all(v_, 1 / alpha_), all(expected(), expected_noise_));
  }

  /// A fit whose rows are sums is too short to be resumed.
  void exchange_state(StateNumbers &) override { refuse_checkpoint(); }

  void store(double) override {
    const std::size_t at = state_.drawn.size(), terms = std::size_t(problem_.system.size);
    state_.drawn.resize(at + terms, 0.0);
    for (int j = 0; j < problem_.size(); ++j)
      state_.drawn[at + std::size_t(problem_.used[std::size_t(j)])] = problem_.scale[j] * v_[j];
    state_.drawn_alpha.push_back(alpha_ / (problem_.unit * problem_.unit));
  }

 private:
  /// A random stream is selected by the seed, the chain, the sweep and one of these.
  static constexpr std::uint64_t stream_of_sweeps = 0, stream_of_start = 1;

  void draw_coefficients(Random &random) {
    const int p = problem_.size();
    Vector z(p);
    for (double &each : z) each = random.normal();
    if (problem_.in_basis) {
      const auto precision = (alpha_ * problem_.eigen.values.array() + lambda_[0]).eval();
      expected_ = alpha_ * problem_.moment_in_basis.array() / precision;
      const Vector in_basis = expected_.array() + z.array() / precision.sqrt();
      v_ = product(problem_.eigen.vectors, in_basis);
      return;
    }
    Matrix precision = alpha_ * problem_.gram, lower;
    for (int j = 0; j < p; ++j) precision(j, j) += lambda_[problem_.ard ? j : 0];
    if (!cholesky(precision, lower))
      throw Error(Errc::numeric, "the precision of the coefficients is not positive definite", {},
                  "Increase prior.e, or give prior.lambda.");
    const Vector right = alpha_ * forward_solved(lower, problem_.moment);
    expected_ = backward_solved(lower, right);
    v_ = backward_solved(lower, right + z);
  }

  /// The mean of the distribution that v was drawn from.
  Vector expected() const {
    return problem_.in_basis ? product(problem_.eigen.vectors, expected_) : expected_;
  }
  /// The intercept that goes with v, less the response's centre, in the problem's units.
  double intercept_offset(const Vector &v) const {
    double out = 0;
    for (int j = 0; j < problem_.size(); ++j)
      out -= v[j] * problem_.scale[j] / problem_.unit *
             problem_.system.mean[std::size_t(problem_.used[std::size_t(j)])].hi;
    return out;
  }

  /// sum of the squared coefficients that have this lambda
  double squares(Eigen::Index k) const { return problem_.ard ? v_[k] * v_[k] : v_.squaredNorm(); }

  /// log p(y, w, alpha, lambda), all in their original units
  double log_joint() const {
    double out = problem_.log_likelihood(residual_squares_, alpha_) +
                 log_gamma_density(problem_.noise_prior, alpha_) + problem_.log_unit_of_alpha() -
                 problem_.size() / 2.0 * log_two_pi + problem_.log_unit_of_coefficients();
    for (Eigen::Index k = 0; k < lambda_.size(); ++k) {
      out += problem_.sharing() / 2 * std::log(lambda_[k]) - lambda_[k] / 2 * squares(k);
      if (!problem_.lambda) out += log_gamma_density(problem_.lambda_prior, lambda_[k]);
    }
    return problem_.lambda ? out : out + problem_.log_unit_of_lambdas();
  }

  const LinregProblem &problem_;
  const std::uint64_t seed_, number_;
  const bool records_;
  LinregModel::State &state_;
  /// of v, the intercept and the variance of the noise, in the problem's units
  DrawMoments &moments_;
  /// expected_: of v, or of v in the basis
  Vector v_, expected_, lambda_;
  double alpha_ = 1, residual_squares_ = 0, expected_noise_ = 1;
};

/// Posterior means and deviations are those of all draws after warmup and thinning.
void store_moments(const LinregProblem &problem, const DrawMoments &moments,
                   LinregModel::State &state) {
  initialise_state(problem.system, state);
  const int p = problem.size();
  const Vector &mean = moments.mean(), deviation = moments.deviation();
  const double unit = problem.unit;
  state.deviations.assign(std::size_t(problem.system.size), 0.0);
  for (int j = 0; j < p; ++j) {
    const auto term = std::size_t(problem.used[std::size_t(j)]);
    state.coefficients[term] = problem.scale[j] * mean[j];
    state.deviations[term] = problem.scale[j] * deviation[j];
  }
  state.noise_mean = unit * unit * mean[p + 1];
  state.noise_deviation = unit * unit * deviation[p + 1];
  if (!problem.system.intercept) return;
  state.intercept_mean += unit * mean[p];
  state.intercept_deviation =
      unit * std::sqrt(deviation[p] * deviation[p] + mean[p + 1] / state.weight);
}

}  // namespace

void fit_by_gibbs(const LinregProblem &problem, const LinregOptions &options, LinregModel &model,
                  FitRun &run, Control &control) {
  if (!(problem.observations > 0))
    throw Error(Errc::numeric, "there are not enough rows to estimate the noise", {},
                "Give more rows, or use method exact.");
  const bool records = problem.size() <= max_recorded;
  const ChainPlan &plan = options.chains;
  const double numbers = problem.system.size + 1;
  const double most = std::min(control.memory / 4 / 8, max_stored_numbers) / numbers,
               usual = std::clamp(max_stored_doubles / numbers, 10.0, default_stored);
  ChainSettings settings{
      "gibbs",
      plan,
      {"alpha"},
      equal_draws(plan, std::min(most, plan.stored_draws > 0 ? double(plan.stored_draws) : usual))};
  settings.max_kept_draws = plan.all_stored();
  if (problem.learns_lambda()) settings.quantities.push_back("lambda");
  for (int j = 0; records && j < problem.size(); ++j)
    settings.quantities.push_back(message("w{}", problem.used[std::size_t(j)] + 1));
  DrawMoments moments(problem.size() + 2);
  settings.retain = [&state = *model.state](std::span<const int>, std::span<const int> stored) {
    retain(state.drawn, stored, state.drawn.size() / state.drawn_alpha.size());
    retain(state.drawn_alpha, stored);
  };
  run.take(run_chains(settings, control, [&](int chain) {
    return std::make_unique<LinregChain>(problem, options.seed, chain, records, *model.state,
                                         moments);
  }));
  store_moments(problem, moments, *model.state);
  const LinregModel::State &s = *model.state;
  double alpha = 0;
  for (const double each : s.drawn_alpha) alpha += each / double(s.draws());
  Vector v(problem.size());
  for (int j = 0; j < problem.size(); ++j)
    v[j] = s.coefficients[std::size_t(problem.used[std::size_t(j)])] / problem.scale[j];
  model.info.log_likelihood =
      problem.system.weight / 2 * (std::log(alpha) - log_two_pi) -
      alpha / 2 * problem.unit * problem.unit * problem.residual_squares_at(v);
}

}  // namespace bayes
