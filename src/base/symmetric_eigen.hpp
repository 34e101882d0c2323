// Apart from the rest of linear algebra because it is slow to compile: both take half the time side
// by side.
#pragma once

#include "base/linalg.hpp"

namespace bayes {

/// Eigenvalues in increasing order, and eigenvectors as columns, of a symmetric matrix.
struct SymmetricEigen {
  Vector values;
  Matrix vectors;
};
SymmetricEigen symmetric_eigen(const Matrix &symmetric);

}  // namespace bayes
