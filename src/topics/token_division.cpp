#include "topics/token_division.hpp"

#include "topics/document_step.hpp"
#include "topics/topic_lanes.hpp"

namespace bayes {
namespace {

using simd::lanes;

/// Terms that are worked on together.
constexpr int group = 8;

}  // namespace

TokenDivision::TokenDivision(const TopicFactors &factors)
    : factors_(factors),
      stride_(factors.values().stride()),
      ones_(std::size_t(stride_), 1.0),
      sums_(std::size_t(stride_)) {}

void TokenDivision::take(const DocumentTerms &document) {
  blocks_ = (document.size() + group - 1) / group;
  const std::size_t padded = blocks_ * group;
  if (counts_.size() < padded) {
    for (Buffer *const each : {&counts_, &norms_, &ratios_}) each->resize(padded);
    rows_.resize(padded);
  }
  for (std::size_t i = 0; i < document.size(); ++i) {
    rows_[i] = factors_.of(document.terms[i]);
    for (int k = 0; k < stride_; k += cache_line / 8) __builtin_prefetch(rows_[i] + k);
    counts_[i] = document.counts[i];
  }
  for (std::size_t i = document.size(); i < padded; ++i) rows_[i] = ones_.data(), counts_[i] = 0;
}

void TokenDivision::divide(const double *weights) {
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
    for (int i = 0; i < group; i += lanes) {
      const simd::Vector norm = simd::sums(partial + i * simd::sum_lanes);
      simd::store(norms_.data() + block * group + std::size_t(i), norm);
      simd::store(ratios + i, simd::load(counts_.data() + block * group + std::size_t(i)) / norm);
    }
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

double TokenDivision::log_norms(const DocumentTerms &document) const {
  LaneSum sum;
  for (std::size_t i = 0; i < blocks_ * group; i += simd::sum_lanes)
    for (int g = 0; g < simd::registers; ++g) {
      const std::size_t at = i + std::size_t(g * lanes);
      sum.partial[g] = simd::madd(simd::load(counts_.data() + at),
                                  simd::log(simd::load(norms_.data() + at)), sum.partial[g]);
    }
  double out = sum.total();
  for (std::size_t i = 0; i < document.size(); ++i)
    out += document.counts[i] * factors_.log_scale(document.terms[i]);
  return out;
}

}  // namespace bayes
