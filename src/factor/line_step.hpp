// The local step of non-negative factorizations (002 L12): given the other side's factors, the
// weights of a line of the table.
//
// With t_k = exp(E log w_k) (of points w_k itself) and b_jk = exp(E log v_jk), the part x_j t_k
// b_jk / n_j of a cell is factor k's, where n_j = sum_k t_k b_jk: the auxiliary phi of 002 L12. A
// line's parts of a factor add up to n_k, and
//
//   q(w_k) = Gamma(shape + n_k, rate r_k),
//   bound  = sum_j x_j log n_j + sum_k (log Gamma(shape + n_k) - n_k digamma(shape + n_k)
//            - shape log r_k),
//
// in which the terms of r_k that the prior's rate h and the likelihood have cancel, as r_k = h +
// sum_j E v_jk. Points are w_k = n_k / r_k, and the bound is sum_j x_j log n_j - sum_k r_k w_k.
// Constants are left out.
#pragma once

#include <algorithm>
#include <numeric>

#include "topics/document_step.hpp"
#include "topics/token_division.hpp"

namespace bayes {

/// What lines add up to.
struct LineTotals {
  /// partial sums of the bounds, without the scales of the factors: sum_j x_j log_scale(j) of each
  /// line less
  Buffer bounds;
  /// the parts at the q of the bound, padded_topics numbers
  Buffer parts;

  explicit LineTotals(int factors)
      : bounds(topic_lanes, 0.0),
        parts(std::size_t(padded_topics(factors)), 0.0) {}
  double bound() const { return std::accumulate(bounds.begin(), bounds.end(), 0.0); }
  void clear() {
    std::fill(bounds.begin(), bounds.end(), 0.0);
    std::fill(parts.begin(), parts.end(), 0.0);
  }
  void add(const LineTotals &other) {
    for (std::size_t i = 0; i < bounds.size(); ++i) bounds[i] += other.bounds[i];
    for (std::size_t k = 0; k < parts.size(); ++k) parts[k] += other.parts[k];
  }
};

/// The inference for one line after another: memory of a thread. Polls.
class LineStep {
 public:
  /// `shape`: of the prior, 0 for points. `factors` must live as long.
  LineStep(const TopicFactors &factors, double shape);

  /// Improves a line's parts (padded_topics numbers), `updates` times and once more at the end; if
  /// `fresh` begins anew. `inverse_rates`: 1 / r_k, of the padding 1. Adds up what is known before
  /// the last improvement.
  void infer(const DocumentTerms &cells, const double *inverse_rates, int updates, bool fresh,
             double *parts, LineTotals &totals);
  /// Of the last line, at the q of its bound.
  DividedTokens divided() const { return {division_.ratios(), weights_.data(), logs_.data()}; }

 private:
  void weigh(const double *inverse_rates, const double *parts);

  TokenDivision division_;
  const double shape_;
  const int topics_, stride_;
  /// log Gamma(shape) of the padding, whose parts are 0
  const double of_padding_;
  Buffer weights_, logs_;
};

/// The parts of a line that its cells have of each factor, converged, for `shape` and 1 / rates as
/// in LineStep.
Buffer converged_parts(const DocumentTerms &cells, const TopicFactors &factors, double shape,
                       const Buffer &inverse_rates);

}  // namespace bayes
