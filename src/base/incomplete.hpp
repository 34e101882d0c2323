// The incomplete gamma and beta functions as probabilities, and their inverses.
//
// By Boost.Math, whose distributions take long to compile and are seen by this file's source alone.
// Nothing throws: where double precision does not find a number it is NaN. Of shapes above 3e4
// Boost.Math loses digits, its inverses take milliseconds, and some beyond 1e12 never come back;
// there expansions for large shapes take over.
#pragma once

#include "base/api.hpp"

namespace bayes {

/// P(z <= x) of the standard normal distribution, any x.
BAYES_API double normal_below(double x);

/// P(g <= x) and P(g > x) of a gamma variable with shape > 0 and rate 1, x >= 0. If x is rounded,
/// `rest` is what it lacks: of a large shape it may be many standard deviations.
BAYES_API double gamma_below(double shape, double x, double rest = 0);
BAYES_API double gamma_above(double shape, double x, double rest = 0);
/// The x with probability p below it, 0 < p < 1, and that with probability p above it.
BAYES_API double gamma_quantile(double shape, double p);
BAYES_API double upper_gamma_quantile(double shape, double p);

/// P(q <= x) and P(q > x) of a Beta(a, b) variable, a, b > 0, 0 <= x <= 1.
BAYES_API double beta_below(double a, double b, double x);
BAYES_API double beta_above(double a, double b, double x);
/// The x with probability p below it, 0 < p < 1.
BAYES_API double beta_quantile(double a, double b, double p);

/// P(t <= x) of Student's t, degrees > 0, any x; and the x with probability p below it, 0 < p < 1.
BAYES_API double student_below(double degrees, double x);
BAYES_API double student_quantile(double degrees, double p);

}  // namespace bayes
