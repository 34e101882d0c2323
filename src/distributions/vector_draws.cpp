#include "distributions/vector_draws.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/linalg.hpp"
#include "base/message.hpp"

namespace bayes {
namespace {

constexpr std::size_t max_matrix_rows = 1000;

/// The lower Cholesky factor of a matrix given by rows.
Matrix factor_of(const char *name, std::span<const double> values) {
  const auto d = Eigen::Index(std::lround(std::sqrt(double(values.size()))));
  if (d == 0 || std::size_t(d) * std::size_t(d) != values.size())
    throw Error(Errc::array_shape, message("{} is not a square matrix", name));
  if (std::size_t(d) > max_matrix_rows)
    throw Error(Errc::too_large,
                message("{} has {} rows, but may have at most {}", name, d, max_matrix_rows));
  Matrix m(d, d);
  for (Eigen::Index i = 0; i < d; ++i)
    for (Eigen::Index j = 0; j < d; ++j) m(i, j) = values[std::size_t(i * d + j)];
  for (Eigen::Index i = 0; i < d; ++i)
    for (Eigen::Index j = 0; j < i; ++j)
      if (!(std::fabs(m(i, j) - m(j, i)) <=
            1e-10 * std::sqrt(std::fabs(m(i, i)) * std::fabs(m(j, j)))))
        throw Error(Errc::invalid_argument,
                    message("{} is not symmetric: element [{}][{}] is {}, but [{}][{}] is {}", name,
                            i + 1, j + 1, m(i, j), j + 1, i + 1, m(j, i)));
  Matrix lower;
  if (!cholesky(m, lower))
    throw Error(Errc::invalid_argument, message("{} is not positive definite", name));
  return lower;
}

}  // namespace

DirichletDistribution::DirichletDistribution(std::vector<double> alpha) : alpha_(std::move(alpha)) {
  if (alpha_.empty()) throw Error(Errc::array_shape, "alpha has no elements");
  for (std::size_t i = 0; i < alpha_.size(); ++i)
    if (!(alpha_[i] > 0) || std::isinf(alpha_[i]))
      throw Error(
          Errc::invalid_argument,
          message("element {} of alpha is {}, but must be positive and finite", i + 1, alpha_[i]));
}

CategoricalDistribution::CategoricalDistribution(std::vector<double> weights)
    : sums_(std::move(weights)) {
  double sum = 0;
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    if (!(sums_[i] >= 0) || std::isinf(sums_[i]))
      throw Error(Errc::invalid_argument,
                  message("element {} of weights is {}, but must be at least 0, and finite", i + 1,
                          sums_[i]));
    sums_[i] = sum += sums_[i];
  }
  if (!(sum > 0) || std::isinf(sum))
    throw Error(Errc::invalid_argument,
                message("weights sum to {}, but their sum must be positive and finite", sum));
}

int CategoricalDistribution::draw(Random &random) const {
  // The first index whose running sum exceeds the point, which never has weight 0. Rounding may
  // move the point to the end of the last interval.
  const double at = random.uniform() * sums_.back();
  auto found = std::upper_bound(sums_.begin(), sums_.end(), at);
  if (found == sums_.end()) found = std::lower_bound(sums_.begin(), sums_.end(), sums_.back());
  return int(found - sums_.begin());
}

MultivariateNormalDistribution::MultivariateNormalDistribution(std::vector<double> mean,
                                                               std::span<const double> covariance)
    : mean_(std::move(mean)) {
  for (std::size_t i = 0; i < mean_.size(); ++i)
    if (!std::isfinite(mean_[i]))
      throw Error(Errc::invalid_argument,
                  message("element {} of mean is {}, but must be finite", i + 1, mean_[i]));
  const Matrix lower = factor_of("covariance", covariance);
  if (std::size_t(lower.rows()) != mean_.size())
    throw Error(Errc::array_shape, message("covariance has {} rows, but mean {} elements",
                                           lower.rows(), mean_.size()));
  lower_ = row_major(lower);
}

void MultivariateNormalDistribution::draw(Random &random, std::span<double> out) const {
  const std::size_t d = size();
  std::vector<double> z(d);
  for (double &x : z) x = random.normal();
  for (std::size_t i = 0; i < d; ++i) {
    out[i] = mean_[i];
    for (std::size_t j = 0; j <= i; ++j) out[i] += lower_[i * d + j] * z[j];
  }
}

WishartDistribution::WishartDistribution(double a, std::span<const double> b) : a_(a) {
  const Matrix lower = factor_of("b", b);
  size_ = std::size_t(lower.rows());
  if (!(a > double(size_) - 1) || std::isinf(a))
    throw Error(Errc::invalid_argument,
                message("a is {}, but must be above {}, and finite", a, size_ - 1));
  root_ = row_major(inverse_lower(lower));
}

void WishartDistribution::draw(Random &random, std::span<double> out) const {
  const std::size_t d = size_;
  // The draw is C C' with C = R A, R' lower triangular and A lower triangular.
  std::vector<double> bartlett(d * d), c(d * d);
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t j = 0; j < i; ++j) bartlett[i * d + j] = random.normal();
    bartlett[i * d + i] = std::sqrt(random.chi_square(a_ - double(i)));
  }
  for (std::size_t i = 0; i < d; ++i)
    for (std::size_t j = 0; j < d; ++j)
      for (std::size_t k = std::max(i, j); k < d; ++k)
        c[i * d + j] += root_[k * d + i] * bartlett[k * d + j];
  for (std::size_t i = 0; i < d; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < d; ++k) sum += c[i * d + k] * c[j * d + k];
      out[i * d + j] = out[j * d + i] = sum;
    }
}

}  // namespace bayes
