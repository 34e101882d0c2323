#include "base/symmetric_eigen.hpp"

#include <Eigen/Eigenvalues>

namespace bayes {

SymmetricEigen symmetric_eigen(const Matrix &symmetric) {
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(symmetric);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

}  // namespace bayes
