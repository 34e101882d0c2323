#include "models/label_profiles.hpp"

#include <algorithm>
#include <cmath>

#include "base/control.hpp"

namespace bayes {

std::vector<std::int32_t> places_of_labels(const LabelProfiles &before,
                                           const LabelProfiles &after) {
  std::vector<std::int32_t> out;
  WorkPoll poll;
  for (const std::string &label : before.labels) {
    poll(20);
    out.push_back(after.code(label));
  }
  return out;
}

std::vector<double> profile_overlaps(const LabelProfiles &before, const LabelProfiles &after) {
  const int k = before.size(), other_k = after.size();
  const std::vector<std::int32_t> places = places_of_labels(before, after);
  std::vector<double> out(std::size_t(k) * std::size_t(other_k), 0.0),
      roots(static_cast<std::size_t>(k)), other_roots(static_cast<std::size_t>(other_k));
  WorkPoll poll;
  for (std::size_t label = 0; label < places.size(); ++label) {
    if (places[label] < 0) continue;
    poll(out.size());
    for (int i = 0; i < k; ++i)
      roots[std::size_t(i)] = std::sqrt(before.probability(std::int32_t(label), i));
    for (int j = 0; j < other_k; ++j)
      other_roots[std::size_t(j)] = std::sqrt(after.probability(places[label], j));
    auto overlap = out.begin();
    for (const double root : roots)
      for (const double other : other_roots) *overlap++ += root * other;
  }
  for (double &x : out) x = std::min(1.0, x);
  return out;
}

}  // namespace bayes
