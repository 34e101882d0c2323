#include "topics/typical_documents.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bayes {
namespace {

/// Is a document more typical than another?
bool before(const TypicalDocuments::Entry &a, const TypicalDocuments::Entry &b) {
  if (a.least != b.least) return a.least > b.least;
  if (a.name->has_value() != b.name->has_value()) return a.name->has_value();
  return *a.name < *b.name;
}

}  // namespace

void TypicalDocuments::add(const Name &name, const LdaProportions &proportions) {
  const auto shared = std::make_shared<const Name>(name);
  for (std::size_t k = 0; k < heaps_.size(); ++k) {
    std::vector<Entry> &heap = heaps_[k];
    const double p = proportions.mean[k], deviation = proportions.deviation[k];
    const double least =
        p > 0 ? std::log(p) - 2 * deviation / p : -std::numeric_limits<double>::infinity();
    Entry entry{least, p, deviation, shared};
    if (heap.size() == top_) {
      if (!before(entry, heap.front())) continue;
      std::pop_heap(heap.begin(), heap.end(), before);
      heap.pop_back();
    }
    heap.push_back(std::move(entry));
    std::push_heap(heap.begin(), heap.end(), before);
  }
}

std::vector<TypicalDocuments::Entry> TypicalDocuments::ranked(int topic) const {
  std::vector<Entry> out = heaps_[std::size_t(topic)];
  std::sort_heap(out.begin(), out.end(), before);
  return out;
}

}  // namespace bayes
