// The number of values of a tensor.
#pragma once

#include <cstdint>
#include <vector>

namespace bayes {

/// The number of values in a tensor of this shape; -1 if the shape is invalid or its size above
/// `most`.
inline std::int64_t tensor_size(const std::vector<std::int64_t> &shape, std::int64_t most) {
  if (shape.size() == 1 && shape[0] == 0) return 0;
  std::int64_t size = shape.empty() ? -1 : 1;
  for (const std::int64_t extent : shape) {
    if (extent < 1 || extent > most / size) return -1;
    size *= extent;
  }
  return size;
}

}  // namespace bayes
