#include "regression/linreg_system.hpp"

#include <algorithm>
#include <cmath>

#include "base/control.hpp"

namespace bayes {
namespace {

/// If all numbers are the same, less than this share of their sum of squares is left about the
/// mean: the rounding errors of 100 bits.
constexpr double constant_share = 1e-26;
/// Smallest LinregSystem::tolerance. Errors in the last place of its numbers leave a share of 1e-32
/// of a collinear term unexplained; polynomials of degree 10, which are not collinear, have been
/// seen to leave 1e-19.
constexpr double min_tolerance = 1e-23;
/// Below this the low half of a sum of squares in double-double arithmetic is not exact.
constexpr double min_exact_squares = 1e-250;
/// relative error of one rounding of a sum, with some allowance
constexpr double sum_rounding = 0x1p-98;

/// The exponent e for which squares x 2^(-2 e) is between 1/4 and 1.
int half_exponent(double squares) {
  int exponent;
  std::frexp(squares, &exponent);
  return exponent >= 0 ? (exponent + 1) / 2 : -(-exponent / 2);
}

}  // namespace

LinregSystem::LinregSystem(const LinregSums &sums, bool with_intercept, const Document &reference)
    : all_terms(sums.columns, sums.dimension, with_intercept, reference),
      intercept(with_intercept),
      size(all_terms.size() - (with_intercept ? 1 : 0)),
      rows(sums.rows),
      weight(sums.weight()),
      mean(std::size_t(size) + 1),
      products(size + 1),
      exponent(std::size_t(size) + 1, 0),
      underflows(std::size_t(size) + 1, false),
      tolerance(std::size_t(size), 0.0) {
  std::vector<int> cell;
  for (int t = intercept ? 1 : 0; t < all_terms.size(); ++t)
    cell.push_back(sums.cell_of(all_terms[t].column) + std::max(0, all_terms[t].label));
  cell.push_back(response_cell);
  const DoubleDouble count = sums.at(one_cell, one_cell);
  if (intercept)
    for (std::size_t i = 0; i < cell.size(); ++i) mean[i] = sums.at(cell[i], one_cell) / count;
  const auto about_mean = [&](std::size_t i, std::size_t j) {
    const DoubleDouble product = sums.at(cell[i], cell[j]);
    return intercept ? product - sums.at(cell[i], one_cell) * mean[j] : product;
  };
  std::vector<bool> none(cell.size());
  const double roundings = sum_rounding * std::sqrt(sums.operations);
  for (std::size_t i = 0; i < cell.size(); ++i) {
    const double all = sums.at(cell[i], cell[i]).hi, squares = about_mean(i, i).hi;
    underflows[i] = all < min_exact_squares && (all > 0 || sums.at(cell[i], one_cell).hi != 0);
    none[i] = !(squares > std::max(constant_share, roundings) * all);
    if (none[i]) continue;
    exponent[i] = half_exponent(squares);
    if (i < tolerance.size()) tolerance[i] = std::max(min_tolerance, roundings * (all / squares));
  }
  WorkPoll poll;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    poll(64 * cell.size());
    for (std::size_t j = i; j < cell.size() && !none[i]; ++j) {
      if (none[j]) continue;
      const DoubleDouble product = scaled(about_mean(i, j), -(exponent[i] + exponent[j]));
      products.set(int(i), int(j), product);
      products.set(int(j), int(i), product);
    }
  }
}

double LinregSystem::squares(int term) const {
  return std::ldexp(products(term, term).hi, 2 * exponent[std::size_t(term)]);
}

}  // namespace bayes
