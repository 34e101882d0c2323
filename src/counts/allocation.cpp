#include "counts/allocation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/simd.hpp"
#include "counts/row_lanes.hpp"
#include "data/remote_rows.hpp"

namespace bayes {
namespace {

using simd::lanes;

/// The product of two such factors is still a normal number.
constexpr double min_factor = 1e-148;
const double log_min_factor = std::log(min_factor);

/// Number of terms processed together.
constexpr int group = 8;
/// Number of terms whose rows stay in the first-level cache.
constexpr std::size_t terms_in_cache = 8 * group;

/// The norms of a group of terms from their partial sums, and the ratios, which stay in registers
/// if they are used immediately.
[[gnu::always_inline]] inline void norm_group(const double *partial, const double *counts,
                                              double *norms, double *ratios) {
  for (int i = 0; i < group; i += lanes) {
    const simd::Vector norm = simd::sums(partial + i * simd::sum_lanes);
    simd::store(norms + i, norm);
    simd::store(ratios + i, simd::load(counts + i) / norm);
  }
}

}  // namespace

TermFactors::TermFactors(std::int32_t terms, int components)
    : factors_(terms, components),
      logs_(std::size_t(terms)),
      live_(std::size_t(padded_size(components)), 0.0) {
  std::fill_n(live_.begin(), components, 1.0);
}

ExpectationSums TermFactors::expect(std::int32_t term, const TermParameters &parameters,
                                    const double *digammas) {
  const double *const counts = parameters.counts.row(term);
  const double *const added = parameters.added ? parameters.added->row(term) : nullptr;
  double *const out = factors_.row(term);
  const int components = factors_.columns(), stride = factors_.stride();
  LaneSum log_gamma, logs, counted;
  double largest = -1e300;
  // Parameters are 1 in the padding, where log Gamma is 0.
  each_vector(stride, [&](int at, int g) {
    const simd::Vector live = simd::load(live_.data() + at);
    const simd::Vector n = parameters.scale * simd::load(counts + at);
    simd::Vector p = n + simd::madd(parameters.eta, live, 1.0 - live);
    if (added) p += simd::load(added + at);
    const simd::GammaPair pair = simd::digamma_and_log_gamma(p);
    const simd::Vector expected = (pair.digamma - simd::load(digammas + at)) * live;
    log_gamma.partial[g] += pair.log_gamma * live;
    logs.partial[g] += expected;
    counted.partial[g] = simd::madd(n, expected, counted.partial[g]);
    simd::store(out + at, expected);
  });
  for (int k = 0; k < components; ++k) largest = std::max(largest, out[k]);
  each_vector(stride, [&](int at, int) {
    const simd::Vector x = simd::max(simd::load(out + at) - largest, simd::all(log_min_factor));
    simd::store(out + at, simd::exp(x) * simd::load(live_.data() + at));
  });
  logs_[std::size_t(term)] = largest;
  return {log_gamma.total(), logs.total(), counted.total()};
}

void TermFactors::set_points(std::int32_t term, const PaddedMatrix &points) {
  const double *const from = points.row(term);
  double *const out = factors_.row(term);
  const double largest = std::max(*std::max_element(from, from + factors_.columns()), 1e-300);
  for (int k = 0; k < factors_.columns(); ++k) out[k] = std::max(from[k] / largest, min_factor);
  logs_[std::size_t(term)] = std::log(largest);
}

Document TermFactors::message() const {
  Document out = Document::object();
  out.set("components", factors_.columns()).set("factors", rows_document(factors_));
  out.set("logs", numbers_document(logs_));
  return out;
}

TermFactors TermFactors::of_message(const Document &message, std::int32_t terms) {
  const PassReader given(message);
  const int components = int(given.integer("components", 1, 1 << 20));
  given.numbers("factors", std::size_t(terms) * std::size_t(components));  // before memory is taken
  TermFactors out(terms, components);
  read_rows(given, "factors", out.factors_);
  for (const double x : out.factors_.values())
    if (!(x >= 0 && x <= 1)) PassReader::refuse();
  out.logs_ = given.numbers("logs", std::size_t(terms));
  return out;
}

CountAllocation::CountAllocation(const TermFactors &factors)
    : factors_(factors),
      stride_(factors.values().stride()),
      ones_(std::size_t(stride_), 1.0),
      sums_(std::size_t(stride_)) {}

void CountAllocation::set_document(const DocumentTerms &document) {
  blocks_ = (document.size() + group - 1) / group;
  const std::size_t padded = blocks_ * group;
  if (counts_.size() < padded) {
    for (Buffer *const each : {&counts_, &norms_, &ratios_}) each->resize(padded);
    rows_.resize(padded);
  }
  const std::size_t size = document.size(), stride = std::size_t(stride_);
  const double *const factors = factors_.values().values().data();
  const double **const rows = rows_.data();
  const std::int32_t *const terms = document.terms.data();
  for (std::size_t i = 0; i < size; ++i) {
    rows[i] = factors + std::size_t(terms[i]) * stride;
    prefetch_long_row(rows[i], stride_);
  }
  std::copy_n(document.counts.data(), size, counts_.data());
  for (std::size_t i = size; i < padded; ++i) rows[i] = ones_.data(), counts_[i] = 0;
}

void CountAllocation::allocate(const double *weights) {
  with_short_rows(stride_, [&](auto eights) {
    if constexpr (eights > 0)
      allocate_short<eights>(weights);
    else
      allocate_long(weights);
  });
}

/// For rows of `Eights` times 8 numbers: weights and sums stay in registers. The ratios of several
/// groups are computed before their sums, so that the sums need not wait for a division.
template <int Eights> void CountAllocation::allocate_short(const double *weights) {
  constexpr int vectors = Eights * simd::registers;
  alignas(cache_line) double partial[group * simd::sum_lanes];
  simd::Vector t[vectors], sums[vectors] = {};
  for (int v = 0; v < vectors; ++v) t[v] = simd::load(weights + v * lanes);
  for (std::size_t begin = 0; begin < blocks_ * group; begin += terms_in_cache) {
    const std::size_t end = std::min(begin + terms_in_cache, blocks_ * group);
    poll_(2 * (end - begin) * std::size_t(stride_));
    for (std::size_t at = begin; at < end; at += group) {
      const double *const *const rows = rows_.data() + at;
      for (int i = 0; i < group; ++i) {
        simd::Vector p[simd::registers] = {};
        for (int v = 0; v < vectors; ++v) {
          simd::Vector &sum = p[v % simd::registers];
          sum = simd::madd(simd::load(rows[i] + v * lanes), t[v], sum);
        }
        for (int g = 0; g < simd::registers; ++g)
          simd::store(partial + i * simd::sum_lanes + g * lanes, p[g]);
      }
      norm_group(partial, counts_.data() + at, norms_.data() + at, ratios_.data() + at);
    }
    for (std::size_t at = begin; at < end; at += group) {
      const double *const *const rows = rows_.data() + at;
      const double *const ratios = ratios_.data() + at;
      simd::Vector odd[vectors] = {};
      for (int i = 0; i < group; i += 2) {
        const simd::Vector ratio = simd::all(ratios[i]), next = simd::all(ratios[i + 1]);
        for (int v = 0; v < vectors; ++v) {
          sums[v] = simd::madd(ratio, simd::load(rows[i] + v * lanes), sums[v]);
          odd[v] = simd::madd(next, simd::load(rows[i + 1] + v * lanes), odd[v]);
        }
      }
      for (int v = 0; v < vectors; ++v) sums[v] += odd[v];
    }
  }
  for (int v = 0; v < vectors; ++v) simd::store(sums_.data() + v * lanes, sums[v]);
}

void CountAllocation::allocate_long(const double *weights) {
  std::fill(sums_.begin(), sums_.end(), 0.0);
  alignas(cache_line) double partial[group * simd::sum_lanes];
  for (std::size_t block = 0; block < blocks_; ++block) {
    poll_(2 * group * std::size_t(stride_));
    const double *const *const rows = rows_.data() + block * group;
    for (int half = 0; half < group; half += 4) {
      simd::Vector p[4][simd::registers] = {};
      for (int k = 0; k < stride_; k += simd::sum_lanes)
        for (int g = 0; g < simd::registers; ++g) {
          const simd::Vector t = simd::load(weights + k + g * lanes);
          for (int i = 0; i < 4; ++i)
            p[i][g] = simd::madd(simd::load(rows[half + i] + k + g * lanes), t, p[i][g]);
        }
      for (int i = 0; i < 4; ++i)
        for (int g = 0; g < simd::registers; ++g)
          simd::store(partial + (half + i) * simd::sum_lanes + g * lanes, p[i][g]);
    }
    double *const ratios = ratios_.data() + block * group;
    norm_group(partial, counts_.data() + block * group, norms_.data() + block * group, ratios);
    simd::Vector ratio[group];
    for (int i = 0; i < group; ++i) ratio[i] = simd::all(ratios[i]);
    each_vector(stride_, [&](int at, int) {
      simd::Vector even = simd::load(sums_.data() + at), odd = {};
      for (int i = 0; i < group; i += 2) {
        even = simd::madd(ratio[i], simd::load(rows[i] + at), even);
        odd = simd::madd(ratio[i + 1], simd::load(rows[i + 1] + at), odd);
      }
      simd::store(sums_.data() + at, even + odd);
    });
  }
}

void CountAllocation::add_log_norms(double *partial) const {
  simd::Vector sum[simd::registers];
  for (int g = 0; g < simd::registers; ++g) sum[g] = simd::load(partial + g * lanes);
  for (std::size_t i = 0; i < blocks_ * group; i += simd::sum_lanes)
    for (int g = 0; g < simd::registers; ++g) {
      const std::size_t at = i + std::size_t(g * lanes);
      sum[g] = simd::madd(simd::load(counts_.data() + at),
                          simd::log(simd::load(norms_.data() + at)), sum[g]);
    }
  for (int g = 0; g < simd::registers; ++g) simd::store(partial + g * lanes, sum[g]);
}

double CountAllocation::log_norms(const DocumentTerms &document) const {
  double partial[row_lanes] = {};
  add_log_norms(partial);
  double out = simd::sum(partial);
  for (std::size_t i = 0; i < document.size(); ++i)
    out += document.counts[i] * factors_.log_scale(document.terms[i]);
  return out;
}

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
