// Rows of Bayes classifiers, and an implementation of their densities in long double, from the
// definitions: posteriors by the textbook, predictive densities as those of named distributions.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "classification/nb.hpp"
#include "support.hpp"

namespace classes {

using bayes::BayesClassifier;
using bayes::Document;
using bayes::NbAccumulator;
using bayes::NbPart;
using bayes::NbWord;
using bayes::RowColumns;

struct Row {
  std::string label;
  std::vector<double> x;
  double weight = 1;
};
using Rows = std::vector<Row>;

/// Reads rows as an aggregate does. `names`: of their columns, with labels, or none for arrays.
inline NbPart read(const Rows &rows, const Document &options, const RowColumns &names = {},
                   const BayesClassifier *update = nullptr) {
  NbAccumulator to;
  bayes::nb_begin(to, options, update);
  RowColumns bare = names;
  for (bayes::RowColumn &column : bare) column.labels.clear();
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row &row = rows[i];
    if (i == 0) to.set_columns(bare, int(row.x.size()));
    if (!to.takes(row.x)) {
      to.skip();
      continue;
    }
    const auto at = std::find(labels.begin(), labels.end(), row.label);
    const int k = int(at - labels.begin());
    if (at == labels.end()) labels.push_back(row.label);
    to.add(k, row.x, row.weight, std::int64_t(i) + 1);
  }
  return NbPart(to, labels, names);
}

inline std::unique_ptr<BayesClassifier> fit(const Rows &rows, const Document &options,
                                            const RowColumns &names = {},
                                            const BayesClassifier *update = nullptr) {
  return bayes::nb_fit(read(rows, options, names, update), options, update);
}

/// Sparse rows: names and numbers.
struct SparseRow {
  std::string label;
  std::map<std::string, double> words;
};
inline NbPart read(const std::vector<SparseRow> &rows, const Document &options) {
  NbAccumulator to;
  bayes::nb_begin(to, options, nullptr);
  to.set_sparse();
  std::vector<std::string> labels, names;
  const auto number = [](std::vector<std::string> &of, const std::string &name) {
    const auto at = std::find(of.begin(), of.end(), name);
    const auto out = at - of.begin();
    if (at == of.end()) of.push_back(name);
    return int(out);
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<NbWord> words;
    for (const auto &[name, value] : rows[i].words) {
      const int known = int(names.size()), feature = number(names, name);
      if (feature == known) to.add_feature(name);
      if (value == value && !to.kind_of(feature)) to.set_kind(feature, bayes::ValueKind::number);
      words.push_back({feature, value});
    }
    to.add(number(labels, rows[i].label), std::span<const NbWord>(words), 1, std::int64_t(i) + 1);
  }
  RowColumns columns;
  for (const std::string &name : names) columns.push_back({name});
  return NbPart(to, labels, columns);
}

/// The words that a model knows.
inline std::vector<NbWord> words_of(const BayesClassifier &model,
                                    const std::map<std::string, double> &words) {
  std::vector<NbWord> out;
  for (const auto &[name, value] : words)
    if (const auto feature = model.find_feature(name); feature >= 0)
      out.push_back({feature, value});
  return out;
}

inline std::vector<double> probabilities(std::span<const double> log_joint) {
  long double most = -INFINITY, sum = 0;
  for (const double x : log_joint) most = std::max(most, (long double)(x));
  for (const double x : log_joint) sum += std::exp((long double)(x)-most);
  std::vector<double> out;
  for (const double x : log_joint) out.push_back(double(std::exp((long double)(x)-most) / sum));
  return out;
}

// ---- densities from their definitions, in long double ----

using Real = long double;

inline Real log_gamma_of(Real x) { return lgammal(x); }

