#include "families/normal/normal_draw.hpp"

#include <cmath>

namespace bayes {

Matrix draw_root(const CovarianceShape &shape, double a, const Matrix &scale, Random &random) {
  if (shape.dense) {
    const Eigen::Index d = scale.rows();
    Matrix lower, bartlett = Matrix::Zero(d, d);
    if (!cholesky(scale, lower)) not_positive_definite("posterior scale B", 0);
    for (Eigen::Index i = 0; i < d; ++i) {
      for (Eigen::Index j = 0; j < i; ++j) bartlett(i, j) = random.normal();
      bartlett(i, i) = std::sqrt(random.chi_square(a - double(i)));
    }
    return product_transposed(lower, inverse_lower(bartlett));
  } else {
    Matrix root(scale.rows(), 1);
    for (Eigen::Index i = 0; i < scale.rows(); ++i)
      root(i, 0) = std::sqrt(scale(i, 0) / random.chi_square(a));
    return root;
  }
}

NormalPoint draw(const NormalWishart &q, Random &random) {
  const CovarianceShape &shape = q.shape;
  const int d = q.dimension(), k = q.components();
  NormalPoint out{q.shape, Matrix(d, k), std::vector<Matrix>(q.B.size())};
  std::vector<Matrix> roots(q.B.size());
  for (std::size_t s = 0; s < roots.size(); ++s) {
    poll_here();
    roots[s] = draw_root(shape, q.a(Eigen::Index(s)), q.B[s], random);
    out.covariance[s] = shape.dense ? product_transposed(roots[s], roots[s])
                                    : Matrix(roots[s].array().square().matrix());
  }
  Vector z(d);
  for (int j = 0; j < k; ++j) {
    const Matrix &root = roots[std::size_t(shape.index(j))];
    for (int i = 0; i < d; ++i) z(i) = random.normal();
    if (shape.dense)
      z = product(root, z);
    else if (shape.isotropic)
      z *= root(0, 0);
    else
      z.array() *= root.col(0).array();
    out.mean.col(j) = q.m.col(j) + z / std::sqrt(q.c(j));
  }
  return out;
}

}  // namespace bayes
