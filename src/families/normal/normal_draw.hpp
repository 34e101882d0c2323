// Draws of the parameters of normal components from their prior or posterior (000, 002 L10).
#pragma once

#include "base/random.hpp"
#include "families/normal/normal_wishart.hpp"

namespace bayes {

/// A root M of a random covariance, Sigma = M M', where Sigma^-1 ~ Wishart(a, B): M = L A^-T with B
/// = L L' and Bartlett's lower triangular A, A_ii^2 ~ chi-square(a - i), A_ij ~ N(0, 1). In the
/// diagonal shape a column of d roots, in the spherical one a single root.
Matrix draw_root(const CovarianceShape &shape, double a, const Matrix &scale, Random &random);

/// Means and covariances of all components: Lambda ~ Wishart(a, B), mu | Lambda ~ N(m, (c
/// Lambda)^-1).
NormalPoint draw(const NormalWishart &q, Random &random);

}  // namespace bayes
