// The joint-distribution test of the Gibbs sampler of probabilistic matrix factorization (Geweke
// 2004): parameters, vectors and numbers drawn from the model at once, against an MCMC chain in
// which sweeps of the sampler alternate with draws of the numbers given all else. Both have the
// same distribution if the sampler is correct.
//
// A case compares some 15 means by batches of 50; with a bound of 5 standard errors (Student t, 98
// degrees of freedom) a correct sampler fails in fewer than one of 5,000 runs, and seeds are fixed.
#include <numeric>

#include "base/linalg.hpp"
#include "factor/pmf_chain.hpp"
#include "pmf_support.hpp"
#include "support.hpp"

using namespace bayes;
using ratings::Cell, ratings::Cells;

namespace {

constexpr int rank_of_world = 2, batches_of_world = 50;
constexpr std::int32_t rows_of_world = 4, columns_of_world = 3;

/// The last row has no cell.
Cells pattern() {
  return {rows_of_world,
          columns_of_world,
          {{0, 0, 0}, {0, 1, 0}, {0, 2, 0}, {1, 0, 0}, {1, 2, 0}, {2, 1, 0}}};
}

/// Vectors and means of rows and columns, and the parameters.
struct World {
  Matrix u[2];
  Vector means[2];
  PmfParameters parameters;
  Cells table = pattern();
};

double inverse_gamma(const PrecisionPrior &prior, Random &random) {
  return prior.rate / random.gamma(prior.shape);
}

void draw_numbers(World &world, Random &random) {
  for (Cell &cell : world.table.cells)
    cell.x = world.means[0](cell.row) + world.means[1](cell.column) +
             world.u[0].row(cell.row).dot(world.u[1].row(cell.column)) +
             std::sqrt(world.parameters.noise) * random.normal();
}

World draw_world(const PmfPrior &prior, Random &random) {
  World out;
  PmfParameters &p = out.parameters;
  p.noise = prior.noise ? *prior.noise : inverse_gamma(prior.noise_prior, random);
  if (!prior.hierarchical) p.c = prior.c ? *prior.c : inverse_gamma(prior.c_prior, random);
  const int d = rank_of_world;
  for (std::size_t side = 0; side < 2; ++side) {
    const Eigen::Index keys = side == 0 ? rows_of_world : columns_of_world;
    PmfSidePrior &own = p.sides[side];
    Vector center = Vector::Zero(d);
    Matrix root = std::sqrt(p.c) * Matrix::Identity(d, d);
    if (prior.hierarchical) {
      // Lambda = A A' for Bartlett's A; a root of its inverse is A^-T.
      Matrix bartlett = Matrix::Zero(d, d);
      for (int i = 0; i < d; ++i) {
        for (int j = 0; j < i; ++j) bartlett(i, j) = random.normal();
        bartlett(i, i) = std::sqrt(random.chi_square(d + prior.excess_degrees - i));
      }
      root = inverse_lower(bartlett).transpose();
      for (int k = 0; k < d; ++k) center(k) = random.normal() / std::sqrt(2.0);
      center = root * center;
    }
    const Matrix covariance = root * root.transpose();
    Matrix lower;
    BOOST_REQUIRE(cholesky(covariance, lower));
    const Matrix inverse = inverse_lower(lower), precision = inverse.transpose() * inverse;
    own.center = to_vector(center);
    own.precision.assign(precision.data(), precision.data() + d * d);
    out.u[side] = Matrix(keys, d);
    out.means[side] = Vector::Zero(keys);
    for (Eigen::Index i = 0; i < keys; ++i) {
      Vector z(d);
      for (int k = 0; k < d; ++k) z(k) = random.normal();
      out.u[side].row(i) = center + root * z;
    }
    if (!prior.means) continue;
    own.level = side == 0 ? random.normal() : 0;
    own.spread = inverse_gamma(prior.spread_prior, random);
    for (Eigen::Index i = 0; i < keys; ++i)
      out.means[side](i) = own.level + std::sqrt(own.spread) * random.normal();
  }
  draw_numbers(out, random);
  return out;
}

/// Variances need not exist.
double bounded(double x) { return x / (1 + std::abs(x)); }

std::vector<double> quantities(const World &world) {
  const PmfParameters &p = world.parameters;
  std::vector<double> out = {bounded(p.noise), bounded(p.c)};
  for (std::size_t side = 0; side < 2; ++side) {
    const PmfSidePrior &own = p.sides[side];
    out.push_back(bounded(own.spread));
    out.push_back(bounded(own.level));
    out.push_back(bounded(own.precision[0]));
    out.push_back(bounded(own.precision[1]));
    out.push_back(bounded(own.center[0] * own.center[0]));
    out.push_back(bounded(world.u[side].squaredNorm()));
    out.push_back(bounded(world.means[side].squaredNorm()));
  }
  const double product = world.u[0].row(3).dot(world.u[1].row(0)),
               fitted = world.u[0].row(0).dot(world.u[1].row(0)), x = world.table.cells[0].x,
               y = world.table.cells[3].x;
  for (const double q : {product * product, fitted * fitted, x, x * x, x * y, x * fitted})
    out.push_back(bounded(q));
  return out;
}

using Means = std::vector<std::vector<double>>;
void note(const World &world, int t, int all, Means &means) {
  const auto values = quantities(world);
  means.resize(values.size(), std::vector<double>(batches_of_world));
  for (std::size_t q = 0; q < values.size(); ++q)
    means[q][std::size_t(t / (all / batches_of_world))] += values[q] / (all / batches_of_world);
}

void take_chain(const PmfChain &chain, World &world) {
  world.parameters = chain.parameters();
  for (std::size_t side = 0; side < 2; ++side)
    for (Eigen::Index i = 0; i < world.u[side].rows(); ++i) {
      for (int k = 0; k < rank_of_world; ++k)
        world.u[side](i, k) = chain.side(side).vectors.row(std::int32_t(i))[k];
      if (!chain.side(side).means.empty())
        world.means[side](i) = chain.side(side).means[std::size_t(i)];
    }
}

/// The largest difference of the means, in standard errors. `believed`: what the sampler uses.
double largest_difference(const PmfPrior &prior, const PmfPrior &believed, int sweeps) {
  Random random(21, 3);
  Means independent, of_chain;
  const int all = 40000, warmup = 200;
  for (int t = 0; t < all; ++t) note(draw_world(prior, random), t, all, independent);
  World world = draw_world(prior, random);
  MemoryCorpus lines(columns_of_world), others(rows_of_world);
  const auto fill = [&] {
    ratings::fill(lines, rows_of_world, world.table.cells);
    ratings::fill(others, columns_of_world, ratings::transposed(world.table).cells);
  };
  fill();
  const PmfTask task{lines, others, rank_of_world, {}, believed, 5};
  PmfChain chain(task, 1);
  Control control;
  for (int sweep = -warmup; sweep < sweeps; ++sweep) {
    chain.sweep(sweep + warmup, control);
    take_chain(chain, world);
    draw_numbers(world, random);
    fill();
    if (sweep >= 0) note(world, sweep, sweeps, of_chain);
  }
  double largest = 0;
  for (std::size_t q = 0; q < of_chain.size(); ++q) {
    double mean[2], error = 0;
    for (const Means *means : {&independent, &of_chain}) {
      const auto &batches = (*means)[q];
      const double m = std::accumulate(batches.begin(), batches.end(), 0.0) / batches_of_world;
      mean[means == &of_chain] = m;
      for (const double b : batches)
        error += (b - m) * (b - m) / (batches_of_world * (batches_of_world - 1));
    }
    // Quantities that are constant differ by rounding errors at most.
    const double difference = std::abs(mean[0] - mean[1]);
    if (difference > 1e-9) largest = support::larger(largest, difference / std::sqrt(error));
  }
  return largest;
}

PmfPrior learned_prior() {
  PmfPrior out;
  out.noise_prior = {4, 3};
  out.c_prior = {4, 2};
  out.spread_prior = {4, 1.5};
  return out;
}

int sweeps_of(int full) { return std::max(support::effort(full) / 50, 20) * 50; }

}  // namespace

