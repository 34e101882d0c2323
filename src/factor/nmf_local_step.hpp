// The local step of non-negative factorizations (002 L12): the weights of a document of the table
// given the factors of the terms.
//
// With t_k = exp(E log w_k) (for point estimates w_k itself) and b_jk = exp(E log v_jk), the number
// x_j of a cell is divided among the factors: factor k gets x_j t_k b_jk / n_j, where n_j = sum_k
// t_k b_jk (the auxiliary phi of 002 L12). The sum over the cells is n_k, the allocated count of
// the factor, and
//
//   q(w_k) = Gamma(shape + n_k, rate r_k),
//   bound  = sum_j x_j log n_j + sum_k (log Gamma(shape + n_k) - n_k digamma(shape + n_k)
//            - shape log r_k),
//
// where r_k = h + sum_j E v_jk for the prior's rate h, so that terms of the prior and the
// likelihood cancel. Point estimates are w_k = n_k / r_k, with the bound sum_j x_j log n_j - sum_k
// r_k w_k. Constants are omitted.
#pragma once

#include <algorithm>
#include <numeric>

#include "counts/allocation.hpp"

namespace bayes {

/// Sums over documents.
struct LocalTotals {
  /// partial sums of the bounds without the scales of the factors, which add sum_j x_j log_scale(j)
  /// for each document
  Buffer bounds;
  /// allocated counts at the q of the bound, padded_size numbers
  Buffer counts;

  explicit LocalTotals(int factors)
      : bounds(row_lanes, 0.0),
        counts(std::size_t(padded_size(factors)), 0.0) {}
  double bound() const { return std::accumulate(bounds.begin(), bounds.end(), 0.0); }
  void clear() {
    std::fill(bounds.begin(), bounds.end(), 0.0);
    std::fill(counts.begin(), counts.end(), 0.0);
  }
  void add(const LocalTotals &other) {
    for (std::size_t i = 0; i < bounds.size(); ++i) bounds[i] += other.bounds[i];
    for (std::size_t k = 0; k < counts.size(); ++k) counts[k] += other.counts[k];
  }
};

/// Inference for one document after another; each thread has its own. Polls.
class NmfLocalStep {
 public:
  /// `shape`: of the prior, 0 for point estimates. `factors` must outlive this.
  NmfLocalStep(const TermFactors &factors, double shape);

  /// Improves the allocated counts of a document (padded_size numbers), `updates` times and once
  /// more at the end; if `fresh`, starts from equal weights. `inverse_rates`: 1 / r_k, 1 in the
  /// padding. Adds to `totals` the values before the last improvement.
  void infer(const DocumentTerms &cells, const double *inverse_rates, int updates, bool fresh,
             double *counts, LocalTotals &totals);
  /// The allocation of the last document, at the q of its bound.
  Allocation allocation() const { return {allocation_.ratios(), weights_.data(), logs_.data()}; }

 private:
  void weigh(const double *inverse_rates, const double *counts);

  CountAllocation allocation_;
  const double shape_;
  const int factors_, stride_;
  /// sum of log Gamma(shape) over the padding, where counts are 0
  const double padding_bound_;
  Buffer weights_, logs_;
};

/// The allocated counts of a document, converged; `shape` and `inverse_rates` as in NmfLocalStep.
Buffer converged_counts(const DocumentTerms &cells, const TermFactors &factors, double shape,
                        const Buffer &inverse_rates);

}  // namespace bayes
