// What stands in a row of numbers for a category that no row of the fit had.
//
// It is a NaN, like a missing value: whatever compares components or classes takes it for one. Its
// bits are its own, and copies keep them: log densities find it by these.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

namespace bayes {

inline constexpr std::uint64_t unseen_bits = 0x7ff8'0000'0000'0b5e;
inline constexpr double unseen_category = std::bit_cast<double>(unseen_bits);

inline bool is_unseen(double x) { return std::bit_cast<std::uint64_t>(x) == unseen_bits; }
inline bool has_unseen(std::span<const double> x) {
  return std::any_of(x.begin(), x.end(), is_unseen);
}

}  // namespace bayes
