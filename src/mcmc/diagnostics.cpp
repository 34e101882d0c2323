#include "mcmc/diagnostics.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/aligned.hpp"
#include "base/error.hpp"
#include "base/message.hpp"
#include "base/special.hpp"

namespace bayes {
namespace {

/// The discrete Fourier transform of 2^n complex numbers, real and imaginary parts in two arrays.
/// The transform is in bit-reversed order, which suffices for code that treats all frequencies
/// alike.
///
/// Halves are transformed recursively until they fit into a cache, then level by level. Roots of
/// unity are stored for `block` neighbours of a level; those of a later block are these times the
/// block's first.
class Fourier {
 public:
  Fourier(std::size_t size, Control &control) : size_(size), control_(control) {
    for (std::size_t half = 1; half < size; half *= 2) {
      const std::size_t count = std::min(half, block);
      Level &level = levels_.emplace_back(Level{Buffer(count), Buffer(count)});
      for (std::size_t k = 0; k < count; ++k) {
        const double angle = std::numbers::pi * static_cast<double>(k) / static_cast<double>(half);
        level.cosine[k] = std::cos(angle);
        level.sine[k] = std::sin(angle);
      }
    }
  }

  /// From natural to bit-reversed order.
  void forward(double *re, double *im) const { forward(re, im, size_); }
  /// The inverse, without the factor 1 / size.
  void backward(double *re, double *im) const { backward(re, im, size_); }

 private:
  static constexpr std::size_t block = 4096;
  struct Level {
    Buffer cosine, sine;
  };

  /// The butterflies (k, k + half) of one level; `inverse` conjugates the roots, and multiplies
  /// before the sums instead of after them.
  template <bool inverse> void level(double *re, double *im, std::size_t half) const {
    const Level &roots = levels_[static_cast<std::size_t>(std::countr_zero(half))];
    const double *const cosine = roots.cosine.data(), *const sine = roots.sine.data();
    const std::size_t count = std::min(half, block);
    for (std::size_t begin = 0; begin < half; begin += count) {
      if (half > block) control_.poll();
      const double angle =
          std::numbers::pi * static_cast<double>(begin) / static_cast<double>(half);
      const double c0 = begin == 0 ? 1 : std::cos(angle), s0 = begin == 0 ? 0 : std::sin(angle);
      double *__restrict const re1 = re + begin, *__restrict const im1 = im + begin;
      double *__restrict const re2 = re1 + half, *__restrict const im2 = im1 + half;
      for (std::size_t k = 0; k < count; ++k) {
        const double c = c0 * cosine[k] - s0 * sine[k], s = s0 * cosine[k] + c0 * sine[k];
        if constexpr (inverse) {
          const double re_turned = re2[k] * c - im2[k] * s, im_turned = re2[k] * s + im2[k] * c;
          re2[k] = re1[k] - re_turned;
          im2[k] = im1[k] - im_turned;
          re1[k] += re_turned;
          im1[k] += im_turned;
        } else {
          const double re_difference = re1[k] - re2[k], im_difference = im1[k] - im2[k];
          re1[k] += re2[k];
          im1[k] += im2[k];
          re2[k] = re_difference * c + im_difference * s;
          im2[k] = im_difference * c - re_difference * s;
        }
      }
    }
  }

  void forward(double *re, double *im, std::size_t size) const {
    if (size > block) {
      level<false>(re, im, size / 2);
      forward(re, im, size / 2);
      forward(re + size / 2, im + size / 2, size / 2);
      return;
    }
    control_.poll();
    for (std::size_t half = size / 2; half > 0; half /= 2)
      for (std::size_t begin = 0; begin < size; begin += 2 * half)
        level<false>(re + begin, im + begin, half);
  }

  void backward(double *re, double *im, std::size_t size) const {
    if (size > block) {
      backward(re, im, size / 2);
      backward(re + size / 2, im + size / 2, size / 2);
      level<true>(re, im, size / 2);
      return;
    }
    control_.poll();
    for (std::size_t half = 1; half < size; half *= 2)
      for (std::size_t begin = 0; begin < size; begin += 2 * half)
        level<true>(re + begin, im + begin, half);
  }

