// One chain of the Gibbs sampler of probabilistic matrix factorization.
#pragma once

#include "factor/pmf_prior.hpp"

namespace bayes {

/// What is sampled. `lines` and `transposed` are the same table by either side.
struct PmfTask {
  Corpus &lines, &transposed;
  int rank = 1;
  PmfUnits units;
  PmfPrior prior;
  std::uint64_t seed = 1;
};

class PmfChain {
 public:
  /// Begins at vectors close to 0.
  PmfChain(const PmfTask &task, int number);

  /// Sweep number 0, 1, ...: the lines' vectors given the others', the others' given the lines',
  /// and after each what their prior's parameters are; last c and the noise.
  void sweep(int index, Control &control);

  /// Of what the last sweep drew, with the numbers of the table in its units.
  double log_joint() const;
  /// the root of the mean square of x_ij - a_i - b_j - u_i'v_j over the cells
  double root_mean_square() const;
  /// The root of the mean square of u_i'v_j over all pairs of keys: the same if u is multiplied by
  /// any matrix and v by the inverse of its transpose.
  double norm() const;

  const PmfParameters &parameters() const { return parameters_; }
  const PmfSide &side(std::size_t index) const { return sides_[index]; }

 private:
  Corpus &corpus(std::size_t side) const {
    return side == pmf_lines ? task_.lines : task_.transposed;
  }
  Random random(int index, int stream) const {
    return Random(task_.seed, std::uint64_t(number_), std::uint64_t(index), std::uint64_t(stream));
  }
  void draw_side(std::size_t side, int index, Control &control);
  void change_scale(double x);

  const PmfTask &task_;
  const int number_;
  const PmfSides<double> keys_;
  const double cells_;
  PmfSides<PmfSide> sides_;
  PmfSides<PmfSums> sums_;
  PmfParameters parameters_;
};

}  // namespace bayes
