#include "factor/pmf_chain.hpp"

#include <algorithm>
#include <cmath>

#include "base/linalg.hpp"
#include "base/special.hpp"

namespace bayes {
namespace {

/// Draws a variance 1 / x, where the precision x has the gamma posterior given `count` normal
/// variates with this sum of squares. Very small draws of x are replaced by 1e-300.
double draw_variance(const PrecisionPrior &prior, double count, double squares, Random &random) {
  const double rate = prior.rate + std::max(0.0, squares) / 2;
  return rate / std::max(random.gamma(prior.shape + count / 2), 1e-300);
}

/// The log density of 1 / variance.
double log_density(const PrecisionPrior &prior, double variance) {
  return prior.shape * std::log(prior.rate) - log_gamma(prior.shape) -
         (prior.shape - 1) * std::log(variance) - prior.rate / variance;
}

double trace_of(const PmfSums &sums, int rank) {
  double out = 0;
  for (int k = 0; k < rank; ++k) out += sums.product(k, k);
  return out;
}

/// beta_0
constexpr double count_of_center = 2;

double degrees_of(const PmfPrior &prior, int rank) { return rank + prior.excess_degrees; }

/// The elements of a symmetric matrix, without rounding errors that make it asymmetric.
std::vector<double> symmetric_numbers(const Matrix &m) {
  const Matrix even = (m + m.transpose()) / 2;
  return {even.data(), even.data() + even.size()};
}

void set_precision(const Matrix &precision, PmfSidePrior &side) {
  side.precision = symmetric_numbers(precision);
}

void set_c(double c, int rank, PmfParameters &parameters) {
  parameters.c = c;
  for (PmfSidePrior &side : parameters.sides) set_precision(Matrix::Identity(rank, rank) / c, side);
}

Matrix precision_of(const PmfSidePrior &side, int rank) {
  return Eigen::Map<const Matrix>(side.precision.data(), rank, rank);
}

/// Draws mu and Lambda of a side given its vectors: Lambda ~ Wishart(a, B), mu | Lambda ~ N(m, (c
/// Lambda)^-1). With B = L L' and Bartlett's lower triangular A, Lambda = (A' L^-1)' (A' L^-1), so
/// that the only inverse of a possibly nearly singular matrix is that of the triangular A.
void draw_center_and_precision(const PmfPrior &prior, const PmfSums &sums, double keys,
                               Random &random, PmfSidePrior &side, PmfCovariance &covariance) {
  const int rank = int(side.center.size());
  Vector mean(rank);
  Matrix products(rank, rank);
  for (int q = 0; q < rank; ++q) {
    mean(q) = sums.vectors[std::size_t(q)] / keys;
    for (int p = 0; p <= q; ++p) products(p, q) = products(q, p) = sums.product(p, q);
  }
  const double c = count_of_center + keys, a = degrees_of(prior, rank) + keys;
  // The sum of squares about the mean plus c n / (c + n) mean mean', as mu_0 = 0.
  const Matrix scale =
      Matrix::Identity(rank, rank) + products - keys * keys / c * mean * mean.transpose();
  Matrix lower, bartlett = Matrix::Zero(rank, rank);
  if (!cholesky(scale, lower))
    throw Error(Errc::numeric, "the vectors of the factorization have become too large",
                "Their prior is hierarchical, and the table hardly determines them.",
                "Use a smaller rank, or leave out option prior.hierarchical.");
  double log_determinant = 0;
  for (int i = 0; i < rank; ++i) {
    for (int j = 0; j < i; ++j) bartlett(i, j) = random.normal();
    // Avoids division by a draw that underflows.
    const double square = std::max(random.chi_square(a - i), 1e-300);
    bartlett(i, i) = std::sqrt(square);
    log_determinant += std::log(square) - 2 * std::log(lower(i, i));
  }
  const Matrix root = product_transposed(lower, inverse_lower(bartlett)),
               inverse = transposed_product(bartlett, inverse_lower(lower));
  Vector z(rank);
  for (int k = 0; k < rank; ++k) z(k) = random.normal();
  side.center = to_vector(keys / c * mean + product(root, z) / std::sqrt(c));
  set_precision(transposed_product(inverse, inverse), side);
  covariance.values = symmetric_numbers(product_transposed(root, root));
  covariance.log_determinant_of_inverse = log_determinant;
}

/// log p(mu, Lambda)
double log_hyperprior(const PmfPrior &prior, const PmfSidePrior &side, double log_determinant,
                      int rank) {
  const Matrix precision = precision_of(side, rank);
  const Vector center = Eigen::Map<const Vector>(side.center.data(), rank);
  const double degrees = degrees_of(prior, rank);
  return 0.5 * ((degrees - rank - 1) * log_determinant - precision.trace() -
                degrees * rank * std::log(2.0)) -
         log_multivariate_gamma(degrees / 2, rank) +
         0.5 * (rank * (std::log(count_of_center) - log_two_pi) + log_determinant -
                count_of_center * center.dot(product(precision, center)));
}

double log_normals(const PmfSums &sums, const PmfSidePrior &side, double log_determinant,
                   double keys, int rank) {
  const Matrix precision = precision_of(side, rank);
  double squares = 0;
  for (int p = 0; p < rank; ++p)
    for (int q = 0; q < rank; ++q) {
      const double m = side.center[std::size_t(p)], n = side.center[std::size_t(q)];
      squares += precision(p, q) *
                 (sums.product(std::min(p, q), std::max(p, q)) - m * sums.vectors[std::size_t(q)] -
                  n * sums.vectors[std::size_t(p)] + keys * m * n);
    }
  return 0.5 * (keys * (log_determinant - rank * log_two_pi) - squares);
}

double squares_of_means(const PmfSums &sums, const PmfSidePrior &side, double keys) {
  return sums.squared_means - 2 * side.level * sums.means + keys * side.level * side.level;
}

}  // namespace

PmfParameters first_parameters(const PmfPrior &prior, int rank) {
  PmfParameters out;
  out.noise = prior.noise.value_or(1);
  for (PmfSidePrior &side : out.sides) side.center.assign(std::size_t(rank), 0.0);
  if (prior.hierarchical) {
    for (PmfSidePrior &side : out.sides)
      set_precision(Matrix::Identity(rank, rank) * double(rank), side);
  } else {
    set_c(prior.c.value_or(prior.c_prior.rate / prior.c_prior.shape), rank, out);
  }
  return out;
}

void draw_side_prior(const PmfPrior &prior, const PmfSums &sums, double keys, std::size_t side,
                     Random &random, PmfParameters &parameters) {
  PmfSidePrior &own = parameters.sides[side];
  if (prior.hierarchical)
    draw_center_and_precision(prior, sums, keys, random, own, parameters.covariances[side]);
  if (!prior.means) return;
  own.spread = draw_variance(prior.spread_prior, keys, squares_of_means(sums, own, keys), random);
  if (side != pmf_first) return;
  const double precision = 1 + keys / own.spread;
  own.level = sums.means / own.spread / precision + random.normal() / std::sqrt(precision);
}

void draw_common(const PmfPrior &prior, const PmfSides<PmfSums> &sums, const PmfSides<double> &keys,
                 double cells, int rank, Random &random, PmfParameters &parameters) {
  if (!prior.hierarchical && !prior.c)
    set_c(draw_variance(prior.c_prior, (keys[0] + keys[1]) * rank,
                        trace_of(sums[0], rank) + trace_of(sums[1], rank), random),
          rank, parameters);
  if (!prior.noise)
    parameters.noise =
        draw_variance(prior.noise_prior, cells, sums[pmf_second].squared_residuals, random);
}

double draw_scale(PmfSides<PmfSums> &sums, int rank, Random &random, PmfParameters &parameters) {
  // The density of t, x^2 = e^t, is proportional to exp(-(s e^-t + r e^t) / 2), s and r the traces
  // of the precisions: about its center, where both terms are equal, exp(-omega cosh t).
  PmfSides<double> traces{};
  for (std::size_t side = 0; side < 2; ++side)
    for (int k = 0; k < rank; ++k)
      traces[side] += parameters.sides[side].precision[std::size_t(k * rank + k)];
  const double omega = std::sqrt(traces[0]) * std::sqrt(traces[1]);
  // The step leaves omega invariant, so it may be omitted where too many proposals would be
  // rejected.
  if (!(omega > 1e-4 && omega < 1e300)) return 1;
  double t;
  do {
    t = random.normal() / std::sqrt(omega);
  } while (!(std::log(random.uniform()) <= omega * (1 + t * t / 2 - std::cosh(t))));
  const double x = std::sqrt(std::exp(t) * std::sqrt(traces[0] / traces[1]));
  for (std::size_t side = 0; side < 2; ++side) {
    const double factor = side == pmf_first ? x : 1 / x;
    for (double &p : parameters.sides[side].precision) p /= factor * factor;
    for (double &m : parameters.sides[side].center) m *= factor;
    PmfCovariance &covariance = parameters.covariances[side];
    for (double &v : covariance.values) v *= factor * factor;
    covariance.log_determinant_of_inverse -= 2 * rank * std::log(factor);
    for (double &v : sums[side].vectors) v *= factor;
    for (double &v : sums[side].products) v *= factor * factor;
  }
  return x;
}

double pmf_log_joint(const PmfPrior &prior, const PmfSides<PmfSums> &sums,
                     const PmfSides<double> &keys, double cells, int rank,
                     const PmfParameters &parameters) {
  const double noise = parameters.noise;
  double out =
      -0.5 * (cells * (log_two_pi + std::log(noise)) + sums[pmf_second].squared_residuals / noise);
  if (!prior.noise) out += log_density(prior.noise_prior, noise);
  if (!prior.hierarchical && !prior.c) out += log_density(prior.c_prior, parameters.c);
  for (std::size_t side = 0; side < 2; ++side) {
    const PmfSidePrior &own = parameters.sides[side];
    const double log_determinant = prior.hierarchical
                                       ? parameters.covariances[side].log_determinant_of_inverse
                                       : -rank * std::log(parameters.c);
    out += log_normals(sums[side], own, log_determinant, keys[side], rank);
    if (prior.hierarchical) out += log_hyperprior(prior, own, log_determinant, rank);
    if (!prior.means) continue;
    out += log_density(prior.spread_prior, own.spread) -
           0.5 * (keys[side] * (log_two_pi + std::log(own.spread)) +
                  squares_of_means(sums[side], own, keys[side]) / own.spread);
    if (side == pmf_first) out -= 0.5 * (log_two_pi + own.level * own.level);
  }
  return out;
}

}  // namespace bayes
