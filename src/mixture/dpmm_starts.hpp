// Starting points of chains and restarts of a Dirichlet process mixture: partitions, or a start
// model.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <variant>
#include <vector>

#include "base/assignment.hpp"
#include "data/row_access.hpp"
#include "data/sketch.hpp"
#include "families/product/product_prior.hpp"
#include "fit/fit_run.hpp"
#include "fit/seeding.hpp"
#include "mixture/dpmm_labels.hpp"
#include "mixture/dpmm_state.hpp"
#include "mixture/stick_breaking.hpp"
#include "partition/chains.hpp"
#include "partition/statistics_of_labels.hpp"

namespace bayes {

/// The statistics of clusters, as of statistics_of_labels().
template <class Q>
auto statistics_of(RowSource &rows, const Q &prior, const RowLabels &labels, int k,
                   Control &control) {
  return statistics_of_labels(rows, prior, labels.here.data(), k, control,
                              labels.given_elsewhere());
}

/// Starting partitions: every row goes to the nearest of a few centres, which k-means++ draws from
/// the rows.
class StartingPartitions {
 public:
  StartingPartitions(RowSource &rows, std::uint64_t seed, Control &control)
      : rows_(rows),
        seed_(seed),
        control_(control) {}

  /// The labels of a partition into at most `clusters` clusters, from 0 without gaps. `stream`
  /// selects the random stream.
  RowLabels of(int clusters, std::uint64_t stream) {
    if (!sample_) {
      sketch_.emplace(Sketch::of(rows_, control_, seed_, 2000, true));
      sample_.emplace(sketch_->sorted());
      unit_ = deviations(*sample_);
    }
    const int k = int(std::min<std::size_t>(std::size_t(clusters), sketch_->size()));
    if (k <= 1) return label_equally(rows_);
    Random random(seed_, stream, 0, 3);
    const Matrix centres = kmeans_plus_plus(*sample_, k, unit_, random, control_);
    RowLabels labels =
        label_rows(rows_, KMeans(unit_).nearest(diagonal_covariance, centres),
                   std::vector<double>(std::size_t(k), 0.0), LabelKind::nearest, nullptr, control_);
    int next = 0;
    std::vector<int> numbers;
    for (const std::int64_t count : label_counts(rows_, labels, k, control_))
      numbers.push_back(count > 0 ? next++ : 0);
    labels.renumber(numbers);
    return labels;
  }

 private:
  /// The standard deviation of every column, 1 for a constant one. Replaces missing elements of the
  /// rows by column means.
  static Vector deviations(MemoryRows &rows) {
    const RowAccess access(rows, "");
    Vector x(access.dimension()), mean = Vector::Zero(x.size()), squares = mean, count = mean;
    for (std::int64_t i = 0; i < access.rows(); ++i) {
      access.read(i, x.data());
      for (Eigen::Index j = 0; j < x.size(); ++j) {
        if (std::isnan(x(j))) continue;
        const double difference = x(j) - mean(j);
        mean(j) += difference / ++count(j);
        squares(j) += difference * (x(j) - mean(j));
      }
    }
    for (std::int64_t i = 0; rows.incomplete() && i < access.rows(); ++i) {
      access.read(i, x.data());
      for (Eigen::Index j = 0; j < x.size(); ++j)
        if (std::isnan(x(j))) x(j) = mean(j);
      rows.replace(i, x.data());
    }
    return squares.cwiseQuotient(count.cwiseMax(1)).unaryExpr([](double v) {
      return v > 0 ? std::sqrt(v) : 1.0;
    });
  }

