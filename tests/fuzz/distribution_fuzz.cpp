// Fuzz target for the distributions: numbers over the whole range of doubles. Every function must
// answer, in a bounded number of steps, with what its neighbours confirm: a probability between 0
// and 1 that rises with x, a density that is a number, a quantile that has its probability; or
// refuse with one of the stated codes. The same of comparisons of conjugate posteriors.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/message.hpp"
#include "base/random.hpp"
#include "conjugate/conjugate.hpp"
#include "distributions/standard.hpp"
#include "families/marginal.hpp"
#include "fuzz.hpp"

namespace {

using namespace bayes;

constexpr double infinite = std::numeric_limits<double>::infinity();

/// What was being asked when a check failed.
std::string asked;

[[noreturn]] void fail(const char *what) {
  std::fprintf(stderr, "%s: %s\n", asked.c_str(), what);
  std::abort();
}

/// Numbers from bytes: of any bits, or of sizes that statisticians use, or next to an edge.
class Numbers {
 public:
  Numbers(const std::uint8_t *data, std::size_t size) : data_(data), size_(size) {}
  double next() {
    const std::uint64_t bits = next_bits();
    switch (next_byte() % 8) {
      case 0: return from_bits(bits);
      case 1: return std::fabs(from_bits(bits));
      case 2: return from_bits(bits & 0xfffffffffffffu);  // subnormal
      case 3: return 1 - std::ldexp(double(bits >> 11), -int(53 + bits % 50));
      case 4: return double(std::int64_t(bits)) * 0x1p-60;
      case 5: return std::exp(double(bits) * 0x1p-64 * 40 - 14);
      default: return double(bits >> 11) * 0x1p-53;
    }
  }
  /// Positive and finite, as a rule.
  double positive() {
    const std::uint64_t bits = next_bits();
    switch (next_byte() % 5) {
      case 0: return next();
      case 2: return double(1 + bits % 8) / double(1 + bits / 8 % 2);
      case 1: return from_bits(bits & 0x7fefffffffffffffu);
      default: return std::exp(double(bits) * 0x1p-64 * 60 - 20);
    }
  }
  double probability() {
    const double x = next();
    return x > 0 && x < 1 ? x : std::fabs(std::remainder(x, 2.0)) / 2;
  }
  std::int64_t whole() {
    const std::uint64_t bits = next_bits();
    const int byte = next_byte();
    return byte < 16 ? std::int64_t(bits) : std::int64_t(bits >> (1 + byte % 63));
  }
  std::uint64_t next_bits() {
    std::uint64_t bits = 0;
    for (int i = 0; i < 8; ++i) bits = bits << 8 | next_byte();
    return bits;
  }

