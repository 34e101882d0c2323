#include "families/normal/normal_clusters.hpp"

#include <cmath>
#include <numbers>
#include <utility>

#include "base/simd.hpp"
#include "base/special.hpp"

namespace bayes {

NormalClusters::NormalClusters(const NormalWishart &prior)
    : prior_(prior),
      shape_(prior.shape),
      d_(prior.dimension()),
      scales_(scale_count()) {
  if (!factor_of(prior.B[0], prior_root_)) not_positive_definite("prior scale B", 0);
  FactoredScale factored;
  if (!factor(shape_, prior.B[0], d_, factored)) not_positive_definite("prior scale B", 0);
  prior_log_normaliser_ = wishart_log_normaliser(shape_, prior.a(0), factored, d_);
  reserve(simd::lanes);
  fill(0, prior, prior_root_);  // slot 0 is used temporarily: the prior predictive
  prior_column_.assign(column(0), column(0) + rows());
  y_.resize(std::size_t(d_) * simd::lanes);
  v_.resize(std::size_t(d_));
}

int NormalClusters::padded() const { return (size_ + simd::lanes - 1) / simd::lanes * simd::lanes; }

int NormalClusters::open() {
  if (size_ == capacity_) reserve(2 * capacity_);
  put(size_, prior_column_.data());
  return size_++;
}

void NormalClusters::close(int slot) {
  --size_;
  if (slot != size_) put(slot, column(size_));
}

void NormalClusters::exchange(StateNumbers &numbers, int most) {
  int size = size_;
  numbers.whole(size, 0, most);
  numbers.require(std::size_t(size) * rows());
  while (size_ > size) close(size_ - 1);
  while (size_ < size) open();
  std::vector<double> one(rows());
  for (int slot = 0; slot < size_; ++slot) {
    std::copy_n(column(slot), one.size(), one.begin());
    numbers.numbers(one);
    if (numbers.reads()) put(slot, one.data());
  }
}

void NormalClusters::add(int slot, const double *x) {
  const double c = at(Row::c, slot);
  change(slot, x, std::sqrt(c / (c + 1)), 1 / (c + 1), +1);
}

bool NormalClusters::remove(int slot, const double *x) {
  const double c = at(Row::c, slot);
  return change(slot, x, std::sqrt(c / (c - 1)), -1 / (c - 1), -1);
}

void NormalClusters::log_predictive(const double *x, double *out) const {
  for (int slot = 0; slot < size_; slot += simd::lanes) lanes_predictive(x, slot, out + slot);
}

double NormalClusters::log_predictive(int slot, const double *x) const {
  const int first = slot / simd::lanes * simd::lanes;
  alignas(cache_line) double out[simd::lanes];
  lanes_predictive(x, first, out);
  return out[slot - first];
}

double NormalClusters::log_prior_predictive(const double *x) {
  const int slot = open();
  const double out = log_predictive(slot, x);
  --size_;
  return out;
}

double NormalClusters::log_marginal(int slot) const {
  const double n = count(slot), a = prior_.a(0) + (shape_.isotropic ? n * d_ : n);
  FactoredScale factored;
  factored.log_determinant = at(Row::log_determinant, slot) * (shape_.isotropic ? d_ : 1);
  return -0.5 * d_ * n * std::log(2 * std::numbers::pi) + prior_log_normaliser_ -
         wishart_log_normaliser(shape_, a, factored, d_) +
         0.5 * d_ * std::log(prior_.c(0) / at(Row::c, slot));
}

NormalWishart NormalClusters::posterior() const {
  NormalWishart out = replicate(prior_, size_);
  for (int k = 0; k < size_; ++k) {
    out.c(k) = at(Row::c, k);
    out.a(k) += shape_.isotropic ? count(k) * d_ : count(k);
    for (int j = 0; j < d_; ++j) out.m(j, k) = at(Row::size + j, k);
    Matrix &scale = out.B[std::size_t(k)];
    if (shape_.dense) {
      Matrix lower = Matrix::Zero(d_, d_);
      for (int i = 0; i < d_; ++i)
        for (int j = 0; j <= i; ++j)
          lower(i, j) = j == i ? 1 / at(Row::size + d_ + packed(i, j), k)
                               : at(Row::size + d_ + packed(i, j), k);
      scale = product_transposed(lower, lower);
      for (int i = 0; i < d_; ++i)  // exactly symmetric, as readers of stored models require
        for (int j = 0; j < i; ++j) scale(j, i) = scale(i, j);
    } else {
      for (int i = 0; i < int(scales_); ++i) scale(i, 0) = at(Row::size + d_ + i, k);
    }
  }
  return out;
}

std::size_t NormalClusters::scale_count() const {
  return shape_.dense       ? std::size_t(d_) * std::size_t(d_ + 1) / 2
         : shape_.isotropic ? 1
                            : std::size_t(d_);
}

void NormalClusters::put(int slot, const double *from) {
  std::copy_n(from, rows(), column(slot));
  publish(slot);
}

void NormalClusters::publish(int slot) {
  const double *const from = column(slot);
  double *to = data_.data() + slot;
  for (std::size_t row = 0; row < rows(); ++row, to += capacity_) *to = from[row];
}

void NormalClusters::reserve(int slots) {
  const int capacity = (std::max(slots, 1) + simd::lanes - 1) / simd::lanes * simd::lanes;
  if (capacity <= capacity_) return;
  // Unused slots hold harmless numbers, as lanes past the last cluster are computed too.
  data_.assign(rows() * std::size_t(capacity), 1.0);
  columns_.resize(rows() * std::size_t(capacity), 1.0);
  const int before = std::exchange(capacity_, capacity);
  for (int slot = 0; slot < before; ++slot) publish(slot);
}

bool NormalClusters::factor_of(const Matrix &scale, std::vector<double> &out) const {
  out.resize(scales_);
  if (shape_.dense) {
    Matrix lower;
    if (!cholesky(scale, lower)) return false;
    for (int i = 0; i < d_; ++i)
      for (int j = 0; j <= i; ++j)
        out[std::size_t(packed(i, j))] = i == j ? 1 / lower(i, i) : lower(i, j);
  } else {
    for (std::size_t i = 0; i < scales_; ++i) out[i] = scale(Eigen::Index(i), 0);
  }
  return true;
}

void NormalClusters::fill(int slot, const NormalWishart &q, const std::vector<double> &scale) {
  const double rows_in = (q.a(0) - prior_.a(0)) / (shape_.isotropic ? d_ : 1);
  double *const to = column(slot);
  to[Row::c] = q.c(0);
  to[Row::count] = rows_in;
  for (int j = 0; j < d_; ++j) to[Row::size + j] = q.m(j, 0);
  std::copy(scale.begin(), scale.end(), to + Row::size + d_);
  refresh(slot, constant_of(rows_in, q.c(0)));
}

double NormalClusters::constant_of(double n, double c) const {
  const double a = prior_.a(0) + (shape_.isotropic ? n * d_ : n),
               each = shape_.dense || shape_.isotropic ? d_ : 1,
               copies = shape_.dense || shape_.isotropic ? 1 : d_;
  const double top = shape_.isotropic ? a + d_ : a + 1;
  return copies * (log_gamma(top / 2) - log_gamma((top - each) / 2) -
                   each / 2 * std::log(std::numbers::pi) - each / 2 * std::log((c + 1) / c));
}

double NormalClusters::cached_constant(double n) {
  const std::size_t index = std::size_t(n);
  while (constants_.size() <= index)
    constants_.push_back(
        constant_of(double(constants_.size()), prior_.c(0) + double(constants_.size())));
  return constants_[index];
}

void NormalClusters::refresh(int slot, double constant) {
  double *const of = column(slot);
  const double *const scale = of + Row::size + d_;
  const double n = of[Row::count], c = of[Row::c],
               a = prior_.a(0) + (shape_.isotropic ? n * d_ : n);
  // The logarithm of the product replaces d logarithms, unless the product leaves the range of a
  // double.
  double product = 1, sum = 0;
  for (int i = 0; i < (shape_.dense ? d_ : int(scales_)); ++i) {
    product *= shape_.dense ? scale[packed(i, i)] : scale[i];
    if (!(product > 1e-250 && product < 1e250)) {
      sum += std::log(product);
      product = 1;
    }
  }
  sum += std::log(product);
  of[Row::log_determinant] = shape_.dense ? -2 * sum : sum;
  of[Row::constant] = constant - 0.5 * (shape_.isotropic ? d_ : 1) * of[Row::log_determinant];
  of[Row::shrink] = c / (c + 1);
  of[Row::half] = (shape_.isotropic ? a + d_ : a + 1) / 2;
  publish(slot);
}

bool NormalClusters::change(int slot, const double *x, double w, double step, int sign) {
  double *const of = column(slot), *const mean = of + Row::size, *__restrict scale = mean + d_,
                *__restrict v = v_.data();
  for (int j = 0; j < d_; ++j) {
    const double difference = x[j] - mean[j];
    mean[j] += step * difference;
    v[j] = w * difference;
  }
  of[Row::c] += sign;
  of[Row::count] += sign;
  bool sound = true;
  if (shape_.dense) {
    for (int j = 0; j < d_; scale += d_ - j, ++j) {
      // The diagonal holds 1 / L_jj.
      const double ratio = v[j] * scale[0], squared = simd::madd(sign * ratio, ratio, 1);
      if (!(squared > 1e-12)) sound = false;
      // L_jj / L'_jj, and L'_jj / L_jj
      const double inverse = 1 / std::sqrt(std::max(squared, 1e-12)), stretch = squared * inverse;
      scale[0] *= inverse;
      for (int i = 1; i < d_ - j; ++i) {
        const double entry = simd::madd(sign * ratio, v[j + i], scale[i]) * inverse;
        v[j + i] = simd::madd(-ratio, entry, stretch * v[j + i]);
        scale[i] = entry;
      }
    }
  } else {
    double squares = 0;
    for (int j = 0; j < d_; ++j) {
      const double square = v[j] * v[j];
      if (shape_.isotropic)
        squares += square;
      else
        sound &= changed(scale[j], sign * square);
    }
    if (shape_.isotropic) sound = changed(scale[0], sign * squares);
  }
  refresh(slot, cached_constant(of[Row::count]));
  return sound;
}

bool NormalClusters::changed(double &entry, double by) {
  const double before = entry;
  entry += by;
  return entry > 1e-12 * before;
}

void NormalClusters::lanes_predictive(const double *x, int first, double *out) const {
  using namespace simd;
  const auto row = [&](int r) {
    return load(data_.data() + std::size_t(r) * std::size_t(capacity_) + std::size_t(first));
  };
  const simd::Vector shrink = row(Row::shrink), half = row(Row::half), farthest = all(1e300);
  const auto least = [](simd::Vector a, simd::Vector b) { return a < b ? a : b; };
  if (shape_.dense) {
    simd::Vector quadratic = {};
    double *const y = y_.data();
    const std::size_t stride = std::size_t(capacity_);
    const double *const means = data_.data() + std::size_t(Row::size) * stride + std::size_t(first),
                        *const scale = means + std::size_t(d_) * stride;
    for (int i = 0; i < d_; ++i) {
      // Consecutive entries L_i0, L_i1, ... of row i are d - 1, d - 2, ... entries apart.
      const double *entry = scale + std::size_t(i) * stride;
      simd::Vector even = x[i] - load(means + std::size_t(i) * stride), odd = {};
      int j = 0;
      for (; j + 1 < i; j += 2) {
        even = madd(-load(entry), load(y + j * lanes), even);
        entry += std::size_t(d_ - j - 1) * stride;
        odd = madd(-load(entry), load(y + (j + 1) * lanes), odd);
        entry += std::size_t(d_ - j - 2) * stride;
      }
      if (j < i) {
        even = madd(-load(entry), load(y + j * lanes), even);
        entry += std::size_t(d_ - j - 1) * stride;
      }
      even = (even + odd) * load(entry);
      store(y + i * lanes, even);
      quadratic = madd(even, even, quadratic);
    }
    store(out, row(Row::constant) - half * log(1.0 + least(shrink * quadratic, farthest)));
  } else if (shape_.isotropic) {
    simd::Vector squares = {};
    for (int i = 0; i < d_; ++i) {
      const simd::Vector difference = x[i] - row(Row::size + i);
      squares = madd(difference, difference, squares);
    }
    store(out, row(Row::constant) -
                   half * log(1.0 + least(shrink * squares / row(Row::size + d_), farthest)));
  } else {
    simd::Vector total = {};
    for (int i = 0; i < d_; ++i) {
      const simd::Vector difference = x[i] - row(Row::size + i);
      total +=
          log(1.0 + least(shrink * difference * difference / row(Row::size + d_ + i), farthest));
    }
    store(out, row(Row::constant) - half * total);
  }
}

}  // namespace bayes
