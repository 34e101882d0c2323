// Draws the vectors of one side of a table given those of the other side: half a sweep of the Gibbs
// sampler of probabilistic matrix factorization (002 L3; Salakhutdinov and Mnih 2008).
//
// A cell has the distribution x_ij ~ Normal(a_i + b_j + u_i'v_j, noise), where a and b exist only
// if the model has means. Given v and b, the vectors (u_i, a_i) are independent and normal, each
// with a precision that is a sum over the cells of key i plus that of the prior.
#pragma once

#include <vector>

#include "base/random.hpp"
#include "counts/padded_table.hpp"
#include "data/corpus.hpp"

namespace bayes {

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

}  // namespace bayes
