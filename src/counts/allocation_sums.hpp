// Sums over documents of counts allocated to components.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/control.hpp"
#include "counts/allocation.hpp"
#include "data/corpus.hpp"

namespace bayes {

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
