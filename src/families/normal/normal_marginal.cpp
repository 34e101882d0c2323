#include "families/normal/normal_marginal.hpp"

namespace bayes {
namespace {

Matrix some_rows(const Matrix &from, std::span<const int> of) {
  Matrix out(Eigen::Index(of.size()), from.cols());
  for (std::size_t i = 0; i < of.size(); ++i) out.row(Eigen::Index(i)) = from.row(of[i]);
  return out;
}

std::vector<Matrix> selected_scales(const CovarianceShape &shape, std::vector<Matrix> scales,
                                    std::span<const int> of) {
  for (Matrix &scale : scales) {
    if (shape.isotropic) continue;
    scale = some_rows(scale, of);
    if (shape.dense) scale = some_rows(scale.transpose(), of).transpose().eval();
  }
  return scales;
}

}  // namespace

NormalPoint marginal(const NormalPoint &point, std::span<const int> of) {
  return {point.shape, some_rows(point.mean, of),
          selected_scales(point.shape, point.covariance, of)};
}

NormalWishart marginal(const NormalWishart &q, std::span<const int> of) {
  const double fewer = q.shape.dense ? double(q.dimension()) - double(of.size()) : 0;
  return {q.shape, some_rows(q.m, of), q.c, (q.a.array() - fewer).matrix(),
          selected_scales(q.shape, q.B, of)};
}

NormalIndependent marginal(const NormalIndependent &q, std::span<const int> of) {
  return {some_rows(q.m, of), selected_scales(full_covariance, q.C, of),
          (q.a.array() - (double(q.dimension()) - double(of.size()))).matrix(),
          selected_scales(full_covariance, q.B, of)};
}

}  // namespace bayes
