// Overlaps of two models whose components are distributions over labels.
#pragma once

#include <cstdint>
#include <vector>

#include "document/model.hpp"

namespace bayes {

/// For each label of `before` its index in `after`, -1 if `after` does not have it.
std::vector<std::int32_t> places_of_labels(const LabelProfiles &before, const LabelProfiles &after);

/// Bhattacharyya coefficients, entry i * K' + j for component i of `before` and j of `after`: the
/// sum over labels of the square root of the product of both probabilities. A label that only one
/// model has contributes nothing.
std::vector<double> profile_overlaps(const LabelProfiles &before, const LabelProfiles &after);

}  // namespace bayes
