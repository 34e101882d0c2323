// Scorers of rows with missing elements: for every pattern of observed elements one scorer of these
// elements only, made when the first row with this pattern is scored.
#pragma once

#include <cmath>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace bayes {

inline bool misses_element(std::span<const double> x) {
  for (const double element : x)
    if (std::isnan(element)) return true;
  return false;
}

/// Not thread-safe.
template <class Scorer> class MarginalScorers {
 public:
  /// The scorer for a row with at least one observed element; observed() then returns the observed
  /// values. make(elements) makes a scorer of these elements, given in increasing order. `numbers`:
  /// about how many numbers each scorer holds.
  template <class Make> Scorer &of(std::span<const double> x, double numbers, Make make) {
    elements_.clear();
    observed_.clear();
    for (std::size_t j = 0; j < x.size(); ++j) {
      if (std::isnan(x[j])) continue;
      elements_.push_back(int(j));
      observed_.push_back(x[j]);
    }
    const auto found = known_.find(elements_);
    if (found != known_.end()) return *found->second;
    if (double(known_.size() + 1) * numbers > max_numbers) known_.clear();
    return *known_.emplace(elements_, make(std::span<const int>(elements_))).first->second;
  }
  std::span<const double> observed() const { return observed_; }

 private:
  /// of all scorers held at a time
  static constexpr double max_numbers = 4e6;
  std::map<std::vector<int>, std::unique_ptr<Scorer>> known_;
  std::vector<int> elements_;
  std::vector<double> observed_;
};

}  // namespace bayes
