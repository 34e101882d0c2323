// Dirichlet process mixtures: fitting, and the accessors of a fitted model.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/control.hpp"
#include "data/rows.hpp"
#include "document/document.hpp"
#include "document/model.hpp"
#include "mcmc/stored_draws.hpp"
#include "partition/partition.hpp"
#include "questions/row_mixture.hpp"

namespace bayes {

inline constexpr Method dpmm_methods[] = {Method::collapsed, Method::gibbs, Method::slice,
                                          Method::vi};
/// the largest number of elements of a row
inline constexpr int dpmm_max_dimension = 1600;
/// the largest number of clusters in the estimate of a stored model
inline constexpr int dpmm_max_clusters = 10000;

/// One cluster of the estimated partition.
struct DpmmCluster {
  /// its rows
  std::int64_t count;
  /// count / (rows + E[concentration]): the probability that the next row belongs to it
  double weight;
  /// d, the posterior mean of the expected row; NaN for a categorical element
  std::vector<double> mean;
  /// d x d, normal likelihood: E[precision]^-1; empty otherwise
  std::vector<double> covariance;
};

/// The point estimate of the partition.
struct DpmmEstimate {
  /// binder, vi, bipartition or map; "variational" for method vi
  std::string loss;
  int clusters = 0;
  /// in the units that PartitionLoss defines; NaN for method vi
  double expected_loss = 0;
  /// its Monte Carlo standard error; NaN for method vi and if unknown
  double mcse = std::numeric_limits<double>::quiet_NaN();
  /// proved optimal under its loss
  bool optimal = false;
  /// of the credible ball; NaN for method vi
  double level = 0, radius = 0;
  /// of the partitions in the ball
  int fewest_clusters = 0, most_clusters = 0;
  /// number of draws from which the estimate is computed
  int draws = 0;
};

struct ComponentDensities;

class BAYES_API DirichletProcessMixture final : public RowMixture {
 public:
  DirichletProcessMixture();
  ~DirichletProcessMixture() override;

  int dimension() const { return info.dimension; }
  /// clusters of the estimate
  int size() const { return info.components; }
  /// from 0, by decreasing count, or, after a fit from a start model, as dpmm_fit says
  DpmmCluster cluster(int index) const;
  /// the categories of a categorical element, in ascending order; empty for other elements
  std::vector<double> categories(int element) const override;
  /// The weight and the parameters of every cluster of the estimated partition, with intervals of
  /// this level. All are conditional on that partition, and the weights on the mean concentration.
  void describe_parameters(std::optional<double> level, const TakeParameter &take) const override;
  ParameterDraws draw_parameters(std::uint64_t seed) const override;
  const DpmmEstimate &estimate() const;
  std::int64_t stored_draws() const override;

  // Probabilities of a row (questions/row_mixture.hpp) are size() + 1: for every cluster of the
  // estimate, the expected share of its rows among those that x clusters with; last, the
  // probability that x starts a new cluster. Averaged over the draws, each weighted with its
  // predictive density of x.

  const ModelWords &words() const override;
  /// the clusters, and a new cluster
  int outcomes() const override { return size() + 1; }
  std::unique_ptr<RowDistribution> row_distribution() const override;
  ComponentOverlaps overlaps(const Model &other) const override;

  /// The same model for rows whose columns have these labels, which include those of info.columns:
  /// categories are renumbered to the codes that the labels have in `columns`.
  std::unique_ptr<DirichletProcessMixture> with_labels_of(const RowColumns &columns) const;

  struct State;
  std::unique_ptr<State> state;

 protected:
  void write(Document &document) const override;
  std::span<const double> checked(std::span<const double> x) const override;

 private:
  /// at the point estimate (fit/component_overlap.hpp)
  ComponentDensities densities() const;
};

/// Reads the document form; for models/registry.cpp. Throws Error(invalid_text) naming the invalid
/// member.
std::unique_ptr<Model> read_dirichlet_process_mixture(const Document &document);

/// Checks every option before any row is read. Throws as dpmm_fit does.
BAYES_API RowOptions dpmm_check_options(const Document &options,
                                        const DirichletProcessMixture *start = nullptr);

/// A fit, and its results for the rows fitted.
struct DpmmFit {
  std::unique_ptr<DirichletProcessMixture> model;
  /// the cluster of every row, from 0
  std::vector<int> labels;
  /// the certainty of every row's membership (PartitionEstimate::probability; method vi: its
  /// responsibility)
  std::vector<double> probability;
  /// the draws from which the estimate is computed, chain after chain, equally many from each;
  /// empty for method vi
  PartitionDraws draws;
  int chains = 0;
  /// Indices of the draws that bound the credible ball; see PartitionEstimate.
  int upper = 0, lower = 0, horizontal = 0;
};

/// Fits a Dirichlet process mixture to the rows. Throws Error: invalid_argument for options, or
/// values that the likelihood does not allow; too_large for more rows, draws or chains than memory
/// allows; numeric where no fit exists.
///
/// With a `start` model method vi begins at its posterior, and chains begin with the clusters that
/// it gives to the rows. Clusters then have the order of its clusters with which they share the
/// most rows; others follow.
BAYES_API DpmmFit dpmm_fit(RowSource &rows, const Document &options, Control &control,
                           const DirichletProcessMixture *start = nullptr);

/// The largest number of rows for dpmm_similarity: they have more than ten million pairs.
inline constexpr std::int64_t dpmm_max_similarity_rows = 5000;

/// Samples the posterior and gives, for row 0, 1, ... in turn, the probabilities that it is in one
/// cluster with each row before it, and their Monte Carlo standard errors (see similarity). Row i
/// of the source is row order[i] of the result; without `order` it is row i. Throws Error:
/// too_large for more rows than dpmm_max_similarity_rows, and whatever dpmm_fit throws;
/// invalid_argument for method vi.
BAYES_API void dpmm_similarity(
    RowSource &rows, const Document &options, Control &control,
    const std::function<void(std::int64_t row, std::span<const double> probabilities,
                             std::span<const double> mcse)> &emit,
    std::span<const std::uint32_t> order = {});

/// The bounds of the credible ball: clusters of every row, from 0 by decreasing size.
struct DpmmBounds {
  std::unique_ptr<DirichletProcessMixture> model;
  /// of the estimate, and of the draws that bound the ball; see PartitionEstimate
  std::vector<int> estimate, upper, lower, horizontal;
};

/// Throws Error as dpmm_fit does; invalid_argument for method vi.
BAYES_API DpmmBounds dpmm_credible_bounds(RowSource &rows, const Document &options,
                                          Control &control);

}  // namespace bayes
