// The normal equations of a linear regression, from its sufficient statistics.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/wide_matrix.hpp"
#include "document/document.hpp"
#include "regression/linreg_sums.hpp"
#include "regression/terms.hpp"

namespace bayes {

/// An intercept, which has a flat prior, is integrated out: then sums are about the means, with one
/// degree of freedom less. In what follows terms are those besides the intercept, numbered from 0;
/// the response follows the last of them.
struct LinregSystem {
  LinregSystem(const LinregSums &sums, bool intercept, const Document &reference);

  /// all terms, the intercept first
  RegressionTerms all_terms;
  bool intercept;
  /// number of terms
  int size;
  std::int64_t rows;
  /// total weight of all rows
  double weight;
  /// The effective number of observations: weight, less 1 with an intercept. Not n - p, as
  /// coefficients with a proper prior take no degrees of freedom.
  double observations() const { return weight - (intercept ? 1 : 0); }

  /// Means of the terms and of the response; 0 without an intercept.
  std::vector<DoubleDouble> mean;
  /// Products of term or response i and j, summed over the rows, times 2^-(exponent i + exponent
  /// j): their squares are 1/4 to 1, or 0.
  WideMatrix products;
  std::vector<int> exponent;
  /// of terms and the response: their squares are so small that they lose digits, or vanish
  std::vector<bool> underflows;
  /// A term is taken for a linear combination of others if they explain all of its squares but this
  /// share: what is left is rounding errors.
  std::vector<double> tolerance;

  /// The name of a term.
  const std::string &name(int term) const { return all_terms.name(term + (intercept ? 1 : 0)); }
  /// The sum of squares of a term, or of the response.
  double squares(int term) const;
  bool constant(int term) const { return products(term, term).hi == 0; }
};

}  // namespace bayes
