#include "fit/found_optima.hpp"

#include <algorithm>
#include <cmath>

namespace bayes {

void FoundOptima::add(double objective) {
  ++runs_;
  for (Optimum &each : optima_)
    if (std::abs(each.objective - objective) <= resolution_) {
      each.objective = std::max(each.objective, objective);
      ++each.runs;
      return;
    }
  optima_.push_back({objective, 1});
}

bool FoundOptima::enough() const {
  constexpr int least_runs = 8, least_of_best = 5;
  constexpr double most_found_once = 0.1;
  if (runs_ < least_runs) return false;
  const auto best = std::max_element(
      optima_.begin(), optima_.end(),
      [](const Optimum &a, const Optimum &b) { return a.objective < b.objective; });
  const auto once = std::count_if(optima_.begin(), optima_.end(),
                                  [](const Optimum &each) { return each.runs == 1; });
  return best != optima_.end() && best->runs >= least_of_best &&
         double(once) <= most_found_once * runs_;
}

}  // namespace bayes
