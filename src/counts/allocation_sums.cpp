#include "counts/allocation_sums.hpp"

#include <algorithm>
#include <numeric>

#include "counts/row_lanes.hpp"

namespace bayes {

AllocationSums::AllocationSums(std::int32_t terms, int components, bool all_terms)
    : components_(components),
      stride_(padded_size(components)),
      all_terms_(all_terms),
      counts_(std::size_t(stride_), 0.0),
      logs_(std::size_t(stride_), 0.0) {
  if (all_terms) {
    terms_.resize(std::size_t(terms));
    std::iota(terms_.begin(), terms_.end(), 0);
    grow(rows_, std::size_t(terms) * std::size_t(stride_));
  } else {
    index_.assign(std::size_t(terms), -1);
  }
}

std::int32_t AllocationSums::new_row(std::int32_t term) {
  const std::size_t begin = terms_.size() * std::size_t(stride_),
                    end = begin + std::size_t(stride_);
  index_[std::size_t(term)] = std::int32_t(terms_.size());
  terms_.push_back(term);
  if (rows_.size() < end) rows_.resize(std::max(end, 2 * rows_.size()));
  std::fill(rows_.begin() + std::ptrdiff_t(begin), rows_.begin() + std::ptrdiff_t(end), 0.0);
  return index_[std::size_t(term)];
}

// Rows are scattered in memory, so long ones are prefetched.
void AllocationSums::find_rows(std::span<const std::int32_t> terms) {
  const std::size_t stride = std::size_t(stride_);
  offsets_.resize(terms.size());
  if (all_terms_) {
    for (std::size_t i = 0; i < terms.size(); ++i) {
      offsets_[i] = std::size_t(terms[i]) * stride;
      prefetch_long_row(rows_.data() + offsets_[i], stride_);
    }
    return;
  }
  const std::size_t max_rows = std::min(terms_.size() + terms.size(), index_.size());
  if (max_rows * stride > 2 * rows_.size()) grow(rows_, max_rows * stride);
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const std::int32_t known = index_[std::size_t(terms[i])];
    offsets_[i] = std::size_t(known < 0 ? new_row(terms[i]) : known) * stride;
    if (known >= 0) prefetch_long_row(rows_.data() + offsets_[i], stride_);
  }
}

template <int Eights>
void AllocationSums::add_rows(std::size_t begin, std::size_t end, const Allocation &allocation) {
  constexpr int vectors = std::max(1, Eights) * simd::registers;
  simd::Vector weights[vectors];
  for (int v = 0; v < vectors; ++v) weights[v] = simd::load(allocation.weights + v * simd::lanes);
  for (std::size_t i = begin; i < end; ++i) {
    const simd::Vector ratio = simd::all(allocation.ratios[i]);
    double *const to = rows_.data() + offsets_[i];
    const auto add = [&](int at, simd::Vector weight) {
      simd::store(to + at, simd::madd(ratio, weight, simd::load(to + at)));
    };
    if constexpr (Eights > 0)
      for (int v = 0; v < vectors; ++v) add(v * simd::lanes, weights[v]);
    else
      each_vector(stride_, [&](int at, int) { add(at, simd::load(allocation.weights + at)); });
  }
}

void AllocationSums::add(const DocumentTerms &document, const Allocation &allocation, double bound,
                         const double *counts) {
  find_rows(document.terms);
  constexpr std::size_t between_polls = 64;
  for (std::size_t begin = 0; begin < document.size(); begin += between_polls) {
    const std::size_t end = std::min(begin + between_polls, document.size());
    poll_((end - begin) * std::size_t(stride_));
    with_short_rows(stride_, [&](auto eights) { add_rows<eights>(begin, end, allocation); });
  }
  each_vector(stride_, [&](int at, int) {
    simd::store(logs_.data() + at,
                simd::load(logs_.data() + at) + simd::load(allocation.logs + at));
  });
  add_document(bound, counts);
}

void AllocationSums::add(const DocumentTerms &document, const float *shares, double bound,
                         const double *counts) {
  find_rows(document.terms);
  for (std::size_t i = 0; i < document.size(); ++i, shares += stride_) {
    const double c = document.counts[i];
    double *const to = rows_.data() + offsets_[i];
    each_vector(stride_, [&](int at, int) {
      simd::store(to + at, simd::madd(c, load_floats(shares + at), simd::load(to + at)));
    });
  }
  add_document(bound, counts);
}

void AllocationSums::add_document(double bound, const double *counts) {
  each_vector(stride_, [&](int at, int) {
    simd::store(counts_.data() + at, simd::load(counts_.data() + at) + simd::load(counts + at));
  });
  bound_ += bound;
  ++documents_;
}

void AllocationSums::merge_rows(const AllocationSums &other) {
  find_rows(other.terms_);
  for (std::size_t i = 0; i < other.terms_.size(); ++i) {
    const double *const from = other.row(i);
    double *const to = rows_.data() + offsets_[i];
    each_vector(stride_, [&](int at, int) {
      simd::store(to + at, simd::load(to + at) + simd::load(from + at));
    });
  }
}

void AllocationSums::add(AllocationSums &other) {
  if (documents_ == 0) return std::swap(*this, other);
  if (all_terms_)
    for (std::size_t i = 0; i < rows_.size(); i += simd::lanes)
      simd::store(rows_.data() + i,
                  simd::load(rows_.data() + i) + simd::load(other.rows_.data() + i));
  else
    merge_rows(other);
  for (int k = 0; k < stride_; ++k) {
    counts_[std::size_t(k)] += other.counts_[std::size_t(k)];
    logs_[std::size_t(k)] += other.logs_[std::size_t(k)];
  }
  bound_ += other.bound_;
  documents_ += other.documents_;
}

void AllocationSums::list_rows(std::vector<double> &terms, std::vector<double> &rows) const {
  const std::size_t k = std::size_t(components_);
  terms.assign(terms_.begin(), terms_.end());
  rows.reserve(terms_.size() * k);
  for (std::size_t i = 0; i < terms_.size(); ++i) rows.insert(rows.end(), row(i), row(i) + k);
}

bool AllocationSums::take_rows(const std::vector<double> &terms, const std::vector<double> &rows) {
  const std::size_t k = std::size_t(components_), stride = std::size_t(stride_);
  for (const double number : terms) {
    if (!(number >= 0 && number < double(index_.size()))) return false;
    const auto term = std::int32_t(number);
    if (index_[std::size_t(term)] >= 0) return false;
    new_row(term);
  }
  for (std::size_t i = 0; i < terms.size(); ++i)
    std::copy_n(rows.data() + i * k, k, rows_.data() + i * stride);
  return true;
}

void AllocationSums::clear() {
  if (all_terms_) {
    std::fill(rows_.begin(), rows_.end(), 0.0);
  } else {
    for (const std::int32_t term : terms_) index_[std::size_t(term)] = -1;
    terms_.clear();
  }
  std::fill(counts_.begin(), counts_.end(), 0.0);
  std::fill(logs_.begin(), logs_.end(), 0.0);
  bound_ = 0;
  documents_ = 0;
}

}  // namespace bayes
