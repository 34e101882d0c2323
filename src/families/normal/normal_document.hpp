// The numbers of normal components as members of a model's document, and back with every number
// checked.
#pragma once

#include <string>
#include <vector>

#include "document/members.hpp"
#include "families/normal/normal_wishart.hpp"

namespace bayes {

inline Tensor tensor(const Vector &v) { return {{v.size()}, to_vector(v)}; }

/// K x d from the columns of a d x K matrix.
inline Tensor columns(const Matrix &m) {
  return {{m.cols(), m.rows()}, std::vector<double>(m.data(), m.data() + m.size())};
}

inline std::vector<std::int64_t> scale_shape(bool dense, bool shared, bool isotropic,
                                             std::int64_t d, std::int64_t k) {
  std::vector<std::int64_t> shape;
  if (!shared) shape.push_back(k);
  if (!isotropic) shape.push_back(d);
  if (dense) shape.push_back(d);
  return shape;
}

template <class S> Tensor scales(const std::vector<Matrix> &m, int d) {
  Tensor out{scale_shape(S::dense, S::shared, S::isotropic, d, std::int64_t(m.size())), {}};
  for (const Matrix &scale : m)
    out.values.insert(out.values.end(), scale.data(), scale.data() + scale.size());
  return out;
}

inline Vector read_vector(const MemberReader &in, const char *key, std::int64_t size) {
  const Tensor t = in.tensor(key, {size});
  return Eigen::Map<const Vector>(t.values.data(), Eigen::Index(t.values.size()));
}

inline Matrix read_columns(const MemberReader &in, const char *key, std::int64_t d,
                           std::int64_t k) {
  const Tensor t = in.tensor(key, {k, d});
  return Eigen::Map<const Matrix>(t.values.data(), d, k);
}

template <class S>
std::vector<Matrix> read_scales(const MemberReader &in, const char *key, int d, int k) {
  const Tensor t = in.tensor(key, scale_shape(S::dense, S::shared, S::isotropic, d, k));
  std::vector<Matrix> out;
  const int rows = scale_rows<S>(d), cols = scale_columns<S>(d);
  for (int c = 0; c < scale_count<S>(k); ++c) {
    Matrix m =
        Eigen::Map<const Matrix>(t.values.data() + std::ptrdiff_t(c) * rows * cols, rows, cols);
    if (S::dense && m != m.transpose())
      in.reject(key, "must hold symmetric matrices; number " + std::to_string(c + 1) + " is not");
    FactoredScale factored;
    if (!factor<S>(m, d, factored))
      in.reject(key, "must be positive definite; number " + std::to_string(c + 1) + " is not");
    out.push_back(std::move(m));
  }
  return out;
}

inline Vector read_above(const MemberReader &in, const char *key, std::int64_t size, double bound) {
  Vector v = read_vector(in, key, size);
  if (!(v.minCoeff() > bound)) in.reject(key, "must be above " + std::to_string(int(bound)));
  return v;
}

/// Members m (K x d), c, a, B.
template <class S> void write_posterior(Document &document, const NormalWishart<S> &q) {
  document.set("m", columns(q.m))
      .set("c", tensor(q.c))
      .set("a", tensor(q.a))
      .set("B", scales<S>(q.B, q.dimension()));
}
template <class S> NormalWishart<S> read_posterior(const MemberReader &in, int d, int k) {
  return {read_columns(in, "m", d, k), read_above(in, "c", k, 0),
          read_above(in, "a", scale_count<S>(k), wishart_dimension<S>(d) - 1),
          read_scales<S>(in, "B", d, k)};
}

}  // namespace bayes
