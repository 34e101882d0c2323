#include "families/normal/normal_missing.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/simd.hpp"
#include "families/holes.hpp"
#include "families/normal/covariance.hpp"
#include "families/normal/normal_block.hpp"

namespace bayes {

void MissingColumns::find(const double *block) {
  any_ = false;
  empty_.clear();
  bool all = true;
  find_holes(int(holes_.size()), block, holes_.data());
  for (const char hole : holes_) {
    any_ |= hole != 0;
    all &= hole != 0;
  }
  for (int b = 0; all && b < block_rows; ++b) {
    std::size_t j = 0;
    while (j < holes_.size() && std::isnan(block[j * block_rows + std::size_t(b)])) ++j;
    if (j == holes_.size()) empty_.push_back(b);
  }
}

MissingElements::MissingElements(int dimension, int components, int scales)
    : d_(dimension),
      holes_of_columns_(std::size_t(dimension)),
      place_(std::size_t(dimension)),
      conditional_cache_(std::size_t(scales)),
      precision_(std::size_t(scales)),
      unit_(std::size_t(scales)),
      has_means_(std::size_t(components)) {}

MissingElements::Group MissingElements::group(int g) const {
  const Rows &rows = groups_[std::size_t(g)];
  return {rows.pattern->columns,
          std::span(places_).subspan(std::size_t(rows.first), std::size_t(rows.end - rows.first))};
}

void MissingElements::find(const double *block) {
  places_.clear();
  groups_.clear();
  empty_.clear();
  more_.clear();
  holes_ = 0;
  std::fill(has_means_.begin(), has_means_.end(), char(0));
  if (find_columns(block)) recent_.clear();
  if (!with_holes_.empty()) find_groups(block);
  if (places_.empty()) return;
  const int padded = (rows() + simd::lanes - 1) / simd::lanes * simd::lanes;
  rows_of_block_.resize(std::size_t(d_) * block_rows);
  for (int j = 0; j < d_; ++j) {
    const double *const from = block + std::size_t(j) * block_rows;
    double *const to = rows_of_block_.data() + std::size_t(j) * block_rows;
    for (int r = 0; r < rows(); ++r) to[r] = from[places_[std::size_t(r)]];
    for (int r = rows(); r < padded; ++r) to[r] = 0;
  }
}

bool MissingElements::find_columns(const double *block) {
  std::size_t found = 0;
  bool changed = false;
  find_holes(d_, block, holes_of_columns_.data());
  for (int j = 0; j < d_; ++j) {
    if (!holes_of_columns_[std::size_t(j)]) continue;
    if (found == with_holes_.size()) with_holes_.push_back(-1);
    changed |= std::exchange(with_holes_[found], j) != j;
    place_[std::size_t(j)] = int(found++);
  }
  changed |= found != with_holes_.size();
  with_holes_.resize(found);
  return changed;
}

void MissingElements::find_groups(const double *block) {
  const std::size_t words = (with_holes_.size() + 63) / 64;
  masks_.assign(words * block_rows, 0);
  for (std::size_t h = 0; h < with_holes_.size(); ++h) {
    const double *const x = block + std::size_t(with_holes_[h]) * block_rows;
    std::uint64_t *const mask = masks_.data() + h / 64 * block_rows;
    for (int b = 0; b < block_rows; ++b) mask[b] |= std::uint64_t(x[b] != x[b]) << h % 64;
  }
  int group[block_rows];
  std::vector<Mask> of_groups;
  Mask mask(words);
  for (int b = 0; b < block_rows; ++b) {
    group[b] = -1;
    int missing = 0;
    for (std::size_t w = 0; w < words; ++w)
      missing += std::popcount(mask[w] = masks_[w * block_rows + std::size_t(b)]);
    if (missing == 0) continue;
    if (missing == d_) {
      empty_.push_back(b);
      continue;
    }
    holes_ += std::size_t(missing);
    std::size_t g = 0;
    while (g < of_groups.size() && of_groups[g] != mask) ++g;
    if (g == of_groups.size()) {
      of_groups.push_back(mask);
      groups_.push_back({pattern_of(mask), 0, 0});
    }
    group[b] = int(g);
    ++groups_[g].end;
  }
  int first = 0;
  for (Rows &rows : groups_) {
    rows.first = std::exchange(first, first + rows.end);
    rows.end = rows.first;
  }
  places_.resize(std::size_t(first));
  for (int b = 0; b < block_rows; ++b)
    if (group[b] >= 0) places_[std::size_t(groups_[std::size_t(group[b])].end++)] = b;
}

const MissingElements::Pattern *MissingElements::pattern_of(const Mask &mask) {
  for (const auto &[known, pattern] : recent_)
    if (known == mask) return pattern;
  Pattern made{{}, none};
  std::string key(std::size_t(d_ + 7) / 8, '\0');
  for (std::size_t h = 0; h < with_holes_.size(); ++h)
    if (mask[h / 64] >> h % 64 & 1) {
      const int j = with_holes_[h];
      made.columns.push_back(j);
      key[std::size_t(j) / 8] = char(key[std::size_t(j) / 8] | 1 << j % 8);
    }
  auto found = patterns_.find(key);
  if (found == patterns_.end()) {
    const std::size_t size = made.columns.size(), numbers = 1 + size * (size + 1) / 2;
    if ((numbers_ + numbers) * conditional_cache_.size() > max_numbers) {
      more_.push_back(std::make_unique<Pattern>(std::move(made)));
      return more_.back().get();
    }
    made.first = numbers_;
    numbers_ += numbers;
    found = patterns_.emplace(std::move(key), std::move(made)).first;
  }
  if (recent_.size() < 64) recent_.emplace_back(mask, &found->second);
  return &found->second;
}

void MissingElements::learn(int s, const Matrix &whiten) {
  // Scaled to unit diagonal, so that columns of any scale stay in the range of a double.
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
      for (std::size_t l = 0; l < j; ++l) sum = simd::madd(-lower[at(i, l)], lower[at(j, l)], sum);
      if (j < i) {
        lower[at(i, j)] = sum / lower[at(j, j)];
      } else {
        if (!(sum > 0)) not_positive_definite("precision of the missing elements", s);
        lower[at(i, i)] = std::sqrt(sum);
      }
    }
    log_determinant +=
        2 * std::log(lower[at(i, i)]) - 2 * std::log(unit_[std::size_t(s)](columns[i]));
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
      for (std::size_t l = i; l < m; ++l)
        sum = simd::madd(inverse[at(l, i)], inverse[at(l, j)], sum);
      out[1 + at(i, j)] = sum;
    }
}

