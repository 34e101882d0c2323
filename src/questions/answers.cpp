#include "questions/answers.hpp"

#include <algorithm>
#include <cmath>

#include "base/unseen.hpp"

namespace bayes {

bool asked_for(double x) { return std::isnan(x) && !is_unseen(x); }

double quantile_given(RowDistribution &rows, int element, double p) {
  const std::span<const Predicted> parts = rows.predicted(element);
  // The median of one normal or Student t needs no search.
  if (parts.size() == 1 && p == 0.5 && parts[0].support == Predicted::Support::real)
    return parts[0].a;
  return quantile_of_mixture(parts, rows.weights(), p);
}

NumberGiven number_given(RowDistribution &rows, int element, double level) {
  const auto [mean, variance] = rows.moments(element);
  return {quantile_given(rows, element, 0.5), mean, std::sqrt(variance),
          quantile_given(rows, element, (1 - level) / 2),
          quantile_given(rows, element, (1 + level) / 2)};
}

double value_given(RowDistribution &rows, int element) {
  const std::vector<double> &categories = rows.categories(element);
  if (categories.empty()) return quantile_given(rows, element, 0.5);
  const std::vector<double> p = rows.probabilities(element);
  return categories[std::size_t(std::max_element(p.begin(), p.end()) - p.begin())];
}

}  // namespace bayes
