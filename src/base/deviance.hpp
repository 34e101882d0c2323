// Densities of counts as C. Loader, "Fast and accurate computation of binomial probabilities"
// (2000) evaluates them: a deviance and remainders of Stirling's formula, so that nothing cancels
// however large counts and shapes are. Neither counts nor trials need be whole.
#pragma once

namespace bayes {

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
