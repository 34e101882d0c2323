#include "base/wide_matrix.hpp"

#include <algorithm>
#include <cmath>

#include "base/control.hpp"
#include "base/simd.hpp"

namespace bayes {
namespace {

std::size_t whole_vectors(int size) {
  return (std::size_t(size) + simd::sum_lanes - 1) / simd::sum_lanes * simd::sum_lanes;
}

/// factor (h + l) - p, where p is the rounded product of the high parts.
simd::Vector low_product(DoubleDouble factor, simd::Vector h, simd::Vector l, simd::Vector p) {
  const simd::Vector f = simd::all(factor.hi);
  return product_error(f, h, p) + (f * l + simd::all(factor.lo) * h);
}

}  // namespace

WideMatrix::WideMatrix(int size)
    : size_(size),
      stride_(whole_vectors(size)),
      hi_(std::size_t(size) * stride_, 0.0),
      lo_(std::size_t(size) * stride_, 0.0) {}

void WideMatrix::subtract_row(int i, DoubleDouble factor, const WideMatrix &other, int k,
                              int first) {
  const DoubleDouble minus = -factor;
  const std::size_t begin = std::size_t(first) / simd::sum_lanes * simd::sum_lanes;
  double *const hi = hi_.data() + at(i, 0), *const lo = lo_.data() + at(i, 0);
  const double *const other_hi = other.hi_.data() + other.at(k, 0);
  const double *const other_lo = other.lo_.data() + other.at(k, 0);
  for (std::size_t j = begin; j < stride_; j += simd::lanes) {
    const simd::Vector x = simd::load(other_hi + j), p = simd::all(minus.hi) * x;
    const simd::Vector e = low_product(minus, x, simd::load(other_lo + j), p);
    simd::Vector h = simd::load(hi + j), l = simd::load(lo + j);
    const simd::Vector s = h + p;
    l = l + (sum_error(h, p, s) + e);
    h = s;
    renormalize(h, l);
    simd::store(hi + j, h);
    simd::store(lo + j, l);
  }
}

void WideMatrix::scale_row(int i, DoubleDouble factor, int first, int end) {
  for (int j = first; j < end; ++j) set(i, j, (*this)(i, j) * factor);
}

WideCholesky::WideCholesky(WideMatrix a, std::span<const double> tolerance, int border)
    : u_(std::move(a)),
      size_(u_.size() - border),
      dependent_(std::size_t(size_), false) {
  std::vector<double> whole;
  for (int k = 0; k < size_; ++k) whole.push_back(u_(k, k).hi);
  WorkPoll poll;
  for (int k = 0; k < size_; ++k) {
    const DoubleDouble pivot = u_(k, k);
    const double share = pivot.hi / whole[std::size_t(k)];
    if (!(share > tolerance[std::size_t(k)])) {
      dependent_[std::size_t(k)] = true;
      u_.scale_row(k, 0.0, k, u_.size());
      continue;
    }
    const DoubleDouble root = sqrt(pivot);
    u_.scale_row(k, DoubleDouble(1) / root, k + 1, u_.size());
    u_.set(k, k, root);
    for (int i = k + 1; i < u_.size(); ++i) {
      u_.subtract_row(i, u_(k, i), u_, k, i);
      poll(std::size_t(8 * (u_.size() - i)));
    }
  }
}

int WideCholesky::rank() const {
  return int(std::count(dependent_.begin(), dependent_.end(), false));
}

double WideCholesky::log_determinant() const {
  double out = 0;
  for (int k = 0; k < size_; ++k)
    if (!dependent(k)) out += 2 * std::log(u_(k, k).hi);
  return out;
}

std::vector<DoubleDouble> WideCholesky::solve(int column) const {
  std::vector<DoubleDouble> x(static_cast<std::size_t>(size_));
  for (int i = size_ - 1; i >= 0; --i) {
    if (dependent(i)) continue;
    DoubleDouble rest = u_(i, size_ + column);
    for (int k = i + 1; k < size_; ++k) rest = rest - u_(i, k) * x[std::size_t(k)];
    x[std::size_t(i)] = rest / u_(i, i);
  }
  return x;
}

WideMatrix WideCholesky::inverse_factor() const {
  WideMatrix out(size_);
  WorkPoll poll;
  for (int i = 0; i < size_; ++i) {
    if (dependent(i)) continue;
    out.set(i, i, 1.0);
    for (int k = 0; k < i; ++k) {
      if (!dependent(k)) out.subtract_row(i, u_(k, i), out, k, 0);
      poll(std::size_t(8 * size_));
    }
    out.scale_row(i, DoubleDouble(1) / u_(i, i), 0, i + 1);
  }
  return out;
}

}  // namespace bayes
