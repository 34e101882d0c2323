#include "questions/elliptical_part.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/control.hpp"
#include "base/incomplete.hpp"
#include "base/message.hpp"
#include "base/simd.hpp"
#include "base/special.hpp"
#include "questions/box.hpp"
#include "questions/make.hpp"

namespace bayes {
namespace {

using simd::lanes;
using simd::madd;

/// the largest number of numbers of all nodes together
constexpr double max_node_numbers = 2e8;

double bounded(double square) { return square < max_square ? square : max_square; }

}  // namespace

/// Numbers that depend only on which elements are observed.
struct EllipticalPart::Pattern {
  std::vector<int> observed, missing;
  /// for every element, its place among the missing ones
  std::vector<int> place;
  /// The rows of L_oo^-1, or [observed] reciprocal deviations: [..][padded, or 1 if all components
  /// share one dense scale]
  Buffer whiten;
  /// [observed][padded]; whitened, less the centre, if all components share one dense scale
  Buffer mean;
  /// [observed], if they do
  std::vector<double> centre;
  /// padded
  Buffer constant, half, inverse;
  /// L_mo and L_mm of every dense scale
  std::vector<Matrix> regression, root;
};

Ellipses ellipses(const NormalPoint &point) {
  return {point.shape, point.mean, point.covariance, Vector::Ones(point.components()), {}};
}

Ellipses ellipses(const NormalWishart &q) {
  Ellipses out{
      q.shape, q.m, q.B, Vector(q.components()), Vector(q.components()), Vector(q.components())};
  for (int k = 0; k < q.components(); ++k) {
    const double a = q.a(q.shape.index(k)), nu = q.shape.dense ? a + 1 - q.dimension() : a;
    out.degrees(k) = std::min(nu, max_degrees);
    out.factor(k) = (q.c(k) + 1) / (q.c(k) * nu);
    out.of_mean(k) = 1 / q.c(k);
  }
  return out;
}

NormalNodes normal_nodes(const NormalIndependent &q) {
  const int d = q.dimension();
  NormalNodes out;
  std::vector<double> stretch;
  for (int k = 0; k < q.components(); ++k) {
    // The density of t = log g, to a constant; rows far away move it to the left. The step is 0.7
    // of the width of the narrowest peak that a row can make, which leaves an error of e^-40.
    const double nu = std::min(q.a(k) + 1 - d, most_integrated_degrees),
                 step = 0.7 * std::sqrt(2 / (nu + double(d)));
    const auto log_density = [nu](double t) { return nu / 2 * (t - std::expm1(t)); };
    const std::size_t first = out.share.size();
    double total = 0;
    for (const int direction : {-1, 1})
      for (double i = direction < 0 ? 0 : 1;
           log_density(i * step * direction) > (direction < 0 ? -100.0 : -45.0); ++i) {
        const double t = i * step * direction;
        out.component.push_back(k);
        out.share.push_back(std::exp(log_density(t)));
        total += out.share.back();
        stretch.push_back(std::exp(-t) / (q.a(k) + 1 - d));
        poll_here();
        if (double(stretch.size()) * d * d > max_node_numbers)
          throw Error(Errc::too_large,
                      message("the predictive distribution of {} components with {} columns and an "
                              "independent prior takes too much memory",
                              q.components(), d),
                      {}, "Fit the model with the prior type that is the default, linked.");
      }
    for (std::size_t i = first; i < out.share.size(); ++i) out.share[i] /= total;
  }
  out.point.mean.resize(d, Eigen::Index(stretch.size()));
  for (std::size_t i = 0; i < stretch.size(); ++i) {
    poll_here();
    const std::size_t k = std::size_t(out.component[i]);
    out.point.mean.col(Eigen::Index(i)) = q.m.col(Eigen::Index(k));
    out.point.covariance.push_back(q.C[k] + stretch[i] * q.B[k]);
  }
  return out;
}

EllipticalPart::EllipticalPart(std::vector<int> elements, Ellipses components, int sharing)
    : RowPart(std::move(elements)),
      of_(std::move(components)),
      sharing_(sharing),
      padded_((of_.components() + lanes - 1) / lanes * lanes),
      square_(std::size_t(padded_)),
      y_(std::size_t(of_.dimension()) * lanes) {}

EllipticalPart::~EllipticalPart() = default;

/// Sets the mean of the observed elements under component c, and the terms of its log density other
/// than the square; `log_determinant`: of the observed elements of its scale.
void EllipticalPart::set_constants(Pattern &p, int c, double log_determinant) const {
  const Eigen::Index o = Eigen::Index(p.observed.size());
  for (Eigen::Index i = 0; i < o; ++i)
    p.mean[std::size_t(i * padded_ + c)] = of_.mean(p.observed[std::size_t(i)], c);
  const double n = double(o);
  double constant = -0.5 * (log_determinant + n * std::log(of_.factor(c)));
  p.inverse[std::size_t(c)] = 1 / of_.factor(c);
  if (student()) {
    const double nu = of_.degrees(c);
    if (o > 0)
      constant +=
          log_gamma(n / 2) - log_beta(nu / 2, n / 2) - 0.5 * n * std::log(nu * std::numbers::pi);
    p.half[std::size_t(c)] = (nu + n) / 2;
    p.inverse[std::size_t(c)] /= nu;
  } else {
    constant -= 0.5 * n * log_two_pi;
  }
  p.constant[std::size_t(c)] = constant;
}

/// The deviations of independent elements, and the logarithms of the determinants.
void EllipticalPart::set_deviations(Pattern &p, std::vector<double> &log_determinant) const {
  for (std::size_t i = 0; i < p.observed.size(); ++i) {
    for (std::size_t s = 0; s < of_.scale.size(); ++s)
      log_determinant[s] += std::log(variance(s, p.observed[i]));
    for (int c = 0; c < of_.components(); ++c)
      p.whiten[i * std::size_t(padded_) + std::size_t(c)] =
          1 / std::sqrt(variance(std::size_t(of_.shape.index(c)), p.observed[i]));
  }
}

std::unique_ptr<EllipticalPart::Pattern> EllipticalPart::pattern_of(
    std::span<const int> observed) const {
  auto out = std::make_unique<Pattern>();
  Pattern &p = *out;
  p.observed.assign(observed.begin(), observed.end());
  p.place.assign(std::size_t(size()), -1);
  for (int j = 0; j < size(); ++j)
    if (!std::binary_search(observed.begin(), observed.end(), j)) {
      p.place[std::size_t(j)] = int(p.missing.size());
      p.missing.push_back(j);
    }
  const Eigen::Index o = Eigen::Index(p.observed.size()), m = Eigen::Index(p.missing.size());
  std::vector<double> log_determinant(of_.scale.size());
  const std::size_t width = of_.shape.dense && of_.shape.shared ? 1 : std::size_t(padded_);
  p.whiten.assign(std::size_t(of_.shape.dense ? o * (o + 1) / 2 : o) * width, 0.0);
  if (!of_.shape.dense) set_deviations(p, log_determinant);
  std::vector<int> order = p.observed;
  order.insert(order.end(), p.missing.begin(), p.missing.end());
  for (std::size_t s = 0; of_.shape.dense && s < of_.scale.size(); ++s) {
    poll_here();
    Matrix ordered(o + m, o + m), lower;
    for (Eigen::Index i = 0; i < o + m; ++i)
      for (Eigen::Index j = 0; j < o + m; ++j)
        ordered(i, j) = of_.scale[s](order[std::size_t(i)], order[std::size_t(j)]);
    if (!cholesky(ordered, lower)) not_positive_definite("covariance", int(s));
    const Matrix inverse = inverse_lower(lower.topLeftCorner(o, o));
    double *at = p.whiten.data() + s;
    for (Eigen::Index i = 0; i < o; ++i)
      for (Eigen::Index j = 0; j <= i; ++j, at += width) *at = inverse(i, j);
    for (Eigen::Index i = 0; i < o; ++i) log_determinant[s] += 2 * std::log(lower(i, i));
    p.regression.push_back(lower.bottomLeftCorner(m, o));
    p.root.push_back(lower.bottomRightCorner(m, m));
  }
  p.mean.assign(std::size_t(o) * std::size_t(padded_), 0.0);
  for (Buffer *const each : {&p.constant, &p.half, &p.inverse})
    each->assign(std::size_t(padded_), 0.0);
  for (int c = 0; c < of_.components(); ++c)
    set_constants(p, c, log_determinant[std::size_t(of_.shape.index(c))]);
  if (of_.shape.dense && of_.shape.shared && o > 0) whiten_means(p);
  return out;
}

void EllipticalPart::whiten_means(Pattern &p) const {
  const Eigen::Index o = Eigen::Index(p.observed.size());
  Matrix whiten = Matrix::Zero(o, o), means(o, of_.components());
  const double *w = p.whiten.data();
  for (Eigen::Index i = 0; i < o; ++i) {
    for (Eigen::Index j = 0; j <= i; ++j) whiten(i, j) = *w++;
    means.row(i) = of_.mean.row(p.observed[std::size_t(i)]);
  }
  const Vector centre = means.rowwise().mean();
  p.centre = to_vector(centre);
  means = lower_times(whiten, Matrix(means.colwise() - centre));
  for (Eigen::Index i = 0; i < o; ++i)
    for (Eigen::Index c = 0; c < means.cols(); ++c)
      p.mean[std::size_t(i * padded_ + c)] = means(i, c);
}

template <bool keep> void EllipticalPart::whiten_dense(const Pattern &p, const double *x) {
  const int o = int(p.observed.size());
  const std::ptrdiff_t width = padded_;
  double *const y = y_.data();
  for (int first = 0; first < padded_; first += lanes) {
    for (int i = 0; i < o; ++i)
      simd::store(y + i * lanes, x[i] - simd::load(p.mean.data() + i * width + first));
    simd::Vector square = {};
    const double *w = p.whiten.data() + first;
    for (int i = 0; i < o; ++i, w += width * i) {
      // Four accumulators, as one would wait four cycles for each multiply-add.
      simd::Vector z[4] = {};
      int j = 0;
      for (; j + 3 <= i; j += 4)
#pragma GCC unroll 4
        for (int u = 0; u < 4; ++u)
          z[u] = madd(simd::load(w + (j + u) * width), simd::load(y + (j + u) * lanes), z[u]);
      for (; j <= i; ++j) z[0] = madd(simd::load(w + j * width), simd::load(y + j * lanes), z[0]);
      const simd::Vector sum = (z[0] + z[1]) + (z[2] + z[3]);
      if constexpr (keep) simd::store(z_.data() + i * width + first, sum);
      square = madd(sum, sum, square);
    }
    simd::store(square_.data() + first, square);
  }
}

/// The row is whitened once for all components, as their means are.
template <bool keep> void EllipticalPart::whiten_shared(const Pattern &p, const double *x) {
  const int o = int(p.observed.size());
  const double *w = p.whiten.data();
  for (int i = 0; i < o; ++i) {
    double sum = 0;
    for (int j = 0; j <= i; ++j) sum += *w++ * (x[j] - p.centre[std::size_t(j)]);
    y_[std::size_t(i)] = sum;
  }
  for (int first = 0; first < padded_; first += lanes) {
    simd::Vector square = {};
    for (int i = 0; i < o; ++i) {
      const simd::Vector z = y_[std::size_t(i)] - simd::load(p.mean.data() + i * padded_ + first);
      if constexpr (keep) simd::store(z_.data() + i * padded_ + first, z);
      square = madd(z, z, square);
    }
    simd::store(square_.data() + first, square);
  }
}

template <bool keep> void EllipticalPart::whiten_independent(const Pattern &p, const double *x) {
  const int o = int(p.observed.size());
  for (int first = 0; first < padded_; first += lanes) {
    simd::Vector square = {};
    for (int i = 0; i < o; ++i) {
      const std::ptrdiff_t at = i * padded_ + first;
      const simd::Vector z =
          simd::load(p.whiten.data() + at) * (x[i] - simd::load(p.mean.data() + at));
      if constexpr (keep) simd::store(z_.data() + at, z);
      square = madd(z, z, square);
    }
    simd::store(square_.data() + first, square);
  }
}

template <bool keep> void EllipticalPart::whiten(const Pattern &p, const double *x) {
  if (!of_.shape.dense)
    whiten_independent<keep>(p, x);
  else if (of_.shape.shared)
    whiten_shared<keep>(p, x);
  else
    whiten_dense<keep>(p, x);
}

void EllipticalPart::condition(const double *x, bool, double *out) {
  if (misses_element({x, std::size_t(size())})) {
    const double numbers = of_.shape.dense ? double(of_.scale.size()) * size() * size() : size();
    pattern_ = &patterns_.of({x, std::size_t(size())}, numbers,
                             [this](std::span<const int> some) { return pattern_of(some); });
    x = patterns_.observed().data();
  } else {
    // Nearly every row misses nothing.
    if (!whole_) whole_ = pattern_of(all_elements(size()));
    pattern_ = whole_.get();
  }
  if (keep_ || !pattern_->missing.empty()) {
    z_.resize(pattern_->observed.size() * std::size_t(padded_));
    whiten<true>(*pattern_, x);
  } else {
    whiten<false>(*pattern_, x);
  }
  const simd::Vector limit = simd::all(max_square);
  for (int first = 0; first < padded_; first += lanes) {
    simd::Vector value =
        simd::load(square_.data() + first) * simd::load(pattern_->inverse.data() + first);
    if (student()) {
      // With many degrees of freedom the value is small, and half of them is large.
      value = simd::load(pattern_->half.data() + first) * lane_log1p(value < limit ? value : limit);
    } else {
      value = 0.5 * (value < limit ? value : limit);
    }
    simd::store(out + first,
                simd::load(out + first) + (simd::load(pattern_->constant.data() + first) - value));
  }
}

/// For n rows X, less the location, with the parameters integrated out, the density is proportional
/// to |S|^(-o/2) |I + S^-1 X B^-1 X'|^-((a + n)/2), S = I + 1 1' / c, a = nu + o - 1 (a matrix
/// Student t), or with the trace in place of the determinant and a + n o for a + n where all
/// elements share one variance.
void EllipticalPart::add_ties(const double *x, const double *y, double *out) {
  if (!student()) return;
  Buffer scores(std::size_t(padded_), 0.0);
  keep_ = true;
  condition(x, false, scores.data());
  const Buffer first = z_;
  condition(y, false, scores.data());
  const std::size_t o = pattern_->observed.size();
  const double n = double(o);
  if (o == 0) return;
  for (int c = 0; c < of_.components(); ++c) {
    double xx = 0, xy = 0, yy = 0;
    for (std::size_t i = 0; i < o; ++i) {
      const double a = first[i * std::size_t(padded_) + std::size_t(c)],
                   b = z_[i * std::size_t(padded_) + std::size_t(c)];
      xx += a * a;
      xy += a * b;
      yy += b * b;
    }
    // S of one row is s, of two (s, 1/c; 1/c, s), with the determinant s^2 - 1/c^2 = 1 + 2/c.
    const double nu = of_.degrees(c), r = of_.of_mean(c), s = 1 + r, both = 1 + 2 * r;
    const double trace = (s * (xx + yy) - 2 * r * xy) / both;
    const double alone = std::log1p(xx / s) + std::log1p(yy / s),
                 scales = -n / 2 * (std::log(both) - 2 * std::log(s));
    if (of_.shape.isotropic)
      out[c] += scales + log_gamma(nu / 2 + n) + log_gamma(nu / 2) - 2 * log_gamma((nu + n) / 2) -
                (nu / 2 + n) * std::log1p(trace) + (nu + n) / 2 * alone;
    else
      out[c] += scales + log_gamma((nu + 1 + n) / 2) - log_gamma((nu + 1) / 2) -
                log_gamma((nu + n) / 2) + log_gamma(nu / 2) -
                (nu + 1 + n) / 2 * std::log1p(trace + std::max(0.0, xx * yy - xy * xy) / both) +
                (nu + n) / 2 * alone;
  }
}

double EllipticalPart::factor_of(int c) const {
  if (!student()) return of_.factor(c);
  const double nu = of_.degrees(c), square = square_[std::size_t(c)];
  return (nu * of_.factor(c) + bounded(square)) / (nu + double(pattern_->observed.size()));
}

EllipticalPart::Conditional EllipticalPart::conditional(int c, int j) const {
  const std::size_t s = std::size_t(of_.shape.index(c));
  Conditional out{of_.mean(j, c), of_.shape.dense ? 0 : variance(s, j), factor_of(c)};
  if (of_.shape.dense) {
    const Eigen::Index row = pattern_->place[std::size_t(j)];
    const Matrix &regression = pattern_->regression[s], &root = pattern_->root[s];
    for (Eigen::Index i = 0; i < regression.cols(); ++i)
      out.location += regression(row, i) * z_[std::size_t(i * padded_ + c)];
    for (Eigen::Index i = 0; i <= row; ++i) out.square += root(row, i) * root(row, i);
  }
  return out;
}

Predicted EllipticalPart::predicted(int c, int j) {
  const Conditional of = conditional(c, j);
  const double scale = std::sqrt(of.square * of.factor);
  return student() ? Predicted::student(of.location, scale,
                                        of_.degrees(c) + double(pattern_->observed.size()))
                   : Predicted::normal(of.location, scale);
}

std::pair<double, double> EllipticalPart::moments(int c, int j) {
  const Conditional of = conditional(c, j);
  const double square = of.square * of.factor;
  if (!student()) return {of.location, square};
  const double nu = of_.degrees(c) + double(pattern_->observed.size());
  return {nu > 1 ? of.location : std::nan(""), nu > 2 ? square * (nu / (nu - 2)) : std::nan("")};
}

RowPair EllipticalPart::pair(int c, int j, int l) {
  const Conditional one = conditional(c, j), other = conditional(c, l);
  RowPair out{
      {one.location, other.location},
      {one.square * one.factor, j == l ? one.square * one.factor : 0, other.square * other.factor}};
  if (of_.shape.dense) {
    const Matrix &root = pattern_->root[std::size_t(of_.shape.index(c))];
    const Eigen::Index row = pattern_->place[std::size_t(j)],
                       other_row = pattern_->place[std::size_t(l)];
    double product = 0;
    for (Eigen::Index i = 0; i <= std::min(row, other_row); ++i)
      product += root(row, i) * root(other_row, i);
    out.square[1] = product * one.factor;
  }
  if (student()) out.degrees = of_.degrees(c) + double(pattern_->observed.size());
  return out;
}

void EllipticalPart::probabilities(int, int, double *) {}

void EllipticalPart::box(int c, const double *lower, const double *upper, std::span<double> out) {
  std::vector<int> bound;
  for (const int j : pattern_->missing)
    if (std::isfinite(lower[j]) || std::isfinite(upper[j])) bound.push_back(j);
  const std::size_t m = bound.size();
  if (m == 0) return;
  if (m == 1 || (!student() && !of_.shape.dense)) {
    double p = 1;
    for (const int j : bound) p *= interval_probability(predicted(c, j), lower[j], upper[j]);
    for (double &each : out) each *= p;
    return;
  }
  // Elements with few rows within their bounds first, which makes the estimates vary less.
  std::vector<double> within(std::size_t(size()), 0.0);
  for (const int j : bound) {
    poll_here();
    within[std::size_t(j)] = interval_probability(predicted(c, j), lower[j], upper[j]);
  }
  std::stable_sort(bound.begin(), bound.end(), [&within](int a, int b) {
    return within[std::size_t(a)] < within[std::size_t(b)];
  });
  // The scale of the elements that are bound, in units of their own scales.
  const double degrees = student() ? of_.degrees(c) + double(pattern_->observed.size()) : 0;
  Matrix correlation = Matrix::Identity(Eigen::Index(m), Eigen::Index(m)), root;
  std::vector<double> low(m), high(m), triangle;
  WorkPoll poll;
  for (std::size_t i = 0; i < m; ++i) {
    // Products of rows of the root, with the lengths of both.
    poll(3 * i * std::size_t(size()));
    const Conditional of = conditional(c, bound[i]);
    const double scale = std::sqrt(of.square * of.factor);
    low[i] = (lower[bound[i]] - of.location) / scale;
    high[i] = (upper[bound[i]] - of.location) / scale;
    if (!of_.shape.dense) continue;
    const Matrix &own = pattern_->root[std::size_t(of_.shape.index(c))];
    const auto row = [&](std::size_t k) { return own.row(pattern_->place[std::size_t(bound[k])]); };
    for (std::size_t k = 0; k < i; ++k)
      correlation(Eigen::Index(i), Eigen::Index(k)) = correlation(
          Eigen::Index(k), Eigen::Index(i)) = row(i).dot(row(k)) / (row(i).norm() * row(k).norm());
  }
  if (m == 2 && (!student() || degrees >= fewest_degrees)) {
    const double p = rectangle_probability(low.data(), high.data(), correlation(1, 0), degrees);
    for (double &each : out) each *= p;
    return;
  }
  if (!cholesky(correlation, root)) not_positive_definite("covariance", c);
  for (Eigen::Index i = 0; i < Eigen::Index(m); ++i)
    for (Eigen::Index k = 0; k <= i; ++k) triangle.push_back(root(i, k));
  multiply_elliptical_box(low, high, triangle, degrees, out);
}

double EllipticalPart::falls(const Pattern &pattern, int c, double square) const {
  const double value = bounded(square * pattern.inverse[std::size_t(c)]);
  return student() ? pattern.half[std::size_t(c)] * std::log1p(value) : 0.5 * value;
}

void EllipticalPart::fix(const double *x) {
  fixed_log_density_.assign(std::size_t(padded_), 0.0);
  condition(x, false, fixed_log_density_.data());
  fixed_ = int(pattern_->observed.size());
  fixed_square_.assign(square_.begin(), square_.begin() + of_.components());
}

/// With dense scales the regression of the missing elements on the observed ones, and what is left
/// of their scale, are independent of the distribution of the observed ones. So the location m + h,
/// h = L_mo z, is Student t: its squared scale is that of the row without the row's own noise. With
/// an isotropic scale all elements have one variance, about which the observed ones inform.
void EllipticalPart::parameters(int c, int j, std::vector<Parameter> &out,
                                std::vector<Marginal> &posteriors) {
  const Conditional of = conditional(c, j);
  Parameter mean{.likelihood = "normal", .name = "mean", .value = of.location}, sd = mean;
  sd.name = "sd";
  sd.value = std::sqrt(of.square * of.factor);
  sd.root = true;
  out.insert(out.end(), {mean, sd});
  if (!student()) return;
  const double degrees = of_.degrees(c) + double(pattern_->observed.size()),
               square = bounded(square_[std::size_t(c)]);
  double left = of.square, share = of_.of_mean(c);
  if (of_.shape.dense)
    share += square;
  else
    left *= 1 + square / (1 + share);
  posteriors.push_back(
      {Marginal::Kind::student, degrees, std::sqrt(left * share / degrees), of.location});
  posteriors.push_back({Marginal::Kind::root, degrees, left});
}

bool EllipticalPart::observes() const { return int(pattern_->observed.size()) > fixed_; }

/// Given f fixed elements the others are such a Student t too, of nu + f degrees; the log density
/// at its centre follows from their own.
EllipticalDensity EllipticalPart::density_of_others(int c) const {
  const std::size_t at = std::size_t(c);
  double centre = pattern_->constant[at];
  if (fixed_ > 0) centre -= falls(*pattern_, c, fixed_square_[at]) + fixed_log_density_[at];
  return {double(pattern_->observed.size()) - fixed_, student() ? of_.degrees(c) + fixed_ : 0,
          centre};
}

double EllipticalPart::tail(int c, double log_density) {
  return density_tail(density_of_others(c), log_density);
}

void EllipticalPart::add_powers(int c, PowerLogs &out) {
  const PowerLogs own = power_logs(density_of_others(c));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] += own[i];
}

void EllipticalPart::draw(int c, Random &random, double *x) {
  const std::size_t s = std::size_t(of_.shape.index(c));
  const Eigen::Index m = Eigen::Index(pattern_->missing.size());
  if (m == 0) return;
  noise_.resize(m);
  for (Eigen::Index i = 0; i < m; ++i) noise_(i) = random.normal();
  double scale = std::sqrt(factor_of(c));
  if (student()) {
    const double nu = of_.degrees(c) + double(pattern_->observed.size());
    scale /= std::sqrt(random.chi_square(nu) / nu);
  }
  if (of_.shape.dense) noise_ = lower_times(pattern_->root[s], noise_);
  for (Eigen::Index i = 0; i < m && !of_.shape.dense; ++i)
    noise_(i) *= std::sqrt(variance(s, pattern_->missing[std::size_t(i)]));
  for (Eigen::Index i = 0; i < m; ++i) {
    const int j = pattern_->missing[std::size_t(i)];
    x[j] = conditional(c, j).location + scale * noise_(i);
  }
}

}  // namespace bayes
