// One chain of the Gibbs sampler of probabilistic matrix factorization.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "base/random.hpp"
#include "counts/padded_table.hpp"
#include "data/corpus.hpp"

namespace bayes {

// Draws the vectors of one side of a table given those of the other side: half a sweep of the Gibbs
// sampler of probabilistic matrix factorization (002 L3; Salakhutdinov and Mnih 2008).
//
// A cell has the distribution x_ij ~ Normal(a_i + b_j + u_i'v_j, noise), where a and b exist only
// if the model has means. Given v and b, the vectors (u_i, a_i) are independent and normal, each
// with a precision that is a sum over the cells of key i plus that of the prior. The precision of a
// cell, 1 / noise, is multiplied by its weight, here and below.

/// One side of the table: vectors, keys x rank, and means of the keys, empty if the model has none.
struct PmfSide {
  PaddedMatrix vectors;
  Buffer means;
};

/// The prior of one side: u ~ Normal(center, precision^-1), a ~ Normal(level, spread).
struct PmfSidePrior {
  /// of length rank; rank x rank
  std::vector<double> center, precision;
  double level = 0, spread = 1;
};

/// Standard units of the numbers: (x - center) * inverse.
struct PmfUnits {
  double center = 0, inverse = 1;
};

/// Sums over the keys of a side, for the current draw.
struct PmfSums {
  explicit PmfSums(int rank = 0);
  void add(const PmfSums &other);

  /// element of the sum of u u', for p <= q
  double product(int p, int q) const {
    return products[std::size_t(p) * vectors.size() + std::size_t(q)];
  }

  /// Sum of u; sum of u u', upper triangle row by row, each from the tile of its diagonal element.
  /// Both are padded like vectors.
  Buffer vectors, products;
  double means = 0, squared_means = 0;
  /// sum of (x_ij - a_i - b_j - u_i'v_j)^2 over the cells
  double squared_residuals = 0;
};

/// Draws the vectors of one side, the documents of `table`, given those of the other side. Document
/// i uses the random numbers random.bits(i). Documents without cells are drawn from the prior.
/// Returns sums over the draw.
PmfSums draw_vectors(Corpus &table, PmfUnits units, const PmfSide &given, const PmfSidePrior &prior,
                     double noise, const RowRandom &random, PmfSide &drawn, Control &control);

// Parameters of probabilistic matrix factorization that are drawn in addition to the vectors: the
// noise variance and the priors of both sides.
//
//   x_ij ~ Normal(a_i + b_j + u_i'v_j, noise)
//   plain:        u_i, v_j ~ Normal(0, c I)                              (002 L3)
//   hierarchical: u_i ~ Normal(mu, Lambda^-1), Lambda ~ Wishart(rank, I),
//                 mu | Lambda ~ Normal(0, (2 Lambda)^-1), same for v_j
//                 (BPMF: Salakhutdinov and Mnih 2008, eqs. 5 to 8; mu_0 = 0, beta_0 = 2,
//                 nu_0 = rank, W_0 = I)
//   means:        a_i ~ Normal(level, spread_a), b_j ~ Normal(0, spread_b), level ~ Normal(0, 1)
//
// Numbers are in standard units: divided by their standard deviation, and if there are means, after
// subtraction of their mean.

/// Prior of a variance x, in standard units: 1 / x ~ Gamma(shape, rate).
struct PrecisionPrior {
  double shape = 1, rate = 1;
};

/// Given parameters, and priors of the others.
struct PmfPrior {
  /// given values; learned if absent
  std::optional<double> noise, c;
  PrecisionPrior noise_prior, c_prior, spread_prior;
  bool means = true, hierarchical = false;
  /// degrees of freedom of the Wishart distribution in excess of the rank, nu_0 - rank
  double excess_degrees = 0;
};

/// The sides of a table, in the order in which they are drawn: the documents of PmfTask::table,
/// then its terms.
enum : std::size_t { pmf_first, pmf_second };
template <class T> using PmfSides = std::array<T, 2>;

/// Under the hierarchical prior, the covariance of a side's vectors, and the log determinant of its
/// inverse, the precision.
struct PmfCovariance {
  /// rank x rank
  std::vector<double> values;
  double log_determinant_of_inverse = 0;
};

struct PmfParameters {
  double noise = 1;
  /// not with the hierarchical prior
  double c = 1;
  PmfSides<PmfSidePrior> sides;
  /// only with the hierarchical prior
  PmfSides<PmfCovariance> covariances;
};

/// Initial parameters of a chain.
PmfParameters first_parameters(const PmfPrior &prior, int rank);

/// Draws the learned parameters of a side's prior except c, given its vectors and means.
void draw_side_prior(const PmfPrior &prior, const PmfSums &sums, double keys, std::size_t side,
                     Random &random, PmfParameters &parameters);

/// Draws c and the noise variance, if they are learned.
void draw_common(const PmfPrior &prior, const PmfSides<PmfSums> &sums, const PmfSides<double> &keys,
                 double cells, int rank, Random &random, PmfParameters &parameters);

/// Vectors u x and v / x have the same products, and with the hierarchical prior alternating draws
/// of u and v change x only slowly. So x^2 is drawn given everything else (a generalised Gibbs step
/// for the scale group, Liu and Sabatti 2000). Scales the parameters and sums, and returns x.
double draw_scale(PmfSides<PmfSums> &sums, int rank, Random &random, PmfParameters &parameters);

/// log p(x, u, v, a, b, parameters), x in standard units.
double pmf_log_joint(const PmfPrior &prior, const PmfSides<PmfSums> &sums,
                     const PmfSides<double> &keys, double cells, int rank,
                     const PmfParameters &parameters);

/// The data and the prior. `transposed` is the transposed `table`.
struct PmfTask {
  Corpus &table, &transposed;
  int rank = 1;
  PmfUnits units;
  PmfPrior prior;
  std::uint64_t seed = 1;
  /// the sum of the cells' weights; 0: they have none
  double weight = 0;
};

/// What a chain begins with: the second side, given which the first one is drawn first.
struct PmfState {
  PmfSide second;
  PmfParameters parameters;
};

class PmfChain {
 public:
  /// Begins with vectors close to 0, or in a given state.
  PmfChain(const PmfTask &task, int number, std::optional<PmfState> start = {});

  /// Sweep number 0, 1, ...: draws the vectors of the first side and the parameters of their prior,
  /// then those of the second side, then c and the noise variance.
  void sweep(int index, Control &control);

  /// log p(numbers, draw) of the last draw, with the numbers in standard units.
  double log_joint() const;
  /// root mean square of x_ij - a_i - b_j - u_i'v_j over the cells
  double root_mean_square() const;
  /// Root mean square of u_i'v_j over all pairs of keys. It is invariant if u is multiplied by a
  /// matrix and v by the inverse of its transpose.
  double norm() const;

  void exchange(StateNumbers &numbers);

  const PmfParameters &parameters() const { return parameters_; }
  const PmfSide &side(std::size_t index) const { return sides_[index]; }

 private:
  Corpus &corpus(std::size_t side) const {
    return side == pmf_first ? task_.table : task_.transposed;
  }
  Random random(int index, int stream) const {
    return Random(task_.seed, std::uint64_t(number_), std::uint64_t(index), std::uint64_t(stream));
  }
  void draw_side(std::size_t side, int index, Control &control);
  void rescale_vectors(double x);

  const PmfTask &task_;
  const int number_;
  const PmfSides<double> keys_;
  const double cells_;
  PmfSides<PmfSide> sides_;
  PmfSides<PmfSums> sums_;
  PmfParameters parameters_;
};

}  // namespace bayes
