// Statistics of learners of Poisson counts: sums over the documents and over the terms of a table,
// and the rates and priors that follow from them.
#pragma once

#include <algorithm>
#include <numeric>
#include <optional>

#include "factor/nmf_learners.hpp"
#include "factor/nmf_local_step.hpp"

namespace bayes {

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
