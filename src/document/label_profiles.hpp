// Components that are distributions over labels: topics over terms, factors over columns.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace bayes {

/// A view of the components of a model.
struct LabelProfiles {
  const std::vector<std::string> &labels;
  /// the weights of the K components; sum to 1
  const std::vector<double> &weights;
  /// the index of a label, -1 if the model does not know it
  std::function<std::int32_t(std::string_view label)> code;
  /// the probability of a label in a component; those of all labels sum to 1
  std::function<double(std::int32_t label, int component)> probability;
  /// the name of the probability among the parameters
  const char *parameter;

  int size() const { return int(weights.size()); }
};

}  // namespace bayes
