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

/// A Student t with more degrees of freedom is computed with these: it is normal to double
/// precision.
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

// Densities of counts as C. Loader, "Fast and accurate computation of binomial probabilities"
// (2000) evaluates them: a deviance and remainders of Stirling's formula, so that nothing cancels
// however large counts and shapes are. Neither counts nor trials need be whole.

/// Numbers below this may be subnormal, or lead to subnormal results, and lose digits; they are
/// replaced by their logarithms.
inline constexpr double min_normal = 1e-300;

/// The remainder of Stirling's formula for log Gamma(x), x > 0: log Gamma(x) - ((x - 1/2) log x - x
/// + log(2 pi) / 2). It is also the remainder for log x!.
double stirling_error(double x);

/// log(x / y), x > 0, y > 0
double log_ratio(double x, double y);

/// x log(x / m) + m - x >= 0, x > 0, m > 0: half the deviance of a count x of mean m. `difference`
/// is x - m; if m is rounded, with m before rounding.
double deviance(double x, double m, double difference);

/// log of m^x exp(-m) / Gamma(x + 1), x >= 0, m >= 0. `difference` is x - m.
double log_poisson(double x, double m, double difference);

/// The same for x > 0 and an m so small that exp(-m) = 1; m itself may underflow.
double log_poisson_at(double x, double log_m);

/// log of Gamma(n + 1) / (Gamma(x + 1) Gamma(y + 1)) p^x q^y, where n = x + y, q = 1 - p, all at
/// least 0. `difference` is x - n p = q x - p y.
double log_binomial(double x, double y, double p, double q, double difference);

/// (1 - p) x - p y, where q is 1 - p rounded: the rounding errors of q and of the products are
/// added back.
double binomial_difference(double x, double y, double p, double q);

/// log(x + y), x > 0, y > 0; x + y may overflow
double log_sum(double x, double y);

}  // namespace bayes
