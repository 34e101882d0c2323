#include "models/label_profiles.hpp"

#include <algorithm>
#include <cmath>

#include "base/control.hpp"
#include "factor/nmf.hpp"
#include "topics/lda.hpp"

namespace bayes {

std::optional<LabelProfiles> label_profiles(const Model &model) {
  if (const auto *const lda = dynamic_cast<const TopicModel *>(&model))
    return LabelProfiles{
        lda->terms(), lda->weights(),
        // not code(), to which a term of probability 0 is none of the model's
        [&terms = lda->terms()](std::string_view term) {
          const auto at = std::lower_bound(terms.begin(), terms.end(), term);
          return at == terms.end() || *at != term ? -1 : std::int32_t(at - terms.begin());
        },
        [lda](std::int32_t term, int topic) { return lda->probability(topic, term); },
        "probability"};
  if (const auto *const nmf = dynamic_cast<const NmfModel *>(&model))
    return LabelProfiles{nmf->keys(Side::column), nmf->shares(),
                         [nmf](std::string_view key) { return nmf->code(Side::column, key); },
                         [nmf](std::int32_t key, int factor) {
                           return nmf->share_of_factor(Side::column, key, factor);
                         },
                         "share"};
  return std::nullopt;
}

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
