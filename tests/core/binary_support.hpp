// Rows of binary regressions for tests, and the posterior density from its definition, slowly.
#pragma once

#include <functional>

#include "regression/glm.hpp"
#include "regression/glm_rows.hpp"
#include "regression/responses.hpp"
#include "support.hpp"

namespace binary {

using namespace bayes;
using Real = long double;

/// y, predictors and weights.
struct Rows {
  std::vector<int> y;
  Matrix x;
  Vector weight;  // empty: none

  MemoryRows packed() const { return support::rows_of(joined(), weight); }
  Matrix joined() const {
    Matrix out(x.rows(), x.cols() + 1);
    for (Eigen::Index i = 0; i < x.rows(); ++i) out(i, 0) = y[std::size_t(i)];
    out.rightCols(x.cols()) = x;
    return out;
  }
  Real w(Eigen::Index i) const { return weight.size() > 0 ? weight(i) : 1; }
};

/// n rows of d predictors, independent normals, and y by a regression on them.
inline Rows synthetic(int n, int d, std::uint64_t seed, bool weighted = false, double size = 1) {
  Random random(seed);
  Rows out{{}, Matrix(n, d), weighted ? support::random_weights(n, seed + 1) : Vector()};
  for (int i = 0; i < n; ++i) {
    double predictor = 0.3;
    for (int j = 0; j < d; ++j) {
      out.x(i, j) = random.normal();
      predictor += size * (j % 2 ? -1 : 1) / std::sqrt(d) * out.x(i, j);
    }
    out.y.push_back(random.uniform() < probability_at(Link::logit, predictor));
  }
  return out;
}

/// log F(t)
inline Real log_link(Link link, Real t) {
  if (link == Link::logit) return t > 0 ? -std::log1p(std::exp(-t)) : t - std::log1p(std::exp(t));
  if (t > 0) return std::log1p(-0.5L * std::erfc(t / std::sqrt(2.0L)));
  if (t > -8) return std::log(0.5L * std::erfc(-t / std::sqrt(2.0L)));
  // the continued fraction of Mills' ratio
  Real tail = -t;
  for (int k = 200; k >= 1; --k) tail = -t + k / tail;
  return -0.5L * t * t - 0.5L * std::log(2 * 3.14159265358979323846L) - std::log(tail);
}

/// The log joint density of y and w, the coefficients of the columns; with an intercept w(0) is
/// that of columns less `centre`. `variance`: of the prior, for each of them.
inline Real log_joint(const Rows &rows, Link link, bool intercept, const Vector &centre,
                      const Vector &variance, const Vector &w) {
  Real out = 0;
  for (Eigen::Index i = 0; i < rows.x.rows(); ++i) {
    Real predictor = intercept ? w(0) : 0;
    for (Eigen::Index j = 0; j < rows.x.cols(); ++j)
      predictor += Real(w(j + intercept)) * (Real(rows.x(i, j)) - (intercept ? centre(j) : 0));
    out += rows.w(i) * log_link(link, rows.y[std::size_t(i)] ? predictor : -predictor);
  }
  for (Eigen::Index j = 0; j < w.size(); ++j)
    out -= 0.5L *
           (std::log(2 * 3.14159265358979323846L * variance(j)) + Real(w(j)) * w(j) / variance(j));
  return out;
}

/// The inverse of a positive definite matrix.
inline Matrix inverse(const Matrix &a) {
  Matrix lower;
  BOOST_REQUIRE(cholesky(a, lower));
  const Matrix root = inverse_lower(lower);
  Matrix out(a.rows(), a.cols());
  for (Eigen::Index i = 0; i < a.rows(); ++i)
    for (Eigen::Index j = 0; j < a.cols(); ++j) out(i, j) = root.col(i).dot(root.col(j));
  return out;
}

/// a'Ma
inline double form(const Matrix &m, const Vector &a) {
  double out = 0;
  for (Eigen::Index j = 0; j < a.size(); ++j) out += a(j) * m.col(j).dot(a);
  return out;
}

/// Means of the columns, by the rows' weights.
inline Vector means(const Rows &rows) {
  Vector out = Vector::Zero(rows.x.cols());
  double total = 0;
  for (Eigen::Index i = 0; i < rows.x.rows(); ++i) {
    out += double(rows.w(i)) * rows.x.row(i).transpose();
    total += double(rows.w(i));
  }
  return out / total;
}

using Fitted = std::unique_ptr<Glm>;

inline GlmFamily family_of(Link link) {
  return link == Link::logit ? GlmFamily::logreg : GlmFamily::probit;
}

inline Fitted fit(Link link, RowSource &rows, const Document &options,
                  const RowColumns &columns = {}, GlmWarnings *warnings = nullptr) {
  Control control;
  GlmWarnings ignored;
  return glm_fit(family_of(link), rows, columns, options, control, warnings ? *warnings : ignored);
}
inline Fitted fit(Link link, const Rows &rows, const Document &options = {},
                  const RowColumns &columns = {}) {
  MemoryRows packed = rows.packed();
  return fit(link, packed, options, columns);
}
inline Document options(const char *key, Document value) {
  return Document::object().set(key, std::move(value));
}
/// The prior Normal(0, c I) in units of the columns, and of the intercept c.
inline Document prior(Link link, double c) {
  const bool logit = link == Link::logit;
  return Document::object()
      .set(logit ? "c" : "lambda", logit ? c : 1 / c)
      .set(logit ? "c_intercept" : "lambda_intercept", logit ? c : 1 / c);
}

struct Row {
  std::string term;
  double mean, sd, lower, upper;
};
inline std::vector<Row> coefficients(const Glm &model, double level = 0.95) {
  std::vector<Row> out;
  model.coefficients(level, [&](const Coefficient &c) {
    out.push_back({*c.term, c.mean, c.sd, c.lower, c.upper});
  });
  return out;
}

/// Sums f over a grid of all coefficients (one or two of them), which are independent standard
/// normals times `reach` away from `centre` at most, by the trapezoidal rule.
inline Real integral(const Vector &centre, const Vector &sd,
                     const std::function<Real(const Vector &)> &f) {
  constexpr int half = 40;
  constexpr double step = 0.2;  // in standard deviations: 8 each way
  Real out = 0, cell = 1;
  for (Eigen::Index j = 0; j < sd.size(); ++j) cell *= step * sd(j);
  Vector w(centre.size());
  for (int a = -half; a <= half; ++a) {
    w(0) = centre(0) + a * step * sd(0);
    if (centre.size() == 1) {
      out += f(w);
      continue;
    }
    for (int b = -half; b <= half; ++b) {
      w(1) = centre(1) + b * step * sd(1);
      out += f(w);
    }
  }
  return out * cell;
}

}  // namespace binary
