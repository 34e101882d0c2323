// Sums over documents of counts allocated to components.
#pragma once

#include <cstdint>
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
  void merge(AllocationSums &other);
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
  std::int64_t documents() const { return documents_; }

  /// For the server that has asked for them (counts/remote_corpus.hpp); `components`: as at the
  /// beginning.
  Document message(int components) const;
  /// Adds the sums of another server. Throws Error(invalid_binary) unless message() has made them,
  /// of as many terms and components. Not with rows for all terms.
  void merge(const Document &message, int components);

 private:
  template <int Eights>
  void add_rows(std::size_t begin, std::size_t end, const Allocation &allocation);
  std::int32_t new_row(std::int32_t term);
  /// Finds the offsets of the terms' rows in `rows_`; makes those that are missing.
  void find_rows(std::span<const std::int32_t> terms);
  void merge_rows(const AllocationSums &other);
  void add_document(double bound, const double *counts);

  int stride_;
  bool all_terms_;
  std::vector<std::int32_t> index_, terms_;
  std::vector<std::size_t> offsets_;
  Buffer rows_, counts_, logs_;
  double bound_ = 0;
  std::int64_t documents_ = 0;
  WorkPoll poll_;
};

}  // namespace bayes
