#include "fit/seeding.hpp"

#include <algorithm>

namespace bayes {
namespace {

/// Row i of a sample, column by column.
class Rows {
 public:
  explicit Rows(MemoryRows &sample) : shape_(sample.shape()), pieces_(sample.stretch(0)) {}
  Vector row(std::int64_t i) const {
    const double *at = block(i);
    Vector x(shape_.dimension);
    for (int j = 0; j < shape_.dimension; ++j) x(j) = at[std::size_t(j) * block_rows];
    return x;
  }
  double weight(std::int64_t i) const {
    return shape_.weighted ? block(i)[std::size_t(shape_.dimension) * block_rows] : 1;
  }

 private:
  const double *block(std::int64_t i) const {
    const std::int64_t piece = i / shape_.piece_rows(), inside = i % shape_.piece_rows();
    return pieces_[std::size_t(piece)].blocks +
           std::size_t(inside / block_rows) * shape_.block_doubles() + inside % block_rows;
  }
  RowShape shape_;
  std::span<const Piece> pieces_;
};

}  // namespace

Matrix kmeans_plus_plus(MemoryRows &sample, int k, const Vector &deviation, Random &random,
                        Control &control) {
  const Rows rows(sample);
  const int d = sample.shape().dimension;
  const std::size_t n = std::size_t(sample.rows());
  Matrix scaled(d, Eigen::Index(n));  // in units of the columns' deviations
  std::vector<double> share(n), distance(n, std::numeric_limits<double>::infinity());
  std::vector<bool> drawn(n);
  for (std::size_t i = 0; i < n; ++i) {
    scaled.col(Eigen::Index(i)) = rows.row(std::int64_t(i)).cwiseQuotient(deviation);
    share[i] = rows.weight(std::int64_t(i));
  }
  Matrix centres(d, k);
  for (int j = 0; j < k; ++j) {
    control.poll();
    const int chosen = random.categorical(share);
    centres.col(j) = rows.row(chosen);
    const Vector centre = scaled.col(chosen);
    for (std::size_t i = 0; i < n; ++i) {
      distance[i] = std::min(distance[i], (scaled.col(Eigen::Index(i)) - centre).squaredNorm());
      share[i] = rows.weight(std::int64_t(i)) * distance[i];
    }
    distance[std::size_t(chosen)] = share[std::size_t(chosen)] = 0;
    drawn[std::size_t(chosen)] = true;
    // Distances of distinct rows may underflow to 0, and rows with missing elements may be equal
    // once they are completed: any row that was not drawn is then as good as another.
    if (std::all_of(share.begin(), share.end(), [](double s) { return s == 0; }))
      for (std::size_t i = 0; i < n; ++i) share[i] = drawn[i] ? 0 : rows.weight(std::int64_t(i));
  }
  return centres;
}

Matrix random_rows(MemoryRows &sample, int k, Random &random) {
  const Rows rows(sample);
  std::vector<double> share(std::size_t(sample.rows()));
  for (std::size_t i = 0; i < share.size(); ++i) share[i] = rows.weight(std::int64_t(i));
  Matrix centres(sample.shape().dimension, k);
  for (int j = 0; j < k; ++j) {
    const int chosen = random.categorical(share);
    centres.col(j) = rows.row(chosen);
    share[std::size_t(chosen)] = 0;
  }
  return centres;
}

Matrix these_rows(MemoryRows &sample, const std::vector<std::int64_t> &which) {
  const Rows rows(sample);
  Matrix out(sample.shape().dimension, std::ssize(which));
  for (std::size_t j = 0; j < which.size(); ++j) out.col(Eigen::Index(j)) = rows.row(which[j]);
  return out;
}

NormalScorer KMeans::nearest(const CovarianceShape &shape, const Matrix &centres) const {
  FactoredScale scale;
  const Vector whiten = std::sqrt(2.0) * deviation_.cwiseInverse();
  if (shape.dense)
    scale.whiten = whiten.asDiagonal();
  else
    scale.whiten = whiten;
  return {shape, centres,
          std::vector<FactoredScale>(std::size_t(shape.count(int(centres.cols()))), scale),
          Vector::Zero(centres.cols()), false};
}

Matrix settled_centres(const KMeans &kmeans, Matrix centres, RowSource &sample, double weight,
                       Control &control) {
  Schedule brief;
  brief.max_iterations = 20;
  brief.tolerance = 1e-3 * weight;
  QuietControl quiet(control);
  return optimize(kmeans, std::move(centres), sample, quiet, brief).state;
}

}  // namespace bayes
