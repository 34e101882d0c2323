#include "regression/linreg_problem.hpp"

#include <algorithm>
#include <cmath>

#include "base/control.hpp"
#include "base/error.hpp"
#include "base/message.hpp"
#include "base/special.hpp"
#include "fit/driver.hpp"

namespace bayes {
namespace {

/// sum of (terms of row i of W, in their own units) x mean
DoubleDouble centered_row(const LinregSystem &system, const WideMatrix &w, int i) {
  DoubleDouble out;
  for (int j = 0; j <= i; ++j)
    out = out + scaled(w(i, j) * system.mean[std::size_t(j)], -system.exponent[std::size_t(j)]);
  return out;
}

std::string counted(std::int64_t n, const char *what) {
  return message("{} {}{}", n, what, n == 1 ? "" : "s");
}

double finite_or_nan(double x) { return std::isfinite(x) ? x : std::nan(""); }

class ExactLinreg {
 public:
  ExactLinreg(const LinregSystem &system, const LinregOptions &options, double noise)
      : system_(system),
        options_(options),
        noise_(noise),
        strength_(options.conjugate() ? *options.c : *options.lambda * noise_),
        d_(prior_scales(system, options)),
        factored_(with_prior(), system.tolerance, 1),
        unit_(2 * system.exponent[std::size_t(system.size)]) {}

  void find(LinregModel &model) {
    LinregModel::State &s = *model.state;
    initialise_state(system_, s);
    fill_coefficients(s);
    fill_covariance(s);
    s.noise_scaled = true;
    fill_noise(model);
  }

 private:
  bool left_out(int term) const { return factored_.dependent(term); }
  bool flat() const { return strength_ == 0; }

  /// The prior's contribution to the diagonal, in the system's units.
  double prior_of(int term) const {
    return std::ldexp(strength_ * d_[std::size_t(term)], -2 * system_.exponent[std::size_t(term)]);
  }

  WideMatrix with_prior() const {
    WideMatrix out = system_.products;
    for (int k = 0; k < system_.size; ++k) out.set(k, k, out(k, k) + DoubleDouble(prior_of(k)));
    return out;
  }

  void fill_coefficients(LinregModel::State &s) {
    const std::vector<DoubleDouble> solution = factored_.solve(0);
    const int y = system_.exponent[std::size_t(system_.size)];
    DoubleDouble intercept = system_.mean[std::size_t(system_.size)];
    for (int k = 0; k < system_.size; ++k) {
      if (left_out(k)) continue;
      const auto at = std::size_t(k);
      const DoubleDouble w = scaled(solution[at], y - system_.exponent[at]);
      s.coefficients[at] = w.hi;
      intercept = intercept - w * system_.mean[at];
      penalty_ += prior_of(k) * solution[at].hi * solution[at].hi;
    }
    if (system_.intercept) s.intercept_mean = intercept.hi;
  }

  void fill_covariance(LinregModel::State &s) {
    const WideMatrix w = factored_.inverse_factor();
    s.factor.clear();
    effective_ = factored_.rank();
    DoubleDouble spread;
    WorkPoll poll;
    for (int i = 0; i < system_.size; ++i) {
      poll(std::size_t(40 * (i + 1)));
      for (int j = 0; j <= i; ++j) {
        s.factor.push_back(std::ldexp(w(i, j).hi, -system_.exponent[std::size_t(j)]));
        effective_ -= prior_of(j) * w(i, j).hi * w(i, j).hi;
      }
      if (!system_.intercept) continue;
      const DoubleDouble row = centered_row(system_, w, i);
      spread = spread + row * row;
    }
    s.intercept_spread = spread.hi;
  }

