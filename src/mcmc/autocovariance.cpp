#include "mcmc/autocovariance.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "base/aligned.hpp"

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

}  // namespace bayes
