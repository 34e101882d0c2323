// Special functions, in log space where values would leave the range of a double.
//
// Errors are thrown as Error(numeric): an argument outside the stated range, or a result beyond the
// largest double.
#pragma once

#include <span>

#include "base/api.hpp"

namespace bayes {

/// log(2 pi), and half of it
inline constexpr double log_two_pi = 1.8378770664093454836, half_log_two_pi = log_two_pi / 2;

/// Degrees of freedom of a Student t above which it is computed with these: it then is normal to
/// double precision.
inline constexpr double max_degrees = 1e15;

/// log sum_i exp(x_i) without overflow. -infinity if there are no terms or all are -infinity; NaN
/// if any is NaN.
BAYES_API double log_sum_exp(std::span<const double> x);

/// exp(x_i) / sum_j exp(x_j) into out, of the length of x; x has at least one term that is finite.
BAYES_API void softmax(std::span<const double> x, std::span<double> out);

/// log(1 + exp(x)), any x.
BAYES_API double log1p_exp(double x);

/// log Gamma(x), x > 0.
BAYES_API double log_gamma(double x);
/// d/dx log Gamma(x), x > 0.
BAYES_API double digamma(double x);
/// d^2/dx^2 log Gamma(x), x > 0.
BAYES_API double trigamma(double x);

/// log B(a, b) = log Gamma(a) + log Gamma(b) - log Gamma(a + b), a, b > 0; without the cancellation
/// of these three terms.
BAYES_API double log_beta(double a, double b);
/// log of the Dirichlet's normaliser, sum_i log Gamma(alpha_i) - log Gamma(sum_i alpha_i); every
/// alpha_i > 0, at least one.
BAYES_API double log_dirichlet_normaliser(std::span<const double> alpha);

/// log Gamma_p(a) = p (p - 1) / 4 log pi + sum_{j=1..p} log Gamma(a + (1 - j) / 2);
/// p >= 1, a > (p - 1) / 2.
BAYES_API double log_multivariate_gamma(double a, int p);
/// sum_{j=1..p} digamma((a + 1 - j) / 2); p >= 1, a > p - 1. For Lambda ~ Wishart(a, B), E log
/// |Lambda| = p log 2 - log |B| + this.
BAYES_API double wishart_digamma(double a, int p);

/// The Kullback-Leibler divergence of Gamma(shape, rate) from Gamma(prior_shape, prior_rate), all
/// positive; without the cancellation that log Gamma terms suffer in a difference of evidences.
BAYES_API double gamma_divergence(double shape, double rate, double prior_shape, double prior_rate);

/// The p-quantile of the standard normal distribution, 0 < p < 1.
BAYES_API double normal_quantile(double p);

/// P(X > x), x >= 0, for a chi-squared variable X with `degrees` > 0 degrees of freedom.
BAYES_API double chi_square_tail(double x, double degrees);

}  // namespace bayes
