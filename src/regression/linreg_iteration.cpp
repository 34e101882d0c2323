// EM, Laplace's approximation and variational inference for linear regression with unknown
// precisions of noise and coefficients: core models 2.0 (lambda given) and 3.0 of 002 L5 and L6.
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/message.hpp"
#include "base/special.hpp"
#include "fit/driver.hpp"
#include "regression/linreg_methods.hpp"

namespace bayes {
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
