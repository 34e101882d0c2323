// The root R of a covariance R'R: lower triangular, packed row by row, as models store it.
#pragma once

#include <cstddef>
#include <span>

namespace bayes {

/// |R z|^2, R of as many rows as z has numbers
inline double packed_square(std::span<const double> root, std::span<const double> z) {
  double out = 0;
  const double *row = root.data();
  for (std::size_t i = 0; i < z.size(); ++i) {
    double sum = 0;
    for (std::size_t j = 0; j <= i; ++j) sum += row[j] * z[j];
    out += sum * sum;
    row += i + 1;
  }
  return out;
}

/// The sum of squares of column j of R, which has `rows` rows.
inline double packed_column_square(std::span<const double> root, std::size_t rows, std::size_t j) {
  double out = 0;
  for (std::size_t i = j; i < rows; ++i) {
    const double x = root[i * (i + 1) / 2 + j];
    out += x * x;
  }
  return out;
}

}  // namespace bayes
