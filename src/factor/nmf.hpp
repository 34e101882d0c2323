// Non-negative matrix factorization (002 L12; Lee and Seung 1999, 2001; Cemgil 2009; Gopalan,
// Hofman and Blei 2015). Fitting, and the accessors of a fitted model.
//
// A cell x_ij of a table with non-negative numbers has the mean sum_k w_ik v_kj: a row's weights of
// K factors, and a factor's numbers for the columns, all not negative.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/control.hpp"
#include "document/document.hpp"
#include "document/model.hpp"
#include "factor/factor_table.hpp"

namespace bayes {

/// The mean of a cell, and its variance.
struct CellPrediction {
  /// infinite for a key that is not known, if the hierarchical prior has scale shape h <= 1
  double mean;
  /// of a new count: the Poisson distribution's and that of its mean; NaN for method squared, and
  /// where it is infinite
  double variance;
};

/// A row's weights.
struct NmfWeights {
  /// K numbers
  std::vector<double> value;
  /// of vi and svi, the posterior gamma distributions; empty otherwise
  std::vector<double> shape, rate;
};

/// How well the expected cells describe the table that was fitted.
struct NmfError {
  /// sum over all cells of (x - mean)^2
  double squared;
  /// sum over all cells of x log(x / mean) - x + mean: half of the deviance of Poisson counts; NaN
  /// if a cell with a number has mean 0
  double divergence;
  /// 1 - divergence / that from the mean of all cells: the share of the deviance that is explained;
  /// NaN with it, or if all cells are equal
  double explained;
};

class BAYES_API NmfModel final : public Model {
 public:
  NmfModel();
  ~NmfModel() override;

  /// K
  int size() const { return info.components; }
  /// in the order of the table's
  const std::vector<std::string> &keys(Side side) const;
  /// its index among keys(side), -1 if the model does not know it
  std::int32_t code(Side side, std::string_view key) const;
  /// Of one key, index from 0. Of point estimates shape and rate are empty. Factors are in
  /// descending order of their share of the sum of all cells.
  NmfWeights weights(Side side, std::int32_t index) const;
  /// A key's share of a factor's sum over all keys of its side; 0 if that is 0. Both from 0.
  double share_of_factor(Side side, std::int32_t key, int factor) const;
  /// K shares of the sum of all cells
  const std::vector<double> &shares() const;
  const NmfError &error() const;
  /// Cells that are absent are missing, not 0.
  bool missing() const;

  /// Of a cell. A key that the model does not know (-1) has the prior's distribution; of a point
  /// estimate the mean of the others.
  CellPrediction predict(std::int32_t row, std::int32_t column) const;
  /// The weights of a line of the table that was not fitted: `side` is what it would be, `cells`
  /// its cells by keys of the other side, ascending.
  NmfWeights transform(Side side, const DocumentTerms &cells) const;

  struct State;
  const std::unique_ptr<State> state;

 protected:
  void write(Document &document) const override;
};

/// How well cells are predicted that a fit has not seen.
struct NmfHeldOut {
  /// lines, and cells of them that were predicted
  std::int64_t lines = 0;
  double cells = 0;
  /// of these cells: as Poisson counts, after method squared as normal numbers with the mean square
  /// of the fit as variance
  double log_likelihood = 0;
  /// the standard error of log_likelihood, as a sum over lines; NaN for fewer than two
  double error = 0;
};

/// Of lines that were not fitted, the cells of one half of the keys of the other side, from weights
/// inferred from those of the other half. The halves are the same for every model of these keys;
/// the keys are in the order of the model's. `side`: what lines are. Polls; on all threads.
BAYES_API NmfHeldOut nmf_held_out(const NmfModel &model, Corpus &lines, Side side,
                                  Control &control);

/// Throws Error(invalid_argument) for options that cannot be.
BAYES_API FactorTableOptions nmf_check_options(int k, const Document &options,
                                               const NmfModel *start);

/// Fits k factors. With a start model, keys that it knows begin with its weights, and factors keep
/// its numbers.
BAYES_API std::unique_ptr<NmfModel> nmf_fit(const FactorTable &table, int k,
                                            const Document &options, const NmfModel *start,
                                            Control &control);

std::unique_ptr<Model> read_nmf_model(const Document &document);

}  // namespace bayes
