#include "families/normal/normal_response.hpp"

#include "base/special.hpp"

namespace bayes {
namespace {

/// f(i, j) for the entries of a scale matrix that may differ, in order.
template <class F> void for_each_entry(const CovarianceShape &shape, int d, F f) {
  for (int j = 0; j < shape.columns(d); ++j)
    for (int i = shape.dense ? j : 0; i < shape.rows(d); ++i) f(i, j);
}

int entries(const CovarianceShape &shape, int d) {
  return shape.dense ? d * (d + 1) / 2 : shape.rows(d);
}

/// Scale matrices with sum_k sign c_k (m_k - o_k)(m_k - o_k)' added.
std::vector<Matrix> moved(const NormalWishart &q, const NormalWishart &about, double sign) {
  std::vector<Matrix> out = q.B;
  for (int k = 0; k < q.components(); ++k)
    out[std::size_t(q.shape.index(k))] +=
        sign * q.c(k) * outer(q.shape, q.m.col(k) - about.m.col(k));
  return out;
}

PosteriorFactor without_quantities(Matrix covariance) {
  const Eigen::Index n = covariance.rows();
  return {std::move(covariance), Matrix(n, 0), Vector()};
}

/// Of log |Lambda| / 2, and of the coefficients of the entries of B in -tr(B Lambda) / 2.
Matrix scale_covariance(const CovarianceShape &shape, double a, const FactoredScale &b, int d) {
  const int p = shape.wishart_dimension(d), n = entries(shape, d);
  const Matrix inverse =
      shape.dense ? transposed_product(b.whiten, b.whiten) : Matrix(b.whiten.cwiseAbs2());
  Matrix out(n + 1, n + 1);
  out(0, 0) = 0;
  for (int i = 0; i < p; ++i) out(0, 0) += shape.wishart_copies(d) * trigamma((a - i) / 2) / 4;
  int row = 0;
  for_each_entry(shape, d, [&](int i, int j) {
    const double twice = shape.dense && i != j ? 2 : 1;
    ++row;
    out(row, 0) = out(0, row) = -twice * inverse(i, j) / 2;
    int column = 0;
    for_each_entry(shape, d, [&](int k, int l) {
      const double both = twice * (shape.dense && k != l ? 2 : 1) / 4;
      if (shape.dense)
        out(row, ++column) =
            both * a * (inverse(i, k) * inverse(j, l) + inverse(i, l) * inverse(j, k));
      else
        out(row, ++column) = i == k ? a * inverse(i, 0) * inverse(i, 0) / 2 : 0;
    });
  });
  return out;
}

}  // namespace

double natural_size(const NormalWishart &q) {
  const double d = q.dimension();
  return q.components() * (d + 1) +
         double(q.B.size()) * (1 + (q.shape.dense ? d * (d + 1) / 2 : q.shape.rows(int(d))));
}

Vector natural_parameters(const NormalWishart &q, const NormalWishart &about) {
  const int d = q.dimension();
  Vector out(Eigen::Index(natural_size(q)));
  Eigen::Index next = 0;
  for (int k = 0; k < q.components(); ++k) {
    out.segment(next, d) = q.c(k) * (q.m.col(k) - about.m.col(k));
    out(next + d) = q.c(k);
    next += d + 1;
  }
  const std::vector<Matrix> scales = moved(q, about, 1);
  for (std::size_t s = 0; s < scales.size(); ++s) {
    out(next++) = q.a(Eigen::Index(s));
    for_each_entry(q.shape, d, [&](int i, int j) { out(next++) = scales[s](i, j); });
  }
  return out;
}

NormalWishart from_natural_parameters(const Vector &natural, const NormalWishart &about) {
  const int d = about.dimension();
  NormalWishart out = about;
  Eigen::Index next = 0;
  for (int k = 0; k < out.components(); ++k) {
    out.c(k) = natural(next + d);
    out.m.col(k) += natural.segment(next, d) / out.c(k);
    next += d + 1;
  }
  for (std::size_t s = 0; s < out.B.size(); ++s) {
    out.a(Eigen::Index(s)) = natural(next++);
    for_each_entry(out.shape, d, [&](int i, int j) {
      out.B[s](i, j) = natural(next++);
      if (out.shape.dense) out.B[s](j, i) = out.B[s](i, j);
    });
  }
  out.B = moved(out, about, -1);
  return out;
}

// With y the mean less m, phi of c (m - o) is Lambda y, of c -y' Lambda y / 2: c y' Lambda y is
// chi-square with d degrees of freedom whatever Lambda is, and y | Lambda is symmetric about 0. So
// the three parts are uncorrelated.
std::vector<PosteriorFactor> posterior_factors(const NormalWishart &q) {
  const CovarianceShape &shape = q.shape;
  const int d = q.dimension();
  const auto scales = factor_all(shape, q.B, d, "posterior scale B");
  std::vector<PosteriorFactor> out;
  for (int k = 0; k < q.components(); ++k) {
    const Matrix &whiten = scales[std::size_t(shape.index(k))].whiten;
    const double each = q.a(shape.index(k)) / q.c(k);
    Matrix covariance = Matrix::Zero(d, d);
    if (shape.dense)
      covariance = each * transposed_product(whiten, whiten);
    else
      covariance.diagonal() = each * whiten.cwiseAbs2();
    out.push_back(without_quantities(std::move(covariance)));
    out.push_back(without_quantities(Matrix::Constant(1, 1, d / (2 * q.c(k) * q.c(k)))));
  }
  for (std::size_t s = 0; s < scales.size(); ++s)
    out.push_back(without_quantities(scale_covariance(shape, q.a(Eigen::Index(s)), scales[s], d)));
  return out;
}

}  // namespace bayes
