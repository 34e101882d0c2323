// The remainder of Stirling's formula.
#pragma once

namespace bayes {

/// log Gamma(x) minus Stirling's (x - 1/2) log x - x + log(2 pi) / 2, x >= 10: the asymptotic
/// series, whose first neglected term is below 3e-17 there.
inline double stirling_remainder(double x) {
  const double y = 1 / x, y2 = y * y;
  double sum = 1.0 / 156;
  sum = sum * y2 - 691.0 / 360360;
  sum = sum * y2 + 1.0 / 1188;
  sum = sum * y2 - 1.0 / 1680;
  sum = sum * y2 + 1.0 / 1260;
  sum = sum * y2 - 1.0 / 360;
  sum = sum * y2 + 1.0 / 12;
  return sum * y;
}

}  // namespace bayes
