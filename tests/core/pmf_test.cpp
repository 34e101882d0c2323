// The Gibbs sampler of probabilistic matrix factorization: draws of vectors against their normal
// distribution, a table of rank 1 against quadrature, and the same draws for any number of threads.
#include "base/linalg.hpp"
#include "factor/pmf_chain.hpp"
#include "pmf_support.hpp"
#include "support.hpp"

using namespace bayes;
using ratings::Cell, ratings::Cells;

namespace {

/// A prior that is not diagonal and not centered.
PmfSidePrior uneven_prior(int rank) {
  PmfSidePrior out;
  out.level = 0.7;
  out.spread = 0.3;
  for (int p = 0; p < rank; ++p) {
    out.center.push_back(0.1 * (p % 5) - 0.2);
    for (int q = 0; q < rank; ++q)
      out.precision.push_back(p == q ? 1 + 0.2 * (p % 3) : 0.5 / (1 + p + q));
  }
  return out;
}

PmfSide random_side(std::int32_t keys, int rank, bool means, std::uint64_t seed) {
  PmfSide out{PaddedMatrix(keys, rank), {}};
  Random random(seed);
  for (std::int32_t i = 0; i < keys; ++i)
    for (int k = 0; k < rank; ++k) out.vectors.row(i)[k] = random.normal();
  for (std::int32_t i = 0; means && i < keys; ++i) out.means.push_back(random.normal());
  return out;
}

/// Lines that all have the same cells are as many draws from one normal distribution.
void check_draws(int rank, int cells_of_line, bool means, bool weighted = false) {
  BOOST_TEST_CONTEXT("rank " << rank << ", " << cells_of_line << " cells, means " << means
                             << ", weights " << weighted) {
    const std::int32_t lines = 4000, others = 100;
    const PmfSide side = random_side(others, rank, means, 5);
    const PmfSidePrior prior = uneven_prior(rank);
    const double noise = 0.8;
    const PmfUnits units{2, 0.5};
    MemoryCorpus corpus(others);
    std::vector<std::int32_t> terms;
    std::vector<double> counts, weights;
    Random random(9, 1);
    for (int c = 0; c < cells_of_line; ++c) {
      terms.push_back(c);
      counts.push_back(3 * random.normal());
      if (weighted) weights.push_back(5 * random.uniform());
    }
    for (std::int32_t i = 0; i < lines; ++i) corpus.append({terms, counts, weights});
    const auto weight = [&](int c) { return weighted ? weights[std::size_t(c)] : 1; };
    PmfSide drawn{PaddedMatrix(lines, rank), Buffer(means ? std::size_t(lines) : 0)};
    Control control;
    control.threads = 2;
    const PmfSums sums =
        draw_vectors(corpus, units, side, prior, noise, RowRandom(3, 0, 0, 0), drawn, control);

    // The last coordinate is that of the mean.
    const int d = rank + means;
    Matrix precision = Matrix::Zero(d, d);
    Vector right = Vector::Zero(d);
    precision.topLeftCorner(rank, rank) =
        Eigen::Map<const Matrix>(prior.precision.data(), rank, rank);
    right.head(rank) =
        precision.topLeftCorner(rank, rank) * Eigen::Map<const Vector>(prior.center.data(), rank);
    if (means) {
      precision(rank, rank) = 1 / prior.spread;
      right(rank) = prior.level / prior.spread;
    }
    Matrix design(d, std::max(1, cells_of_line));
    Vector r(cells_of_line);
    for (int c = 0; c < cells_of_line; ++c) {
      for (int k = 0; k < rank; ++k) design(k, c) = side.vectors.row(c)[k];
      if (means) design(rank, c) = 1;
      r(c) = (counts[std::size_t(c)] - 2) / 2 - (means ? side.means[std::size_t(c)] : 0);
      precision += weight(c) * design.col(c) * design.col(c).transpose() / noise;
      right += weight(c) * design.col(c) * r(c) / noise;
    }
    Matrix lower;
    BOOST_REQUIRE(cholesky(precision, lower));
    const Matrix inverse = inverse_lower(lower), covariance = inverse.transpose() * inverse;
    const Vector mean = covariance * right;

    // Standardized, the draws are standard normal.
    bool padded = true;
    Vector first = Vector::Zero(d);
    Matrix second = Matrix::Zero(d, d);
    double squared_residuals = 0, squared_means = 0, sum_of_means = 0;
    Vector vectors = Vector::Zero(rank);
    Matrix products = Matrix::Zero(rank, rank);
    for (std::int32_t i = 0; i < lines; ++i) {
      Vector w(d);
      for (int k = 0; k < rank; ++k) w(k) = drawn.vectors.row(i)[k];
      for (int k = rank; k < drawn.vectors.stride(); ++k) padded &= drawn.vectors.row(i)[k] == 0;
      if (means) w(rank) = drawn.means[std::size_t(i)];
      const Vector z = lower.transpose() * (w - mean);
      first += z / lines;
      second += z * z.transpose() / lines;
      for (int c = 0; c < cells_of_line; ++c)
        squared_residuals += weight(c) * std::pow(r(c) - design.col(c).dot(w), 2);
      vectors += w.head(rank);
      products += w.head(rank) * w.head(rank).transpose();
      if (means) {
        sum_of_means += w(rank);
        squared_means += w(rank) * w(rank);
      }
    }
    BOOST_TEST(padded);
    const double bound = 5.5 / std::sqrt(double(lines));
    BOOST_TEST(first.cwiseAbs().maxCoeff() < bound);
    BOOST_TEST((second - Matrix::Identity(d, d)).cwiseAbs().maxCoeff() < std::sqrt(2) * bound);

    const auto close = [](double a, double b, double scale) {
      return std::abs(a - b) <= 1e-9 * (1 + std::abs(scale));
    };
    const double all = (weighted ? 5 : 1) * r.squaredNorm();
    BOOST_TEST(close(sums.squared_residuals, squared_residuals, double(lines) * all));
    BOOST_TEST(close(sums.means, sum_of_means, lines));
    BOOST_TEST(close(sums.squared_means, squared_means, lines));
    for (int p = 0; p < rank; ++p) {
      BOOST_TEST(close(sums.vectors[std::size_t(p)], vectors(p), lines));
      for (int q = p; q < rank; ++q) BOOST_TEST(close(sums.product(p, q), products(p, q), lines));
    }
  }
}

/// Pieces one to a stretch, as a corpus that does not fit into memory has them.
class Stretched final : public Corpus {
 public:
  explicit Stretched(MemoryCorpus &of) : of_(of) { totals_ = of.totals(); }
  std::int64_t stretches() const override { return std::int64_t(of_.stretch(0).size()); }
  std::span<const CorpusPiece> stretch(std::int64_t index) override {
    return of_.stretch(0).subspan(std::size_t(index), 1);
  }