  /// The noise's posterior, evidence and log-likelihood.
  void fill_noise(LinregModel &model) {
    LinregModel::State &s = *model.state;
    const double n = system_.observations();
    // y'y - m'(X'X + C)m; less the penalty m'C m this is the sum of squared residuals
    const double all = std::max(0.0, factored_.left(0, 0).hi);
    const double squares = std::ldexp(all, unit_),
                 residuals = std::ldexp(std::max(0.0, all - penalty_), unit_);
    double log_prior = 0;
    for (int k = 0; k < system_.size; ++k)
      if (!left_out(k)) log_prior += std::log(prior_of(k));
    double evidence = (log_prior - factored_.log_determinant() - n * log_two_pi -
                       (system_.intercept ? std::log(system_.weight) : 0)) /
                      2;
    double alpha;
    if (options_.known_noise()) {
      s.known_variance = noise_;
      alpha = 1 / noise_;
      evidence += n / 2 * std::log(alpha) - alpha / 2 * squares;
    } else {
      // Under the conjugate prior the coefficients tell of the noise as rows do. If they have a
      // scale of their own, p(y | alpha) is taken to be alpha^((n - q) / 2) exp(-alpha residuals /
      // 2) times a number, which has its value and slope at alpha = 1 / noise_.
      const bool conjugate = options_.conjugate() && !flat();
      const double a = *options_.a, b = *options_.b,
                   of_coefficients = conjugate ? 0 : std::clamp(effective_, 0.0, n);
      s.noise = {a + (n - of_coefficients) / 2, b + (conjugate ? squares : residuals) / 2};
      if (!(s.noise.shape > 0)) refuse(a);
      alpha = s.noise.shape / s.noise.rate;
      evidence += a * std::log(b) - log_gamma(a > 0 ? a : 1) + log_gamma(s.noise.shape) -
                  s.noise.shape * std::log(s.noise.rate);
      if (!conjugate)
        evidence -= of_coefficients / 2 * std::log(noise_) + (squares - residuals) / 2 / noise_;
      if (a == 0 || b == 0) evidence = std::nan("");
    }
    if (flat()) evidence = std::nan("");
    model.info.objective = finite_or_nan(evidence);
    model.info.log_likelihood =
        finite_or_nan(system_.weight / 2 * (std::log(alpha) - log_two_pi) - alpha / 2 * residuals);
  }

  [[noreturn]] void refuse(double a) const {
    throw Error(Errc::numeric, "the posterior of the noise is improper",
                message("{} cannot identify the noise and {}{}.", counted(system_.rows, "row"),
                        counted(factored_.rank() + (system_.intercept ? 1 : 0), "coefficient"),
                        a == 0 ? " without a proper prior" : ""),
                "Leave out prior.c or prior.a, or give option noise_variance.");
  }

