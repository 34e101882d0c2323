// Probabilities of boxes: of rows whose elements lie between bounds.
#pragma once

#include <span>

#include "questions/row_distribution.hpp"

namespace bayes {

struct BoxProbability {
  double value;
  /// its Monte Carlo standard error; 0 if it is exact
  double mcse;
};

/// P(lower <= x <= upper | given), element by element. NaN is no bound; for a label one bound
/// suffices, which is then both. An unseen category has the probability that log densities give it,
/// and is in no range of several. Throws Error if a lower bound is above the upper one, or both are
/// different labels.
///
/// Exact where the elements with bounds are independent given the component, or where one dependent
/// element has bounds, or two (of at least fewest_degrees). Otherwise by quasi-Monte Carlo with a
/// fixed seed.
BAYES_API BoxProbability box_probability(RowDistribution &rows, std::span<const double> lower,
                                         std::span<const double> upper,
                                         std::span<const double> given);

/// P(lower <= X <= upper), the bounds infinite or not.
double interval_probability(const Predicted &of, double lower, double upper);

/// The fewest degrees of freedom that rectangle_probability() takes.
inline constexpr double fewest_degrees = 0.3;

/// P(lower <= z <= upper) for two standard normals of correlation rho, or a Student t in two
/// dimensions of `degrees`.
double rectangle_probability(const double *lower, const double *upper, double rho,
                             double degrees = 0);

/// Independent estimates of P(lower <= x <= upper) for the elliptical distribution with the scale
/// L L', L lower triangular (row i has i + 1 numbers): normal, or Student t of `degrees` > 0. They
/// multiply out[0], out[1], ..., each of which holds the weight of the component, from 0 to 1; the
/// bounds are relative to the location.
void multiply_elliptical_box(std::span<const double> lower, std::span<const double> upper,
                             std::span<const double> triangle, double degrees,
                             std::span<double> out);

}  // namespace bayes
