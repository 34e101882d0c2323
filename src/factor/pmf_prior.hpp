// What the sampler of probabilistic matrix factorization draws beside the vectors: the noise and
// the priors of both sides.
//
//   x_ij ~ Normal(a_i + b_j + u_i'v_j, noise)
//   plain:        u_i, v_j ~ Normal(0, c I)                              (002 L3)
//   hierarchical: u_i ~ Normal(mu, Lambda^-1), Lambda ~ Wishart(rank, I),
//                 mu | Lambda ~ Normal(0, (2 Lambda)^-1), v_j likewise
//                 (BPMF: Salakhutdinov and Mnih 2008, eqs. 5 to 8; mu_0 = 0, beta_0 = 2,
//                 nu_0 = rank, W_0 = I)
//   means:        a_i ~ Normal(level, spread_a), b_j ~ Normal(0, spread_b), level ~ Normal(0, 1)
//
// Numbers are in units of the table's standard deviation, about its mean if there are means.
#pragma once

#include <array>
#include <optional>

#include "base/random.hpp"
#include "factor/pmf_step.hpp"

namespace bayes {

/// Of a precision, in units of the table: 1 / x ~ Gamma(shape, rate).
struct PrecisionPrior {
  double shape = 1, rate = 1;
};

/// What is known of the parameters before the table is.
struct PmfPrior {
  /// given; else learned
  std::optional<double> noise, c;
  PrecisionPrior noise_prior, c_prior, spread_prior;
  bool means = true, hierarchical = false;
  /// degrees of freedom of the Wishart distribution beyond the rank, nu_0 - rank
  double more_degrees = 0;
};

/// The sides of a table as the sampler has them.
enum : std::size_t { pmf_lines, pmf_others };
template <class T> using PmfSides = std::array<T, 2>;

/// Under the hierarchical prior, the inverse of a side's precision, and the logarithm of that one's
/// determinant.
struct PmfCovariance {
  /// rank x rank
  std::vector<double> values;
  double log_determinant_of_inverse = 0;
};

struct PmfParameters {
  double noise = 1;
  /// not of the hierarchical prior
  double c = 1;
  PmfSides<PmfSidePrior> sides;
  /// of the hierarchical prior
  PmfSides<PmfCovariance> covariances;
};

/// Where chains begin.
PmfParameters first_parameters(const PmfPrior &prior, int rank);

/// Draws what is learned of a side's prior but c, given its vectors and means.
void draw_side_prior(const PmfPrior &prior, const PmfSums &sums, double keys, std::size_t side,
                     Random &random, PmfParameters &parameters);

/// Draws c and the noise, where they are learned.
void draw_common(const PmfPrior &prior, const PmfSides<PmfSums> &sums, const PmfSides<double> &keys,
                 double cells, int rank, Random &random, PmfParameters &parameters);

/// Vectors u x and v / x have the same products, and under the hierarchical prior x changes slowly
/// if they are drawn one after another. This draws x^2 given all else, a step of the group of such
/// changes (Liu and Sabatti 2000), scales the parameters and sums, and returns x.
double draw_scale(PmfSides<PmfSums> &sums, int rank, Random &random, PmfParameters &parameters);

/// log p(x, u, v, a, b, parameters), x in units of the table.
double pmf_log_joint(const PmfPrior &prior, const PmfSides<PmfSums> &sums,
                     const PmfSides<double> &keys, double cells, int rank,
                     const PmfParameters &parameters);

}  // namespace bayes
