// Draws of the vectors of one side of a table given those of the other: a half of a sweep of the
// Gibbs sampler of probabilistic matrix factorization (002 L3; Salakhutdinov and Mnih 2008).
//
// A cell has the distribution x_ij ~ Normal(a_i + b_j + u_i'v_j, noise), where a and b are there
// only if the model has means. Given v and b, the vectors (u_i, a_i) of the lines are independent
// of each other, each of a normal distribution whose precision is a sum over the line's cells.
#pragma once

#include <vector>

#include "base/random.hpp"
#include "data/corpus.hpp"
#include "topics/term_topics.hpp"

namespace bayes {

/// The keys of one side: their vectors, keys x rank, and their means; none if the model has none.
struct PmfSide {
  TermTopics vectors;
  Buffer means;
};

/// The prior of one side: u ~ Normal(center, precision^-1), a ~ Normal(level, spread).
struct PmfSidePrior {
  /// rank; rank x rank
  std::vector<double> center, precision;
  double level = 0, spread = 1;
};

/// The numbers of a table as the sampler takes them: (x - center) inverse.
struct PmfUnits {
  double center = 0, inverse = 1;
};

/// Sums over the keys of a side, as they were drawn.
struct PmfSums {
  explicit PmfSums(int rank = 0);
  void add(const PmfSums &other);

  /// of u u', for p <= q
  double product(int p, int q) const {
    return products[std::size_t(p) * vectors.size() + std::size_t(q)];
  }

  /// Of u; of u u', row by row, of each from its tile of eight. Both are padded as vectors are.
  Buffer vectors, products;
  double means = 0, squared_means = 0;
  /// of the cells: (x_ij - a_i - b_j - u_i'v_j)^2
  double squared_residuals = 0;
};

/// Draws the vectors of all lines given those of the other side. A line's random numbers are those
/// of `random` for its index. Lines without cells are drawn from the prior. The sums are those of
/// the draw.
PmfSums draw_vectors(Corpus &lines, PmfUnits units, const PmfSide &others,
                     const PmfSidePrior &prior, double noise, const RowRandom &random,
                     PmfSide &drawn, Control &control);

}  // namespace bayes
