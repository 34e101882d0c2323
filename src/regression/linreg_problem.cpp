#include "regression/linreg_problem.hpp"

#include <algorithm>
#include <cmath>

#include "base/control.hpp"
#include "base/error.hpp"
#include "base/message.hpp"
#include "base/simd.hpp"
#include "base/special.hpp"

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

namespace {

/// If all numbers are the same, less than this share of their sum of squares is left about the
/// mean: the rounding errors of 100 bits.
constexpr double constant_share = 1e-26;
/// Smallest LinregSystem::tolerance. Errors in the last place of its numbers leave a share of 1e-32
/// of a collinear term unexplained; polynomials of degree 10, which are not collinear, have been
/// seen to leave 1e-19.
constexpr double min_tolerance = 1e-23;
/// Below this the low half of a sum of squares in double-double arithmetic is not exact.
constexpr double min_exact_squares = 1e-250;
/// relative error of one rounding of a sum, with some allowance
constexpr double sum_rounding = 0x1p-98;

/// The exponent e for which squares x 2^(-2 e) is between 1/4 and 1.
int half_exponent(double squares) {
  int exponent;
  std::frexp(squares, &exponent);
  return exponent >= 0 ? (exponent + 1) / 2 : -(-exponent / 2);
}

}  // namespace

LinregSystem::LinregSystem(const LinregSums &sums, bool with_intercept, const Document &reference)
    : all_terms(sums.columns, sums.dimension, with_intercept, reference),
      intercept(with_intercept),
      size(all_terms.size() - (with_intercept ? 1 : 0)),
      rows(sums.rows),
      weight(sums.weight()),
      mean(std::size_t(size) + 1),
      products(size + 1),
      exponent(std::size_t(size) + 1, 0),
      underflows(std::size_t(size) + 1, false),
      tolerance(std::size_t(size), 0.0) {
  std::vector<int> cell;
  for (int t = intercept ? 1 : 0; t < all_terms.size(); ++t)
    cell.push_back(sums.cell_of(all_terms[t][0].column) + std::max(0, all_terms[t][0].label));
  cell.push_back(response_cell);
  const DoubleDouble count = sums.at(one_cell, one_cell);
  if (intercept)
    for (std::size_t i = 0; i < cell.size(); ++i) mean[i] = sums.at(cell[i], one_cell) / count;
  const auto about_mean = [&](std::size_t i, std::size_t j) {
    const DoubleDouble product = sums.at(cell[i], cell[j]);
    return intercept ? product - sums.at(cell[i], one_cell) * mean[j] : product;
  };
  std::vector<bool> none(cell.size());
  const double roundings = sum_rounding * std::sqrt(sums.operations);
  for (std::size_t i = 0; i < cell.size(); ++i) {
    const double all = sums.at(cell[i], cell[i]).hi, squares = about_mean(i, i).hi;
    underflows[i] = all < min_exact_squares && (all > 0 || sums.at(cell[i], one_cell).hi != 0);
    none[i] = !(squares > std::max(constant_share, roundings) * all);
    if (none[i]) continue;
    exponent[i] = half_exponent(squares);
    if (i < tolerance.size()) tolerance[i] = std::max(min_tolerance, roundings * (all / squares));
  }
  WorkPoll poll;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    poll(64 * cell.size());
    for (std::size_t j = i; j < cell.size() && !none[i]; ++j) {
      if (none[j]) continue;
      const DoubleDouble product = scaled(about_mean(i, j), -(exponent[i] + exponent[j]));
      products.set(int(i), int(j), product);
      products.set(int(j), int(i), product);
    }
  }
}

double LinregSystem::squares(int term) const {
  return std::ldexp(products(term, term).hi, 2 * exponent[std::size_t(term)]);
}

namespace {

/// Default prior standard deviations of the coefficients of terms with variance 1, in units of the
/// response's standard deviation: with a shared lambda, and with one lambda for each (ard).
constexpr double default_coefficient_sd = 2.5, default_ard_coefficient_sd = 0.1;
/// The least weight of the noise's prior, in rows.
constexpr double min_noise_weight = 0.1;
/// lower bound of the noise variance, as a share of the variance of the response
constexpr double min_noise_share = 1e-12;
/// the largest number of terms for which X'X is eigendecomposed
constexpr int max_in_basis = 200;

WideCholesky without_prior(const LinregSystem &system) {
  return WideCholesky(system.products, system.tolerance, 1);
}

}  // namespace