BOOST_AUTO_TEST_SUITE(pmf_geweke)

BOOST_AUTO_TEST_CASE(given_noise_and_c) {
  PmfPrior prior;
  prior.means = false;
  prior.noise = 0.5;
  prior.c = 0.8;
  BOOST_TEST(largest_difference(prior, prior, sweeps_of(80000)) < 5);
}

BOOST_AUTO_TEST_CASE(learned_noise_c_and_means) {
  const PmfPrior prior = learned_prior();
  BOOST_TEST(largest_difference(prior, prior, sweeps_of(160000)) < 5);
  PmfPrior other = prior;
  other.c_prior.rate *= 1.3;
  BOOST_TEST(largest_difference(prior, other, sweeps_of(160000)) > 5);
}

BOOST_AUTO_TEST_CASE(hierarchical) {
  PmfPrior prior = learned_prior();
  prior.hierarchical = true;
  // With as many degrees of freedom as the rank the tails are those of a Cauchy distribution, where
  // the chain stays for long.
  prior.excess_degrees = 6;
  BOOST_TEST(largest_difference(prior, prior, sweeps_of(160000)) < 5);
  PmfPrior other = prior;
  other.excess_degrees = 7;
  BOOST_TEST(largest_difference(prior, other, sweeps_of(160000)) > 5);
}

BOOST_AUTO_TEST_SUITE_END()
