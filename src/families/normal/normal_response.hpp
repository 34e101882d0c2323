// Posteriors of normal components for linear response (fit/linear_response.hpp).
#pragma once

#include <vector>

#include "families/normal/normal_wishart.hpp"
#include "families/posterior_factor.hpp"

namespace bayes {

/// The number of natural parameters.
double natural_size(const NormalWishart &q);

/// The natural parameters of q: for every component c (m - o) and c, where o is the component's m
/// in `about`; then for every scale a, and the lower triangle, column by column, of the symmetric B
/// + sum c (m - o)(m - o)' over its components.
Vector natural_parameters(const NormalWishart &q, const NormalWishart &about);
/// The inverse of natural_parameters().
NormalWishart from_natural_parameters(const Vector &natural, const NormalWishart &about);
/// The factors of q, in the same order, with q itself as the origin. The quantities are the means
/// of every component, then the variances of every scale.
std::vector<PosteriorFactor> posterior_factors(const NormalWishart &q);

/// The standard deviations `found` by linear response for these quantities, as 2 d x K: first of
/// the elements' means, then of their variances; 0 where none exists.
Matrix named_deviations(const CovarianceShape &shape, int d, int k, const Vector &found);

}  // namespace bayes
