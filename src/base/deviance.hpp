// Densities of counts as C. Loader, "Fast and accurate computation of binomial probabilities"
// (2000) evaluates them: a deviance and remainders of Stirling's formula, so that nothing cancels
// however large counts and shapes are. Neither counts nor trials need be whole.
#pragma once

namespace bayes {

/// What is smaller has lost digits, or soon will: its logarithm takes its place.
inline constexpr double least_normal = 1e-300;

/// What Stirling's formula leaves of log Gamma(x), x > 0; also of log x!.
double stirling_error(double x);

/// log(x / y), x > 0, y > 0
double log_ratio(double x, double y);

/// x log(x / m) + m - x >= 0, x > 0, m > 0: half the deviance of a count x of mean m. `difference`
/// is x - m; where m was rounded, as it was before.
double deviance(double x, double m, double difference);

/// log of m^x exp(-m) / Gamma(x + 1), x >= 0, m >= 0. `difference` is x - m.
double log_poisson(double x, double m, double difference);

/// The same of an m next to 0, exp(-m) = 1, that may underflow; x > 0.
double log_poisson_at(double x, double log_m);

/// log of Gamma(n + 1) / (Gamma(x + 1) Gamma(y + 1)) p^x q^y, where n = x + y, q = 1 - p, all at
/// least 0. `difference` is x - n p = q x - p y.
double log_binomial(double x, double y, double p, double q, double difference);

/// q x - p y, where q = 1 - p but for rounding, without what rounding takes away.
double binomial_difference(double x, double y, double p, double q);

/// log(x + y), x > 0, y > 0, however large
double log_sum(double x, double y);

}  // namespace bayes
