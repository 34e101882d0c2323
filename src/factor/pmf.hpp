// Probabilistic matrix factorization (002 L3; Salakhutdinov and Mnih 2008), by Gibbs sampling.
// Fitting, and the accessors of a fitted model.
//
// A cell of a table has the distribution x_ij ~ Normal(a_i + b_j + u_i'v_j, noise variance): means
// of its row and column (option means), and vectors of length `rank`. Absent cells are missing
// values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/control.hpp"
#include "data/scores.hpp"
#include "document/document.hpp"
#include "document/model.hpp"
#include "factor/factor_table.hpp"

namespace bayes {

inline constexpr Method pmf_methods[] = {Method::gibbs};

/// The prediction of a new number in a cell, averaged over the stored draws.
struct PmfPrediction {
  double mean;
  /// standard deviation of the number, not of its mean: the root of the mean noise variance plus
  /// the variance of the means
  double sd;
  /// Monte Carlo standard error of the mean, from the stored draws; NaN if it is not or cannot be
  /// computed
  double mcse;
};

struct PmfRecommendation {
  /// index among the columns, or for a new key among the keys of the other side
  std::int32_t column;
  PmfPrediction prediction;
};

/// The similarity of a key to another key of its side.
struct PmfSimilarity {
  /// the other key's index
  std::int32_t key;
  /// mean and standard deviation, over the stored draws, of the correlation of the two keys'
  /// noise-free numbers, over keys of the other side drawn from their prior
  double similarity, sd;
};

class BAYES_API PmfModel final : public Model {
 public:
  PmfModel();
  ~PmfModel() override;

  /// length of the vectors
  int rank() const { return info.components; }
  std::int64_t stored_draws() const override;
  /// in the order of the table's keys
  const std::vector<std::string> &keys(Side side) const;
  /// index among keys(side), -1 for an unknown key
  std::int32_t code(Side side, std::string_view key) const;

  using Model::predict;
  /// Predicts a cell. An unknown key (-1) has the distribution of its side in each draw.
  PmfPrediction predict(std::int32_t row, std::int32_t column) const;
  /// The score of a number in a cell: the log of its density averaged over the stored draws, in
  /// each a normal one (for an unknown key, with the mean and the variance of its distribution),
  /// and the squared error of the predicted mean.
  Score score(std::int32_t row, std::int32_t column, double number) const;
  /// The n columns with the largest means for a row (-1: an unknown one), in descending order, ties
  /// in the order of their keys. Without `all`, columns for which the row had a number are left
  /// out; throws Error(invalid_argument) if the model was fitted without storing them.
  std::vector<PmfRecommendation> recommend(std::int32_t row, std::int64_t n, bool all) const;
  /// Predicts a cell of a new key of `side`, given some of its cells, by keys of the other side,
  /// ascending. In each draw, its vector and mean have their exact posterior distribution given
  /// these cells and the draw. All draws have the same weight, as if the new cells were a small
  /// part of the fit. Throws Error(numeric) for numbers out of proportion to the table's.
  PmfPrediction predict_new(Side side, const DocumentTerms &cells, std::int32_t key) const;
  /// The n keys of the other side with the largest means for a new key, without those of its cells.
  std::vector<PmfRecommendation> recommend_new(Side side, const DocumentTerms &cells,
                                               std::int64_t n) const;
  /// The n keys of a side that are most similar to one of its keys.
  std::vector<PmfSimilarity> similar(Side side, std::int32_t index, std::int64_t n) const;

  const ModelWords &words() const override;

  struct State;
  const std::unique_ptr<State> state;

 protected:
  void write(Document &document) const override;
};

/// Throws Error(invalid_argument) for invalid options. A start model determines the rank.
BAYES_API FactorTableOptions pmf_check_options(int rank, const Document &options,
                                               const PmfModel *start = nullptr);

/// Fits vectors of length `rank`. The table must have a transposed one. With a `start` model the
/// chains begin at its draws.
BAYES_API std::unique_ptr<PmfModel> pmf_fit(const FactorTable &table, int rank,
                                            const Document &options, Control &control,
                                            const PmfModel *start = nullptr);

std::unique_ptr<Model> read_pmf_model(const Document &document);

}  // namespace bayes
