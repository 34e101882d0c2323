#include "regression/linreg_problem.hpp"

#include <algorithm>
#include <cmath>

#include "base/control.hpp"
#include "base/error.hpp"
#include "base/message.hpp"
#include "base/special.hpp"
#include "families/marginal.hpp"

namespace bayes {
namespace {

/// Default prior standard deviations of the coefficients of terms with variance 1, in units of the
/// response's standard deviation: with a shared lambda, and with one lambda for each (ard).
constexpr double default_coefficient_sd = 2.5, default_ard_coefficient_sd = 0.1;
/// lower bound of the noise variance, as a share of the variance of the response
constexpr double min_noise_share = 1e-12;
/// the largest number of terms for which X'X is eigendecomposed
constexpr int max_in_basis = 200;

WideCholesky without_prior(const LinregSystem &system) {
  return WideCholesky(system.products, system.tolerance, 1);
}

}  // namespace

LeastSquares::LeastSquares(const LinregSystem &system) {
  const WideCholesky factored = without_prior(system);
  residual_squares = std::ldexp(std::max(0.0, factored.left(0, 0).hi),
                                2 * system.exponent[std::size_t(system.size)]);
  rank = factored.rank();
  const std::vector<DoubleDouble> found = factored.solve(0);
  for (int k = 0; k < system.size; ++k) {
    dependent.push_back(factored.dependent(k));
    const auto at = std::size_t(k);
    solution.push_back(
        std::ldexp(found[at].hi, system.exponent[std::size_t(system.size)] - system.exponent[at]));
  }
  const double n = system.observations(), squares = system.squares(system.size);
  variance = n > 0 ? squares / n : 0;
  const double of_residuals = n > rank ? residual_squares / (n - rank) : variance;
  noise_variance = std::max(of_residuals, min_noise_share * variance);
}

std::vector<double> prior_scales(const LinregSystem &system, const LinregOptions &options) {
  std::vector<double> out;
  for (int j = 0; j < system.size; ++j)
    out.push_back(options.standardize ? system.squares(j) / system.weight : 1);
  return out;
}

namespace {

/// The effective number of coefficients: the trace of the hat matrix, which maps responses to
/// fitted responses, where the prior precisions are `ratio` d_j times that of the noise. Near
/// copies of a predictor do not add to it.
double effective_coefficients(const LinregSystem &system, const LeastSquares &least,
                              const std::vector<double> &d, double ratio) {
  if (!(ratio > 0)) return least.rank;
  std::vector<int> used;
  for (int j = 0; j < system.size; ++j)
    if (d[std::size_t(j)] > 0 && system.products(j, j).hi > 0) used.push_back(j);
  const auto p = Eigen::Index(used.size());
  Matrix sum(p, p), lower;
  Vector penalty(p);
  for (Eigen::Index i = 0; i < p; ++i) {
    const int a = used[std::size_t(i)];
    for (Eigen::Index j = 0; j < i; ++j) {
      const int b = used[std::size_t(j)];
      sum(i, j) = sum(j, i) =
          system.products(a, b).hi / std::sqrt(system.products(a, a).hi * system.products(b, b).hi);
    }
    penalty(i) = ratio * d[std::size_t(a)] / system.squares(a);
    sum(i, i) = 1 + penalty(i);
  }
  if (p == 0 || !cholesky(sum, lower)) return least.rank;
  const Matrix inverse = inverse_lower(lower);
  double out = double(p);
  for (Eigen::Index j = 0; j < p; ++j) out -= penalty(j) * inverse.col(j).tail(p - j).squaredNorm();
  return std::clamp(out, 0.0, double(p));
}

/// The addition to the rate of the noise's prior where the residuals have few degrees of freedom:
/// they determine the noise badly, but its posterior has the degrees of freedom of all rows. In
/// units of half the residual variance; it makes 95 % intervals as wide as those of least squares.
double few_residuals_correction(const LinregSystem &system, const LeastSquares &least,
                                double spent) {
  constexpr double few = 5, upper = 0.975;
  const double residual = system.observations() - least.rank, all = 1 + spent + residual;
  if (!(residual >= 1 && residual < few && least.variance > 0)) return 0;
  const auto reach = [](double degrees) {
    return Marginal{Marginal::Kind::student, degrees, 1}.quantile(upper);
  };
  const double ratio = reach(residual) / reach(all);
  return all * (ratio * ratio - 1);
}

}  // namespace

void set_defaults(const LinregSystem &system, const LeastSquares &least, LinregOptions &options) {
  // A constant response has no scale; it is taken to have variance 1.
  const double variance = least.variance > 0 ? least.variance : 1,
               noise = least.noise_variance > 0 ? least.noise_variance : 1;
  const double width = options.ard ? default_ard_coefficient_sd : default_coefficient_sd;
  double spread = 1;  // largest variance of a term, in units of d_j
  if (!options.standardize) {
    double squares = 0;
    for (int j = 0; j < system.size; ++j)
      squares = std::max(squares, system.squares(j) / system.weight);
    if (squares > 0) spread = squares;
  }
  const double of_coefficients = width * width * variance / spread;
  const auto usual = [](std::optional<double> &member, double value) {
    if (!member) member = std::clamp(value, 1e-300, 1e300);
  };
  if (options.exact() && options.known_noise()) {
    usual(options.lambda, 1 / of_coefficients);
    return;
  }
  if (options.exact()) usual(options.c, noise / of_coefficients);
  usual(options.a, 0.5);
  // If the prior of the coefficients scales with the noise (exact), or coefficients are at their
  // mode (em, laplace), the posterior of the noise counts all rows as degrees of freedom, although
  // some are spent on the coefficients. Adding those to the rate compensates for the smaller
  // residuals of least squares.
  const bool counts_all =
      options.exact() || options.method == Method::em || options.method == Method::laplace;
  double spent = 0;
  if (!options.b && counts_all && system.observations() > least.rank) {
    const double ratio = options.exact()  ? *options.c
                         : options.lambda ? *options.lambda * noise
                                          : noise / of_coefficients;
    spent = effective_coefficients(system, least, prior_scales(system, options), ratio);
  }
  usual(options.b, 0.5 * noise * (1 + spent + few_residuals_correction(system, least, spent)));
  if (!options.learns_lambda()) return;
  usual(options.e, 0.5);
  usual(options.f, 0.5 * of_coefficients);
}

LinregProblem::LinregProblem(const LinregSystem &of, const LeastSquares &found,
                             const LinregOptions &options)
    : system(of),
      ard(options.ard),
      observations(of.observations()) {
  const std::vector<double> d = prior_scales(system, options);
  for (int j = 0; j < system.size; ++j) {
    if (!(d[std::size_t(j)] > 0)) continue;
    used.push_back(j);
    if (found.dependent[std::size_t(j)] && !system.constant(j)) collinear.push_back(system.name(j));
  }
  unit = found.variance > 0 ? std::sqrt(found.variance) : 1;
  double largest = 0;
  for (const int j : used)
    largest = std::max(largest, system.squares(j) / system.weight / d[std::size_t(j)]);
  const double width = largest > 0 ? std::sqrt(largest) : 1;
  lambda_unit = unit * unit / (width * width);
  if (options.lambda) lambda = *options.lambda * lambda_unit;
  noise_prior = {*options.a, *options.b / (unit * unit)};
  if (!lambda) lambda_prior = {*options.e, *options.f / lambda_unit};

  const int p = size();
  std::vector<double> factor;  // a column of the system times this is a column here
  scale.resize(p);
  for (int j = 0; j < p; ++j) {
    const auto term = std::size_t(used[std::size_t(j)]);
    factor.push_back(std::ldexp(1, system.exponent[term]) / (std::sqrt(d[term]) * width));
    scale[j] = unit / (std::sqrt(d[term]) * width);
  }
  const int y = system.size;
  const double of_y = std::ldexp(1, system.exponent[std::size_t(y)]) / unit;
  gram.resize(p, p);
  moment.resize(p);
  least.resize(p);
  WorkPoll poll;
  for (int i = 0; i < p; ++i) {
    poll(std::size_t(8 * p));
    const int a = used[std::size_t(i)];
    for (int j = 0; j < p; ++j)
      gram(i, j) = system.products(a, used[std::size_t(j)]).hi * factor[std::size_t(i)] *
                   factor[std::size_t(j)];
    moment[i] = system.products(a, y).hi * factor[std::size_t(i)] * of_y;
    least[i] = found.solution[std::size_t(a)] / scale[i];
  }
  residual_squares = found.residual_squares / (unit * unit);
  response_squares = system.squares(y) / (unit * unit);
  in_basis = !ard && p > 0 && p <= max_in_basis;
  if (in_basis) {
    eigen = symmetric_eigen(gram);
    eigen.values = eigen.values.cwiseMax(0.0);
    moment_in_basis = transposed_product(eigen.vectors, moment);
  }
  log_constant = -observations / 2 * log_two_pi - observations * std::log(unit) -
                 (system.intercept ? std::log(system.weight) / 2 : 0);
}

double LinregProblem::residual_squares_at(const Vector &v) const {
  const Vector of_v = product(gram, v), off = v - least;
  // X'X times the least-squares v is X'y, so the sum is that of least squares plus off' X'X off.
  // With nearly collinear predictors the least-squares v may be so large that off' X'X off consists
  // of rounding errors. If its terms are larger than those of y'y + v'(X'X v - 2 X'y), the latter
  // is used.
  const Vector terms = of_v.cwiseAbs() + moment.cwiseAbs();
  if (off.cwiseAbs().dot(terms) > response_squares + v.cwiseAbs().dot(terms))
    return std::max(residual_squares, response_squares + v.dot(of_v - 2 * moment));
  return residual_squares + std::max(0.0, off.dot(of_v - moment));
}

double LinregProblem::log_likelihood(double squares, double alpha) const {
  return log_constant + observations / 2 * std::log(alpha) - alpha / 2 * squares;
}

void initialise_state(const LinregSystem &system, LinregModel::State &state) {
  state.terms = system.all_terms;
  state.intercept = system.intercept;
  state.weight = system.weight;
  for (int j = 0; j < system.size; ++j) state.center.push_back(system.mean[std::size_t(j)].hi);
  state.response_center = system.mean[std::size_t(system.size)].hi;
  state.coefficients.assign(std::size_t(system.size), std::nan(""));
  state.intercept_mean = state.response_center;
}

void LinregProblem::describe(const Vector &v, const Matrix *factor, const GammaPosterior &noise,
                             const std::vector<GammaPosterior> &lambdas,
                             LinregModel::State &state) const {
  initialise_state(system, state);
  state.noise = {noise.shape, noise.rate * unit * unit};
  // The lambda of a term that was left out keeps its prior.
  if (ard && !lambda)
    state.lambda.assign(std::size_t(system.size),
                        {lambda_prior.shape, lambda_prior.rate * lambda_unit});
  for (std::size_t k = 0; k < lambdas.size(); ++k) {
    const GammaPosterior in_units = {lambdas[k].shape, lambdas[k].rate * lambda_unit};
    if (ard)
      state.lambda[std::size_t(used[k])] = in_units;
    else
      state.lambda.push_back(in_units);
  }
  for (int j = 0; j < size(); ++j) {
    const auto term = std::size_t(used[std::size_t(j)]);
    state.coefficients[term] = scale[j] * v[j];
    state.intercept_mean -= scale[j] * v[j] * state.center[term];
  }
  if (!factor || system.size == 0) return;
  state.factor.assign(std::size_t(system.size) * (std::size_t(system.size) + 1) / 2, 0.0);
  for (int i = 0; i < size(); ++i) {
    const auto row = std::size_t(used[std::size_t(i)]);
    double of_intercept = 0;
    for (int j = 0; j <= i; ++j) {
      const auto column = std::size_t(used[std::size_t(j)]);
      const double x = (*factor)(i, j) * scale[j];
      state.factor[row * (row + 1) / 2 + column] = x;
      of_intercept += x * state.center[column];
    }
    state.intercept_spread += of_intercept * of_intercept;
  }
}

double log_gamma_normalizer(const GammaPosterior &q) {
  return q.shape * std::log(q.rate) - log_gamma(q.shape);
}

double log_gamma_density(const GammaPosterior &q, double x) {
  return log_gamma_normalizer(q) + (q.shape - 1) * std::log(x) - q.rate * x;
}

}  // namespace bayes
