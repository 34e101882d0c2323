#include "families/normal/normal_document.hpp"

#include "base/message.hpp"

namespace bayes {

Tensor tensor(const Vector &v) { return {{v.size()}, to_vector(v)}; }

Tensor columns(const Matrix &m) {
  return {{m.cols(), m.rows()}, std::vector<double>(m.data(), m.data() + m.size())};
}

namespace {

std::vector<std::int64_t> scale_shape(const CovarianceShape &shape, std::int64_t d,
                                      std::int64_t k) {
  std::vector<std::int64_t> out;
  if (!shape.shared) out.push_back(k);
  if (!shape.isotropic) out.push_back(d);
  if (shape.dense) out.push_back(d);
  return out;
}

}  // namespace

Tensor scales(const CovarianceShape &shape, const std::vector<Matrix> &m, int d) {
  Tensor out{scale_shape(shape, d, std::int64_t(m.size())), {}};
  for (const Matrix &scale : m)
    out.values.insert(out.values.end(), scale.data(), scale.data() + scale.size());
  return out;
}

Vector read_vector(const MemberReader &in, const char *key, std::int64_t size) {
  const Tensor t = in.tensor(key, {size});
  return Eigen::Map<const Vector>(t.values.data(), Eigen::Index(t.values.size()));
}

Matrix read_columns(const MemberReader &in, const char *key, std::int64_t d, std::int64_t k) {
  const Tensor t = in.tensor(key, {k, d});
  return Eigen::Map<const Matrix>(t.values.data(), d, k);
}

std::vector<Matrix> read_scales(const CovarianceShape &shape, const MemberReader &in,
                                const char *key, int d, int k) {
  const Tensor t = in.tensor(key, scale_shape(shape, d, k));
  std::vector<Matrix> out;
  const int rows = shape.rows(d), cols = shape.columns(d);
  for (int c = 0; c < shape.count(k); ++c) {
    Matrix m =
        Eigen::Map<const Matrix>(t.values.data() + std::ptrdiff_t(c) * rows * cols, rows, cols);
    if (shape.dense && m != m.transpose())
      in.reject(key, message("must hold symmetric matrices; number {} is not", c + 1));
    FactoredScale factored;
    if (!factor(shape, m, d, factored))
      in.reject(key, message("must be positive definite; number {} is not", c + 1));
    out.push_back(std::move(m));
  }
  return out;
}

Vector read_above(const MemberReader &in, const char *key, std::int64_t size, double bound) {
  Vector v = read_vector(in, key, size);
  if (!(v.minCoeff() > bound)) in.reject(key, message("must be above {}", bound));
  return v;
}

void write_posterior(Document &document, const NormalWishart &q) {
  document.set("m", columns(q.m))
      .set("c", tensor(q.c))
      .set("a", tensor(q.a))
      .set("B", scales(q.shape, q.B, q.dimension()));
}

NormalWishart read_posterior(const CovarianceShape &shape, const MemberReader &in, int d, int k) {
  return {shape, read_columns(in, "m", d, k), read_above(in, "c", k, 0),
          read_above(in, "a", shape.count(k), shape.wishart_dimension(d) - 1),
          read_scales(shape, in, "B", d, k)};
}

}  // namespace bayes
