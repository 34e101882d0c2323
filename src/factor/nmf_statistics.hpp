// Statistics of learners of Poisson counts: sums over the documents and over the terms of a table,
// and the rates and priors that follow from them.
#pragma once

#include <algorithm>
#include <numeric>
#include <optional>

#include "counts/allocation.hpp"
#include "factor/nmf_learners.hpp"

namespace bayes {

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

/// The sum of log Gamma(x + 1) over all cells, the constant of the Poisson log-likelihood.
/// `of_documents`: receives the sum of each document; may be empty.
double log_factorials(Corpus &documents, Buffer &of_documents, Control &control);
/// The same on other servers.
extern const PassOver<PartOfDocuments> log_factorials_pass;

/// Sums over documents.
struct DocumentSums {
  LocalTotals totals;
  AllocationSums cells;
  /// expected weights, summed over all documents; and, if cells may be missing, for each term over
  /// the documents with a cell
  Buffer weights;
  std::optional<AllocationSums> weights_of_cells;

  /// `all`: keeps rows for all terms
  DocumentSums(std::int32_t terms, int factors, bool missing, bool all)
      : totals(factors),
        cells(terms, factors, all),
        weights(totals.counts) {
    if (missing) weights_of_cells.emplace(terms, factors, all);
  }
  void clear() {
    totals.clear();
    cells.clear();
    std::fill(weights.begin(), weights.end(), 0.0);
    if (weights_of_cells) weights_of_cells->clear();
  }
  void add(DocumentSums &other) {
    totals.add(other.totals);
    cells.add(other.cells);
    for (std::size_t k = 0; k < weights.size(); ++k) weights[k] += other.weights[k];
    if (weights_of_cells) weights_of_cells->add(*other.weights_of_cells);
  }
  /// As sums of a pass (data/pass.hpp).
  template <class F> void fields(F &f) {
    const std::size_t k = std::size_t(cells.components());
    f.values("bounds", totals.bounds);
    f.values("counts", std::span(totals.counts).first(k));
    f.object("cells", cells);
    f.values("weights", std::span(weights).first(k));
    if (weights_of_cells) f.object("weights_of_cells", *weights_of_cells);
  }
  /// The sum of the cells of the term cells.terms()[i]: the sum of its allocated counts over the
  /// factors.
  double term_total(std::size_t i, const TermFactors &factors) const {
    const double *const row = cells.row(i), *const end = row + totals.counts.size();
    return std::inner_product(row, end, factors.row(cells.terms()[i]), 0.0);
  }
};

/// Sums over terms.
struct TermSums {
  /// minus the divergence of q(v), without constants that do not depend on q
  double bound = 0;
  /// sum of E log v over terms and factors
  double logs = 0;
  /// sum of E v for each factor
  Buffer means;

  explicit TermSums(std::size_t stride) : means(stride, 0.0) {}
  void clear() {
    bound = logs = 0;
    std::fill(means.begin(), means.end(), 0.0);
  }
  void add(const TermSums &other) {
    bound += other.bound;
    logs += other.logs;
    for (std::size_t k = 0; k < means.size(); ++k) means[k] += other.means[k];
  }
};

/// The posterior of the terms' weights, or their point estimates, as inputs of the local step.
class TermPosterior {
 public:
  TermPosterior(const NmfOptions &options, std::int32_t keys, int factors);

  /// Computes the factors of all terms, their sums, and if cells may be missing the means of each.
  void update_factors(const FactorState &state, Control &control);

  TermFactors factors;
  TermSums sums;
  /// expected weights of every term, if cells may be missing
  PaddedMatrix means;

 private:
  void update_factors(const FactorState &state, std::int32_t key, const Buffer &rates,
                      const Buffer &log_rates, TermSums &here);

  const bool gamma_, missing_, own_;
  const int factors_;
  const std::size_t stride_;
};

/// The part of the bound that depends neither on the cells nor on q.
double bound_of_priors(const FactorState &state, std::int64_t documents);

/// Sets the learned parameters of the documents' prior to the maximum of the bound. `counts`: sums
/// of the allocated counts, padded; `logs`: the sum of E log w.
void learn_document_prior(const FactorTask &task, FactorState &state, const Buffer &counts,
                          double logs);
/// The same for the prior of the terms.
void learn_term_prior(const FactorTask &task, FactorState &state, const TermSums &sums);

/// Sets the common rates of both sides, which are coupled: r = h + sum E v and s = h' + sum E w.
/// Given the sums of the allocated counts of both sides, the joint maximum solves a quadratic
/// equation.
void balance_rates(FactorState &state, std::int64_t documents, const Buffer &term_counts,
                   const Buffer &document_counts);

}  // namespace bayes