LeastSquares::LeastSquares(const LinregSystem &system) {
  const WideCholesky factored = without_prior(system);
  residual_squares = std::ldexp(std::max(0.0, factored.left(0, 0).hi),
                                2 * system.exponent[std::size_t(system.size)]);
  rank = factored.rank();
  const std::vector<DoubleDouble> found = factored.solve(0);
  for (int k = 0; k < system.size; ++k) {
    dependent.push_back(factored.dependent(k));
    const auto at = std::size_t(k);
    solution.push_back(
        std::ldexp(found[at].hi, system.exponent[std::size_t(system.size)] - system.exponent[at]));
  }
  const double n = system.observations(), squares = system.squares(system.size);
  variance = n > 0 ? squares / n : 0;
  const double of_residuals = n > rank ? residual_squares / (n - rank) : variance;
  noise_variance = std::max(of_residuals, min_noise_share * variance);
}

std::vector<double> prior_scales(const LinregSystem &system, const LinregOptions &options) {
  std::vector<double> out;
  for (int j = 0; j < system.size; ++j)
    out.push_back(options.standardize ? system.squares(j) / system.weight : 1);
  return out;
}

void set_defaults(const LinregSystem &system, const LeastSquares &least, LinregOptions &options) {
  const double width = options.ard ? default_ard_coefficient_sd : default_coefficient_sd;
  double spread = 1;  // largest variance of a term, in units of d_j
  if (!options.standardize) {
    double squares = 0;
    for (int j = 0; j < system.size; ++j)
      squares = std::max(squares, system.squares(j) / system.weight);
    if (squares > 0) spread = squares;
  }
  // A response that varies less than its given noise, or not at all, has no other scale.
  double variance = least.variance;
  if (options.known_noise())
    variance = std::max(variance, *options.noise_variance);
  else if (options.a && options.b && *options.a > 0)
    variance = std::max(variance, *options.b / *options.a);
  const double of_coefficients = width * width * variance / spread;
  const auto usual = [](std::optional<double> &member, double value) {
    if (!member) member = value == 0 ? 0 : std::clamp(value, 1e-307, 1e300);
  };
  // Of a constant response least squares leaves no noise, as under a flat prior.
  if (options.exact() && least.variance == 0) {
    if (!options.b) options.b = 0;
    if (!(of_coefficients > 0) && !options.lambda && !options.c) options.lambda = 0;
  }
  if (options.exact() && options.known_noise()) {
    usual(options.lambda, 1 / of_coefficients);
    return;
  }
  if (options.exact() && !options.conjugate()) {
    const double noise = least.noise_variance > 0 ? least.noise_variance : variance;
    usual(options.lambda, !options.c        ? 1 / of_coefficients
                          : *options.c == 0 ? 0
                                            : *options.c / noise);
    options.c.reset();
  }
  // A guess that comes from the residuals must not weigh as if it were another row: with few
  // degrees of freedom intervals would be too narrow. Without any degree of freedom it is all that
  // there is.
  const double residual = system.observations() - least.rank,
               weight = std::max(min_noise_weight, 1 - residual);
  usual(options.a, weight / 2);
  usual(options.b, weight / 2 * least.noise_variance);
  if (!options.learns_lambda()) return;
  usual(options.e, LinregOptions::default_e);
  usual(options.f, 0.5 * of_coefficients);
}

LinregProblem::LinregProblem(const LinregSystem &of, const LeastSquares &found,
                             const LinregOptions &options)
    : system(of),
      ard(options.ard),
      observations(of.observations()) {
  const std::vector<double> d = prior_scales(system, options);
  for (int j = 0; j < system.size; ++j) {
    if (!(d[std::size_t(j)] > 0)) continue;
    used.push_back(j);
    if (found.dependent[std::size_t(j)] && !system.constant(j)) collinear.push_back(system.name(j));
  }
  unit = std::sqrt(found.variance > 0 ? found.variance : *options.b / *options.a);
  double largest = 0;
  for (const int j : used)
    largest = std::max(largest, system.squares(j) / system.weight / d[std::size_t(j)]);
  const double width = largest > 0 ? std::sqrt(largest) : 1;
  lambda_unit = unit * unit / (width * width);
  if (options.lambda) lambda = *options.lambda * lambda_unit;
  noise_prior = {*options.a, *options.b / (unit * unit)};
  if (!lambda) lambda_prior = {*options.e, *options.f / lambda_unit};

  const int p = size();
  std::vector<double> factor;  // a column of the system times this is a column here
  scale.resize(p);
  for (int j = 0; j < p; ++j) {
    const auto term = std::size_t(used[std::size_t(j)]);
    factor.push_back(std::ldexp(1, system.exponent[term]) / (std::sqrt(d[term]) * width));
    scale[j] = unit / (std::sqrt(d[term]) * width);
  }
  const int y = system.size;
  const double of_y = std::ldexp(1, system.exponent[std::size_t(y)]) / unit;
  gram.resize(p, p);
  moment.resize(p);
  least.resize(p);
  WorkPoll poll;
  for (int i = 0; i < p; ++i) {
    poll(std::size_t(8 * p));
    const int a = used[std::size_t(i)];
    for (int j = 0; j < p; ++j)
      gram(i, j) = system.products(a, used[std::size_t(j)]).hi * factor[std::size_t(i)] *
                   factor[std::size_t(j)];
    moment[i] = system.products(a, y).hi * factor[std::size_t(i)] * of_y;
    least[i] = found.solution[std::size_t(a)] / scale[i];
  }
  residual_squares = found.residual_squares / (unit * unit);
  response_squares = system.squares(y) / (unit * unit);
  in_basis = !ard && p > 0 && p <= max_in_basis;
  if (in_basis) {
    eigen = symmetric_eigen(gram);
    eigen.values = eigen.values.cwiseMax(0.0);
    moment_in_basis = transposed_product(eigen.vectors, moment);
  }
  log_constant = -observations / 2 * log_two_pi - observations * std::log(unit) -
                 (system.intercept ? std::log(system.weight) / 2 : 0);
}

