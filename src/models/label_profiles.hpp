// Components that are distributions over labels: topics over terms, factors over columns.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document/model.hpp"

namespace bayes {

/// A view of a model.
struct LabelProfiles {
  const std::vector<std::string> &labels;
  /// K shares of the components; sum to 1
  const std::vector<double> &weights;
  /// the index of a label, -1 if the model does not know it
  std::function<std::int32_t(std::string_view label)> code;
  /// the probability of a label in a component; those of all labels sum to 1
  std::function<double(std::int32_t label, int component)> probability;
  /// what the probability is called
  const char *parameter;

  int size() const { return int(weights.size()); }
};

/// Topics of lda over terms; factors of nmf over columns, of which each has its share of the
/// factor's sum. None for other models.
std::optional<LabelProfiles> label_profiles(const Model &model);

/// For each label of `before` its index in `after`, -1: there it is not known.
std::vector<std::int32_t> places_of_labels(const LabelProfiles &before, const LabelProfiles &after);

/// Bhattacharyya coefficients, entry i * K' + j for component i of `before` and j of `after`: the
/// sum over labels of the root of the product of both probabilities. A label that only one of them
/// knows has none in the other.
std::vector<double> profile_overlaps(const LabelProfiles &before, const LabelProfiles &after);

}  // namespace bayes