  std::size_t size_;
  Control &control_;
  std::vector<Level> levels_;
};

/// The autocovariances from the definition, which is faster for short series.
std::vector<double> summed_products(std::span<const double> series, std::size_t n) {
  std::vector<double> out(n);
  for (std::size_t begin = 0; begin < series.size(); begin += n)
    for (std::size_t s = begin; s < begin + n; ++s)
      for (std::size_t t = s; t < begin + n; ++t) out[t - s] += series[s] * series[t];
  for (double &x : out) x /= static_cast<double>(series.size());
  return out;
}

/// Calls f(begin, end) for parts of [0, size) and polls before each: even touching fresh memory
/// takes long.
template <class F> void in_pieces(std::size_t size, Control &control, F f) {
  constexpr std::size_t piece = 65536;
  for (std::size_t begin = 0; begin < size; begin += piece) {
    control.poll();
    f(begin, std::min(size, begin + piece));
  }
}

}  // namespace

// The transform of the autocovariances is the power spectrum. Two series share one transform, as
// real and imaginary parts: the real part of the autocovariance of x + i y is the sum of theirs.
// Padding with as many zeros prevents circular overlap.
std::vector<double> mean_autocovariance(std::span<const double> series, std::size_t n,
                                        Control &control) {
  constexpr std::size_t least = 32;
  if (n < least) return summed_products(series, n);
  const std::size_t size = 2 * std::bit_ceil(n), count = series.size() / n;
  const Fourier fourier(size, control);
  Buffer power, re, im;
  for (Buffer *const buffer : {&power, &re, &im}) {
    buffer->reserve(size);
    in_pieces(size, control, [&](std::size_t, std::size_t end) { buffer->resize(end); });
  }
  // Loads a series, or none, padded with zeros.
  const auto load = [&](std::size_t i, Buffer &part) {
    const std::size_t length = i < count ? n : 0;
    in_pieces(size, control, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) part[k] = k < length ? series[i * n + k] : 0;
    });
  };
  for (std::size_t i = 0; i < count; i += 2) {
    load(i, re);
    load(i + 1, im);
    fourier.forward(re.data(), im.data());
    in_pieces(size, control, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) power[k] += re[k] * re[k] + im[k] * im[k];
    });
  }
  load(count, im);
  fourier.backward(power.data(), im.data());
  const double scale =
      1 / (static_cast<double>(size) * static_cast<double>(n) * static_cast<double>(count));
  power.resize(n);
  std::vector<double> result(power.begin(), power.end());
  for (double &x : result) x *= scale;
  return result;
}

namespace {

/// Counts steps of a few nanoseconds each and polls from time to time.
class Ticker {
 public:
  explicit Ticker(Control &control) : control(control) {}
  void operator()() {
    if (++steps_ % 65536 == 0) control.poll();
  }
  Control &control;

