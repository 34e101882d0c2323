#include "families/dirichlet.hpp"

#include <cmath>

#include "base/special.hpp"

namespace bayes {
namespace {

/// The log of the density's normalising constant.
double log_constant(const Vector &alpha) {
  return -log_dirichlet_normaliser({alpha.data(), std::size_t(alpha.size())});
}

}  // namespace

Vector expected_log_weights(const Vector &alpha) {
  const double whole = digamma(alpha.sum());
  return alpha.unaryExpr([whole](double a) { return digamma(a) - whole; });
}

double dirichlet_divergence(const Vector &q, const Vector &prior) {
  return log_constant(q) - log_constant(prior) + (q - prior).dot(expected_log_weights(q));
}

double dirichlet_log_density(const Vector &weights, const Vector &alpha) {
  double total = log_constant(alpha);
  for (Eigen::Index k = 0; k < alpha.size(); ++k)
    if (alpha(k) != 1) total += (alpha(k) - 1) * std::log(weights(k));
  return total;
}

double dirichlet_deviation(double alpha, double whole) {
  return std::sqrt(alpha / whole * ((whole - alpha) / whole) / (whole + 1));
}

PosteriorFactor dirichlet_factor(const Vector &alpha) {
  const Eigen::Index k = alpha.size();
  const double whole = alpha.sum();
  PosteriorFactor out{Matrix::Constant(k, k, -trigamma(whole)), Matrix(k, k), Vector(k)};
  for (Eigen::Index j = 0; j < k; ++j) {
    out.covariance(j, j) += trigamma(alpha(j));
    for (Eigen::Index i = 0; i < k; ++i)
      out.with_quantities(i, j) = ((i == j ? whole : 0) - alpha(j)) / whole / whole;
    out.deviation(j) = dirichlet_deviation(alpha(j), whole);
  }
  return out;
}

}  // namespace bayes
