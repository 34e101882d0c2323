#include "regression/linreg_accumulator.hpp"

#include <algorithm>
#include <cmath>

#include "base/control.hpp"
#include "base/linalg.hpp"
#include "base/simd.hpp"
#include "regression/terms.hpp"

namespace bayes {
namespace {

/// Four times the relative rounding error of one addition. The errors of n additions grow as
/// sqrt(n) in practice (Higham and Mary 2019). (Errors within a batch of rows, relative to its
/// largest product, are smaller.)
constexpr double one_rounding = 0x1p-104;
/// Largest harmless relative error of variances and of squared residuals.
constexpr double harmless = 1e-10;
/// Relative error of sums about the mean that is harmless even where other columns explain all but
/// 1e-12 of a column's variance.
constexpr double always_harmless = 1e-22;
/// share of a column's sum of squares: with less about the mean the column is constant
constexpr double constant_part = 1e-26;
/// A sum of squares may have shrunk by at most this factor. (sums() treats every column as being as
/// inexact as the one that has shrunk most.)
constexpr double max_shrunk = 1e6;
/// Up to this number of labels, those without rows left are kept.
constexpr int many_labels = max_terms / 4;

}  // namespace

LinregAccumulator::LinregAccumulator(std::pmr::memory_resource *memory)
    : numbers_(memory),
      labelled_(memory),
      right_(memory),
      left_(memory),
      rest_(memory),
      largest_(memory),
      hi_(memory),
      lo_(memory),
      label_cells_(memory),
      cell_of_code_(memory),
      label_hi_(memory),
      label_lo_(memory),
      labels_of_row_(memory),
      peak_(memory) {}

void LinregAccumulator::begin(const RowColumns &columns, int dimension, bool weighted) {
  require_terms(dimension, columns);
  dimension_ = dimension;
  weighted_ = weighted;
  for (int j = 0; j < dimension; ++j)
    (!columns.empty() && columns[std::size_t(j)].kind == ValueKind::label ? labelled_ : numbers_)
        .push_back(j);
  front_ = first_predictor_cell + numbers_.size();
  stride_ = (front_ + lanes - 1) / lanes * lanes;
  right_.assign(buffered * stride_, 0.0);
  left_.assign(buffered * stride_, 0.0);
  if (weighted) rest_.assign(buffered * stride_, 0.0);
  largest_.assign(stride_, 0.0);
  const std::size_t whole_tiles = (front_ + tile - 1) / tile * tile;
  hi_.assign(row_of_front(whole_tiles), 0.0);
  lo_.assign(row_of_front(whole_tiles), 0.0);
  cell_of_code_.resize(labelled_.size());
  labels_of_row_.resize(labelled_.size());
}

std::int64_t LinregAccumulator::terms() const {
  return 1 + std::int64_t(numbers_.size()) + labels_in_use_ - std::int64_t(labelled_.size());
}

void LinregAccumulator::add(double y, std::span<const double> x, double weight) {
  take(y, x, weight, 1);
  if (waiting_ == buffered) flush();
}

bool LinregAccumulator::remove(double y, std::span<const double> x, double weight) {
  flush();
  if (peak_.empty()) {
    peak_.assign(front_, 0.0);
    changes_ = double(rows_);
  }
  for (std::size_t i = 0; i < front_; ++i) peak_[i] = std::max(peak_[i], hi_[row_of_front(i) + i]);
  take(y, x, weight, -1);
  flush(true);
  // Sums of labels without rows left still take time and memory.
  const auto cells = std::int64_t(label_cells_.size()), gone = cells - labels_in_use_;
  return (cells <= many_labels || 2 * gone <= labels_in_use_) && still_exact();
}

void LinregAccumulator::take(double y, std::span<const double> x, double weight, double sign) {
  double *const right = right_.data() + std::size_t(waiting_) * stride_;
  right[one_cell] = 1;
  right[response_cell] = y;
  if (labelled_.empty())
    std::copy(x.begin(), x.end(), right + first_predictor_cell);
  else
    for (std::size_t i = 0; i < numbers_.size(); ++i)
      right[first_predictor_cell + i] = x[std::size_t(numbers_[i])];
  double *const left = left_.data() + std::size_t(waiting_) * stride_;
  if (weighted_) {
    const double signed_weight = sign * weight;
    double *const rest = rest_.data() + std::size_t(waiting_) * stride_;
    for (std::size_t i = 0; i < front_; ++i) {
      left[i] = signed_weight * right[i];
      rest[i] = product_error(signed_weight, right[i], left[i]);
    }
  } else if (sign < 0) {
    for (std::size_t i = 0; i < front_; ++i) left[i] = -right[i];
  }
  rows_ += sign > 0 ? 1 : -1;
  ++changes_;
  if (!labelled_.empty()) take_labels(x, weight, sign);
  ++waiting_;
}

int LinregAccumulator::label_cell(int column, double code) {
  List<int> &cells = cell_of_code_[std::size_t(column)];
  const auto at = std::size_t(code);
  if (at >= cells.size()) cells.resize(at + 1, -1);
  if (cells[at] < 0) {
    cells[at] = int(label_cells_.size());
    label_cells_.push_back({column, int(at), 0});
    label_hi_.resize(row_of_label(label_cells_.size()), 0.0);
    label_lo_.resize(row_of_label(label_cells_.size()), 0.0);
  }
  return cells[at];
}

void LinregAccumulator::add_to_label(std::size_t label, double weight, double rest,
                                     const double *cells) {
  double *const hi = label_hi_.data() + row_of_label(label);
  double *const lo = label_lo_.data() + row_of_label(label);
  for (std::size_t i = 0; i < stride_; i += simd::lanes) {
    simd::Vector h = simd::load(hi + i), l = simd::load(lo + i);
    add_product<true>(simd::all(weight), simd::all(rest), simd::load(cells + i), h, l);
    renormalize(h, l);
    simd::store(hi + i, h);
    simd::store(lo + i, l);
  }
}

void LinregAccumulator::take_labels(std::span<const double> x, double weight, double sign) {
  const double *const cells = right_.data() + std::size_t(waiting_) * stride_;
  const double signed_weight = sign * weight;
  for (std::size_t c = 0; c < labelled_.size(); ++c) {
    const int cell = label_cell(int(c), x[std::size_t(labelled_[c])]);
    labels_of_row_[c] = cell;
    std::int64_t &rows = label_cells_[std::size_t(cell)].rows;
    const bool had = rows > 0;
    rows += sign > 0 ? 1 : -1;
    labels_in_use_ += int(rows > 0) - int(had);
    add_to_label(std::size_t(cell), signed_weight, 0, cells);
    for (std::size_t before = 0; before < c; ++before) {
      const auto high = std::size_t(std::max(cell, labels_of_row_[before])),
                 low = std::size_t(std::min(cell, labels_of_row_[before]));
      const std::size_t at = row_of_label(high) + stride_ + low;
      add_product<false>(signed_weight, 0.0, 1.0, label_hi_[at], label_lo_[at]);
      renormalize(label_hi_[at], label_lo_[at]);
    }
  }
}

/// Sets largest_ for the buffered rows: |weight x cell i x cell j| <= largest_[i] x largest_[j].
template <bool Weighted> void LinregAccumulator::find_largest() {
  for (std::size_t j = 0; j < stride_; j += simd::lanes) {
    simd::Vector most = {};
    for (int r = 0; r < waiting_; ++r) {
      const std::size_t row = std::size_t(r) * stride_;
      simd::Vector x = simd::load(&right_[row + j]);
      if constexpr (Weighted) x *= simd::all(std::sqrt(std::fabs(left_[row + one_cell])));
      most = simd::max(most, simd::max(x, -x));
    }
    simd::store(&largest_[j], most);
  }
}

// Each sum has a lane of its own and adds the rows in their order, so it is the same for vectors of
// any width.
template <bool Weighted> void LinregAccumulator::add_products(const double *left) {
  find_largest<Weighted>();
  for (std::size_t i = 0; i < front_; i += tile) {
    if (i % 64 == 0) poll_here();
    for (std::size_t j = 0; j <= i; j += simd::lanes) {
      const simd::Vector most = 4.0 * waiting_ * simd::load(&largest_[j]);
      simd::Vector offset[tile];
      OffsetSum sum[tile];
      for (std::size_t t = 0; t < tile; ++t)
        sum[t] = OffsetSum(offset[t] = simd::all(largest_[i + t]) * most);
      for (int r = 0; r < waiting_; ++r) {
        const std::size_t row = std::size_t(r) * stride_;
        const simd::Vector right = simd::load(&right_[row + j]);
        for (std::size_t t = 0; t < tile; ++t) {
          simd::Vector rest = {};
          if constexpr (Weighted) rest = simd::all(rest_[row + i + t]);
          sum[t].add_product<Weighted>(simd::all(left[row + i + t]), rest, right);
        }
      }
      for (std::size_t t = 0; t < tile; ++t) {
        const std::size_t at = row_of_front(i + t) + j;
        const simd::Vector before = simd::load(&hi_[at]), added = sum[t].high - offset[t];
        simd::Vector hi = before + added,
                     lo = simd::load(&lo_[at]) + (sum_error(before, added, hi) + sum[t].low);
        renormalize(hi, lo);
        simd::store(&hi_[at], hi);
        simd::store(&lo_[at], lo);
      }
    }
  }
}

void LinregAccumulator::flush(bool removed) {
  if (waiting_ == 0) return;
  if (weighted_)
    add_products<true>(left_.data());
  else
    add_products<false>(removed ? left_.data() : right_.data());
  waiting_ = 0;
}

DoubleDouble LinregAccumulator::front_sum(int i, int j) const {
  const std::size_t at = row_of_front(std::size_t(std::max(i, j))) + std::size_t(std::min(i, j));
  return {hi_[at], lo_[at]};
}

bool LinregAccumulator::still_exact() {
  const DoubleDouble weight = front_sum(one_cell, one_cell);
  if (rows_ <= 0 || !(weight.hi > 0)) return false;
  const double errors = one_rounding * std::sqrt(changes_);
  if (weighted_ && errors * peak_[one_cell] > harmless * weight.hi) return false;
  for (int i = 0; i < int(front_); ++i) {
    const double now = front_sum(i, i).hi;
    if (now > 0 && peak_[std::size_t(i)] > max_shrunk * now) return false;
  }
  std::vector<int> varying;
  std::vector<double> scale;
  double largest = 0;
  for (int i = 1; i < int(front_); ++i) {
    const DoubleDouble squares = front_sum(i, i), sum = front_sum(i, one_cell);
    const double error = errors * peak_[std::size_t(i)],
                 about_mean = (squares - sum * sum / weight).hi;
    if (!(about_mean > constant_part * squares.hi)) {
      if (error > constant_part * squares.hi) return false;
      continue;
    }
    largest = std::max(largest, error / about_mean);
    varying.push_back(i);
    scale.push_back(1 / std::sqrt(about_mean));
  }
  if (largest <= always_harmless) return true;
  // Where columns are collinear, or explain the response, the error must be compared with the
  // residual variances. With an error E of the correlation matrix R, |E| <= e, all variances that
  // follow from R have a relative error of at most e x (size of R) x trace(R^-1). Labels are not in
  // R.
  const auto n = Eigen::Index(varying.size());
  Matrix correlations(n, n), lower;
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j <= i; ++j) {
      const int a = varying[std::size_t(i)], b = varying[std::size_t(j)];
      const DoubleDouble about_mean =
          front_sum(a, b) - front_sum(a, one_cell) * front_sum(b, one_cell) / weight;
      correlations(i, j) = about_mean.hi * scale[std::size_t(i)] * scale[std::size_t(j)];
      correlations(j, i) = correlations(i, j);
    }
  return labelled_.empty() && cholesky(correlations, lower) &&
         largest * double(n) * inverse_lower(lower).squaredNorm() <= harmless;
}

