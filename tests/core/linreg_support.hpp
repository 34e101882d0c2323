// Rows, sums and slow references for the tests of linear regression.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <memory_resource>
#include <sstream>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "compare.hpp"
#include "regression/linreg.hpp"
#include "regression/linreg_sums.hpp"

#ifndef BAYES_TEST_DATA
#define BAYES_TEST_DATA "tests/data"  // tests are run in the top directory
#endif

namespace linreg {

using namespace bayes;
using Options = Document::Object;
using Real = long double;

struct Rows {
  std::vector<double> y;
  std::vector<std::vector<double>> x;
  std::vector<double> weight = {};

  std::size_t size() const { return y.size(); }
  int dimension() const { return int(x.front().size()); }
  Rows part(std::size_t begin, std::size_t end) const {
    Rows out;
    out.y.assign(y.begin() + long(begin), y.begin() + long(end));
    out.x.assign(x.begin() + long(begin), x.begin() + long(end));
    if (!weight.empty())
      out.weight.assign(weight.begin() + long(begin), weight.begin() + long(end));
    return out;
  }
  double weight_of(std::size_t i) const { return weight.empty() ? 1 : weight[i]; }
};

inline void add_rows(LinregAccumulator &to, const Rows &rows, const RowColumns &columns = {}) {
  if (!to.begun()) to.begin(columns, rows.dimension(), !rows.weight.empty());
  for (std::size_t i = 0; i < rows.size(); ++i) to.add(rows.y[i], rows.x[i], rows.weight_of(i));
}

inline LinregSums sums_of(const Rows &rows, const RowColumns &columns = {}) {
  LinregAccumulator sums(std::pmr::get_default_resource());
  add_rows(sums, rows, columns);
  return sums.sums(columns);
}

/// The model after it was written and read, as SQL has it; nullptr if there is none.
inline std::unique_ptr<LinregModel> fit(const LinregSums &sums, const Options &options = {},
                                        LinregWarnings *warnings = nullptr) {
  Control control;
  LinregWarnings ignored;
  const auto model = linreg_fit(sums, Document(options), control, warnings ? *warnings : ignored);
  if (!model) return nullptr;
  auto read = Model::from_bytes(model->to_bytes());
  return std::unique_ptr<LinregModel>(dynamic_cast<LinregModel *>(read.release()));
}
inline std::unique_ptr<LinregModel> fit(const Rows &rows, const Options &options = {}) {
  return fit(sums_of(rows), options);
}

inline std::vector<Coefficient> coefficients(const LinregModel &model, double level = 0.95) {
  std::vector<Coefficient> out;
  model.coefficients(level, [&](const Coefficient &c) { out.push_back(c); });
  return out;
}

/// y = 1 + sum (j + 1) x_j / 2 + noise, x_j ~ Normal(offset, 1).
inline Rows random_rows(int n, int d, std::uint64_t seed, double offset = 0, double noise = 1) {
  Random random(seed);
  Rows out;
  for (int i = 0; i < n; ++i) {
    std::vector<double> x;
    double y = 1 + noise * random.normal();
    for (int j = 0; j < d; ++j) {
      x.push_back(offset + random.normal());
      y += (j + 1) * x.back() / 2;
    }
    out.x.push_back(x);
    out.y.push_back(y);
  }
  return out;
}

/// The prior of the tests: proper, on the coefficients as they are.
inline Document prior(std::initializer_list<std::pair<const char *, double>> members) {
  Document out = Document::object();
  for (const auto &[key, value] : members) out.set(key, value);
  return out;
}

/// A small matrix, solved by Gauss and Jordan in long double: a reference that shares nothing with
/// the library. Returns the inverse; `log_determinant` gets that of the matrix.
inline std::vector<std::vector<Real>> inverse(std::vector<std::vector<Real>> a,
                                              Real *log_determinant = nullptr) {
  const std::size_t n = a.size();
  std::vector<std::vector<Real>> out(n, std::vector<Real>(n, 0));
  Real log_det = 0;
  for (std::size_t i = 0; i < n; ++i) out[i][i] = 1;
  for (std::size_t i = 0; i < n; ++i) {
    const Real pivot = a[i][i];
    log_det += std::log(pivot);
    for (std::size_t k = 0; k < n; ++k) {
      a[i][k] /= pivot;
      out[i][k] /= pivot;
    }
    for (std::size_t j = 0; j < n; ++j) {
      if (j == i) continue;
      const Real factor = a[j][i];
      for (std::size_t k = 0; k < n; ++k) {
        a[j][k] -= factor * a[i][k];
        out[j][k] -= factor * out[i][k];
      }
    }
  }
  if (log_determinant) *log_determinant = log_det;
  return out;
}

/// log p(y | alpha, lambda) by the n x n covariance I / alpha + X X' / lambda, without an
/// intercept: coefficients and their posterior do not occur in it.
inline Real log_evidence_given(const Rows &rows, Real alpha, Real lambda) {
  const std::size_t n = rows.size();
  std::vector<std::vector<Real>> covariance(n, std::vector<Real>(n, 0));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < rows.x[i].size(); ++k)
        covariance[i][j] += Real(rows.x[i][k]) * rows.x[j][k] / lambda;
      if (i == j) covariance[i][j] += 1 / alpha;
    }
  Real log_det, form = 0;
  const auto precision = inverse(covariance, &log_det);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) form += precision[i][j] * rows.y[i] * rows.y[j];
  return -(Real(n) * std::log(2 * 3.14159265358979323846L) + log_det + form) / 2;
}

inline Real log_gamma_density(Real a, Real b, Real x) {
  return a * std::log(b) - std::lgamma(a) + (a - 1) * std::log(x) - b * x;
}

/// log of an integral over alpha > 0 of exp(f(alpha)), by the trapezoidal rule in log alpha.
template <class F> Real log_integral(F f, Real low = -12, Real high = 12, int steps = 600) {
  std::vector<Real> terms;
  Real most = -1e300L;
  for (int i = 0; i <= steps; ++i) {
    const Real t = low + (high - low) * i / steps;
    terms.push_back(f(std::exp(t)) + t);
    most = std::max(most, terms.back());
  }
  Real sum = 0;
  for (const Real term : terms) sum += std::exp(term - most);
  return most + std::log(sum * (high - low) / steps);
}

}  // namespace linreg
