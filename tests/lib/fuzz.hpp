// What fuzz targets and the programs that run them share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// SplitMix64: tiny, and not the generator that the library under test brings along.
struct Dice {
  std::uint64_t state;
  std::uint64_t next() {
    std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : std::size_t(next() % bound); }
  bool chance(int percent) { return below(100) < std::size_t(percent); }
  template <class T> const T &of(const std::vector<T> &list) { return list[below(list.size())]; }
};

/// Inputs that the target accepts. Mutations of these reach much deeper than random bytes.
std::vector<std::string> fuzz_seeds();