const double *MissingElements::conditional(int s, int g) {
  const Pattern &pattern = *groups_[std::size_t(g)].pattern;
  const std::size_t m = pattern.columns.size();
  if (pattern.first == none) {
    scratch_.resize(1 + m * (m + 1) / 2);
    compute(s, pattern, scratch_.data());
    return scratch_.data();
  }
  std::vector<double> &own = conditional_cache_[std::size_t(s)];
  if (own.size() < numbers_) own.resize(numbers_, std::numeric_limits<double>::quiet_NaN());
  double *const out = own.data() + pattern.first;
  if (out[0] != out[0]) compute(s, pattern, out);
  return out;
}

void MissingElements::compute_means(int s, const double *mean, double *out) {
  using simd::lanes;
  const Matrix &precision = precision_[std::size_t(s)];
  const Vector &unit = unit_[std::size_t(s)];
  const int padded = (rows() + lanes - 1) / lanes * lanes;
  centred_.resize(std::size_t(normal_block::padded(d_)) * block_rows);
  products_.resize(with_holes_.size() * block_rows);
  // The centred rows with 0 for missing elements; then P times these rows, for the columns that
  // have missing elements.
  for (int j = 0; j < d_; ++j) {
    const simd::Vector m = simd::all(mean[j]), scale = simd::all(1 / unit(j));
    for (int r = 0; r < padded; r += lanes) {
      const simd::Vector x = simd::load(rows_of_block_.data() + j * block_rows + r);
      simd::store(centred_.data() + j * block_rows + r, x == x ? (x - m) * scale : simd::Vector{});
    }
  }
  for (std::size_t h = 0; h < with_holes_.size(); ++h) {
    const double *const of = precision.col(with_holes_[h]).data();
    double *const to = products_.data() + h * block_rows;
    constexpr int each = 4;
    for (int r = 0; r < padded; r += each * lanes) {
      // This may go beyond the last row: the memory is there, and the results are not used.
      simd::Vector sum[each] = {};
      const double *at = centred_.data() + r;
      for (int j = 0; j < d_; ++j, at += block_rows)
#pragma GCC unroll 4
        for (int v = 0; v < each; ++v)
          sum[v] = simd::madd(of[j], simd::load(at + v * lanes), sum[v]);
#pragma GCC unroll 4
      for (int v = 0; v < each; ++v) simd::store(to + r + v * lanes, sum[v]);
    }
  }
  for (int g = 0; g < groups(); ++g) {
    const double *const covariance = conditional(s, g) + 1;
    const std::vector<int> &columns = groups_[std::size_t(g)].pattern->columns;
    const std::size_t m = columns.size();
    for (int r = groups_[std::size_t(g)].first; r < groups_[std::size_t(g)].end; ++r)
      for (std::size_t a = 0; a < m; ++a) {
        double sum = 0;
        for (std::size_t b = 0; b < m; ++b) {
          const double entry =
              b <= a ? covariance[a * (a + 1) / 2 + b] : covariance[b * (b + 1) / 2 + a];
          sum = simd::madd(
              entry,
              products_[std::size_t(place_[std::size_t(columns[b])]) * block_rows + std::size_t(r)],
              sum);
        }
        *out++ = -unit(columns[a]) * sum;
      }
  }
}

