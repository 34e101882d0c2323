// Partitions that chains and restarts of a Dirichlet process mixture begin with.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "data/row_access.hpp"
#include "data/sketch.hpp"
#include "fit/seeding.hpp"
#include "partition/chains.hpp"

namespace bayes {

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
  std::vector<int> of(int clusters, std::uint64_t stream) {
    std::vector<int> labels(std::size_t(rows_.rows()), 0);
    if (!sample_) {
      sketch_.emplace(Sketch::of(rows_, control_, seed_, 2000, true));
      sample_.emplace(sketch_->sorted());
      unit_ = deviations(*sample_);
    }
    const int k = int(std::min<std::size_t>(std::size_t(clusters), sketch_->size()));
    if (k <= 1) return labels;
    Random random(seed_, stream, 0, 3);
    const Matrix centres = kmeans_plus_plus(*sample_, k, unit_, random, control_);
    local_step<HardAllocation>(rows_, control_, KMeans(unit_).nearest(diagonal_covariance, centres),
                               std::vector<double>(std::size_t(k), 0.0), {labels.data()});
    make_dense(labels, k);
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

}  // namespace bayes
