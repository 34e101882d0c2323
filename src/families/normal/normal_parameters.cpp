#include "families/normal/normal_parameters.hpp"

#include <cmath>

namespace bayes {
namespace {

double diagonal_entry(const CovarianceShape &shape, const Matrix &scale, int j) {
  return shape.dense ? scale(j, j) : scale(shape.isotropic ? 0 : j, 0);
}

}  // namespace

std::vector<Parameter> element_parameters(const NormalPoint &point, int k, int j) {
  const CovarianceShape &shape = point.shape;
  Parameter mean{.component = k, .element = j, .likelihood = "normal", .name = "mean"}, sd = mean;
  mean.value = point.mean(j, k);
  mean.number = j;
  sd.name = "sd";
  sd.value = std::sqrt(diagonal_entry(shape, point.covariance[std::size_t(shape.index(k))], j));
  sd.root = true;
  sd.number = point.dimension() + j;
  return {mean, sd};
}

void add_marginals(const NormalWishart &q, int k, int j, std::vector<Marginal> &out) {
  const CovarianceShape &shape = q.shape;
  const int s = shape.index(k);
  const double a = q.a(s) - (shape.dense ? q.dimension() - 1 : 0),
               b = diagonal_entry(shape, q.B[std::size_t(s)], j);
  out.push_back({Marginal::Kind::student, a, std::sqrt(b / q.c(k) / a), q.m(j, k)});
  out.push_back({Marginal::Kind::root, a, b});
}

void add_marginals(const NormalIndependent &q, int k, int j, std::vector<Marginal> &out) {
  const std::size_t s = std::size_t(k);
  out.push_back({Marginal::Kind::normal, 1, std::sqrt(q.C[s](j, j)), q.m(j, k)});
  out.push_back({Marginal::Kind::root, q.a(k) - (q.dimension() - 1), q.B[s](j, j)});
}

}  // namespace bayes
