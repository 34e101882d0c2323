// Dirichlet process mixtures: fitting, and the accessors of a fitted model.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/control.hpp"
#include "data/rows.hpp"
#include "document/document.hpp"
#include "document/model.hpp"
#include "partition/partition.hpp"

namespace bayes {

/// a row's elements
inline constexpr int dpmm_max_dimension = 1600;
/// of the estimate of a stored model
inline constexpr int dpmm_max_clusters = 10000;

/// One cluster of the estimated partition.
struct DpmmCluster {
  /// its rows
  std::int64_t count;
  /// count / (rows + E[concentration]): the probability that the next row belongs to it
  double weight;
  /// d, the posterior mean of the expected row; NaN for an element that is a category
  std::vector<double> mean;
  /// d x d, normal likelihood: E[precision]^-1; empty otherwise
  std::vector<double> covariance;
};

/// The point estimate of the partition.
struct DpmmEstimate {
  /// binder, vi, bipartition or map; "variational" for method vi
  std::string loss;
  int clusters = 0;
  /// scale: see PartitionLoss; NaN for method vi
  double expected_loss = 0;
  /// proved optimal under its loss
  bool optimal = false;
  /// of the credible ball; NaN for method vi
  double level = 0, radius = 0;
  /// in the ball
  int fewest_clusters = 0, most_clusters = 0;
  /// on which the estimate and predictions rest
  int draws = 0;
};

class BAYES_API DirichletProcessMixture final : public Model {
 public:
  DirichletProcessMixture();
  ~DirichletProcessMixture() override;

  int dimension() const { return info.dimension; }
  /// clusters of the estimate
  int size() const { return info.components; }
  /// from 0, by decreasing count
  DpmmCluster cluster(int index) const;
  const DpmmEstimate &estimate() const;

  // One row x of d numbers that their columns allow (Error(invalid_argument) names the element
  // otherwise).

  /// size() + 1 numbers that sum to 1: for every cluster of the estimate, the expected share of its
  /// rows among those that x clusters with; last, the probability that x starts a new cluster.
  /// Averaged over the draws, each weighted with its predictive density of x.
  void probabilities(std::span<const double> x, std::span<double> out) const;
  /// The most probable of these, from 0; size() means a new one.
  int predict(std::span<const double> x) const;
  /// log of the posterior predictive density, averaged over the draws
  double log_density(std::span<const double> x) const;

  struct State;
  std::unique_ptr<State> state;

 protected:
  void write(Document &document) const override;

 private:
  struct Predictor;
  /// uses its own workspace: not for two threads at a time
  Predictor &predictor() const;
  mutable std::unique_ptr<Predictor> predictor_;
  void check_row(std::span<const double> x) const;
};

/// Reads the document form; for models/registry.cpp. Throws Error(invalid_text) naming the invalid
/// member.
std::unique_ptr<Model> read_dirichlet_process_mixture(const Document &document);

/// Checks every option before any row is read. Throws as dpmm_fit does.
BAYES_API RowOptions dpmm_check_options(const Document &options);

/// A fit, and its results for the rows fitted.
struct DpmmFit {
  std::unique_ptr<DirichletProcessMixture> model;
  /// the cluster of every row, from 0
  std::vector<int> labels;
  /// the certainty of every row's membership (PartitionEstimate::probability; method vi: its
  /// responsibility)
  std::vector<double> probability;
  /// empty for method vi
  PartitionDraws draws;
};

/// Fits a Dirichlet process mixture to the rows.
/// Throws Error: invalid_argument for options or values that the likelihood does not know;
/// too_large for more rows, draws or chains than memory allows; numeric where no fit exists.
BAYES_API DpmmFit dpmm_fit(RowSource &rows, const Document &options, Control &control);

/// dpmm_similarity takes no more rows: their pairs are counted in tens of millions.
inline constexpr std::int64_t dpmm_most_similar_rows = 5000;

/// Samples the posterior and gives, for row 0, 1, ... in turn, the probabilities that it is in one
/// cluster with each row before it. Rows are named and ordered by their numbers order[i], or as
/// they lie if there are none. Throws Error: too_large for more rows than dpmm_most_similar_rows,
/// and whatever dpmm_fit throws; invalid_argument for method vi.
BAYES_API void dpmm_similarity(
    RowSource &rows, const Document &options, Control &control,
    const std::function<void(std::int64_t row, std::span<const double> probabilities)> &emit,
    std::span<const std::uint32_t> order = {});

}  // namespace bayes
