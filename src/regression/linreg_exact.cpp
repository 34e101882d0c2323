#include <algorithm>
#include <cmath>

#include "base/control.hpp"
#include "base/error.hpp"
#include "base/message.hpp"
#include "base/special.hpp"
#include "regression/linreg_methods.hpp"

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

}  // namespace bayes
