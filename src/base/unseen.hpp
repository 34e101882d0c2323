// The code, in a row of numbers, of a category that occurred in no row of the fit.
//
// It is a NaN, so that code that compares components or classes treats it as a missing value. Its
// bit pattern is unique and survives copying, so that log densities can recognise it.
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
