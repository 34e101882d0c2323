#include "families/normal/normal_response.hpp"

#include <cmath>
#include <limits>

#include "base/special.hpp"
#include "families/normal/normal_parameters.hpp"

namespace bayes {
namespace {

/// f(i, j) for the free entries of a scale matrix, in order.
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

/// The covariance matrix of log |Lambda| / 2 and of the coefficients of the entries of B in -tr(B
/// Lambda) / 2.
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

/// The factor of a scale. Its quantities are the variances of the elements; Cov[phi, g] is the
/// gradient of their means with respect to a and B.
PosteriorFactor scale_factor(const CovarianceShape &shape, double a, const Matrix &b,
                             const FactoredScale &factored, int d) {
  const int variances = shape.rows(d), n = entries(shape, d) + 1;
  // An element's variance is inverse gamma, as in add_marginals().
  const double freedom = a - (shape.dense ? d - 1 : 0);
  PosteriorFactor out{scale_covariance(shape, a, factored, d), Matrix::Zero(n, variances),
                      Vector::Constant(variances, std::numeric_limits<double>::quiet_NaN())};
  if (!(freedom > 4)) return out;
  int row = 0;
  for_each_entry(shape, d, [&](int i, int j) {
    ++row;
    if (shape.dense && i != j) return;
    const double mean = b(i, j) / (freedom - 2);
    out.with_quantities(0, i) = -mean / (freedom - 2);
    out.with_quantities(row, i) = 1 / (freedom - 2);
    out.deviation(i) = mean * std::sqrt(2 / (freedom - 4));
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

// With y = mu - m, the statistic phi that belongs to c (m - o) is Lambda y, and that of c is -y'
// Lambda y / 2. c y' Lambda y is chi-square with d degrees of freedom for every Lambda, and y |
// Lambda is symmetric about 0. So the three parts are uncorrelated.
std::vector<PosteriorFactor> posterior_factors(const NormalWishart &q) {
  const CovarianceShape &shape = q.shape;
  const int d = q.dimension();
  const auto scales = factor_all(shape, q.B, d, "posterior scale B");
  std::vector<PosteriorFactor> out;
  for (int k = 0; k < q.components(); ++k) {
    const int s = shape.index(k);
    const Matrix &whiten = scales[std::size_t(s)].whiten;
    const double each = q.a(s) / q.c(k);
    Matrix covariance = Matrix::Zero(d, d);
    if (shape.dense)
      covariance = each * transposed_product(whiten, whiten);
    else
      covariance.diagonal() = each * whiten.cwiseAbs2();
    // Given Lambda, y has covariance (c Lambda)^-1, so Cov[Lambda y, y] is I / c.
    PosteriorFactor means{std::move(covariance), Matrix::Identity(d, d) / q.c(k), Vector(d)};
    std::vector<Marginal> marginals;
    for (int j = 0; j < d; ++j) {
      marginals.clear();
      add_marginals(q, k, j, marginals);
      means.deviation(j) = marginals[0].deviation();
    }
    out.push_back(std::move(means));
    out.push_back({Matrix::Constant(1, 1, d / (2 * q.c(k) * q.c(k))), Matrix(1, 0), Vector()});
  }
  for (std::size_t s = 0; s < scales.size(); ++s)
    out.push_back(scale_factor(shape, q.a(Eigen::Index(s)), q.B[s], scales[s], d));
  return out;
}

Matrix named_deviations(const CovarianceShape &shape, int d, int k, const Vector &found) {
  const Eigen::Index variances = shape.rows(d);
  Matrix out(2 * d, k);
  for (int i = 0; i < k; ++i) {
    out.col(i).head(d) = found.segment(i * d, d);
    const Vector own = found.segment(k * d + shape.index(i) * variances, variances);
    for (int j = 0; j < d; ++j) out(d + j, i) = own(shape.isotropic ? 0 : j);
  }
  return out.unaryExpr([](double x) { return std::isfinite(x) ? x : 0.0; });
}

}  // namespace bayes
