// Allocation of the counts of a document to components: the inner loop of all variational local
// steps.
//
// With weights t_k of the document and factors b_wk of its terms, a token of term w belongs to
// component k with probability t_k b_wk / n_w, where n_w = sum_k t_k b_wk.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/control.hpp"
#include "counts/padded_table.hpp"
#include "data/corpus.hpp"

namespace bayes {

class Document;

/// Parameters of a variational posterior, scale * counts + eta + added: of a Dirichlet distribution
/// for each component (topics), or shapes of gamma distributions (factors).
struct TermParameters {
  const PaddedMatrix &counts;
  double scale = 1;
  double eta = 0;
  /// null: nothing is added
  const PaddedMatrix *added = nullptr;
};

/// Sums over terms and components from which a divergence from the prior is computed.
struct ExpectationSums {
  /// of log Gamma(parameter)
  double log_gamma = 0;
  /// of E log beta
  double logs = 0;
  /// of scale * counts * E log beta
  double counted_logs = 0;

  void add(const ExpectationSums &other) {
    log_gamma += other.log_gamma;
    logs += other.logs;
    counted_logs += other.counted_logs;
  }
};

/// b_wk = exp(E log beta_kw), or point estimates beta_kw, each row divided by its largest number.
/// Numbers below 1e-148 are replaced by it, since products with a document's weights must not
/// underflow.
class TermFactors {
 public:
  TermFactors() = default;
  TermFactors(std::int32_t terms, int components);

  /// Computes a term's factors. `digammas`: of the sum of each component's parameters, or the
  /// logarithm of its rate; padded_size numbers, 0 in the padding.
  ExpectationSums expect(std::int32_t term, const TermParameters &parameters,
                         const double *digammas);
  /// Takes a term's factors from its row of point estimates.
  void set_points(std::int32_t term, const PaddedMatrix &points);

  const PaddedMatrix &values() const { return factors_; }
  const double *row(std::int32_t term) const { return factors_.row(term); }
  /// the logarithm of the number by which a term's factors were divided
  double log_scale(std::int32_t term) const { return logs_[std::size_t(term)]; }

  /// For a server that makes the local step (counts/remote_corpus.hpp).
  Document message() const;
  /// Throws Error(invalid_binary) unless message() has made it, of so many terms.
  static TermFactors of_message(const Document &message, std::int32_t terms);

 private:
  PaddedMatrix factors_;
  std::vector<double> logs_;
  Buffer live_;  // 1, and 0 in the padding
};

/// How the counts of a document are allocated to components.
struct Allocation {
  /// c_w / n_w of its terms
  const double *ratios;
  /// t_k, padded_size numbers
  const double *weights;
  /// E log t_k, padded_size numbers
  const double *logs;
};

/// Allocates the counts of one document after another; each thread has its own. Polls, as documents
/// may be large.
class CountAllocation {
 public:
  /// `factors` must outlive this.
  explicit CountAllocation(const TermFactors &factors);

  void set_document(const DocumentTerms &document);
  /// Computes n_w, c_w / n_w, and sum_w c_w b_wk / n_w for weights t_k (padded_size numbers; those
  /// of the padding are not used).
  void allocate(const double *weights);
  /// sum_w c_w log n_w with the scales of the factors, after allocate().
  double log_norms(const DocumentTerms &document) const;
  /// Adds sum_w c_w log n_w without the scales, which is less by sum_w c_w log_scale(w), to
  /// row_lanes partial sums.
  void add_log_norms(double *partial) const;

  /// sum_w c_w b_wk / n_w, padded_size numbers; 0 in the padding unless the document has no terms
  const double *sums() const { return sums_.data(); }
  double *sums() { return sums_.data(); }
  /// c_w / n_w
  const double *ratios() const { return ratios_.data(); }

 private:
  template <int Eights> void allocate_short(const double *weights);
  void allocate_long(const double *weights);

