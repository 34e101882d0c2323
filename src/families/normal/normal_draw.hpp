// Draws of the parameters of normal components from their prior or posterior (000, 002 L10).
#pragma once

#include "base/random.hpp"
#include "families/normal/normal_wishart.hpp"

namespace bayes {

/// A root M of a random covariance, Sigma = M M', where Sigma^-1 ~ Wishart(a, B): M = L A^-T with B
/// = L L' and Bartlett's lower triangular A, A_ii^2 ~ chi-square(a - i), A_ij ~ N(0, 1). In the
/// diagonal shape a column of d roots, in the spherical one a single root.
template <class S> Matrix draw_root(double a, const Matrix &scale, Random &random) {
  if constexpr (S::dense) {
    const Eigen::Index d = scale.rows();
    Matrix lower, bartlett = Matrix::Zero(d, d);
    if (!cholesky(scale, lower)) not_positive_definite("posterior scale B", 0);
    for (Eigen::Index i = 0; i < d; ++i) {
      for (Eigen::Index j = 0; j < i; ++j) bartlett(i, j) = random.normal();
      bartlett(i, i) = std::sqrt(random.chi_square(a - double(i)));
    }
    return lower * inverse_lower(bartlett).transpose();
  } else {
    Matrix root(scale.rows(), 1);
    for (Eigen::Index i = 0; i < scale.rows(); ++i)
      root(i, 0) = std::sqrt(scale(i, 0) / random.chi_square(a));
    return root;
  }
}

/// Means and covariances of all components: Lambda ~ Wishart(a, B), mu | Lambda ~ N(m, (c
/// Lambda)^-1).
template <class S> NormalPoint<S> draw(const NormalWishart<S> &q, Random &random) {
  const int d = q.dimension(), k = q.components();
  NormalPoint<S> out{Matrix(d, k), std::vector<Matrix>(q.B.size())};
  std::vector<Matrix> roots(q.B.size());
  for (std::size_t s = 0; s < roots.size(); ++s) {
    poll_here();
    roots[s] = draw_root<S>(q.a(Eigen::Index(s)), q.B[s], random);
    out.covariance[s] = S::dense ? Matrix(roots[s] * roots[s].transpose())
                                 : Matrix(roots[s].array().square().matrix());
  }
  Vector z(d);
  for (int j = 0; j < k; ++j) {
    const Matrix &root = roots[std::size_t(scale_index<S>(j))];
    for (int i = 0; i < d; ++i) z(i) = random.normal();
    if constexpr (S::dense)
      z = (root * z).eval();
    else if constexpr (S::isotropic)
      z *= root(0, 0);
    else
      z.array() *= root.col(0).array();
    out.mean.col(j) = q.m.col(j) + z / std::sqrt(q.c(j));
  }
  return out;
}

}  // namespace bayes
