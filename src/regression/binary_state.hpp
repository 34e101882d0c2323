// What a fitted binary regression holds.
#pragma once

#include <vector>

#include "regression/binary_regression.hpp"
#include "regression/term_scales.hpp"
#include "regression/terms.hpp"

namespace bayes {

/// Of coefficients u of the terms z = (x - centre) / scale.
struct BinaryRegression::State {
  RegressionTerms terms;
  TermScales scales;
  /// posterior mode or, of vi and gibbs, mean; p numbers
  std::vector<double> mean;
  /// The lower triangular R whose R'R is the covariance, row by row, p (p + 1) / 2 numbers; empty
  /// if there is but a point, or if there are draws.
  std::vector<double> root;
  /// of gibbs: stored draws, chain after chain, each of p numbers
  std::vector<double> draws;
  /// of gibbs: the standard deviations of u over all draws, of the intercept that of the columns
  /// themselves; empty in models of earlier versions
  std::vector<double> deviations;
  /// sum of the rows' weights
  double observations = 0;
  /// terms that vary
  int parameters = 0;

  std::size_t size() const { return std::size_t(terms.size()); }
};

}  // namespace bayes