  const TermFactors &factors_;
  const int stride_;
  std::size_t blocks_ = 0;
  std::vector<const double *> rows_;
  Buffer ones_, counts_, norms_, ratios_, sums_;
  WorkPoll poll_;
};

/// Improves a document's expected count of each component, `total` in sum, until it no longer
/// changes. improve(counts) makes one update and returns the bound before it.
///
/// Updates move counts ever more slowly along directions in which components hardly differ. So a
/// longer step is extrapolated from two updates (Varadhan and Roland 2008, SQUAREM), and accepted
/// if the bound does not fall.
template <class Improve> void converge_allocation(Buffer &counts, double total, Improve improve) {
  for (int round = 0; round < 300; ++round) {
    Buffer first = counts;
    improve(first);
    Buffer second = first;
    const double bound = improve(second);
    double moved = 0, steps = 0, bends = 0;
    for (std::size_t k = 0; k < counts.size(); ++k) {
      const double r = first[k] - counts[k], v = second[k] - first[k] - r;
      moved += std::abs(r);
      steps += r * r;
      bends += v * v;
    }
    if (!(moved > 1e-12 * total)) break;
    const double length = bends > 0 ? std::sqrt(steps / bends) : 1;
    Buffer far = second;
    if (length > 1) {
      double sum = 0;
      for (std::size_t k = 0; k < counts.size(); ++k) {
        const double r = first[k] - counts[k], v = second[k] - first[k] - r;
        sum += far[k] = std::max(0.0, counts[k] + length * (2 * r + length * v));
      }
      for (double &n : far) n *= total / sum;
      if (!(improve(far) >= bound)) far = second;
    }
    counts = std::move(far);
  }
}

// Sums over documents of counts allocated to components.

/// Rows exist only for terms that occur, beside an index of all terms, or for all terms from the
/// beginning, in which case no index is needed.
class AllocationSums {
 public:
  AllocationSums(std::int32_t terms, int components, bool all_terms = false);

  /// Adds the statistics of a document. `counts`: its expected count of each component. Polls for
  /// interrupts; if interrupted, the object must be cleared.
  void add(const DocumentTerms &document, const Allocation &allocation, double bound,
           const double *counts);
  /// Adds a document with given shares of the components, padded_size numbers for each of its
  /// terms. It adds nothing to logs().
  void add(const DocumentTerms &document, const float *shares, double bound, const double *counts);
  /// Adds another object, which is left in a moved-from state and must be cleared before use.
  void add(AllocationSums &other);
  void clear();

  /// sum_d c_w / n_w t_k of the term terms()[index]; times the term's factors it is the expected
  /// count. With given shares it is the expected count itself.
  const double *row(std::size_t index) const { return rows_.data() + index * std::size_t(stride_); }
  const std::vector<std::int32_t> &terms() const { return terms_; }
  /// expected counts of the components, padded_size numbers
  const Buffer &counts() const { return counts_; }
  /// sums of E log t_k, padded_size numbers
  const Buffer &logs() const { return logs_; }
  double bound() const { return bound_; }
  int components() const { return components_; }
  std::int64_t documents() const { return documents_; }

  /// As sums of a pass (data/pass.hpp). Read into an object without documents, of as many terms and
  /// components, which does not have rows for all terms.
  template <class F> void fields(F &f) {
    std::vector<double> terms, rows;
    if constexpr (!F::reading) list_rows(terms, rows);
    f.numbers("terms", terms);
    f.numbers("rows", rows, terms.size() * std::size_t(components_));
    if constexpr (F::reading) f.require(take_rows(terms, rows));
    f.values("counts", std::span(counts_).first(std::size_t(components_)));
    f.values("logs", std::span(logs_).first(std::size_t(components_)));
    f.number("bound", bound_);
    f.integer("documents", documents_, 0, std::numeric_limits<std::int64_t>::max());
  }

 private:
  template <int Eights>
  void add_rows(std::size_t begin, std::size_t end, const Allocation &allocation);
  std::int32_t new_row(std::int32_t term);
  /// Finds the offsets of the terms' rows in `rows_`; makes those that are missing.
  void find_rows(std::span<const std::int32_t> terms);
  void merge_rows(const AllocationSums &other);
  void add_document(double bound, const double *counts);
  /// The terms that have rows, and these without padding; take_rows() makes them anew, and returns
  /// false if a term is none or comes twice.
  void list_rows(std::vector<double> &terms, std::vector<double> &rows) const;
  bool take_rows(const std::vector<double> &terms, const std::vector<double> &rows);

  int components_, stride_;
  bool all_terms_;
  std::vector<std::int32_t> index_, terms_;
  std::vector<std::size_t> offsets_;
  Buffer rows_, counts_, logs_;
  double bound_ = 0;
  std::int64_t documents_ = 0;
  WorkPoll poll_;
};

}  // namespace bayes
