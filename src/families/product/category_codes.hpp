// The categories of a column: whole numbers, and their codes from 0.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

namespace bayes {

/// Whole numbers and their codes: their positions in ascending order.
class CategoryCodes {
 public:
  /// the largest allowed difference between the smallest and the largest category
  static constexpr double widest = 1e6;
  /// the largest allowed absolute value of a category: all whole numbers up to it are exact
  static constexpr double farthest = 1e15;

  explicit CategoryCodes(std::vector<double> values)
      : values_(std::move(values)),
        codes_(std::size_t(values_.back() - values_.front()) + 1, -1) {
    for (std::size_t i = 0; i < values_.size(); ++i)
      codes_[std::size_t(values_[i] - values_.front())] = int(i);
  }
  const std::vector<double> &values() const { return values_; }
  /// The code of x, or -1 if x is not a category.
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