/// x counts: Gamma(shape, rate) prior, posterior shape + sum, rate + n; negative binomial.
inline Real log_poisson(const std::vector<double> &seen, Real x, Real shape, Real rate) {
  for (const double v : seen) shape += v, rate += 1;
  return log_gamma_of(shape + x) - log_gamma_of(shape) - log_gamma_of(x + 1) +
         shape * std::log(rate / (rate + 1)) - x * std::log(rate + 1);
}
/// Beta(a, b) prior.
inline Real log_bernoulli(const std::vector<double> &seen, Real x, Real a, Real b) {
  for (const double v : seen) (v != 0 ? a : b) += 1;
  return std::log((x != 0 ? a : b) / (a + b));
}
/// Dirichlet(alpha, ..., alpha) prior of `categories`.
inline Real log_categorical(const std::vector<double> &seen, Real x, Real alpha, int categories) {
  Real own = alpha;
  for (const double v : seen) own += v == double(x);
  return std::log(own / (alpha * categories + Real(seen.size())));
}
/// Waiting times: gamma prior of the rate; Lomax.
inline Real log_exponential(const std::vector<double> &seen, Real x, Real shape, Real rate) {
  for (const double v : seen) shape += 1, rate += v;
  return std::log(shape) + shape * std::log(rate) - (shape + 1) * std::log(rate + x);
}
/// Failures before a success: beta prior of the probability; by the gamma function.
inline Real log_geometric(const std::vector<double> &seen, Real x, Real a, Real b) {
  for (const double v : seen) a += 1, b += v;
  const auto log_beta_of = [](Real p, Real q) {
    return log_gamma_of(p) + log_gamma_of(q) - log_gamma_of(p + q);
  };
  return log_beta_of(a + 1, b + x) - log_beta_of(a, b);
}

/// log |A|, and A^-1 v in place of v, by elimination with pivots.
inline Real solve(std::vector<std::vector<Real>> a, std::vector<Real> &v) {
  const std::size_t d = v.size();
  Real log_determinant = 0;
  for (std::size_t i = 0; i < d; ++i) {
    std::size_t pivot = i;
    for (std::size_t r = i + 1; r < d; ++r)
      if (std::abs(a[r][i]) > std::abs(a[pivot][i])) pivot = r;
    std::swap(a[i], a[pivot]);
    std::swap(v[i], v[pivot]);
    log_determinant += std::log(std::abs(a[i][i]));
    for (std::size_t r = 0; r < d; ++r) {
      if (r == i) continue;
      const Real factor = a[r][i] / a[i][i];
      for (std::size_t c = i; c < d; ++c) a[r][c] -= factor * a[i][c];
      v[r] -= factor * v[i];
    }
  }
  for (std::size_t i = 0; i < d; ++i) v[i] /= a[i][i];
  return log_determinant;
}

/// The multivariate Student t of the posterior predictive, Normal-Wishart(m, c, a, B I): moments in
/// two passes, elements `of` alone.
inline Real log_normal(const std::vector<std::vector<double>> &seen, const std::vector<double> &x,
                       const std::vector<int> &of, Real m, Real c, Real a, Real b) {
  const std::size_t d = x.size(), e = of.size();
  const Real n = Real(seen.size());
  std::vector<Real> mean(d, 0);
  for (const auto &row : seen)
    for (std::size_t j = 0; j < d; ++j) mean[j] += row[j] / n;
  std::vector<std::vector<Real>> scale(e, std::vector<Real>(e, 0));
  std::vector<Real> away(e);
  for (std::size_t i = 0; i < e; ++i) {
    const std::size_t p = std::size_t(of[i]);
    for (std::size_t j = 0; j < e; ++j) {
      const std::size_t q = std::size_t(of[j]);
      scale[i][j] = (i == j ? b : 0);
      for (const auto &row : seen) scale[i][j] += (row[p] - mean[p]) * (row[q] - mean[q]);
      if (n > 0) scale[i][j] += c * n / (c + n) * (mean[p] - m) * (mean[q] - m);
    }
    const Real location = n > 0 ? (c * m + n * mean[p]) / (c + n) : m;
    away[i] = x[p] - location;
  }
  // of e of d elements: Wishart with fewer degrees
  const Real degrees = a + n - Real(d) + 1, cn = c + n;
  for (auto &line : scale)
    for (Real &entry : line) entry *= (cn + 1) / (cn * degrees);
  std::vector<Real> solved = away;
  const Real log_determinant = solve(scale, solved);
  Real quadratic = 0;
  for (std::size_t i = 0; i < e; ++i) quadratic += away[i] * solved[i];
  return log_gamma_of((degrees + Real(e)) / 2) - log_gamma_of(degrees / 2) -
         Real(e) / 2 * std::log(degrees * 3.14159265358979323846264338327950288L) -
         log_determinant / 2 - (degrees + Real(e)) / 2 * std::log1p(quadratic / degrees);
}

/// One element.
inline Real log_univariate(const std::vector<double> &seen, Real x, Real m, Real c, Real a,
                           Real b) {
  std::vector<std::vector<double>> rows;
  for (const double v : seen) rows.push_back({v});
  return log_normal(rows, {double(x)}, {0}, m, c, a, b);
}

}  // namespace classes
