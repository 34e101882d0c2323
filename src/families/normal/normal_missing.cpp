#include "families/normal/normal_missing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/simd.hpp"
#include "families/normal/covariance.hpp"
#include "families/normal/normal_block.hpp"

namespace bayes {

MissingElements::MissingElements(int dimension, int scales)
    : d_(dimension),
      remembered_(std::size_t(scales)),
      place_(std::size_t(dimension)),
      precision_(std::size_t(scales)),
      unit_(std::size_t(scales)) {}

void MissingElements::find(const double *block) {
  rows_.clear();
  empty_.clear();
  more_.clear();
  with_holes_.clear();
  if (!misses_element(d_, block)) return;
  for (int j = 0; j < d_; ++j) {
    const double *const x = block + std::size_t(j) * block_rows;
    bool holes = false;
    for (int b = 0; b < block_rows; ++b) holes |= x[b] != x[b];
    if (!holes) continue;
    place_[std::size_t(j)] = int(with_holes_.size());
    with_holes_.push_back(j);
  }
  for (int b = 0; b < block_rows; ++b) {
    int missing = 0;
    for (const int j : with_holes_) {
      const double x = block[std::size_t(j) * block_rows + std::size_t(b)];
      missing += x != x;
    }
    if (missing == d_)
      empty_.push_back(b);
    else if (missing > 0)
      rows_.push_back({b, pattern_of(block + b)});
  }
}

const MissingElements::Pattern *MissingElements::pattern_of(const double *row) {
  key_.assign(std::size_t(d_ + 7) / 8, '\0');
  std::size_t size = 0;
  for (const int j : with_holes_) {
    const double x = row[std::size_t(j) * block_rows];
    if (x == x) continue;
    key_[std::size_t(j) / 8] = char(key_[std::size_t(j) / 8] | 1 << j % 8);
    ++size;
  }
  const auto found = patterns_.find(key_);
  if (found != patterns_.end()) return &found->second;
  Pattern pattern{{}, none};
  pattern.columns.reserve(size);
  for (const int j : with_holes_)
    if (key_[std::size_t(j) / 8] >> j % 8 & 1) pattern.columns.push_back(j);
  const std::size_t numbers = 1 + size * (size + 1) / 2;
  if ((numbers_ + numbers) * remembered_.size() > most_numbers) {
    more_.push_back(std::make_unique<Pattern>(std::move(pattern)));
    return more_.back().get();
  }
  pattern.first = numbers_;
  numbers_ += numbers;
  return &patterns_.emplace(key_, std::move(pattern)).first->second;
}

void MissingElements::learn(int s, const Matrix &whiten) {
  // In units in which its diagonal is 1, so that columns of any scale stay in the range of a double.
  Vector &unit = unit_[std::size_t(s)];
  unit.resize(d_);
  Matrix scaled = whiten;
  for (int j = 0; j < d_; ++j) {
    double largest = 0, squares = 0;
    for (int i = j; i < d_; ++i) largest = std::max(largest, std::abs(whiten(i, j)));
    for (int i = j; i < d_; ++i) squares += whiten(i, j) / largest * (whiten(i, j) / largest);
    unit(j) = 1 / largest / std::sqrt(squares);
    for (int i = j; i < d_; ++i) scaled(i, j) *= unit(j);
    for (int i = 0; i < j; ++i) scaled(i, j) = 0;
  }
  precision_[std::size_t(s)] = transposed_product(scaled, scaled);
}

void MissingElements::compute(int s, const Pattern &pattern, double *out) {
  const Matrix &precision = precision_[std::size_t(s)];
  const std::vector<int> &columns = pattern.columns;
  const std::size_t m = columns.size();
  factor_.resize(m * (m + 1));
  // L of P_hh = L L', then its inverse, both row by row.
  double *const lower = factor_.data(), *const inverse = lower + m * (m + 1) / 2;
  const auto at = [](std::size_t i, std::size_t j) { return i * (i + 1) / 2 + j; };
  double log_determinant = 0;
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = precision(columns[i], columns[j]);
      for (std::size_t l = 0; l < j; ++l)
        sum = simd::madd(-lower[at(i, l)], lower[at(j, l)], sum);
      if (j < i) {
        lower[at(i, j)] = sum / lower[at(j, j)];
      } else {
        if (!(sum > 0)) not_positive_definite("precision of the missing elements", s);
        lower[at(i, i)] = std::sqrt(sum);
      }
    }
    log_determinant += 2 * std::log(lower[at(i, i)]) - 2 * std::log(unit_[std::size_t(s)](columns[i]));
  }
  for (std::size_t j = 0; j < m; ++j)
    for (std::size_t i = j; i < m; ++i) {
      double sum = i == j ? 1 : 0;
      for (std::size_t l = j; l < i; ++l)
        sum = simd::madd(-lower[at(i, l)], inverse[at(l, j)], sum);
      inverse[at(i, j)] = sum / lower[at(i, i)];
    }
  out[0] = 0.5 * (double(m) * std::log(2 * std::numbers::pi) - log_determinant);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (std::size_t l = i; l < m; ++l) sum = simd::madd(inverse[at(l, i)], inverse[at(l, j)], sum);
      out[1 + at(i, j)] = sum;
    }
}