LinregSums LinregAccumulator::sums(const RowColumns &columns) {
  flush();
  LinregSums out;
  out.columns = columns;
  out.dimension = dimension_;
  out.rows = rows_;
  // Labels that have rows, by column, in the order of their bytes.
  std::vector<int> cells;
  for (std::size_t c = 0; c < labelled_.size(); ++c) {
    std::vector<std::string> &labels = out.columns[std::size_t(labelled_[c])].labels;
    std::vector<int> of_column;
    for (std::size_t l = 0; l < label_cells_.size(); ++l)
      if (label_cells_[l].column == int(c) && label_cells_[l].rows > 0) of_column.push_back(int(l));
    const auto text = [&](int cell) -> std::string & {
      return labels[std::size_t(label_cells_[std::size_t(cell)].code)];
    };
    std::sort(of_column.begin(), of_column.end(), [&](int a, int b) { return text(a) < text(b); });
    std::vector<std::string> sorted;
    for (const int cell : of_column) {
      sorted.push_back(text(cell));
      cells.push_back(cell);
    }
    labels = std::move(sorted);
  }
  out.resize();
  double ratio = 1;
  for (std::size_t i = 0; i < peak_.size(); ++i) {
    const double now = hi_[row_of_front(i) + i];
    if (now > 0) ratio = std::max(ratio, peak_[i] / now);
  }
  out.operations = peak_.empty() ? double(rows_) : changes_ * ratio * ratio;
  for (std::size_t i = 0; i < cells.size(); ++i)
    out.label_rows[i] = label_cells_[std::size_t(cells[i])].rows;
  WorkPoll poll;
  for (int i = 0; i < int(front_); ++i)
    for (int j = 0; j <= i; ++j) out.set(i, j, front_sum(i, j));
  for (std::size_t a = 0; a < cells.size(); ++a) {
    const auto label = std::size_t(cells[a]);
    const int i = int(front_ + a);
    const std::size_t row = row_of_label(label);
    for (int j = 0; j < int(front_); ++j)
      out.set(i, j, {label_hi_[row + std::size_t(j)], label_lo_[row + std::size_t(j)]});
    for (std::size_t b = 0; b < a; ++b) {
      const auto other = std::size_t(cells[b]);
      const std::size_t at =
          row_of_label(std::max(label, other)) + stride_ + std::min(label, other);
      out.set(i, int(front_ + b), {label_hi_[at], label_lo_[at]});
    }
    out.set(i, i, {label_hi_[row], label_lo_[row]});
    poll(front_ + a);
  }
  out.require_finite();
  return out;
}

}  // namespace bayes
