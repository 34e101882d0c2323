// Rows and models for the tests of conjugate models.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.hpp"
#include "conjugate/conjugate.hpp"

namespace conjugate_models {

using namespace bayes;

inline constexpr ConjugateKind kinds[] = {ConjugateKind::beta_bernoulli,
                                          ConjugateKind::gamma_poisson,
                                          ConjugateKind::normal_inverse_gamma};

struct Row {
  double x, weight;
};

/// Rows of each kind; weights other than 1 for beta and gamma only if asked for.
inline std::vector<Row> make_rows(ConjugateKind kind, int n, std::uint64_t seed,
                                  bool weighted = false) {
  Random random(seed);
  std::vector<Row> rows;
  for (int i = 0; i < n; ++i) {
    const double weight = weighted ? 0.25 + 2 * random.uniform() : 1;
    rows.push_back({kind == ConjugateKind::beta_bernoulli  ? double(random.uniform() < 0.3)
                    : kind == ConjugateKind::gamma_poisson ? double(random.below(7))
                                                           : 3 + 2 * random.normal(),
                    weight});
  }
  return rows;
}

inline ConjugateSums sums_of(ConjugateKind kind, const std::vector<Row> &rows) {
  ConjugateSums sums;
  for (const Row &row : rows) sums.add(kind, row.x, row.weight, 1);
  return sums;
}

inline ConjugatePrior proper_prior(ConjugateKind kind) {
  return kind == ConjugateKind::normal_inverse_gamma ? ConjugatePrior{1, 0.5, 1.5, 2.5}
                                                     : ConjugatePrior{1.5, 2.5};
}

inline ConjugateModel beta(double a, double b) {
  ConjugateSums sums;
  sums.rows = 1;
  return {ConjugateKind::beta_bernoulli, {a, b}, sums};
}
inline ConjugateModel gamma(double a, double b) {
  ConjugateSums sums;
  sums.rows = 1;
  return {ConjugateKind::gamma_poisson, {a, b}, sums};
}

inline bool near(double a, double b, double tolerance) {
  return std::fabs(a - b) <= tolerance * std::max(1.0, std::fabs(b));
}

}  // namespace conjugate_models