const double *MissingElements::means(int k, int s, const double *mean) {
  const bool remembers = has_means_.size() * holes_ <= max_means;
  const std::size_t first = remembers ? std::size_t(k) * holes_ : 0,
                    size = remembers ? has_means_.size() * holes_ : holes_;
  if (means_.size() < size) means_.resize(size);
  if (!remembers || !has_means_[std::size_t(k)]) {
    compute_means(s, mean, means_.data() + first);
    has_means_[std::size_t(k)] = 1;
  }
  return means_.data() + first;
}

void MissingElements::fill(int k, int s, const double *mean, double *y) {
  for (const int b : empty_)
    for (int j = 0; j < d_; ++j) y[std::size_t(j) * block_rows + std::size_t(b)] = 0;
  if (places_.empty()) return;
  const double *from = means(k, s, mean);
  for (int g = 0; g < groups(); ++g) {
    const Group of = group(g);
    for (const int b : of.places)
      for (const int j : of.columns) y[std::size_t(j) * block_rows + std::size_t(b)] = *from++;
  }
}

const double *MissingElements::filled_rows(int k, int s, const double *mean) {
  const double *from = means(k, s, mean);
  const std::size_t padded = std::size_t(normal_block::padded(d_)) * block_rows;
  centred_.resize(padded);
  for (int j = 0; j < d_; ++j) {
    const simd::Vector m = simd::all(mean[j]);
    for (int r = 0; r < block_rows; r += simd::lanes) {
      const int at = j * block_rows + r;
      simd::store(centred_.data() + at, simd::load(rows_of_block_.data() + at) - m);
    }
  }
  std::fill(centred_.begin() + d_ * block_rows, centred_.end(), 0.0);
  for (const Rows &rows : groups_)
    for (int r = rows.first; r < rows.end; ++r)
      for (const int j : rows.pattern->columns)
        centred_[std::size_t(j) * block_rows + std::size_t(r)] = *from++;
  return centred_.data();
}

void MissingElements::add_covariance(int s, int g, double weight, double *scatter) {
  const double *covariance = conditional(s, g) + 1;
  const Vector &unit = unit_[std::size_t(s)];
  const std::vector<int> &columns = groups_[std::size_t(g)].pattern->columns;
  for (const int i : columns) {
    double *const to = scatter + std::size_t(i) * std::size_t(i + 1) / 2;
    const double factor = weight * unit(i);
    for (const int j : columns) {
      if (j > i) break;
      to[j] += factor * (*covariance++ * unit(j));
    }
  }
}

}  // namespace bayes
