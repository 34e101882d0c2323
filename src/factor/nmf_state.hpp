// The inside of a fitted non-negative factorization, for the files of this model only.
#pragma once

#include <string>
#include <vector>

#include "factor/nmf.hpp"
#include "factor/nmf_learners.hpp"

namespace bayes {

/// The keys of one side, and their weights.
struct NmfSide {
  Keys keys;
  /// keys x K: shapes of the posterior gamma distributions (vi, svi), or points
  TermTopics numbers;
  /// K rates of the posterior; of points 1
  std::vector<double> rates;
  /// keys x K, if each has its own rates; then there are no others
  TermTopics own_rates;
  /// of vi and svi
  WeightGamma prior;

  // What follows from these.
  /// sum over the keys of the expected weights
  std::vector<double> totals;
  /// indices of the keys in the order of their bytes; empty if that is how they are
  std::vector<std::int32_t> order;

  double rate(std::int32_t key, int factor) const {
    return own_rates.terms() ? own_rates.of(key)[factor] : rates[std::size_t(factor)];
  }
  double expected(std::int32_t key, int factor) const {
    return numbers.of(key)[factor] / rate(key, factor);
  }
  void sum_up();
};

struct NmfModel::State {
  NmfSide row, column;
  std::vector<double> shares;
  NmfError error{};
  /// absent cells are missing
  bool missing = false;

  NmfSide &side(Side which) { return which == Side::row ? row : column; }
  const NmfSide &side(Side which) const { return which == Side::row ? row : column; }
  /// totals, orders and shares, from the numbers
  void sum_up();

  /// The weights of a line that was not fitted. `sums`: of the expected weights of the keys of the
  /// other side whose cells are known, or if cells may be missing not used. Not of method squared.
  NmfWeights infer(Side which, const DocumentTerms &cells, std::vector<double> sums) const;
  /// vi, svi
  bool gamma = true;
};

}  // namespace bayes