 private:
  std::size_t steps_ = 0;
};

/// The halves of all chains, concatenated.
struct Halves {
  std::size_t length;
  std::vector<double> values;
};

/// Applies `change` to every draw.
template <class Change> Halves split(std::span<const Chain> chains, Ticker &tick, Change change) {
  const std::size_t draws = chains[0].draws.size();
  Halves halves{draws / 2, {}};
  halves.values.reserve(2 * halves.length * chains.size());
  for (const Chain &chain : chains)
    for (const auto &half : {chain.draws.first(halves.length), chain.draws.last(halves.length)})
      for (const double x : half) {
        halves.values.push_back(change(x));
        tick();
      }
  return halves;
}

Halves split(std::span<const Chain> chains, Ticker &tick) {
  return split(chains, tick, [](double x) { return x; });
}

bool all_equal(const std::vector<double> &values) {
  return std::all_of(values.begin(), values.end(), [&](double x) { return x == values[0]; });
}

/// Whether the diagnostics are defined for halves of at least this many draws.
bool diagnosable(std::span<const Chain> chains, std::size_t least, Ticker &tick) {
  if (chains.empty()) return false;
  bool finite = true;
  for (const Chain &chain : chains) {
    if (chain.draws.size() != chains[0].draws.size())
      throw Error(Errc::invalid_argument, "chains have different numbers of draws",
                  message("Chain {} has {}, chain {} has {}.", chains[0].number,
                          chains[0].draws.size(), chain.number, chain.draws.size()),
                  "Compare as many draws of each chain.");
    finite = finite && std::all_of(chain.draws.begin(), chain.draws.end(),
                                   [&](double x) { return tick(), std::isfinite(x); });
  }
  return finite && chains[0].draws.size() / 2 >= least;
}

std::vector<double> pooled(std::span<const Chain> chains, Ticker &tick) {
  std::vector<double> all;
  all.reserve(chains.size() * chains[0].draws.size());
  for (const Chain &chain : chains)
    for (const double x : chain.draws) {
      all.push_back(x);
      tick();
    }
  return all;
}

/// The number with this rank, from 0; smaller numbers are moved before it.
double order_statistic(std::vector<double> &values, std::size_t rank, Ticker &tick) {
  const auto position = values.begin() + std::ptrdiff_t(rank);
  std::nth_element(values.begin(), position, values.end(),
                   [&](double a, double b) { return tick(), a < b; });
  return *position;
}

double median(std::vector<double> values, Ticker &tick) {
  const std::size_t rank = values.size() / 2;
  const double upper = order_statistic(values, rank, tick);
  if (values.size() % 2 == 1) return upper;
  return std::midpoint(*std::max_element(values.begin(), values.begin() + std::ptrdiff_t(rank)),
                       upper);
}

/// Replaces every number by the normal quantile of its rank, with Blom's offset; ties have their
/// mean rank.
void rank_normalise(std::vector<double> &values, Ticker &tick) {
  std::vector<std::pair<double, std::uint32_t>> sorted;
  sorted.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i, tick())
    sorted.emplace_back(values[i], static_cast<std::uint32_t>(i));
  std::sort(sorted.begin(), sorted.end(),
            [&](const auto &a, const auto &b) { return tick(), a.first < b.first; });
  const auto total = static_cast<double>(values.size());
  for (std::size_t begin = 0, end = 0; begin < sorted.size(); begin = end) {
    while (end < sorted.size() && sorted[end].first == sorted[begin].first) ++end;
    const double rank = 0.5 * (static_cast<double>(begin + 1) + static_cast<double>(end));
    const double score = normal_quantile((rank - 0.375) / (total + 0.25));
    for (std::size_t i = begin; i < end; ++i, tick()) values[sorted[i].second] = score;
    for (int cost = 0; cost < 8; ++cost) tick();  // the cost of a quantile
  }
}

/// Variances within and between the halves.
struct Variances {
  /// the mean of the halves' variances
  double within;
  /// the variance of the halves' means
  double of_means;
};

/// Subtracts the means. Deviations from one of the draws are taken first, so that constant halves
/// become exact zeros.
Variances centre(Halves &halves, Ticker &tick) {
  const auto n = static_cast<double>(halves.length);
  const double origin = halves.values[0];
  double within = 0;
  std::vector<double> means;
  for (std::size_t begin = 0; begin < halves.values.size(); begin += halves.length) {
    const std::span<double> half(halves.values.data() + begin, halves.length);
    const double first = half[0];
    double sum = 0, squares = 0;
    for (double &x : half) {
      sum += x -= first;
      tick();
    }
    const double mean = sum / n;
    for (double &x : half) {
      x -= mean;
      squares += x * x;
      tick();
    }
    within += squares / (n - 1);
    means.push_back(first - origin + mean);
  }
  const auto count = static_cast<double>(means.size());
  double mean = 0, squares = 0;
  for (const double x : means) mean += x / count;
  for (const double x : means) squares += (x - mean) * (x - mean);
  return {within / count, squares / (count - 1)};
}

std::optional<double> reduction(Halves halves, Ticker &tick) {
  if (all_equal(halves.values)) return std::nullopt;
  rank_normalise(halves.values, tick);
  const auto n = static_cast<double>(halves.length);
  const Variances variances = centre(halves, tick);
  return std::sqrt(variances.of_means / variances.within + (n - 1) / n);
}

/// Geyer's initial monotone sequence estimate of the autocorrelation time, the sum of the
/// autocorrelations at all lags from -n to n, whose tail is noise: for any reversible Markov chain
/// the sums of neighbours, rho(2k) + rho(2k + 1), are positive and decreasing, so the first that is
/// not positive ends the sum, and one that exceeds its predecessor is lowered to it.
template <class Correlation> double autocorrelation_time(std::size_t n, Correlation rho) {
  // Too short for more than the first pair: like posterior, count two draws as one. posterior also
  // does so if the first pair ends the sum, for strictly alternating draws; there we follow the
  // paper, whose bound on the effective size applies.
  if (n < 6) return 2;
  double time = -1, even = 1, pair = 1 + rho(1), lowest = pair;
  std::size_t lag = 0;
  while (lag + 5 < n && pair > 0) {
    time += 2 * lowest;
    lag += 2;
    even = rho(lag);
    pair = even + rho(lag + 1);
    lowest = std::min(lowest, pair);
  }
  // Adding the even lag of the pair that ended the sum reduces the variance for antithetic chains,
  // whose even lags are positive.
  return time + (pair >= 0 ? even : std::max(even, 0.0));
}

