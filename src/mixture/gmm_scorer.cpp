#include "mixture/gmm_scorer.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/simd.hpp"
#include "base/special.hpp"
#include "families/normal/normal_clusters.hpp"
#include "families/normal/normal_marginal.hpp"

namespace bayes {
namespace {

using simd::lanes;
using simd::madd;

}  // namespace

GmmScorer::GmmScorer(const GaussianMixture::State &state) : fitted_(&state.fitted) {
  const GmmFitted &fitted = state.fitted;
  const CovarianceShape &shape = fitted.shape();
  d_ = fitted.point.components.dimension();
  k_ = fitted.point.components.components();
  padded_ = (k_ + lanes - 1) / lanes * lanes;
  y_.resize(std::size_t(d_) * std::size_t(padded_));
  out_.resize(std::size_t(padded_));
  constant_.assign(std::size_t(padded_), -std::numeric_limits<double>::infinity());
  half_.assign(std::size_t(padded_), 0.0);
  inverse_degrees_.assign(std::size_t(padded_), 0.0);
  if (fitted.draws) {
    const auto scorer = std::make_shared<FiniteDrawsScorer<NormalWishart>>(*fitted.draws);
    drawn_ = [scorer](const double *x) { return scorer->log_joint(x); };
    masses_ = [scorer](const double *x) { return scorer->masses(x); };
    return;
  }
  if (fitted.independent) {
    compile_quadrature(*fitted.independent);
    return;
  }

  mean_.assign(std::size_t(d_) * std::size_t(padded_), 0.0);
  for (int k = 0; k < k_; ++k)
    for (int j = 0; j < d_; ++j)
      mean_[std::size_t(j * padded_ + k)] = fitted.point.components.mean(j, k);

  // With a posterior the predictive of a component is a Student t with scale B (c + 1) / (c nu): of
  // d dimensions and nu = a + 1 - d for dense shapes, nu = a for the spherical one, and d
  // independent ones with nu = a for the diagonal one.
  std::vector<FactoredScale> scales =
      factor_all(shape, fitted.point.components.covariance, d_, "covariance");
  student_ = fitted.linked.has_value();
  for (int k = 0; k < k_; ++k)
    compile_constants(k, scales[std::size_t(shape.index(k))].log_determinant);
  if (shape.dense)
    compile_dense(shape, scales);
  else
    compile_variances(shape, scales);
}

/// `log_determinant`: of the covariance of component k.
void GmmScorer::compile_constants(int k, double log_determinant) {
  const GmmFitted &fitted = *fitted_;
  const CovarianceShape &shape = fitted.shape();
  const double log_weight = std::log(fitted.point.weights(k));
  if (!student_) {
    constant_[std::size_t(k)] = log_weight - 0.5 * (d_ * log_two_pi + log_determinant);
    return;
  }
  const NormalWishart &q = fitted.linked->components;
  const double a = q.a(shape.index(k)), nu = shape.dense ? a + 1 - d_ : a;
  const bool product = !shape.dense && !shape.isotropic;
  const int dimension = product ? 1 : d_;
  // of B / a, the covariance of the point estimate
  const double log_scale = std::log(a * (q.c(k) + 1) / (q.c(k) * nu));
  // With so many degrees of freedom it is normal, and more would leave 1 + |y|^2 / nu no digits.
  const double degrees = std::min(nu, max_degrees);
  constant_[std::size_t(k)] =
      log_weight - 0.5 * (log_determinant + d_ * log_scale) +
      d_ / dimension *
          (log_gamma(dimension / 2.0) - log_beta(degrees / 2, dimension / 2.0) -
           0.5 * dimension * std::log(degrees * std::numbers::pi));
  half_[std::size_t(k)] = (degrees + dimension) / 2;
  // |W y|^2 uses the covariance B / a, not the predictive scale; this corrects for it
  inverse_degrees_[std::size_t(k)] = std::exp(-log_scale) / degrees;
}

void GmmScorer::compile_dense(const CovarianceShape &shape,
                              const std::vector<FactoredScale> &scales) {
  if (shape.shared) {
    form_ = Form::tied;
    whiten_ = scales[0].whiten;
    const Matrix means =
        Eigen::Map<const Matrix>(mean_.data(), padded_, d_).topRows(k_).transpose();
    centre_ = means.rowwise().mean();
    const Matrix whitened = lower_times(whiten_, Matrix(means.colwise() - centre_));
    for (int k = 0; k < k_; ++k)
      for (int j = 0; j < d_; ++j) mean_[std::size_t(j * padded_ + k)] = whitened(j, k);
  } else {
    form_ = Form::dense;
    scale_.assign(std::size_t(d_) * std::size_t(d_ + 1) / 2 * std::size_t(padded_), 0.0);
    for (int k = 0; k < k_; ++k) {
      double *at = scale_.data() + k;
      for (int i = 0; i < d_; ++i)
        for (int j = 0; j <= i; ++j, at += padded_) *at = scales[std::size_t(k)].whiten(i, j);
    }
  }
}

void GmmScorer::compile_variances(const CovarianceShape &shape,
                                  const std::vector<FactoredScale> &scales) {
  form_ = student_ && !shape.isotropic ? Form::students : Form::variances;
  scale_.assign(std::size_t(d_) * std::size_t(padded_), 0.0);
  for (int k = 0; k < k_; ++k)
    for (int j = 0; j < d_; ++j)
      scale_[std::size_t(j * padded_ + k)] = scales[std::size_t(k)].whiten(j, 0);
}

/// x = mu + e with mu ~ N(m, C) and e | g ~ N(0, B / (nu g)), g ~ Gamma(nu/2, nu/2), nu = a + 1 -
/// d: one integral over g once B and C are diagonal together.
void GmmScorer::compile_quadrature(const MixturePosterior<NormalIndependent> &q) {
  form_ = Form::quadrature;
  const auto scales = factor_all(full_covariance, q.components.B, d_, "posterior scale B");
  for (int k = 0; k < k_; ++k) {
    const double nu = q.components.a(k) + 1 - d_;
    const FactoredScale &b = scales[std::size_t(k)];
    const SymmetricEigen eigen = symmetric_eigen(
        nu * product_transposed(product(b.whiten, q.components.C[std::size_t(k)]), b.whiten));
    const double degrees = std::min(nu, max_degrees);
    integrals_.push_back({std::sqrt(nu) * transposed_product(eigen.vectors, b.whiten),
                          q.components.m.col(k), eigen.values.cwiseMax(0.0), degrees,
                          std::log(q.alpha(k) / q.alpha.sum()) +
                              degrees / 2 * std::log(degrees / 2) - log_gamma(degrees / 2) -
                              0.5 * (d_ * (log_two_pi - std::log(nu)) + b.log_determinant)});
  }
}

void GmmScorer::quadratic_dense(const double *x) {
  for (int first = 0; first < padded_; first += lanes) {
    for (int j = 0; j < d_; ++j)
      simd::store(y_.data() + j * lanes, x[j] - simd::load(mean_.data() + j * padded_ + first));
    simd::Vector q = {};
    const double *w = scale_.data() + first;
    const std::ptrdiff_t stride = padded_;
    for (int i = 0; i < d_; ++i, w += stride * i) {
      // Four accumulators, as one would wait four cycles for each multiply-add.
      simd::Vector z[4] = {};
      int j = 0;
      for (; j + 3 <= i; j += 4)
#pragma GCC unroll 4
        for (int u = 0; u < 4; ++u)
          z[u] =
              madd(simd::load(w + (j + u) * stride), simd::load(y_.data() + (j + u) * lanes), z[u]);
      for (; j <= i; ++j)
        z[0] = madd(simd::load(w + j * stride), simd::load(y_.data() + j * lanes), z[0]);
      const simd::Vector sum = (z[0] + z[1]) + (z[2] + z[3]);
      q = madd(sum, sum, q);
    }
    simd::store(out_.data() + first, q);
  }
}

void GmmScorer::quadratic_tied(const double *x) {
  const Vector y = Eigen::Map<const Vector>(x, d_) - centre_;
  const Vector z = lower_times(whiten_, y);
  std::copy_n(z.data(), d_, y_.data());
  for (int first = 0; first < padded_; first += lanes) {
    simd::Vector q = {};
    for (int j = 0; j < d_; ++j) {
      const simd::Vector z = y_[std::size_t(j)] - simd::load(mean_.data() + j * padded_ + first);
      q = madd(z, z, q);
    }
    simd::store(out_.data() + first, q);
  }
}

void GmmScorer::quadratic_variances(const double *x) {
  for (int first = 0; first < padded_; first += lanes) {
    simd::Vector q = {};
    for (int j = 0; j < d_; ++j) {
      const simd::Vector z = (x[j] - simd::load(mean_.data() + j * padded_ + first)) *
                             simd::load(scale_.data() + j * padded_ + first);
      q = madd(z, z, q);
    }
    simd::store(out_.data() + first, q);
  }
}

/// sum_j log(1 + z_j^2 / nu), a logarithm for every eight factors.
void GmmScorer::product_of_students(const double *x) {
  const simd::Vector one = simd::all(1), limit = simd::all(1e35);
  for (int first = 0; first < padded_; first += lanes) {
    const simd::Vector inverse = simd::load(inverse_degrees_.data() + first);
    simd::Vector sum = {}, product = one;
    for (int j = 0; j < d_; ++j) {
      const simd::Vector z = (x[j] - simd::load(mean_.data() + j * padded_ + first)) *
                             simd::load(scale_.data() + j * padded_ + first);
      const simd::Vector factor = madd(z * z, inverse, one);
      product *= factor < limit ? factor : limit;
      if (j % 8 == 7) {
        sum += simd::log(product);
        product = one;
      }
    }
    simd::store(out_.data() + first, sum + simd::log(product));
  }
}

/// The trapezoid rule over t = log g, in which the integrand is smooth and vanishes at both ends.
/// Its logarithm is nu + d times a function that varies on a scale of about 1; so it has few peaks,
/// at least about 1 apart, each about sqrt(2 / (nu + d)) wide: one where g makes the noise explain
/// the row's distance, one near 0 if the uncertainty of the mean explains it, and rarely others
/// between.
double GmmScorer::Integral::log_density(const double *x) const {
  const Eigen::Index d = mean.size();
  const Eigen::ArrayXd square =
      product(rotation, Vector(Eigen::Map<const Vector>(x, d) - mean))
          .array()
          .square()
          .unaryExpr(
              [&](double s) { return s < max_square / double(d) ? s : max_square / double(d); });
  const auto slope = [&](double t) {
    const double g = std::exp(t);
    const Eigen::ArrayXd shrink = (1 + variance.array() * g).inverse();
    return nu * (1 - g) + (shrink - square * g * shrink.square()).sum();
  };
  const auto value = [&](double t) {
    const Eigen::ArrayXd spread = variance.array() + std::exp(-t);
    return 0.5 * (nu * (t - std::exp(t)) - (spread.log() + square / spread).sum());
  };
  // all peaks are between
  const double left = std::log(nu / (nu + square.sum())) - 1e-3,
               right = std::log1p(double(d) / nu) + 1e-3;
  const int parts = 1 + int((right - left) / 0.5);
  std::vector<double> peaks;
  double before = slope(left);
  for (int i = 1; i <= parts; ++i) {
    double low = left + (right - left) * (i - 1) / parts, high = left + (right - left) * i / parts;
    const double after = slope(high);
    if (before > 0 && !(after > 0)) {
      for (int halving = 0; halving < 40; ++halving)
        (slope(0.5 * (low + high)) > 0 ? low : high) = 0.5 * (low + high);
      peaks.push_back(low);
    }
    before = after;
  }
  double top = -std::numeric_limits<double>::infinity();
  for (const double peak : peaks) top = std::max(top, value(peak));
  // A step of 0.7 widths leaves an error of e^(-2 pi^2 / 0.7^2); terms below e^-40 of the largest
  // are left out.
  const double step = 0.7 * std::sqrt(2 / (nu + double(d)));
  double sum = 0, reached = -std::numeric_limits<double>::infinity();
  for (const double peak : peaks) {
    const double middle = std::round(peak / step);
    for (const int direction : {-1, 1})
      for (double i = direction < 0 ? middle : std::max(middle, reached) + 1,
                  last = i + direction * 1e4;
           (i > reached || direction > 0) && i != last; i += direction) {
        const double term = value(i * step) - top;
        if (term < -40) {
          if (direction > 0) reached = i;
          break;
        }
        sum += std::exp(term);
      }
  }
  return constant + top + std::log(sum * step);
}

GmmScorer &GmmScorer::marginal(std::span<const double> x) {
  const double numbers = double(k_) * (d_ + 4.0) * (fitted_->shape().dense ? d_ : 1) *
                         (fitted_->draws ? fitted_->draws->draws : 1);
  return marginal_.of(x, numbers, [this](std::span<const int> elements) {
    GaussianMixture::State some;
    GmmFitted &fitted = some.fitted;
    fitted = *fitted_;
    NormalPoint &point = fitted.point.components;
    if (fitted.linked) {
      fitted.linked->components = bayes::marginal(fitted.linked->components, elements);
      point = point_estimate(fitted.linked->components);
    } else {
      point = bayes::marginal(point, elements);
    }
    if (fitted.independent)
      fitted.independent->components = bayes::marginal(fitted.independent->components, elements);
    if (fitted.draws)
      fitted.draws->components = bayes::marginal(fitted.draws->components, elements);
    return std::make_unique<GmmScorer>(some);
  });
}

/// The log_joint() of a row without observed elements: the log weights.
std::span<const double> GmmScorer::log_weights() {
  if (fitted_->draws) {
    const std::vector<double> &drawn = fitted_->draws->weights;
    std::fill(out_.begin(), out_.end(), 0.0);
    for (std::size_t i = 0; i < drawn.size(); ++i)
      out_[i % std::size_t(k_)] += drawn[i] / fitted_->draws->draws;
  } else {
    for (int k = 0; k < k_; ++k) out_[std::size_t(k)] = fitted_->point.weights(k);
  }
  for (int k = 0; k < k_; ++k) out_[std::size_t(k)] = std::log(out_[std::size_t(k)]);
  return {out_.data(), std::size_t(k_)};
}

namespace {

bool misses_all(std::span<const double> x) {
  return std::all_of(x.begin(), x.end(), [](double element) { return std::isnan(element); });
}

}  // namespace

std::vector<double> GmmScorer::masses(std::span<const double> x) {
  if (!misses_element(x)) return masses_(x.data());
  if (misses_all(x)) return fitted_->draws->weights;
  GmmScorer &of = marginal(x);
  return of.masses_(marginal_.observed().data());
}

std::span<const double> GmmScorer::log_joint(std::span<const double> x) {
  if (misses_element(x)) {
    if (misses_all(x)) return log_weights();
    GmmScorer &of = marginal(x);
    return of.log_joint(marginal_.observed());
  }
  if (drawn_) return drawn_(x.data());
  switch (form_) {
    case Form::dense: quadratic_dense(x.data()); break;
    case Form::tied: quadratic_tied(x.data()); break;
    case Form::variances: quadratic_variances(x.data()); break;
    case Form::students: product_of_students(x.data()); break;
    case Form::quadrature:
      for (int k = 0; k < k_; ++k)
        out_[std::size_t(k)] = integrals_[std::size_t(k)].log_density(x.data());
      return {out_.data(), std::size_t(k_)};
  }
  for (int first = 0; first < padded_; first += lanes) {
    double *const at = out_.data() + first;
    const simd::Vector constant = simd::load(constant_.data() + first),
                       half = simd::load(half_.data() + first);
    simd::Vector value = simd::load(at), limit = simd::all(max_square);
    if (form_ == Form::students)
      value = constant - half * value;
    else if (student_) {
      const simd::Vector argument = 1.0 + value * simd::load(inverse_degrees_.data() + first);
      value = constant - half * simd::log(argument < limit ? argument : limit);
    } else
      value = constant - 0.5 * (value < limit ? value : limit);
    simd::store(at, value);
  }
  return {out_.data(), std::size_t(k_)};
}

}  // namespace bayes
