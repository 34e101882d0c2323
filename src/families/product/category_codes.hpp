// The categories of a column: whole numbers, and codes from 0 for them.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

namespace bayes {

/// Whole numbers and their codes: their positions in rising order.
class CategoryCodes {
 public:
  /// from the smallest to the largest
  static constexpr double widest = 1e6;
  /// from 0, whole numbers still have room between them
  static constexpr double farthest = 1e15;

  explicit CategoryCodes(std::vector<double> values)
      : values_(std::move(values)),
        codes_(std::size_t(values_.back() - values_.front()) + 1, -1) {
    for (std::size_t i = 0; i < values_.size(); ++i)
      codes_[std::size_t(values_[i] - values_.front())] = int(i);
  }
  const std::vector<double> &values() const { return values_; }
  /// -1: x is no category.
  int code(double x) const {
    const double at = x - values_.front();
    return at >= 0 && at < double(codes_.size()) && at == std::floor(at) ? codes_[std::size_t(at)]
                                                                         : -1;
  }

 private:
  std::vector<double> values_;
  std::vector<int> codes_;
};

}  // namespace bayes
