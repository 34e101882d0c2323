// Counter-based random numbers: Philox 4x32-10 (Salmon, Moraes, Dror, Shaw 2011).
//
// A stream is named by up to four numbers (seed, and for instance chain, sweep, row). A name always
// gives the same numbers, whatever the order in which streams are used, and on any thread. bits,
// uniform and below give the same numbers on every machine; the others use the mathematical library
// and fused instructions, so they agree up to rounding. The standard library's distributions are
// not used because they differ between implementations.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "base/api.hpp"

namespace bayes {

/// The Philox 4x32-10 block function.
inline std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                           std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t(0xD2511F53) * counter[0];
    const std::uint64_t p1 = std::uint64_t(0xCD9E8D57) * counter[2];
    counter = {std::uint32_t(p1 >> 32) ^ counter[1] ^ key[0], std::uint32_t(p1),
               std::uint32_t(p0 >> 32) ^ counter[3] ^ key[1], std::uint32_t(p0)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

/// The output function of SplitMix64 (Steele, Lea and Flood 2014): every bit of the result depends
/// on all bits of x.
inline std::uint64_t split_mix(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

class BAYES_API Random {
 public:
  /// The stream (seed; a, b, c). Any 64-bit values; different names give independent streams.
  explicit Random(std::uint64_t seed, std::uint64_t a = 0, std::uint64_t b = 0,
                  std::uint64_t c = 0);

  /// 64 random bits
  std::uint64_t bits();
  /// in (0, 1), never 0 or 1
  double uniform();
  /// uniform integer in [0, bound), bound >= 1, without bias
  std::uint64_t below(std::uint64_t bound);
  /// standard normal
  double normal();
  /// rate 1
  double exponential();
  /// rate 1; shape > 0 (Marsaglia and Tsang 2000; boosted below 1); 0 where it underflows
  double gamma(double shape);
  /// log of a gamma draw with rate 1; shape > 0, however small
  double log_gamma_variate(double shape);
  /// a, b > 0
  double beta(double a, double b);
  /// degrees > 0
  double chi_square(double degrees);
  /// same sizes; alpha > 0; works for tiny alpha
  void dirichlet(std::span<const double> alpha, std::span<double> out);
  /// index with probability proportional to weights >= 0, not all 0
  int categorical(std::span<const double> weights);

 private:
  friend class RowRandom;
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_, block_;
  int used_ = 4;
  double spare_ = 0;
  bool has_spare_ = false;
};

/// Two independent uniform numbers for every row of a pass, the same on any thread and in any
/// order.
class RowRandom {
 public:
  RowRandom(std::uint64_t seed, std::uint64_t a, std::uint64_t b, std::uint64_t c)
      : stream_(seed, a, b, c) {}

  /// In (0, 1), never 0 or 1.
  std::array<double, 2> uniforms(std::int64_t row) const {
    const auto block = philox({std::uint32_t(row), std::uint32_t(std::uint64_t(row) >> 32),
                               stream_.counter_[2], stream_.counter_[3]},
                              stream_.key_);
    return {uniform(block[0], block[1]), uniform(block[2], block[3])};
  }

  /// The uniforms of rows `first` to `first + rows - 1`, two for each row.
  void fill(std::int64_t first, int rows, double *out) const {
    constexpr int at_once = 16;
    std::uint32_t c[4][at_once];
    for (int done = 0; done < rows; done += at_once) {
      for (int i = 0; i < at_once; ++i) {
        const std::uint64_t row = std::uint64_t(first + done + i);
        c[0][i] = std::uint32_t(row);
        c[1][i] = std::uint32_t(row >> 32);
        c[2][i] = stream_.counter_[2];
        c[3][i] = stream_.counter_[3];
      }
      std::uint32_t key[2] = {stream_.key_[0], stream_.key_[1]};
      for (int round = 0; round < 10; ++round) {
        for (int i = 0; i < at_once; ++i) {
          const std::uint64_t p0 = std::uint64_t(0xD2511F53) * c[0][i];
          const std::uint64_t p1 = std::uint64_t(0xCD9E8D57) * c[2][i];
          c[0][i] = std::uint32_t(p1 >> 32) ^ c[1][i] ^ key[0];
          c[1][i] = std::uint32_t(p1);
          c[2][i] = std::uint32_t(p0 >> 32) ^ c[3][i] ^ key[1];
          c[3][i] = std::uint32_t(p0);
        }
        key[0] += 0x9E3779B9;
        key[1] += 0xBB67AE85;
      }
      const int count = std::min(at_once, rows - done);
      for (int i = 0; i < count; ++i) {
        out[2 * (done + i)] = uniform(c[0][i], c[1][i]);
        out[2 * (done + i) + 1] = uniform(c[2][i], c[3][i]);
      }
    }
  }

  /// A seed for a separate random stream of the row.
  std::uint64_t bits(std::int64_t row) const {
    const auto block = philox({std::uint32_t(row), std::uint32_t(std::uint64_t(row) >> 32),
                               stream_.counter_[2], stream_.counter_[3]},
                              stream_.key_);
    return std::uint64_t(block[1]) << 32 | block[0];
  }

 private:
  static double uniform(std::uint32_t low, std::uint32_t high) {
    return (double((std::uint64_t(high) << 32 | low) >> 12) + 0.5) * 0x1p-52;
  }
  Random stream_;
};

}  // namespace bayes
