#include "families/product/product_starts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bayes {

ProductStarts::ProductStarts(MemoryRows &sample, const Columns &columns, const Vector &variance)
    : rows_(columns.count(), sample.rows()),
      stabilised_(columns.count(), sample.rows()),
      weight_(std::size_t(sample.rows()), 1.0),
      ordered_(std::size_t(columns.count()), true) {
  const RowShape shape = sample.shape();
  Buffer block(shape.block_doubles());
  for (std::int64_t i = 0; i < sample.rows(); ++i) {
    if (i % block_rows == 0) sample.read_block(i / block_rows, block.data());
    const double *const at = block.data() + i % block_rows;
    for (int j = 0; j < shape.dimension; ++j) rows_(j, i) = at[std::size_t(j) * block_rows];
    if (shape.weighted) weight_[std::size_t(i)] = at[std::size_t(shape.dimension) * block_rows];
  }
  columns.for_each([&](int j, const Column &column, const ColumnOffsets &) {
    ordered_[std::size_t(j)] = column.ordered;
    for (Eigen::Index i = 0; i < rows_.cols(); ++i)
      if (const double x = rows_(j, i); x == x)
        stabilised_(j, i) = column.stabilised(column.element(x), variance(j));
      else
        stabilised_(j, i) = x;
  });
}

std::vector<Eigen::Index> ProductStarts::anywhere(int k, Random &random) const {
  std::vector<double> share = weight_;
  std::vector<Eigen::Index> out;
  for (int i = 0; i < k; ++i) {
    out.push_back(random.categorical(share));
    share[std::size_t(out.back())] = 0;
  }
  return out;
}

std::vector<Eigen::Index> ProductStarts::spread(int k, Random &random, Control &control) const {
  const std::size_t n = weight_.size();
  std::vector<double> share = weight_, distance(n, std::numeric_limits<double>::infinity());
  std::vector<Eigen::Index> out;
  for (int i = 0; i < k; ++i) {
    control.poll();
    // If all remaining rows are at distance 0, any row that was not drawn will do.
    if (std::all_of(share.begin(), share.end(), [](double s) { return s == 0; })) {
      share = weight_;
      for (const Eigen::Index drawn : out) share[std::size_t(drawn)] = 0;
    }
    out.push_back(random.categorical(share));
    for (std::size_t r = 0; r < n; ++r) {
      distance[r] = std::min(distance[r], between(Eigen::Index(r), out.back()));
      share[r] = weight_[r] * distance[r];
    }
    distance[std::size_t(out.back())] = share[std::size_t(out.back())] = 0;
  }
  return out;
}

Matrix ProductStarts::rows(const std::vector<Eigen::Index> &which) const {
  Matrix out(rows_.rows(), Eigen::Index(which.size()));
  for (std::size_t i = 0; i < which.size(); ++i) out.col(Eigen::Index(i)) = rows_.col(which[i]);
  return out;
}

double ProductStarts::between(Eigen::Index a, Eigen::Index b) const {
  double total = 0;
  for (Eigen::Index j = 0; j < stabilised_.rows(); ++j) {
    const double difference = stabilised_(j, a) - stabilised_(j, b),
                 square = difference * difference;
    // a missing value has distance 0 from every value
    if (square == square) total += ordered_[std::size_t(j)] ? std::min(square, 1e100) : square > 0;
  }
  return total;
}

ProductPosterior one_row_posteriors(const Matrix &rows, const ProductPosterior &prior) {
  const int k = int(rows.cols());
  ProductStatistics statistics{prior.columns, Vector::Ones(k),
                               Matrix::Zero(prior.columns->size().statistics, k), Vector::Zero(k)};
  detail::for_each_column(
      *prior.columns, k, [&](Eigen::Index i, int j, const Column &column, const ColumnOffsets &at) {
        if (rows(j, i) == rows(j, i))
          column.add(column.element(rows(j, i)), statistics.values.col(i).data() + at.statistics);
      });
  return posterior(statistics, replicate(prior, k));
}

}  // namespace bayes