 private:
  MemoryCorpus &of_;
};

/// Vectors of both sides, and what is recorded, after some sweeps.
std::vector<double> after_sweeps(Corpus &lines, Corpus &others, const PmfPrior &prior,
                                 int threads) {
  const PmfTask task{lines, others, 11, {3, 0.9}, prior, 4};
  PmfChain chain(task, 2);
  Control control;
  control.threads = threads;
  for (int sweep = 0; sweep < 4; ++sweep) chain.sweep(sweep, control);
  std::vector<double> out = {chain.log_joint(), chain.norm(), chain.root_mean_square()};
  for (const std::size_t side : {pmf_first, pmf_second}) {
    const Buffer &values = chain.side(side).vectors.values(), &means = chain.side(side).means;
    out.insert(out.end(), values.begin(), values.end());
    out.insert(out.end(), means.begin(), means.end());
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pmf_sampler)

BOOST_AUTO_TEST_CASE(vectors_have_their_conditional_distribution) {
  for (const bool means : {false, true}) {
    check_draws(3, 5, means);
    check_draws(8, 70, means);  // more cells than are added up at a time
    check_draws(17, 6, means);  // fewer cells than the rank
    check_draws(2, 0, means);   // the prior
    check_draws(3, 5, means, true);
    check_draws(9, 70, means, true);
  }
}

/// The same random numbers, so the same draws.
BOOST_AUTO_TEST_CASE(a_weight_multiplies_the_precision_of_a_cell) {
  const Cells table = ratings::synthetic(300, 70, 4, 0.2, 8).fitted;
  const auto after = [](const Cells &cells, const PmfPrior &prior) {
    MemoryCorpus lines(cells.columns), others(cells.rows);
    ratings::fill(lines, cells.rows, cells.cells);
    ratings::fill(others, cells.columns, ratings::transposed(cells).cells);
    return after_sweeps(lines, others, prior, 2);
  };
  const auto one = [](std::size_t) { return 1.0; };
  const auto some = [](std::size_t i) { return double(1 + i % 4); };
  for (const bool means : {false, true}) {
    PmfPrior prior;
    prior.means = means;
    BOOST_TEST((after(table, prior) == after(ratings::weighted(table, one), prior)));
    // The number of cells, which copies raise, counts for the noise alone.
    prior.noise = 0.3;
    const auto weights = after(ratings::weighted(table, some), prior),
               copies = after(ratings::weighted(table, some, true), prior);
    BOOST_REQUIRE(weights.size() == copies.size());
    for (std::size_t i = 3; i < weights.size(); ++i)
      if (std::abs(weights[i] - copies[i]) > 1e-8) BOOST_ERROR(i << ": " << weights[i]);
    BOOST_TEST(std::abs(weights[1] - copies[1]) < 1e-8);
  }
}

/// One sweep's random numbers are those of the line and the side.
BOOST_AUTO_TEST_CASE(results_do_not_depend_on_threads_or_files) {
  const Cells table = ratings::synthetic(3000, 700, 4, 0.03, 8).fitted;
  MemoryCorpus lines(table.columns), others(table.rows);
  ratings::fill(lines, table.rows, table.cells);
  ratings::fill(others, table.columns, ratings::transposed(table).cells);
  Stretched stretched_lines(lines), stretched_others(others);
  BOOST_REQUIRE(stretched_lines.stretches() > 4);
  for (const bool hierarchical : {false, true}) {
    PmfPrior prior;
    prior.hierarchical = hierarchical;
    const auto once = after_sweeps(lines, others, prior, 1);
    BOOST_TEST(std::all_of(once.begin(), once.end(), [](double x) { return std::isfinite(x); }));
    BOOST_TEST((once == after_sweeps(lines, others, prior, 2)));
    BOOST_TEST((once == after_sweeps(lines, others, prior, 3)));
    BOOST_TEST((once == after_sweeps(stretched_lines, stretched_others, prior, 2)));
  }
}

/// u_i and v_j of rank 1 given a table of three rows and two columns, with cells missing. Given v,
/// the numbers of a row are normal with u integrated out, so that two dimensions are left.
void check_rank_one(const std::vector<Cell> &cells) {
  const double c = 1.2, noise = 0.4;
  const int missing[3][2] = {{0, 1}, {1, 1}, {2, 0}};
  // E of u_0 v_1, u_1 v_1, u_2 v_0, and of their squares
  double mass = 0, exact[6] = {};
  const double step = 0.02, end = 7;
  for (double v = -end + step / 2; v < end; v += step)
    for (double w = -end + step / 2; w < end; w += step) {
      const double both[2] = {v, w};
      double log_p = -(v * v + w * w) / (2 * c), mean[3], variance[3];
      for (int i = 0; i < 3; ++i) {
        double precision = 1 / c, right = 0;
        for (const Cell &cell : cells)
          if (cell.row == i) {
            const double share = (cell.weight > 0 ? cell.weight : 1) / noise;
            precision += both[cell.column] * both[cell.column] * share;
            right += both[cell.column] * cell.x * share;
          }
        mean[i] = right / precision;
        variance[i] = 1 / precision;
        log_p += 0.5 * (right * mean[i] - std::log(precision * c));
      }
      const double p = std::exp(log_p);
      mass += p;
      for (int q = 0; q < 3; ++q) {
        const int i = missing[q][0];
        const double x = both[missing[q][1]];
        exact[q] += p * mean[i] * x;
        exact[3 + q] += p * (mean[i] * mean[i] + variance[i]) * x * x;
      }
    }
  for (double &x : exact) x /= mass;

  MemoryCorpus lines(2), others(3);
  ratings::fill(lines, 3, cells);
  ratings::fill(others, 2, ratings::transposed({3, 2, cells}).cells);
  PmfPrior prior;
  prior.means = false;
  prior.noise = noise;
  prior.c = c;
  const PmfTask task{lines, others, 1, {}, prior, 7};
  PmfChain chain(task, 0);
  Control control;
  constexpr int batches = 100, length = 600;
  std::vector<std::vector<double>> means(6, std::vector<double>(batches));
  for (int sweep = 0; sweep < batches * length; ++sweep) {
    chain.sweep(sweep, control);
    for (int q = 0; q < 3; ++q) {
      const double x = chain.side(pmf_first).vectors.row(missing[q][0])[0] *
                       chain.side(pmf_second).vectors.row(missing[q][1])[0];
      means[std::size_t(q)][std::size_t(sweep / length)] += x / length;
      means[std::size_t(3 + q)][std::size_t(sweep / length)] += x * x / length;
    }
  }
  for (std::size_t q = 0; q < 6; ++q) {
    double mean = 0, squares = 0;
    for (const double x : means[q]) mean += x / batches;
    for (const double x : means[q]) squares += (x - mean) * (x - mean);
    const double error = std::sqrt(squares / (batches * (batches - 1)));
    BOOST_TEST_CONTEXT("quantity " << q) {
      BOOST_TEST(std::abs(mean - exact[q]) < 5 * error);
      BOOST_TEST(error < 0.03);
    }
  }
}

BOOST_AUTO_TEST_CASE(rank_one_agrees_with_quadrature) {
  check_rank_one({{0, 0, 1.1}, {0, 1, -0.7}, {1, 0, 0.4}});
  check_rank_one({{0, 0, 1.1, 0.3}, {0, 1, -0.7, 1.5}, {1, 0, 0.4, 4}});
}

BOOST_AUTO_TEST_SUITE_END()