  const LinregSystem &system_;
  const LinregOptions &options_;
  /// the variance of the noise: as it is known, or an estimate
  const double noise_;
  /// c, or lambda in units of the noise's precision
  const double strength_;
  const std::vector<double> d_;
  const WideCholesky factored_;
  const int unit_;
  double penalty_ = 0;
  /// The effective number of coefficients, the trace of the hat matrix that maps responses to
  /// fitted ones. Near copies of a predictor do not add to it.
  double effective_ = 0;
};

/// The variance of the noise, of the residuals of least squares and of its prior together.
double first_noise(const LinregSystem &system, const LeastSquares &least,
                   const LinregOptions &options) {
  if (options.known_noise()) return *options.noise_variance;
  const double residual = std::max(0.0, system.observations() - least.rank),
               out =
                   (2 * *options.b + residual * least.noise_variance) / (2 * *options.a + residual);
  return std::isfinite(out) ? out : least.noise_variance;
}

}  // namespace

void fit_exactly(const LinregSystem &system, const LeastSquares &least,
                 const LinregOptions &options, LinregModel &model) {
  double noise = first_noise(system, least, options);
  ExactLinreg(system, options, noise).find(model);
  // A strong prior that contradicts the rows leaves larger residuals than least squares, and the
  // prior's share depends on them. Otherwise the first estimate is as good as any.
  constexpr int max_estimates = 50;
  double tolerance = 2;
  for (int i = 0; i < max_estimates && !options.known_noise() && !options.conjugate(); ++i) {
    const double found = model.state->noise.rate / model.state->noise.shape;
    if (!(found > tolerance * noise || (tolerance < 2 && noise > tolerance * found))) break;
    tolerance = 1.001;
    noise = found;
    ExactLinreg(system, options, noise).find(model);
  }
  model.info.converged = true;
}

// EM, Laplace's approximation and variational inference for linear regression with unknown
// precisions of noise and coefficients: core models 2.0 (lambda given) and 3.0 of 002 L5 and L6.

namespace {

/// p(w | y) where alpha and lambda are known: a normal.
struct Conditional {
  Vector mean;
  double residual_squares = 0;
  /// log of the determinant of its covariance S, and the trace of X'X S
  double log_determinant = 0, trace = 0;
  /// for each lambda, the sum of the expected squares of its coefficients
  Vector squares;
};

Matrix precision_of(const LinregProblem &problem, double alpha, const Vector &lambda) {
  Matrix out = alpha * problem.gram;
  for (int j = 0; j < problem.size(); ++j) out(j, j) += lambda[problem.ard ? j : 0];
  return out;
}

[[noreturn]] void refuse_precision(const LinregProblem &problem) {
  const char *const what = "the posterior of the coefficients is not positive definite";
  if (problem.collinear.empty())
    throw Error(Errc::numeric, what,
                "The prior precision of the coefficients is too small for the values in the rows.",
                "Give prior.lambda, or increase prior.e.");
  throw Error(Errc::numeric, what,
              message("Some predictors are linear combinations of earlier ones: {}.",
                      list_of_terms(problem.collinear)),
              "Leave them out, or give prior.lambda, or increase prior.e.");
}

/// The Cholesky factor of a precision.
Matrix factor_of(const LinregProblem &problem, const Matrix &precision) {
  Matrix lower;
  if (!cholesky(precision, lower)) refuse_precision(problem);
  return lower;
}

Conditional conditional_by_factor(const LinregProblem &problem, double alpha,
                                  const Vector &lambda) {
  const int p = problem.size();
  Conditional out;
  const Matrix lower = factor_of(problem, precision_of(problem, alpha, lambda));
  const Matrix w = inverse_lower(lower);  // S = W'W
  out.mean = alpha * transposed_product(w, Matrix(product(w, problem.moment)));
  out.residual_squares = problem.residual_squares_at(out.mean);
  out.log_determinant = -log_determinant(lower);
  out.squares = Vector::Zero(problem.lambdas());
  double explained = 0;
  for (int j = 0; j < p; ++j) {
    const int k = problem.ard ? j : 0;
    const double variance = w.col(j).tail(p - j).squaredNorm();
    out.squares[k] += out.mean[j] * out.mean[j] + variance;
    explained += lambda[k] * variance;
  }
  out.trace = std::max(0.0, p - explained) / alpha;  // as (alpha X'X + Lambda) S = I
  return out;
}

Conditional conditional_in_basis(const LinregProblem &problem, double alpha, double lambda) {
  const auto precision = (alpha * problem.eigen.values.array() + lambda).eval();
  Conditional out;
  const Vector in_basis = alpha * problem.moment_in_basis.array() / precision;
  out.mean = product(problem.eigen.vectors, in_basis);
  out.residual_squares = problem.residual_squares_at(out.mean);
  out.log_determinant = -precision.log().sum();
  out.trace = (problem.eigen.values.array() / precision).sum();
  out.squares = Vector::Constant(1, in_basis.squaredNorm() + precision.inverse().sum());
  return out;
}

Conditional conditional(const LinregProblem &problem, double alpha, const Vector &lambda) {
  return problem.in_basis ? conditional_in_basis(problem, alpha, lambda[0])
                          : conditional_by_factor(problem, alpha, lambda);
}

/// The mean of conditional() alone.
Vector conditional_mean(const LinregProblem &problem, double alpha, const Vector &lambda) {
  if (problem.in_basis) return conditional_in_basis(problem, alpha, lambda[0]).mean;
  return alpha * solved(factor_of(problem, precision_of(problem, alpha, lambda)), problem.moment);
}

/// The gamma distributions of alpha and lambda given w.
struct Precisions {
  GammaPosterior noise;
  std::vector<GammaPosterior> lambda;