const double *MissingElements::conditional(int s, int row) {
  const Pattern &pattern = *rows_[std::size_t(row)].pattern;
  const std::size_t m = pattern.columns.size();
  if (pattern.first == none) {
    scratch_.resize(1 + m * (m + 1) / 2);
    compute(s, pattern, scratch_.data());
    return scratch_.data();
  }
  std::vector<double> &own = remembered_[std::size_t(s)];
  if (own.size() < numbers_) own.resize(numbers_, std::numeric_limits<double>::quiet_NaN());
  double *const out = own.data() + pattern.first;
  if (out[0] != out[0]) compute(s, pattern, out);
  return out;
}

void MissingElements::fill(int s, double *y) {
  using simd::lanes;
  for (const int b : empty_)
    for (int j = 0; j < d_; ++j) y[std::size_t(j) * block_rows + std::size_t(b)] = 0;
  if (rows_.empty()) return;
  const Matrix &precision = precision_[std::size_t(s)];
  const Vector &unit = unit_[std::size_t(s)];
  const int padded = (rows() + lanes - 1) / lanes * lanes;
  rows_of_block_.resize(std::size_t(normal_block::padded(d_)) * block_rows);
  products_.resize(with_holes_.size() * block_rows);
  // The rows side by side, 0 for what is missing; then P times them, where something is.
  for (int j = 0; j < d_; ++j) {
    const double *const from = y + std::size_t(j) * block_rows;
    double *const to = rows_of_block_.data() + std::size_t(j) * block_rows;
    const double scale = 1 / unit(j);
    for (int r = 0; r < rows(); ++r) {
      const double x = from[place(r)];
      to[r] = x == x ? x * scale : 0;
    }
    for (int r = rows(); r < padded; ++r) to[r] = 0;
  }
  for (std::size_t h = 0; h < with_holes_.size(); ++h) {
    const double *const of = precision.col(with_holes_[h]).data();
    for (int r = 0; r < padded; r += lanes) {
      simd::Vector sum = {};
      const double *at = rows_of_block_.data() + r;
      for (int j = 0; j < d_; ++j, at += block_rows) sum = simd::madd(of[j], simd::load(at), sum);
      simd::store(products_.data() + h * block_rows + r, sum);
    }
  }
  for (int r = 0; r < rows(); ++r) {
    const double *const covariance = conditional(s, r) + 1;
    const std::span<const int> holes = columns(r);
    const auto product = [&](std::size_t a) {
      return products_[std::size_t(place_[std::size_t(holes[a])]) * block_rows + std::size_t(r)];
    };
    for (std::size_t a = 0; a < holes.size(); ++a) {
      double sum = 0;
      for (std::size_t b = 0; b <= a; ++b)
        sum = simd::madd(covariance[a * (a + 1) / 2 + b], product(b), sum);
      for (std::size_t b = a + 1; b < holes.size(); ++b)
        sum = simd::madd(covariance[b * (b + 1) / 2 + a], product(b), sum);
      y[std::size_t(holes[a]) * block_rows + std::size_t(place(r))] = -unit(holes[a]) * sum;
    }
  }
}

void MissingElements::add_covariance(int s, int row, double weight, double *scatter) {
  const double *covariance = conditional(s, row) + 1;
  const Vector &unit = unit_[std::size_t(s)];
  for (const int i : columns(row)) {
    double *const to = scatter + std::size_t(i) * std::size_t(i + 1) / 2;
    const double factor = weight * unit(i);
    for (const int j : columns(row)) {
      if (j > i) break;
      to[j] += factor * (*covariance++ * unit(j));
    }
  }
}

const double *MissingElements::gather(const double *y) {
  rows_of_block_.resize(std::size_t(normal_block::padded(d_)) * block_rows);
  for (int j = 0; j < normal_block::padded(d_); ++j) {
    double *const to = rows_of_block_.data() + std::size_t(j) * block_rows;
    for (int r = 0; r < rows(); ++r) to[r] = y[std::size_t(j) * block_rows + std::size_t(place(r))];
    for (int r = rows(); r < block_rows; ++r) to[r] = 0;
  }
  return rows_of_block_.data();
}

}  // namespace bayes
