// The gamma function's logarithm and its derivative, in vectors.
//
// Arguments are shifted by 10, where asymptotic series hold: log Gamma(x) = log Gamma(x + 10) -
// log x (x + 1) ... (x + 9), and the derivatives. The ten factors, two by two from both ends, are u
// (u + 8) (u + 14) (u + 18) (u + 20) with u = x (x + 9): a polynomial whose coefficients are
// positive, so nothing cancels, and there is one division.
#pragma once

#include "base/simd.hpp"
#include "base/special.hpp"

namespace bayes::simd {

namespace detail {

struct Shifted {
  Vector y;          // x + 10
  Vector inverse;    // 1 / y
  Vector product;    // x (x + 1) ... (x + 9)
  Vector quotients;  // 1 / x + 1 / (x + 1) + ... + 1 / (x + 9)
};

inline Shifted shifted(Vector x) {
  const Vector u = x * (x + 9.0);
  Vector product = u + 60.0;
  product = madd(product, u, all(1308));
  product = madd(product, u, all(12176));
  product = madd(product, u, all(40320));
  product = product * u;
  Vector slope = madd(5.0, u, all(240));
  slope = madd(slope, u, all(3924));
  slope = madd(slope, u, all(24352));
  slope = madd(slope, u, all(40320));
  const Vector y = x + 10.0;
  const Vector both = 1.0 / (y * product);
  return {y, product * both, product, madd(2.0, x, all(9)) * slope * (y * both)};
}

/// digamma(y) - log y, y >= 10: the first neglected term is below 5e-17.
inline Vector digamma_series(Vector inverse) {
  const Vector z = inverse * inverse;
  Vector sum = all(-1.0 / 12);
  sum = madd(sum, z, all(691.0 / 32760));
  sum = madd(sum, z, all(-1.0 / 132));
  sum = madd(sum, z, all(1.0 / 240));
  sum = madd(sum, z, all(-1.0 / 252));
  sum = madd(sum, z, all(1.0 / 120));
  sum = madd(sum, z, all(-1.0 / 12));
  return madd(sum, z, -0.5 * inverse);
}

/// log Gamma(y) - (y - 1/2) log y + y - log(2 pi) / 2, y >= 10.
inline Vector gamma_series(Vector inverse) {
  const Vector z = inverse * inverse;
  Vector sum = all(1.0 / 156);
  sum = madd(sum, z, all(-691.0 / 360360));
  sum = madd(sum, z, all(1.0 / 1188));
  sum = madd(sum, z, all(-1.0 / 1680));
  sum = madd(sum, z, all(1.0 / 1260));
  sum = madd(sum, z, all(-1.0 / 360));
  sum = madd(sum, z, all(1.0 / 12));
  return sum * inverse;
}

}  // namespace detail

/// exp(digamma(x)), 1e-29 <= x <= 1e29; 0 where that is below 1e-307, x < 0.00142. Its relative
/// error is the absolute one of digamma(x).
inline Vector exp_digamma(Vector x) {
  const detail::Shifted s = detail::shifted(x);
  return s.y * exp(detail::digamma_series(s.inverse) - s.quotients);
}

/// digamma(x) and log Gamma(x), 1e-29 <= x <= 1e29: within 3e-15 and 2e-14 of the larger of 1 and
/// the result.
struct GammaPair {
  Vector digamma, log_gamma;
};
inline GammaPair digamma_and_log_gamma(Vector x) {
  const detail::Shifted s = detail::shifted(x);
  const Vector log_y = log(s.y);
  const Vector stirling = madd(s.y - 0.5, log_y, half_log_two_pi - s.y);
  return {(log_y + detail::digamma_series(s.inverse)) - s.quotients,
          (stirling + detail::gamma_series(s.inverse)) - log(s.product)};
}

}  // namespace bayes::simd
