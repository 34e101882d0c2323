// How well a latent class model fits a table of answers.
#pragma once

#include <cstdint>
#include <optional>

#include "base/control.hpp"
#include "data/rows.hpp"
#include "mixture/bmm.hpp"

namespace bayes {

/// Mean expected count of a pattern, complete / possible, below which g2 and x2 do not have
/// chi-squared distributions: five for g2, one for x2, which is the more robust one (Koehler and
/// Larntz 1980; Agresti 2002, section 9.8).
inline constexpr double min_expected_g2 = 5, min_expected_x2 = 1;

/// Fit statistics of a mixture at its point estimate, for any rows that it could have been fitted
/// to. NaN or nullopt where a statistic does not exist.
///
/// Rows that miss no element are a table of counts O, one for each pattern of answers, N together.
/// The model expects E = N p(pattern). Sums are over all possible patterns; patterns that no row
/// has add E to x2 and nothing to g2 (Goodman 1974; Linzer and Lewis 2011).
struct BmmFitStatistics {
  /// sum of the weights of all rows
  double observations = 0;
  /// of all rows
  double log_likelihood = 0;
  double bic = 0, aic = 0;
  /// as Model::relative_entropy(), for these rows
  double entropy = 0;
  /// sum of the weights of rows without missing elements
  double complete = 0;
  /// number of distinct complete rows; nullopt if there are more than memory allows
  std::optional<std::int64_t> patterns;
  /// the product of the numbers of categories; NaN if an element has an unlimited number of values
  double possible = 0;
  /// 2 sum O log(O / E)
  double g2 = 0;
  /// sum (O - E)^2 / E
  double x2 = 0;
  /// possible - 1 - free parameters
  double df = 0;
  /// the probability of a larger g2 or x2 under a chi-squared distribution with df degrees of
  /// freedom; NaN if df < 1, or if counts are too small (min_expected_g2, _x2)
  double g2_p = 0, x2_p = 0;
  /// counts are too small for g2_p, though perhaps not for x2_p
  bool sparse = false;
};

/// Throws Error(invalid_argument) for a model whose parameters are draws, and for a value that its
/// column does not allow, naming row and element.
BAYES_API BmmFitStatistics bmm_fit_statistics(const BernoulliMixture &model, RowSource &rows,
                                              Control &control);

}  // namespace bayes
