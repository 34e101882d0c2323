// Posteriors of normal components for linear response (fit/linear_response.hpp).
#pragma once

#include <vector>

#include "families/normal/normal_wishart.hpp"
#include "families/posterior_factor.hpp"

namespace bayes {

/// How many natural parameters there are.
double natural_size(const NormalWishart &q);

/// Those of q: of every component c (m - o) and c, o being the mean m of `about`; then of every
/// scale a and, of the symmetric B + c (m - o)(m - o)', the lower triangle column by column.
Vector natural_parameters(const NormalWishart &q, const NormalWishart &about);
/// Their inverse.
NormalWishart from_natural_parameters(const Vector &natural, const NormalWishart &about);
/// About q itself, in the same order. The quantities are the means of every component, then the
/// variances of every scale.
std::vector<PosteriorFactor> posterior_factors(const NormalWishart &q);

/// What linear response found for these quantities, 2 d x K: of the means of the elements, then of
/// their variances; 0 where there is no standard deviation.
Matrix named_deviations(const CovarianceShape &shape, int d, int k, const Vector &found);

}  // namespace bayes
