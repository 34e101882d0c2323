// Responses that are one of several levels: ordered ones (cumulative models, McCullagh 1980) and
// classes without an order (multinomial logit).
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "regression/responses.hpp"

namespace bayes {

/// The largest number of levels.
inline constexpr int max_levels = 1000;

/// A distribution of levels 0 to levels - 1.
///
/// Its unknowns besides coefficients are, of ordered levels, the logarithms of the gaps between
/// neighbouring cuts: P(y > k) = F(predictor - cut_k), where the cut `anchor` is at 0, and
/// cut_k = cut_(k - 1) + gap_k for k = 1 to levels - 2. Classes have a predictor each but class 0,
/// whose one is 0: P(y = k) is in proportion to its exponential.
struct LevelShape {
  int levels, anchor;
};

class BAYES_API LevelResponse : public ResponseFamily {
 public:
  using ResponseFamily::ResponseFamily;
  bool labelled() const final { return true; }
  bool allows(double y) const final;

  /// Probabilities of all levels at some points, a multiple of points_at_once. `at`: predictors,
  /// and after them extra unknowns, number i of point s at [i * points + s]; out: of level k at [k
  /// * points + s]. Absolute errors some 1e-16, and relative ones where both cuts of a level are on
  /// one side of the predictor.
  virtual void probabilities(LevelShape shape, int points, const double *at, double *out) const = 0;
  static constexpr int points_at_once = 8;

  /// Log probabilities of one level at these points, also where those underflow.
  virtual void log_probabilities(LevelShape shape, int level, int points, const double *at,
                                 double *out) const = 0;
};

BAYES_API std::span<const LevelResponse *const> level_responses();

/// The cuts from the logarithms of their gaps: one more than these.
BAYES_API std::vector<double> cuts_of(std::span<const double> log_gaps, int anchor);

/// The derivatives of a log-likelihood by cuts, one for each cut; and minus its second ones: those
/// by one cut twice, and by each cut and the next. Minus its mixed derivatives by a cut and the
/// coefficients are kept apart.
struct CutSlopes {
  std::vector<double> slope, curvature, next;
};

/// The derivatives by the logarithms of gaps, where those are `log_gaps`: the slope; and the lower
/// triangle of minus the second derivatives, number (i, j) at [i (i + 1) / 2 + j].
struct GapSlopes {
  std::vector<double> slope, curvature;
};
BAYES_API GapSlopes by_log_gaps(const CutSlopes &cuts, std::span<const double> log_gaps,
                                int anchor);
/// Mixed derivatives by gap and coefficient from those by cut and coefficient, `coefficients`
/// numbers for each.
BAYES_API std::vector<double> mixed_by_log_gaps(const std::vector<double> &by_cut,
                                                std::size_t coefficients,
                                                std::span<const double> log_gaps, int anchor);

/// Which label comes first where levels have no order of their own: numbers by their size, and
/// then all others by their bytes.
BAYES_API bool level_before(std::string_view a, std::string_view b);

}  // namespace bayes
