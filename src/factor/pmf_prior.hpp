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
#pragma once

#include <array>
#include <optional>

#include "base/random.hpp"
#include "factor/pmf_step.hpp"

namespace bayes {

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

}  // namespace bayes
