#include "factor/pmf_prior.hpp"

#include <algorithm>
#include <cmath>

#include "base/linalg.hpp"
#include "base/special.hpp"
#include "families/normal/normal_draw.hpp"

namespace bayes {
namespace {

constexpr double log_two_pi = 1.8378770664093454836;

/// 1 / x for x from the gamma posterior of a precision: `count` normals with this sum of squares.
/// In units of the table neither is far from 1, unless all numbers are explained.
double draw_variance(const PrecisionPrior &prior, double count, double squares, Random &random) {
  const double rate = prior.rate + std::max(0.0, squares) / 2;
  return rate / std::max(random.gamma(prior.shape + count / 2), 1e-300);
}

/// Of 1 / variance.
double log_density(const PrecisionPrior &prior, double variance) {
  return prior.shape * std::log(prior.rate) - log_gamma(prior.shape) -
         (prior.shape - 1) * std::log(variance) - prior.rate / variance;
}

double trace_of(const PmfSums &sums, int rank) {
  double out = 0;
  for (int k = 0; k < rank; ++k) out += sums.product(k, k);
  return out;
}

/// Of mu and Lambda of one side.
NormalWishart wishart_prior(const PmfPrior &prior, int rank) {
  NormalWishart out;
  out.m = Matrix::Zero(rank, 1);
  out.c = Vector::Constant(1, 2);
  out.a = Vector::Constant(1, rank + prior.more_degrees);
  out.B = {Matrix::Identity(rank, rank)};
  return out;
}

NormalPoint point_of(const PmfPopulation &population, int rank) {
  NormalPoint out;
  out.mean = Eigen::Map<const Vector>(population.center.data(), rank);
  out.covariance = {Eigen::Map<const Matrix>(population.covariance.data(), rank, rank)};
  return out;
}

void take_precision(const Matrix &precision, PmfSidePrior &side) {
  side.precision.assign(precision.data(), precision.data() + precision.size());
}

void take_c(double c, int rank, PmfParameters &parameters) {
  parameters.c = c;
  for (PmfSidePrior &side : parameters.sides)
    take_precision(Matrix::Identity(rank, rank) / c, side);
}

/// The posterior of (mu, Lambda) given the vectors of a side.
NormalWishart wishart_posterior(const PmfPrior &prior, const PmfSums &sums, double keys, int rank) {
  NormalWishart out = wishart_prior(prior, rank);
  Vector mean(rank);
  Matrix products(rank, rank);
  for (int q = 0; q < rank; ++q) {
    mean(q) = sums.vectors[std::size_t(q)] / keys;
    for (int p = 0; p <= q; ++p) products(p, q) = products(q, p) = sums.product(p, q);
  }
  const double c = out.c(0);
  // The sum of squares about the mean, and c n / (c + n) mean mean', as the center of mu is 0.
  out.B[0] += products - keys * keys / (c + keys) * mean * mean.transpose();
  out.m.col(0) = keys / (c + keys) * mean;
  out.c(0) += keys;
  out.a(0) += keys;
  return out;
}

double log_normals(const PmfSums &sums, const PmfSidePrior &side, double keys, int rank) {
  const Eigen::Map<const Matrix> precision(side.precision.data(), rank, rank);
  Matrix lower;
  if (!cholesky(precision, lower)) throw Error(Errc::numeric, "a prior's precision is singular");
  double squares = 0;
  for (int p = 0; p < rank; ++p)
    for (int q = 0; q < rank; ++q) {
      const double m = side.center[std::size_t(p)], n = side.center[std::size_t(q)];
      squares += precision(p, q) *
                 (sums.product(std::min(p, q), std::max(p, q)) - m * sums.vectors[std::size_t(q)] -
                  n * sums.vectors[std::size_t(p)] + keys * m * n);
    }
  return 0.5 * (keys * (log_determinant(lower) - rank * log_two_pi) - squares);
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
      take_precision(Matrix::Identity(rank, rank) * double(rank), side);
  } else {
    take_c(prior.c.value_or(prior.c_prior.rate / prior.c_prior.shape), rank, out);
  }
  return out;
}

void draw_side_prior(const PmfPrior &prior, const PmfSums &sums, double keys, std::size_t side,
                     Random &random, PmfParameters &parameters) {
  PmfSidePrior &own = parameters.sides[side];
  const int rank = int(own.center.size());
  if (prior.hierarchical) {
    const NormalPoint drawn = draw(wishart_posterior(prior, sums, keys, rank), random);
    own.center = to_vector(drawn.mean.col(0));
    Matrix lower;
    if (!cholesky(drawn.covariance[0], lower))
      throw Error(Errc::numeric, "the covariance of the vectors of a side has become singular",
                  "Their prior is hierarchical, and the table says hardly anything of them.",
                  "Use a smaller rank, or option prior.hierarchical = false.");
    const Matrix inverse = inverse_lower(lower);
    take_precision(transposed_product(inverse, inverse), own);
    PmfPopulation &population = parameters.populations[side];
    population.center = own.center;
    population.covariance.assign(drawn.covariance[0].data(),
                                 drawn.covariance[0].data() + rank * rank);
  }
  if (!prior.means) return;
  own.spread = draw_variance(prior.spread_prior, keys, squares_of_means(sums, own, keys), random);
  if (side != pmf_lines) return;
  const double precision = 1 + keys / own.spread;
  own.level = sums.means / own.spread / precision + random.normal() / std::sqrt(precision);
}

void draw_common(const PmfPrior &prior, const PmfSides<PmfSums> &sums, const PmfSides<double> &keys,
                 double cells, int rank, Random &random, PmfParameters &parameters) {
  if (!prior.hierarchical && !prior.c)
    take_c(draw_variance(prior.c_prior, (keys[0] + keys[1]) * rank,
                         trace_of(sums[0], rank) + trace_of(sums[1], rank), random),
           rank, parameters);
  if (!prior.noise)
    parameters.noise =
        draw_variance(prior.noise_prior, cells, sums[pmf_others].squared_residuals, random);
}

double draw_scale(PmfSides<PmfSums> &sums, int rank, Random &random, PmfParameters &parameters) {
  // The density of t, x^2 = e^t, is proportional to exp(-(s e^-t + r e^t) / 2), s and r the traces
  // of the precisions: about its center, where both terms are equal, exp(-omega cosh t).
  PmfSides<double> traces{};
  for (std::size_t side = 0; side < 2; ++side)
    for (int k = 0; k < rank; ++k)
      traces[side] += parameters.sides[side].precision[std::size_t(k * rank + k)];
  const double omega = std::sqrt(traces[0]) * std::sqrt(traces[1]);
  double t;
  do {
    t = random.normal() / std::sqrt(omega);
  } while (!(std::log(random.uniform()) <= omega * (1 + t * t / 2 - std::cosh(t))));
  const double x = std::sqrt(std::exp(t) * std::sqrt(traces[0] / traces[1]));
  for (std::size_t side = 0; side < 2; ++side) {
    const double factor = side == pmf_lines ? x : 1 / x;
    for (double &p : parameters.sides[side].precision) p /= factor * factor;
    for (double &m : parameters.sides[side].center) m *= factor;
    for (double &m : parameters.populations[side].center) m *= factor;
    for (double &v : parameters.populations[side].covariance) v *= factor * factor;
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
      -0.5 * (cells * (log_two_pi + std::log(noise)) + sums[pmf_others].squared_residuals / noise);
  if (!prior.noise) out += log_density(prior.noise_prior, noise);
  if (!prior.hierarchical && !prior.c) out += log_density(prior.c_prior, parameters.c);
  for (std::size_t side = 0; side < 2; ++side) {
    const PmfSidePrior &own = parameters.sides[side];
    out += log_normals(sums[side], own, keys[side], rank);
    if (prior.hierarchical)
      out += log_prior(point_of(parameters.populations[side], rank), wishart_prior(prior, rank));
    if (!prior.means) continue;
    out += log_density(prior.spread_prior, own.spread) -
           0.5 * (keys[side] * (log_two_pi + std::log(own.spread)) +
                  squares_of_means(sums[side], own, keys[side]) / own.spread);
    if (side == pmf_lines) out -= 0.5 * (log_two_pi + own.level * own.level);
  }
  return out;
}

}  // namespace bayes