 private:
  static double from_bits(std::uint64_t bits) {
    double x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
  }
  std::uint8_t next_byte() { return at_ < size_ ? data_[at_++] : 0; }
  const std::uint8_t *data_;
  std::size_t size_, at_ = 0;
};

/// Does f(), which may refuse what is beyond double precision.
template <class F> void attempt(F f) {
  try {
    f();
  } catch (const Error &error) {
    if (error.code() != Errc::numeric && error.code() != Errc::invalid_argument)
      fail("an error of another kind");
  }
}

double next_up(double x) { return std::nextafter(x, infinite); }

/// below(x) is P(X <= x) for x around the quantile of p.
template <class Below> void check_quantile(double x, double p, Below below) {
  if (std::isnan(x)) fail("a quantile is NaN");
  // As sharp as 9 digits of the smaller tail, and doubles about x.
  const double reach = 1e-13 * std::fabs(x),
               low = std::min(x - reach, std::nextafter(x, -infinite)),
               high = std::max(x + reach, next_up(x)), slack = 1e-9 * std::min(p, 1 - p) + 3e-16;
  if (below(low) > p + (p < 0.5 ? 1e-9 * p : slack)) fail("less than the quantile would do");
  if (below(high) < p - (p < 0.5 ? 1e-9 * p : slack))
    fail("the quantile does not reach its probability");
}

void check_probability(double p) {
  if (!(p >= 0 && p <= 1)) fail("a probability is not between 0 and 1");
}

template <class D> void check_continuous(const D &d, double x, double other, double p) {
  attempt([&] {
    const double log_density = d.log_density(x);
    if (std::isnan(log_density) != std::isnan(x)) fail("a density is NaN");
  });
  attempt([&] {
    if (std::isnan(x) || std::isnan(other)) {
      if (std::isnan(x) && !std::isnan(d.below(x))) fail("the probability below NaN is a number");
      return;
    }
    const double first = d.below(std::min(x, other)), second = d.below(std::max(x, other));
    check_probability(first);
    check_probability(second);
    if (first > second * (1 + 1e-9)) fail("a probability falls");
  });
  attempt([&] {
    if (!(p > 0 && p < 1)) return;
    const double q = d.quantile(p);
    check_quantile(q, p, [&](double at) { return d.below(at); });
  });
}

template <class D> void check_counts(const D &d, std::int64_t k, double p) {
  attempt([&] {
    if (!(d.log_density(k) <= 1e-10)) fail("the probability of a count is above 1, or NaN");
  });
  attempt([&] {
    check_probability(d.below(k));
    if (k > 0 && d.below(k - 1) > d.below(k) * (1 + 1e-9)) fail("a probability falls");
  });
  attempt([&] {
    const std::int64_t q = d.quantile(p);
    if (q < 0) fail("a quantile is negative");
    if (p > 0 && p < 1 && (d.below(q) < p || (q > 0 && d.below(q - 1) >= p)))
      fail("it is not the smallest number that reaches the probability");
  });
}

template <class D> void check_draw(const D &d, std::uint64_t seed, double low, double high) {
  attempt([&] {
    Random random(seed);
    const double x = double(d.draw(random));
    if (!(x >= low && x <= high)) fail("a draw is outside of the support");
  });
}

void check_marginal(const Marginal &m, double x, double p) {
  attempt([&] {
    if (std::isnan(x)) return;
    check_probability(m.probability_below(x));
    if (!(p > 0 && p < 1)) return;
    if (std::isnan(m.quantile(p))) fail("a quantile is NaN");
  });
}

ConjugateModel posterior(ConjugateKind kind, Numbers &numbers) {
  // Integrals over two means that are 1e300 widths apart take seconds.
  const bool normal = kind == ConjugateKind::normal_inverse_gamma;
  const double least = normal ? 1e-20 : 5e-324, most = normal ? 1e20 : 1e150;
  const auto limited = [&] { return std::clamp(std::fabs(numbers.positive()), least, most); };
  ConjugatePrior prior = {limited(), limited(), limited(), limited()};
  if (normal) prior[0] = std::clamp(numbers.next(), -most, most);
  for (double &x : prior)
    if (std::isnan(x)) x = 1;
  ConjugateSums sums;
  // Without rows the normal's squares are unknown.
  if (normal)
    for (const double x : {numbers.next(), numbers.next()})
      sums.add(kind, std::isnan(x) ? 0 : std::clamp(x, -most, most), 1, 1);
  return {kind, prior, sums};
}

void check_conjugate(ConjugateKind kind, Numbers &numbers, double x, double p) {
  asked = "making a conjugate posterior";
  const ConjugateModel a = posterior(kind, numbers), b = posterior(kind, numbers);
  asked = "a conjugate posterior";
  for (const ConjugateModel *m : {&a, &b})
    for (const double value : m->posterior()) asked += message(" {}", value);
  if (a.proper()) attempt([&] { check_marginal(a.marginal(), x, p); });
  attempt([&] { a.log_predictive(x > 1 ? std::floor(std::min(x, 1e15)) : 1); });
  if (!a.proper() || !b.proper()) return;
  attempt([&] {
    const double greater = probability_greater(a, b), less = probability_greater(b, a);
    check_probability(greater);
    if (std::fabs(greater + less - 1) > 1e-6) fail("P(A > B) + P(B > A) is not 1");
  });
  attempt([&] {
    if (!(expected_loss(a, b) >= 0)) fail("an expected loss is negative, or NaN");
  });
  if (kind != ConjugateKind::normal_inverse_gamma)
    attempt([&] {
      if (!(expected_lift(a, b) >= -1)) fail("an expected lift is below -1, or NaN");
    });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  if (size == 0) return 0;
  Numbers numbers(data + 1, size - 1);
  const double a = numbers.positive(), b = numbers.positive(), x = numbers.next(),
               other = numbers.next(), p = numbers.probability();
  const auto ask = [&](const char *name) {
    asked = message("{} of {} and {}, at {} and {}, for {}", name, a, b, x, other, p);
  };
  const std::uint64_t seed = numbers.next_bits();
  attempt([&] {
    switch (data[0] % 12) {
      case 0: {
        const double mean = numbers.next();
        ask("normal");
        check_continuous(NormalDistribution(mean, a), x, other, p);
        check_draw(NormalDistribution(mean, a), seed, -infinite, infinite);
        return;
      }
      case 1: {
        const double location = data[0] > 99 ? numbers.next() : 0;
        ask("student");
        asked += message(" about {}", location);
        const StudentDistribution d(a, location, b);
        check_continuous(d, x, other, p);
        check_draw(d, seed, -infinite, infinite);
        return;
      }
      case 2:
      case 3:
        ask("beta");
        check_continuous(BetaDistribution(a, b), x, other, p);
        check_draw(BetaDistribution(a, b), seed, 0, 1);
        return;
      case 4:
        ask("gamma");
        check_continuous(GammaDistribution(a, b), x, other, p);
        check_draw(GammaDistribution(a, b), seed, 0, infinite);
        return;
      case 5:
        ask("inverse gamma");
        check_continuous(InverseGammaDistribution(a, b), x, other, p);
        check_draw(InverseGammaDistribution(a, b), seed, 0, infinite);
        return;
      case 6: {
        const std::int64_t n = numbers.whole(), k = data[0] > 99 ? numbers.whole() : n / 2;
        asked = message("binomial of {} and {}, at {}, for {}", n, other, k, p);
        check_counts(BinomialDistribution(n, other), k, p);
        check_draw(BinomialDistribution(n, other), seed, 0, double(n));
        return;
      }
      case 7: {
        const std::int64_t k = data[0] > 99 ? numbers.whole() : std::int64_t(std::fmin(a, 9e18));
        asked = message("Poisson of {}, at {}, for {}", a, k, p);
        check_counts(PoissonDistribution(a), k, p);
        check_draw(PoissonDistribution(a), seed, 0, infinite);
        return;
      }
      case 8: {
        const double low = numbers.next();
        ask("uniform");
        check_draw(UniformDistribution(low, x), seed, low, x);
        if (a > 0 && b > 0 && std::isfinite(a) && std::isfinite(b))
          check_marginal({Marginal::Kind::root, a, b}, x, p);
        return;
      }
      case 9: check_conjugate(ConjugateKind::beta_bernoulli, numbers, x, p); return;
      case 10: check_conjugate(ConjugateKind::gamma_poisson, numbers, x, p); return;
      default:  // hundreds of times as slow as the others
        if (seed % 16 == 0) check_conjugate(ConjugateKind::normal_inverse_gamma, numbers, x, p);
    }
  });
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  // Every distribution with several sorts of numbers: the random bytes of a fixed generator.
  std::vector<std::string> seeds;
  for (unsigned i = 0; i < 240; ++i) {
    Random random(i);
    std::string seed(1, char(i));
    for (int j = 0; j < 160; ++j) seed += char(random.below(256));
    seeds.push_back(seed);
  }
  return seeds;
}