std::optional<double> effective_size(Halves halves, Ticker &tick) {
  if (all_equal(halves.values)) return std::nullopt;
  const auto total = static_cast<double>(halves.values.size());
  const Variances variances = centre(halves, tick);
  const std::vector<double> covariance =
      mean_autocovariance(halves.values, halves.length, tick.control);
  const double variance = covariance[0] + variances.of_means;
  const double time = autocorrelation_time(halves.length, [&](std::size_t lag) {
    return 1 - (variances.within - covariance[lag]) / variance;
  });
  return total / std::max(time, 1 / std::log10(total));
}

/// The effective sample size of the indicator of draws up to a quantile, that is up to the order
/// statistic below the interpolated quantile.
std::optional<double> quantile_effective_size(std::span<const Chain> chains,
                                              std::vector<double> &all, std::size_t twentieths,
                                              Ticker &tick) {
  const double limit = order_statistic(all, (all.size() - 1) * twentieths / 20, tick);
  return effective_size(split(chains, tick, [limit](double x) { return x <= limit ? 1.0 : 0.0; }),
                        tick);
}

}  // namespace

std::optional<double> rhat(std::span<const Chain> chains, Control &control) {
  Ticker tick(control);
  if (!diagnosable(chains, 2, tick)) return std::nullopt;
  const std::optional<double> bulk = reduction(split(chains, tick), tick);
  if (!bulk) return std::nullopt;
  const double middle = median(pooled(chains, tick), tick);
  const std::optional<double> folded =
      reduction(split(chains, tick, [middle](double x) { return std::fabs(x - middle); }), tick);
  return folded ? std::max(*bulk, *folded) : *bulk;
}

std::optional<double> ess_bulk(std::span<const Chain> chains, Control &control) {
  Ticker tick(control);
  if (!diagnosable(chains, 3, tick)) return std::nullopt;
  Halves halves = split(chains, tick);
  rank_normalise(halves.values, tick);
  return effective_size(std::move(halves), tick);
}

std::optional<double> ess_tail(std::span<const Chain> chains, Control &control) {
  Ticker tick(control);
  if (!diagnosable(chains, 3, tick)) return std::nullopt;
  std::vector<double> all = pooled(chains, tick);
  const std::optional<double> low = quantile_effective_size(chains, all, 1, tick),
                              high = quantile_effective_size(chains, all, 19, tick);
  if (!low || !high) return std::nullopt;
  return std::min(*low, *high);
}

std::optional<double> mcse_mean(std::span<const Chain> chains, Control &control) {
  Ticker tick(control);
  if (!diagnosable(chains, 3, tick)) return std::nullopt;
  // Scaled by a power of 2, so that squares neither overflow nor underflow.
  double largest = 0;
  for (const Chain &chain : chains)
    for (const double x : chain.draws) largest = std::max(largest, std::fabs(x));
  if (largest == 0) return std::nullopt;
  const int exponent = std::ilogb(largest);
  const auto scaled = [exponent](double x) { return std::scalbn(x, -exponent); };
  const std::optional<double> size = effective_size(split(chains, tick, scaled), tick);
  if (!size) return std::nullopt;

  const auto total = static_cast<double>(chains.size() * chains[0].draws.size());
  const double origin = scaled(chains[0].draws[0]);
  double mean = 0, squares = 0;
  for (const Chain &chain : chains)
    for (const double x : chain.draws) {
      mean += (scaled(x) - origin) / total;
      tick();
    }
  for (const Chain &chain : chains)
    for (const double x : chain.draws) {
      const double deviation = scaled(x) - origin - mean;
      squares += deviation * deviation;
      tick();
    }
  return std::scalbn(std::sqrt(squares / (total - 1) / *size), exponent);
}

}  // namespace bayes
