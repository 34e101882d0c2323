// One chain of the Gibbs sampler of probabilistic matrix factorization.
#pragma once

#include "factor/pmf_prior.hpp"

namespace bayes {

/// The data and the prior. `transposed` is the transposed `table`.
struct PmfTask {
  Corpus &table, &transposed;
  int rank = 1;
  PmfUnits units;
  PmfPrior prior;
  std::uint64_t seed = 1;
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
