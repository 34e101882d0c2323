// Internal state of a fitted non-negative factorization, for the files of this model only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "factor/nmf.hpp"
#include "factor/nmf_learners.hpp"

namespace bayes {

/// The keys of one side, and their weights.
struct NmfSide {
  Keys keys;
  /// keys x K: shapes of the posterior gamma distributions (vi, svi), or point estimates
  PaddedMatrix numbers;
  /// K rates of the posterior; 1 for point estimates
  std::vector<double> rates;
  /// keys x K, if each key has its own rates; `rates` is then empty
  PaddedMatrix own_rates;
  /// with vi and svi
  WeightGamma prior;

  // Derived by sum_up():
  /// sums over the keys of the expected weights
  std::vector<double> totals;
  /// indices of the keys in the order of their bytes; empty if the keys are sorted
  std::vector<std::int32_t> order;

  double rate(std::int32_t key, int factor) const {
    return own_rates.rows() ? own_rates.row(key)[factor] : rates[std::size_t(factor)];
  }
  double expected(std::int32_t key, int factor) const {
    return numbers.row(key)[factor] / rate(key, factor);
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
  /// the mean squared error of the fit, positive
  double error_variance() const;
  /// Computes totals, orders and shares.
  void sum_up();

  /// The weights of a new document. `sums`: sums of the expected weights of the terms whose cells
  /// are known; not used if cells may be missing. Not for method squared.
  NmfWeights infer(Side which, const DocumentTerms &cells, std::vector<double> sums) const;
  /// whether the weights have gamma posteriors (vi, svi)
  bool gamma = true;
};

/// What new rows are predicted with, as a message: the columns, and the prior of the rows. Not of
/// method squared.
Document column_factors_message(const NmfModel &model);
/// A model that has these alone. Throws Error(invalid_text) for a message of another kind.
std::unique_ptr<NmfModel> model_of_column_factors(const Document &message);

}  // namespace bayes
