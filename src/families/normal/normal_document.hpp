// The numbers of normal components as members of a model's document, and back, with every number
// checked.
#pragma once

#include <string>
#include <vector>

#include "document/members.hpp"
#include "families/normal/normal_wishart.hpp"

namespace bayes {

/// A tensor of shape {size}.
Tensor tensor(const Vector &v);

/// K x d from the columns of a d x K matrix.
Tensor columns(const Matrix &m);

/// [K, unless shared][rows][columns], as the shape has them.
Tensor scales(const CovarianceShape &shape, const std::vector<Matrix> &m, int d);

// Reading checks everything: throws Error(invalid_text) that names the invalid member.

Vector read_vector(const MemberReader &in, const char *key, std::int64_t size);

Matrix read_columns(const MemberReader &in, const char *key, std::int64_t d, std::int64_t k);

/// Symmetric, positive definite matrices.
std::vector<Matrix> read_scales(const CovarianceShape &shape, const MemberReader &in,
                                const char *key, int d, int k);

/// Numbers, all above the bound.
Vector read_above(const MemberReader &in, const char *key, std::int64_t size, double bound);

/// Members m (K x d), c, a, B.
void write_posterior(Document &document, const NormalWishart &q);
NormalWishart read_posterior(const CovarianceShape &shape, const MemberReader &in, int d, int k);

}  // namespace bayes