  double alpha() const { return noise.shape / noise.rate; }
  Vector expected_lambda(const LinregProblem &problem) const {
    if (problem.lambda) return Vector::Constant(problem.lambdas(), *problem.lambda);
    Vector out(problem.lambdas());
    for (Eigen::Index j = 0; j < out.size(); ++j)
      out[j] = lambda[std::size_t(j)].shape / lambda[std::size_t(j)].rate;
    return out;
  }
};

/// `residuals`: sum of squared residuals; `squares`: as in Conditional; both expectations, or
/// values at a point.
Precisions precisions(const LinregProblem &problem, double residuals, const Vector &squares) {
  Precisions out;
  out.noise = {problem.noise_prior.shape + problem.observations / 2,
               problem.noise_prior.rate + residuals / 2};
  if (problem.lambda) return out;
  for (Eigen::Index j = 0; j < squares.size(); ++j)
    out.lambda.push_back({problem.lambda_prior.shape + problem.sharing() / 2,
                          problem.lambda_prior.rate + squares[j] / 2});
  return out;
}

/// Starting values: the noise variance of least squares, and lambda = 1, which allows coefficients
/// of the size of the response.
Precisions first_precisions(const LinregProblem &problem) {
  const double noise = std::max(1e-12, problem.residual_squares / problem.observations);
  Precisions out;
  out.noise = {1, noise};
  if (!problem.lambda) out.lambda.assign(std::size_t(problem.lambdas()), {1, 1});
  return out;
}

Vector squares_of(const LinregProblem &problem, const Vector &v) {
  if (!problem.ard) return Vector::Constant(1, v.squaredNorm());
  return v.array().square();
}

// ---- EM ----

class EmIteration final : public detail::Iteration {
 public:
  explicit EmIteration(const LinregProblem &problem) : problem_(problem) {
    const Precisions first = first_precisions(problem);
    v = conditional_mean(problem, first.alpha(), first.expected_lambda(problem));
  }
  /// log p(y, w), with w in its original units
  RowSums expectation(int, Control &control) override {
    control.poll();
    const double residuals = problem_.residual_squares_at(v);
    const Vector squares = squares_of(problem_, v);
    q = precisions(problem_, residuals, squares);
    double out = problem_.log_constant + log_gamma_normalizer(problem_.noise_prior) -
                 log_gamma_normalizer(q.noise) - problem_.size() / 2.0 * log_two_pi +
                 problem_.log_unit_of_coefficients();
    if (problem_.lambda)
      out +=
          problem_.size() / 2.0 * std::log(*problem_.lambda) - *problem_.lambda / 2 * squares.sum();
    for (const GammaPosterior &each : q.lambda)
      out += log_gamma_normalizer(problem_.lambda_prior) - log_gamma_normalizer(each);
    return {out};
  }
  double objective() const override { return 0; }
  void update(int) override {
    v = conditional_mean(problem_, q.alpha(), q.expected_lambda(problem_));
  }
  void exchange_state(StateNumbers &numbers) override { numbers.dense(v); }

  Vector v;
  Precisions q;

 private:
  const LinregProblem &problem_;
};

/// Minus the second derivatives of log p(y, w) by v, at a mode.
Matrix curvature(const LinregProblem &problem, const Vector &v, const Precisions &q) {
  const double a = q.noise.shape, b = q.noise.rate;
  // half the gradient of the squared residuals
  const Vector slope = product(problem.gram, v) - problem.moment;
  Matrix out = precision_of(problem, a / b, q.expected_lambda(problem));
  out -= a / (b * b) * slope * slope.transpose();
  if (problem.lambda) return out;
  for (std::size_t k = 0; k < q.lambda.size(); ++k) {
    const double factor = q.lambda[k].shape / (q.lambda[k].rate * q.lambda[k].rate);
    if (problem.ard)
      out(Eigen::Index(k), Eigen::Index(k)) -= factor * v[Eigen::Index(k)] * v[Eigen::Index(k)];
    else
      out -= factor * v * v.transpose();
  }
  return out;
}

// ---- VI ----

double divergence(const GammaPosterior &q, const GammaPosterior &prior) {
  return gamma_divergence(q.shape, q.rate, prior.shape, prior.rate);
}

double expected_log(const GammaPosterior &q) { return digamma(q.shape) - std::log(q.rate); }

class ViIteration final : public detail::Iteration {
 public:
  explicit ViIteration(const LinregProblem &problem)
      : q(first_precisions(problem)),
        problem_(problem) {
    const Conditional w = conditional(problem, q.alpha(), q.expected_lambda(problem));
    q = precisions(problem, w.residual_squares + w.trace, w.squares);
  }
  /// Sets q(w) to its optimum, and returns the ELBO (002 L5 eq. 31, with all constants) there.
  RowSums expectation(int, Control &control) override {
    control.poll();
    const Vector lambda = q.expected_lambda(problem_);
    w = conditional(problem_, q.alpha(), lambda);
    double out = problem_.log_constant + problem_.observations / 2 * expected_log(q.noise) -
                 q.alpha() / 2 * (w.residual_squares + w.trace) -
                 divergence(q.noise, problem_.noise_prior);
    out += (problem_.size() + w.log_determinant - lambda.dot(w.squares)) / 2;
    if (problem_.lambda) out += problem_.size() / 2.0 * std::log(*problem_.lambda);
    for (const GammaPosterior &each : q.lambda)
      out += problem_.sharing() / 2 * expected_log(each) - divergence(each, problem_.lambda_prior);
    return {out};
  }
  double objective() const override { return 0; }
  void update(int) override { q = precisions(problem_, w.residual_squares + w.trace, w.squares); }
  void exchange_state(StateNumbers &numbers) override {
    numbers.number(q.noise.shape);
    numbers.number(q.noise.rate);
    for (GammaPosterior &each : q.lambda) {
      numbers.number(each.shape);
      numbers.number(each.rate);
    }
  }