  RowSource &rows_;
  const std::uint64_t seed_;
  Control &control_;
  std::optional<Sketch> sketch_;
  std::optional<MemoryRows> sample_;
  Vector unit_;
};

// ---- a start model ----

/// The components of a start model, with the categories of this prior.
inline ProductPosterior suited(const ProductPosterior &q, const ProductPosterior &prior) {
  return widened(q, prior);
}
inline const NormalWishart &suited(const NormalWishart &q, const NormalWishart &) { return q; }

template <class Q> const DpmmFitted<Q> &fitted_as(const DirichletProcessMixture &model) {
  return std::get<DpmmFitted<Q>>(model.state->fitted);
}

/// The posterior of the model, or of the clusters of a sampled one, for at least as many sticks as
/// there are clusters. A stick that is left over begins with the rows to which `labels`, those of
/// label_by_model(), give a new cluster: few would come to a stick without rows.
template <class Q>
StickPosterior<Q> posterior_of_model(const DirichletProcessMixture &model, const Q &prior,
                                     int sticks, const StickWeights &weights, RowSource &rows,
                                     const RowLabels &labels, Control &control) {
  const DpmmFitted<Q> &from = fitted_as<Q>(model);
  const bool variational = is_variational(model.info.method);
  const int clusters = model.size(),
            known = std::min(sticks, variational ? from.sizes[0] : clusters);
  std::vector<int> order(std::size_t(known), 0);
  std::iota(order.begin(), order.end(), 0);
  Q components = pick(suited(variational ? from.components : from.clusters, prior), order);
  if (known < sticks) components = joined(components, replicate(prior, sticks - known));
  Vector counts = Vector::Zero(sticks);
  for (int i = 0; i < known; ++i)
    counts(i) = variational ? double(model.info.rows) * from.weights[std::size_t(i)]
                            : double(model.state->counts[std::size_t(i)]);
  const std::int64_t fresh = label_counts(rows, labels, clusters + 1, control).back();
  if (fresh > 0 && clusters < sticks) {
    RowLabels not_new = labels;
    std::vector<int> numbers(std::size_t(clusters), 1);
    numbers.push_back(0);
    not_new.renumber(numbers);
    const Q both = posterior(statistics_of(rows, prior, not_new, 2, control), replicate(prior, 2));
    order.resize(std::size_t(sticks));
    std::iota(order.begin(), order.end(), 0);
    order[std::size_t(clusters)] = sticks;
    components = pick(joined(components, both), order);
    counts(clusters) = double(fresh);
  }
  const Sticks before{{}, {}, {model.state->concentration, 1}};
  order = weights.best_order(counts, before);
  return {weights.update(counts, order, before), pick(components, order)};
}

/// Renumbers clusters: in the order of the clusters of `before` (those below k_before) with which
/// they share the most rows, and last those that share none, which stay in their order. Returns for
/// every new number the old one. Error too_large if memory for all pairs of clusters is not
/// allowed.
inline std::vector<int> renumber_as(RowSource &rows, const RowLabels &before, int k_before,
                                    RowLabels &labels, int k, Control &control) {
  const auto n = std::size_t(std::max(k, k_before));
  require_memory({.what = std::to_string(k) + " clusters, matched to the " +
                          std::to_string(k_before) + " of the start model,",
                  .bytes = 8 * double(n) * double(n),
                  .hint = "or start from a model of fewer clusters."},
                 control);
  std::vector<double> overlap(n * n, 0.0);
  const std::vector<std::int64_t> shared =
      label_overlap(rows, labels, k, before, k_before + 1, control);
  for (int i = 0; i < k; ++i)
    for (int j = 0; j < k_before; ++j)
      overlap[std::size_t(i) * n + std::size_t(j)] =
          double(shared[std::size_t(i) * std::size_t(k_before + 1) + std::size_t(j)]);
  const std::vector<int> match = best_assignment(overlap, int(n));
  const auto place = [&](int cluster) {
    const auto of_before = std::size_t(match[std::size_t(cluster)]);
    return overlap[std::size_t(cluster) * n + of_before] > 0 ? of_before : n;
  };
  std::vector<int> order(std::size_t(k), 0), number = order;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&place](int a, int b) { return place(a) < place(b); });
  for (std::size_t i = 0; i < order.size(); ++i) number[std::size_t(order[i])] = int(i);
  labels.renumber(number);
  return order;
}

/// The order of components by descending number of rows; labels are renumbered accordingly.
struct OrderByCounts {
  std::vector<int> order;
  int clusters = 0;  // number of components that have rows

  OrderByCounts(RowSource &rows, RowLabels &labels, int components, Control &control) {
    const std::vector<std::int64_t> of_labels = label_counts(rows, labels, components, control);
    const Vector counts = Eigen::Map<const Eigen::Array<std::int64_t, Eigen::Dynamic, 1>>(
                              of_labels.data(), components)
                              .cast<double>();
    order = descending_order(counts);
    std::vector<int> name(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) name[std::size_t(order[i])] = int(i);
    labels.renumber(name);
    clusters = int((counts.array() > 0).count());
  }
  /// Puts component number first[i] at place i, for the first components.
  void reorder(const std::vector<int> &first) {
    const std::vector<int> before = order;
    for (std::size_t i = 0; i < first.size(); ++i) order[i] = before[std::size_t(first[i])];
  }
};

}  // namespace bayes
