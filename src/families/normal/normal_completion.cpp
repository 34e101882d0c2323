#include "families/normal/normal_completion.hpp"

#include <cmath>

#include "base/aligned.hpp"
#include "base/control.hpp"

namespace bayes {
namespace {

/// roots cached at a time
constexpr std::size_t max_roots = 10000;

}  // namespace

void ElementCompletion::set_point(NormalPoint point) {
  point_ = std::move(point);
  roots_.clear();
  precision_.clear();
  if (!point_.shape.dense) return;
  for (const FactoredScale &scale :
       factor_all(point_.shape, point_.covariance, point_.dimension(), "covariance"))
    precision_.push_back(transposed_product(scale.whiten, scale.whiten));
}

std::size_t ElementCompletion::pattern_of(std::span<const double> x) {
  std::vector<int> missing;
  for (std::size_t j = 0; j < x.size(); ++j)
    if (std::isnan(x[j])) missing.push_back(int(j));
  const auto [found, fresh] = numbers_.try_emplace(std::move(missing), patterns_.size());
  if (fresh) patterns_.push_back(found->first);
  return found->second;
}

const Matrix &ElementCompletion::root(int scale, std::size_t pattern) {
  const std::pair key(scale, pattern);
  const auto found = roots_.find(key);
  if (found != roots_.end()) return found->second;
  if (roots_.size() >= max_roots) roots_.clear();
  const std::vector<int> &columns = patterns_[pattern];
  const Eigen::Index m = Eigen::Index(columns.size());
  Matrix own(m, m), lower;
  for (Eigen::Index a = 0; a < m; ++a)
    for (Eigen::Index b = 0; b < m; ++b)
      own(a, b) = precision_[std::size_t(scale)](columns[std::size_t(a)], columns[std::size_t(b)]);
  if (!cholesky(own, lower)) not_positive_definite("precision of the missing elements", scale);
  return roots_.emplace(key, inverse_lower(lower)).first->second;
}

void ElementCompletion::complete(std::span<double> x, std::size_t pattern, int component,
                                 Random *random) {
  const std::vector<int> &columns = patterns_[pattern];
  const int s = point_.shape.index(component), d = int(x.size());
  const auto mean = point_.mean.col(component);
  if (!point_.shape.dense) {
    const Matrix &variance = point_.covariance[std::size_t(s)];
    for (const int j : columns)
      x[std::size_t(j)] =
          mean(j) +
          (random ? std::sqrt(variance(point_.shape.isotropic ? 0 : j, 0)) * random->normal() : 0);
    return;
  }
  const Matrix &precision = precision_[std::size_t(s)], &own = root(s, pattern);
  Vector product(own.rows());
  for (std::size_t a = 0; a < columns.size(); ++a) {
    double sum = 0;
    for (int j = 0; j < d; ++j)
      if (!std::isnan(x[std::size_t(j)]))
        sum += precision(j, columns[a]) * (x[std::size_t(j)] - mean(j));
    product(Eigen::Index(a)) = sum;
  }
  Vector z = -lower_times(own, product);
  if (random)
    for (Eigen::Index a = 0; a < z.size(); ++a) z(a) += random->normal();
  for (std::size_t a = 0; a < columns.size(); ++a) {
    double sum = 0;
    for (Eigen::Index b = Eigen::Index(a); b < z.size(); ++b) sum += own(b, Eigen::Index(a)) * z(b);
    x[std::size_t(columns[a])] = mean(columns[a]) + sum;
  }
}

RowCompletion::RowCompletion(RowSource &from, Control &control)
    : rows(from.shape()),
      incomplete({from.shape().dimension, false}),
      x_(std::size_t(from.shape().dimension)) {
  const RowShape shape = from.shape();
  const std::size_t d = x_.size();
  Buffer block(shape.block_doubles());
  incomplete.set_incomplete(true);
  for (std::int64_t row = 0; row < from.rows(); ++row) {
    if (row % block_rows == 0) {
      control.poll();
      from.read_block(row / block_rows, block.data());
    }
    const double *const at = block.data() + row % block_rows;
    bool missing = false;
    for (std::size_t j = 0; j < d; ++j) {
      x_[j] = at[j * block_rows];
      missing |= std::isnan(x_[j]);
    }
    if (missing) {
      incomplete.append(x_.data());
      numbers_.push_back(row);
      pattern_.push_back(completion_.pattern_of(x_));
      for (const int j : completion_.columns_of(pattern_.back())) x_[std::size_t(j)] = 0;
    }
    rows.append(x_.data(), shape.weighted ? at[d * block_rows] : 1);
  }
}

void RowCompletion::complete(std::size_t i, int component, Random *random) {
  const std::int64_t piece = std::int64_t(i) / incomplete.shape().piece_rows(),
                     inside = std::int64_t(i) % incomplete.shape().piece_rows();
  const double *const at = incomplete.stretch(0)[std::size_t(piece)].blocks +
                           std::size_t(inside / block_rows) * incomplete.shape().block_doubles() +
                           inside % block_rows;
  for (std::size_t j = 0; j < x_.size(); ++j) x_[j] = at[j * block_rows];
  completion_.complete(x_, pattern_[i], component, random);
  rows.replace(numbers_[i], x_.data());
}

void RowCompletion::exchange(StateNumbers &numbers) {
  Buffer block(rows.shape().block_doubles());
  std::int64_t at_block = -1;
  for (const std::int64_t row : numbers_) {
    if (row / block_rows != at_block) {
      poll_here();
      rows.read_block(at_block = row / block_rows, block.data());
    }
    for (std::size_t j = 0; j < x_.size(); ++j)
      x_[j] = block[j * block_rows + std::size_t(row % block_rows)];
    numbers.numbers(x_);
    if (numbers.reads()) rows.replace(row, x_.data());
  }
}

void RowCompletion::complete_by_means(int component, Control &control) {
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    if (control.pending()) control.poll();
    complete(i, component, nullptr);
  }
}

}  // namespace bayes