  Precisions q;
  Conditional w;

 private:
  const LinregProblem &problem_;
};

// ---- common to all methods ----

/// The posterior of alpha with the coefficients integrated out: p(alpha, w | y) is a normal in w,
/// whose covariance S takes alpha^(q / 2) with it, q = alpha trace(X'X S) being the effective
/// number of coefficients. `alpha`: where q is computed; `v`: the mode of w, or its mean.
GammaPosterior marginal_noise(const LinregProblem &problem, const Vector &v, double alpha,
                              const Vector &lambda) {
  const double spent = problem.size() == 0 ? 0 : alpha * conditional(problem, alpha, lambda).trace;
  return {problem.noise_prior.shape + std::max(0.0, problem.observations - spent) / 2,
          problem.noise_prior.rate + problem.residual_squares_at(v) / 2};
}

struct LinregRun : RunTrace {
  Vector state;
  Precisions q;
};

template <class Iteration, class Mean>
LinregRun run_method(const LinregProblem &problem, FitRun &run, Mean mean) {
  int nothing = 0;
  return run.best_of_restarts(
      nothing, [](int) { return Vector(); },
      [&](const Vector &, int) {
        Iteration iteration(problem);
        LinregRun out;
        static_cast<RunTrace &>(out) = detail::iterate(iteration, run.control(), run.schedule());
        out.state = mean(iteration);
        out.q = iteration.q;
        return out;
      });
}

}  // namespace

void fit_by_iteration(const LinregProblem &problem, const LinregOptions &options,
                      LinregModel &model, FitRun &run) {
  if (!(problem.observations > 0))
    throw Error(Errc::numeric, "there are not enough rows to estimate the noise", {},
                "Give more rows, or use method exact.");
  const bool variational = options.method == Method::vi,
             laplace = options.method == Method::laplace;
  const LinregRun found =
      variational
          ? run_method<ViIteration>(problem, run, [](const ViIteration &i) { return i.w.mean; })
          : run_method<EmIteration>(problem, run, [](const EmIteration &i) { return i.v; });
  const double mode = found.q.alpha();
  const Vector lambda = found.q.expected_lambda(problem);
  Matrix factor;
  if (variational) {
    factor = inverse_lower(factor_of(problem, precision_of(problem, mode, lambda)));
  } else if (laplace) {
    factor = inverse_lower(factor_of(problem, curvature(problem, found.state, found.q)));
    // for the density of w in its original units, like the objective
    model.info.objective += problem.size() / 2.0 * log_two_pi - problem.log_unit_of_coefficients() +
                            factor.diagonal().array().log().sum();
  }
  const bool point = !variational && !laplace;
  factor *= std::sqrt(mode);
  problem.describe(found.state, point ? nullptr : &factor,
                   marginal_noise(problem, found.state, mode, lambda), found.q.lambda,
                   *model.state);
  const GammaPosterior &noise = model.state->noise;
  const double alpha = noise.shape / noise.rate;
  model.info.log_likelihood =
      problem.system.weight / 2 * (std::log(alpha) - log_two_pi) -
      alpha / 2 * problem.unit * problem.unit * problem.residual_squares_at(found.state);
}

}  // namespace bayes
