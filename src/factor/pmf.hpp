// Probabilistic matrix factorization (002 L3; Salakhutdinov and Mnih 2008), by Gibbs sampling.
// Fitting, and the accessors of a fitted model.
//
// A cell of a table has the distribution x_ij ~ Normal(a_i + b_j + u_i'v_j, noise variance): means
// of its row and column (option means), and vectors of as many numbers as the rank. Absent cells
// are missing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/control.hpp"
#include "document/document.hpp"
#include "document/model.hpp"
#include "factor/factor_table.hpp"

namespace bayes {

/// What is predicted of a new number in a cell: averages over the stored draws.
struct PmfPrediction {
  double mean;
  /// of the number, not of its mean: the root of the mean noise variance and the variance of the
  /// means
  double sd;
  /// Monte Carlo standard error of the mean, from the stored draws; NaN where it is not computed,
  /// or cannot be
  double mcse;
};

struct PmfRecommendation {
  /// index among the keys of the columns, or for a new key among those of the other side
  std::int32_t column;
  PmfPrediction prediction;
};

/// Two keys of one side.
struct PmfSimilarity {
  /// the other key's index
  std::int32_t key;
  /// mean over the stored draws of the correlation of the numbers of both, without their noise and
  /// over keys of the other side drawn from their prior; and its standard deviation
  double similarity, sd;
};

class BAYES_API PmfModel final : public Model {
 public:
  PmfModel();
  ~PmfModel() override;

  /// numbers of a key's vector
  int rank() const { return info.components; }
  std::int64_t stored_draws() const override;
  /// in the order of the table's
  const std::vector<std::string> &keys(Side side) const;
  /// its index among keys(side), -1 if the model does not know it
  std::int32_t code(Side side, std::string_view key) const;

  /// Of a cell. A key that the model does not know (-1) has the distribution that its side has in
  /// each draw.
  PmfPrediction predict(std::int32_t row, std::int32_t column) const;
  /// The n columns with the largest means for a row (-1: one that the model does not know), in
  /// descending order, equal ones in that of their keys. With `all` also those that the row had a
  /// number for; without it, Error(invalid_argument) if the model was fitted to forget which.
  std::vector<PmfRecommendation> recommend(std::int32_t row, std::int64_t n, bool all) const;
  /// The same of a key of a side (row or column) that the model does not know, but some of whose
  /// cells are known: by keys of the other side, ascending. In each draw its vector and its mean
  /// have their exact posterior distribution, given these numbers and what the draw has of the
  /// others; draws count alike, as in a fit of which these cells are a small part. Throws
  /// Error(numeric) for numbers out of proportion to the table's.
  PmfPrediction predict_new(Side side, const DocumentTerms &cells, std::int32_t key) const;
  /// The n keys of the other side with the largest means, without those of the cells.
  std::vector<PmfRecommendation> recommend_new(Side side, const DocumentTerms &cells,
                                               std::int64_t n) const;
  /// The n keys of a side that are most similar to one of them.
  std::vector<PmfSimilarity> similar(Side side, std::int32_t index, std::int64_t n) const;

  struct State;
  const std::unique_ptr<State> state;

 protected:
  void write(Document &document) const override;
};

/// Throws Error(invalid_argument) for options that cannot be.
BAYES_API FactorTableOptions pmf_check_options(int rank, const Document &options);

/// Fits vectors of `rank` numbers to a table that is there by both sides.
BAYES_API std::unique_ptr<PmfModel> pmf_fit(const FactorTable &table, int rank,
                                            const Document &options, Control &control);

std::unique_ptr<Model> read_pmf_model(const Document &document);

}  // namespace bayes