double LinregProblem::residual_squares_at(const Vector &v) const {
  const Vector of_v = product(gram, v), off = v - least;
  // X'X times the least-squares v is X'y, so the sum is that of least squares plus off' X'X off.
  // With nearly collinear predictors the least-squares v may be so large that off' X'X off consists
  // of rounding errors. If its terms are larger than those of y'y + v'(X'X v - 2 X'y), the latter
  // is used.
  const Vector terms = of_v.cwiseAbs() + moment.cwiseAbs();
  if (off.cwiseAbs().dot(terms) > response_squares + v.cwiseAbs().dot(terms))
    return std::max(residual_squares, response_squares + v.dot(of_v - 2 * moment));
  return residual_squares + std::max(0.0, off.dot(of_v - moment));
}

double LinregProblem::log_likelihood(double squares, double alpha) const {
  return log_constant + observations / 2 * std::log(alpha) - alpha / 2 * squares;
}

void initialise_state(const LinregSystem &system, LinregModel::State &state) {
  state.terms = system.all_terms;
  state.intercept = system.intercept;
  state.weight = system.weight;
  // A fit may be described again, once its noise is known better.
  state.center.clear();
  for (int j = 0; j < system.size; ++j) state.center.push_back(system.mean[std::size_t(j)].hi);
  state.response_center = system.mean[std::size_t(system.size)].hi;
  state.coefficients.assign(std::size_t(system.size), std::nan(""));
  state.intercept_mean = state.response_center;
}

void LinregProblem::describe(const Vector &v, const Matrix *factor, const GammaPosterior &noise,
                             const std::vector<GammaPosterior> &lambdas,
                             LinregModel::State &state) const {
  initialise_state(system, state);
  state.noise = {noise.shape, noise.rate * unit * unit};
  // The lambda of a term that was left out keeps its prior.
  if (ard && !lambda)
    state.lambda.assign(std::size_t(system.size),
                        {lambda_prior.shape, lambda_prior.rate * lambda_unit});
  for (std::size_t k = 0; k < lambdas.size(); ++k) {
    const GammaPosterior in_units = {lambdas[k].shape, lambdas[k].rate * lambda_unit};
    if (ard)
      state.lambda[std::size_t(used[k])] = in_units;
    else
      state.lambda.push_back(in_units);
  }
  for (int j = 0; j < size(); ++j) {
    const auto term = std::size_t(used[std::size_t(j)]);
    state.coefficients[term] = scale[j] * v[j];
    state.intercept_mean -= scale[j] * v[j] * state.center[term];
  }
  if (!factor || system.size == 0) return;
  state.factor.assign(std::size_t(system.size) * (std::size_t(system.size) + 1) / 2, 0.0);
  state.noise_scaled = true;
  for (int i = 0; i < size(); ++i) {
    const auto row = std::size_t(used[std::size_t(i)]);
    double of_intercept = 0;
    for (int j = 0; j <= i; ++j) {
      const auto column = std::size_t(used[std::size_t(j)]);
      const double x = (*factor)(i, j) * scale[j] / unit;
      state.factor[row * (row + 1) / 2 + column] = x;
      of_intercept += x * state.center[column];
    }
    state.intercept_spread += of_intercept * of_intercept;
  }
}

double log_gamma_normalizer(const GammaPosterior &q) {
  return q.shape * std::log(q.rate) - log_gamma(q.shape);
}

double log_gamma_density(const GammaPosterior &q, double x) {
  return log_gamma_normalizer(q) + (q.shape - 1) * std::log(x) - q.rate * x;
}

}  // namespace bayes
