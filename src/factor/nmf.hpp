// Non-negative matrix factorization (002 L12; Lee and Seung 1999, 2001; Cemgil 2009; Gopalan,
// Hofman and Blei 2015). Fitting, and the accessors of a fitted model.
//
// A cell x_ij of a table with non-negative numbers has the mean sum_k w_ik v_kj: K weights of the
// row and K weights of the column, one for each factor, all not negative.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/control.hpp"
#include "data/scores.hpp"
#include "document/document.hpp"
#include "document/model.hpp"
#include "factor/factor_table.hpp"

namespace bayes {

inline constexpr Method nmf_methods[] = {Method::vi, Method::svi, Method::em, Method::squared};

/// The predicted mean and variance of a cell.
struct CellPrediction {
  /// infinite for an unknown key if the hierarchical prior has scale shape h <= 1
  double mean;
  /// variance of a new count: that of the Poisson distribution plus that of its mean; NaN for
  /// method squared, and where it is infinite
  double variance;
};

/// The weights of one key.
struct NmfWeights {
  /// K expected weights, or point estimates
  std::vector<double> value;
  /// parameters of the posterior gamma distributions (vi, svi); empty for other methods
  std::vector<double> shape, rate;
};

/// The error of the expected cells for the table that was fitted.
struct NmfError {
  /// sum over all cells of (x - mean)^2
  double squared;
  /// sum over all cells of x log(x / mean) - x + mean: half of the Poisson deviance; NaN if a
  /// positive cell has mean 0
  double divergence;
  /// the explained share of the deviance, 1 - divergence / (divergence from the mean of all cells);
  /// NaN if divergence is, or if all cells are equal
  double explained;
};

class BAYES_API NmfModel final : public Model {
 public:
  NmfModel();
  ~NmfModel() override;

  /// K
  int size() const { return info.components; }
  /// in the order of the table's keys
  const std::vector<std::string> &keys(Side side) const;
  /// index among keys(side), -1 for an unknown key
  std::int32_t code(Side side, std::string_view key) const;
  /// The weights of one key, index from 0. Factors are in descending order of their share of the
  /// sum of all cells.
  NmfWeights weights(Side side, std::int32_t index) const;
  /// The weight of a key divided by the sum over all keys of its side; 0 if the sum is 0. Indices
  /// from 0.
  double share_of_factor(Side side, std::int32_t key, int factor) const;
  /// the K factors' shares of the sum of all cells
  const std::vector<double> &shares() const;
  const NmfError &error() const;
  /// Whether absent cells are missing values, not zeros.
  bool missing() const;

  using Model::predict;
  /// Predicts a cell. An unknown key (-1) has the distribution of the prior, or for point estimates
  /// the mean weights of its side.
  CellPrediction predict(std::int32_t row, std::int32_t column) const;
  /// The score of a number, not negative, in a cell: the log of its Poisson probability at the
  /// predicted mean (after method squared the log density of a normal number with that mean, and
  /// the mean squared error of the fit as variance), and the squared error of that mean. nullopt if
  /// the mean is infinite.
  std::optional<Score> score(std::int32_t row, std::int32_t column, double number) const;
  /// The weights of a new row or column (`side`), given its cells by keys of the other side,
  /// ascending.
  NmfWeights transform(Side side, const DocumentTerms &cells) const;

  const ModelWords &words() const override;
  /// For every factor its weight (its share of the sum of all cells), then its weights of rows and
  /// columns; after vi and svi these with their mean-field posterior.
  void describe_parameters(std::optional<double> level, const TakeParameter &take) const override;
  /// For every factor the columns' shares of its sum.
  std::optional<LabelProfiles> label_profiles() const override;

  struct State;
  const std::unique_ptr<State> state;

 protected:
  void write(Document &document) const override;
};

/// Predictive accuracy for held-out cells.
struct NmfHeldOut {
  /// number of documents, and of their predicted cells
  std::int64_t documents = 0;
  double cells = 0;
  /// log-likelihood of these cells as Poisson counts; after method squared as normal numbers with
  /// the mean squared error of the fit as variance
  double log_likelihood = 0;
  /// the log-likelihood of the predicted cells of each document; the units are 1
  std::vector<Score> scores = {};
  /// standard error of log_likelihood, a sum over documents; NaN for fewer than two
  double error = 0;
};

/// Predicts, for held-out documents, the cells of one half of the terms from weights inferred from
/// the cells of the other half. The halves are the same for every model of these terms, which are
/// in the order of the model's keys. `side`: whether documents are rows or columns. Polls; on all
/// threads.
BAYES_API NmfHeldOut nmf_held_out(const NmfModel &model, Corpus &documents, Side side,
                                  Control &control);

/// Throws Error(invalid_argument) for invalid options.
BAYES_API FactorTableOptions nmf_check_options(int k, const Document &options,
                                               const NmfModel *start);

/// Fits k factors. With a start model, known keys begin with its weights, and factors keep its
/// numbering.
BAYES_API std::unique_ptr<NmfModel> nmf_fit(const FactorTable &table, int k,
                                            const Document &options, const NmfModel *start,
                                            Control &control);

std::unique_ptr<Model> read_nmf_model(const Document &document);

}  // namespace bayes
