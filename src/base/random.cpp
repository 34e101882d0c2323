#include "base/random.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.hpp"

namespace bayes {
namespace {

std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

/// Invalid parameters are refused, because the rejection samplers below would loop forever on them.
void require_positive(double x, const char *what) {
  if (!(x > 0) || std::isinf(x))
    throw Error(Errc::numeric, std::string(what) + " is not positive and finite");
}

}  // namespace

// The name of a stream has 256 bits, while a Philox key and the upper half of its counter have 128.
// Philox itself hashes the name, so that names that differ in a few bits give unrelated streams.
// The lower half of the counter counts the blocks of the stream.
Random::Random(std::uint64_t seed, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  std::array<std::uint32_t, 4> name =
      philox({low(a), high(a), low(b), high(b)}, {low(seed), high(seed)});
  name = philox({name[0] ^ low(c), name[1] ^ high(c), name[2], name[3]}, {~low(seed), ~high(seed)});
  key_ = {name[0], name[1]};
  counter_ = {0, 0, name[2], name[3]};
}

std::uint64_t Random::bits() {
  if (used_ == 4) {
    block_ = philox(counter_, key_);
    if (++counter_[0] == 0) ++counter_[1];
    used_ = 0;
  }
  const std::uint64_t result =
      block_[std::size_t(used_)] | std::uint64_t(block_[std::size_t(used_) + 1]) << 32;
  used_ += 2;
  return result;
}

double Random::uniform() {
  std::uint64_t x;
  do x = bits() >> 11;
  while (x == 0);
  return static_cast<double>(x) * 0x1p-53;
}

std::uint64_t Random::below(std::uint64_t bound) {
  if (bound == 0) throw Error(Errc::internal, "random integer: the bound is 0");
  // Lemire (2019): the high half of bits * bound, redrawn where the low half falls into the
  // incomplete interval.
  unsigned __int128 product = static_cast<unsigned __int128>(bits()) * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t incomplete = -bound % bound;
    while (static_cast<std::uint64_t>(product) < incomplete)
      product = static_cast<unsigned __int128>(bits()) * bound;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

double Random::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  // Marsaglia's polar method: exact, with tails limited only by the resolution of doubles near the
  // centre of the disc.
  double u, v, s;
  do {
    u = 2 * uniform() - 1;
    v = 2 * uniform() - 1;
    s = u * u + v * v;
  } while (s >= 1 || s == 0);
  const double scale = std::sqrt(-2 * std::log(s) / s);
  spare_ = v * scale;
  has_spare_ = true;
  return u * scale;
}

double Random::exponential() { return -std::log(uniform()); }

double Random::gamma(double shape) {
  require_positive(shape, "the shape of a gamma distribution");
  if (shape < 1) return std::exp(log_gamma_variate(shape));
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = normal(), root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root, u = uniform(), x2 = x * x;
    if (u < 1 - 0.0331 * x2 * x2 || std::log(u) < 0.5 * x2 + d * (1 - v + std::log(v)))
      return d * v;
  }
}

double Random::log_gamma_variate(double shape) {
  require_positive(shape, "the shape of a gamma distribution");
  if (shape >= 1) return std::log(gamma(shape));
  // G(shape) = G(shape + 1) U^(1 / shape): the power underflows for small shapes, its logarithm
  // does not.
  const double boosted = std::log(gamma(shape + 1));
  return boosted - exponential() / shape;
}

double Random::beta(double a, double b) {
  const std::array<double, 2> alpha = {a, b};
  std::array<double, 2> out;
  dirichlet(alpha, out);
  return out[0];
}

double Random::chi_square(double degrees) {
  require_positive(degrees, "the degrees of freedom of a chi-square distribution");
  return 2 * gamma(degrees / 2);
}

void Random::dirichlet(std::span<const double> alpha, std::span<double> out) {
  if (alpha.empty() || alpha.size() != out.size())
    throw Error(Errc::internal, "Dirichlet draw: alpha is empty, or the result has another size");
  double largest = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < alpha.size(); ++i) {
    out[i] = log_gamma_variate(alpha[i]);
    largest = std::max(largest, out[i]);
  }
  if (std::isinf(largest)) {
    // Every logarithm overflowed, so every alpha is below 1e-305: except with a probability of that
    // order, one element of the draw is 1.
    const auto chosen = static_cast<std::size_t>(categorical(alpha));
    std::fill(out.begin(), out.end(), 0.0);
    out[chosen] = 1;
    return;
  }
  double total = 0;
  for (double &x : out) total += x = std::exp(x - largest);
  for (double &x : out) x /= total;
}

int Random::categorical(std::span<const double> weights) {
  double total = 0;
  for (const double weight : weights) {
    if (!(weight >= 0))
      throw Error(Errc::numeric, "a weight of a categorical distribution is negative or NaN");
    total += weight;
  }
  if (!(total > 0) || std::isinf(total))
    throw Error(Errc::numeric,
                "the weights of a categorical distribution sum to " + std::to_string(total));
  double left = uniform() * total;
  // the last index with positive weight, which is chosen if rounding keeps `left` from falling
  // below 0
  std::size_t last = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) continue;
    last = i;
    left -= weights[i];
    if (left < 0) break;
  }
  return static_cast<int>(last);
}

}  // namespace bayes
