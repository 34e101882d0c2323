// The incomplete gamma and beta functions as probabilities, and their inverses.
//
// Not taken from Boost.Math, so that every argument gives a result in a bounded number of steps,
// and the same result whichever libraries are installed: Boost.Math 1.74 loops forever on some
// inverses and aborts on others, and other versions give other results.
//
// Shapes up to 3e4 use power series and continued fractions, whose leading factor is evaluated as
// densities are (special.hpp), to about 12 digits of the smaller tail; larger shapes use
// expansions for large shapes. Inverses are computed by Newton's method on the logarithm of the
// smaller tail, which is concave as a function of log x (gamma) or of the log odds (beta).
#pragma once

#include "base/api.hpp"

namespace bayes {

/// P(z <= x) of the standard normal distribution, any x.
BAYES_API double normal_below(double x);

/// P(g <= x) and P(g > x) of a gamma variable with shape > 0 and rate 1, x >= 0. If x is rounded,
/// `rest` is its rounding error (the exact number is x + rest): for a large shape this may be many
/// standard deviations.
BAYES_API double gamma_below(double shape, double x, double rest = 0);
BAYES_API double gamma_above(double shape, double x, double rest = 0);
/// log P(g > x), also where the probability underflows.
BAYES_API double log_gamma_above(double shape, double x);
/// The same from log x, since x itself may underflow.
BAYES_API double gamma_below_at(double shape, double log_x);
BAYES_API double gamma_above_at(double shape, double log_x);
/// The x with probability p below it, 0 < p < 1, and the x with probability p above it; 0 where it
/// underflows.
BAYES_API double gamma_quantile(double shape, double p);
BAYES_API double upper_gamma_quantile(double shape, double p);
/// The logarithms of these quantiles, which may themselves underflow; -infinity only where the
/// logarithm overflows.
BAYES_API double log_gamma_quantile(double shape, double p);
BAYES_API double log_upper_gamma_quantile(double shape, double p);

/// P(q <= x) and P(q > x) of a Beta(a, b) variable, a, b > 0, 0 <= x <= 1.
BAYES_API double beta_below(double a, double b, double x);
BAYES_API double beta_above(double a, double b, double x);
/// P(q <= x) where log(x / (1 - x)) is given: x or 1 - x may underflow.
BAYES_API double beta_below_at(double a, double b, double log_odds);
/// The x with probability p below it, 0 < p < 1.
BAYES_API double beta_quantile(double a, double b, double p);

/// P(t <= x) of Student's t, degrees > 0, any finite x; and the x with probability p below it,
/// 0 < p < 1, infinite where it overflows.
BAYES_API double student_below(double degrees, double x);
BAYES_API double student_quantile(double degrees, double p);
/// P(t > x) from log x, x > 0, and log |quantile|, p not 1 / 2; both for x that may overflow.
BAYES_API double student_tail_at(double degrees, double log_x);
BAYES_API double log_student_quantile(double degrees, double p);

}  // namespace bayes
