#include "counts/document_parts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/control.hpp"
#include "base/random.hpp"

namespace bayes {
namespace {

/// The length of the part of [0, x) that lies in the intervals [0, 1), [2, 3), ...
double length_in_even_units(double x) {
  const double pairs = std::floor(x / 2);
  return pairs + std::min(x - 2 * pairs, 1.0);
}

}  // namespace

std::vector<std::size_t> hash_order(const DocumentTerms &document,
                                    std::span<const std::uint64_t> hashes) {
  std::vector<std::size_t> order(document.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const std::int32_t v = document.terms[a], w = document.terms[b];
    return std::pair(hashes[std::size_t(v)], v) < std::pair(hashes[std::size_t(w)], w);
  });
  return order;
}

FilteredDocument::FilteredDocument(const DocumentTerms &document,
                                   const std::function<bool(std::int32_t term)> &keep)
    : part_(document) {
  if (std::all_of(document.terms.begin(), document.terms.end(), keep)) return;
  for (std::size_t i = 0; i < document.size(); ++i) {
    if (!keep(document.terms[i])) continue;
    terms_.push_back(document.terms[i]);
    counts_.push_back(document.counts[i]);
  }
  part_ = {terms_, counts_};
}

std::uint64_t term_hash(std::string_view term) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : term) hash = (hash ^ std::uint8_t(c)) * 0x100000001b3;
  // The upper bits of the FNV hash depend little on the last bytes, so they are mixed.
  const auto mixed = philox({std::uint32_t(hash), std::uint32_t(hash >> 32), 0, 0}, {0, 0});
  return std::uint64_t(mixed[1]) << 32 | mixed[0];
}

std::vector<std::uint64_t> term_hashes(std::span<const std::string> terms) {
  std::vector<std::uint64_t> out;
  out.reserve(terms.size());
  WorkPoll poll;
  for (const std::string &term : terms) {
    poll(10 + 4 * term.size());
    out.push_back(term_hash(term));
  }
  return out;
}

DocumentHalves split_document(const DocumentTerms &document,
                              std::span<const std::uint64_t> hashes) {
  std::vector<double> observed(document.size());
  double at = 0;
  for (const std::size_t i : hash_order(document, hashes)) {
    const double end = at + document.counts[i];
    // A count beyond the precision of the sums is clamped.
    observed[i] =
        std::clamp(length_in_even_units(end) - length_in_even_units(at), 0.0, document.counts[i]);
    at = end;
  }
  DocumentHalves out;
  for (std::size_t i = 0; i < document.size(); ++i) {
    if (observed[i] > 0) {
      out.observed_terms.push_back(document.terms[i]);
      out.observed_counts.push_back(observed[i]);
    }
    if (const double scored = document.counts[i] - observed[i]; scored > 0) {
      out.scored_terms.push_back(document.terms[i]);
      out.scored_counts.push_back(scored);
    }
  }
  return out;
}

}  // namespace bayes
