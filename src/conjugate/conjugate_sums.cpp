// Sums of conjugate models: rows are added and removed, and sums are merged.
#include <cmath>

#include "base/special.hpp"
#include "conjugate/conjugate.hpp"

namespace bayes {
namespace {

/// relative rounding error of a sum, which has some 105 bits
constexpr double unit = 0x1p-104;

}  // namespace

bool ConjugateSums::add(ConjugateKind kind, double x, double weight, int sign) {
  if (rows == 0 && sign > 0) *this = {.skipped = skipped, .shift = x, .settled = weight};
  if (kind == ConjugateKind::normal_inverse_gamma && sign > 0) settle(weight, x);
  rows += sign;
  const auto change = [&](std::size_t i, const DoubleDouble &by) {
    sums[i] = sign > 0 ? sums[i] + by : sums[i] - by;
    errors[i] += unit * (std::fabs(sums[i].hi) + std::fabs(by.hi));
  };
  // After a removal: is the error bound small relative to what is left?
  const auto lasts = [&](std::size_t i, double scale) { return errors[i] <= 1e-13 * scale; };
  switch (kind) {
    case ConjugateKind::beta_bernoulli: {
      const bool success = x != 0;
      change(success ? 0 : 1, {weight});
      if (success) successes += sign;
      if (sign > 0 || rows == 0) return true;
      if ((success ? successes : rows - successes) == 0) {
        sums[success ? 0 : 1] = {};
        errors[success ? 0 : 1] = 0;
      }
      return lasts(0, sums[0].hi) && lasts(1, sums[1].hi);
    }
    case ConjugateKind::gamma_poisson:
      // Counts are whole numbers, so their sum is exact.
      change(0, {x});
      change(1, {weight});
      change(2, DoubleDouble::product(x, std::log(weight)) - DoubleDouble{log_gamma(x + 1)});
      return sign > 0 || rows == 0 || lasts(1, sums[1].hi);
    case ConjugateKind::normal_inverse_gamma: break;
  }
  const DoubleDouble d = DoubleDouble::sum(x, -shift), weighted = DoubleDouble{weight} * d;
  change(0, {weight});
  change(1, weighted);
  change(2, weighted * d);
  if (sign > 0 || rows == 0) return true;
  const double about = squares().hi;
  return lasts(0, sums[0].hi) && lasts(1, std::sqrt(about) * std::sqrt(sums[0].hi)) &&
         lasts(2, about);
}

// If the shift were far from the mean, the squares of heavy rows would leave no digits for those of
// light ones. So whenever the weight has grown fourfold, the shift moves to the mean of the rows so
// far, or to the new rows if these outweigh them all. The digits lost by a move are of the size of
// the rounding of the result.
void ConjugateSums::settle(double weight, double x) {
  const double all = sums[0].hi + weight;
  if (!(all > 4 * settled)) return;
  settled = all;
  const double to = weight > sums[0].hi ? x : shift + (sums[1] / sums[0]).hi;
  if (!(sums[0].hi > 0) || to == shift) return;
  const DoubleDouble by = DoubleDouble::sum(shift, -to), moved = sums[0] * by;
  const DoubleDouble squares = sums[2] + by * (DoubleDouble{2} * sums[1] + moved);
  errors[2] += 2 * std::fabs(by.hi) * errors[1] + by.hi * by.hi * errors[0] +
               unit * (std::fabs(sums[2].hi) + std::fabs(by.hi * moved.hi));
  errors[1] += std::fabs(by.hi) * errors[0] + unit * std::fabs(moved.hi);
  sums[2] = squares;
  sums[1] += moved;
  shift = to;
}

void ConjugateSums::add(ConjugateKind kind, const ConjugateSums &other) {
  if (kind == ConjugateKind::normal_inverse_gamma) {
    if (rows == 0) {
      shift = other.shift;
      settled = other.settled;
    }
    settle(other.sums[0].hi, other.shift);
  }
  rows += other.rows;
  skipped += other.skipped;
  if (kind != ConjugateKind::normal_inverse_gamma) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += other.sums[i];
    return;
  }
  // The other sums about this shift: d becomes d + by.
  const DoubleDouble by = DoubleDouble::sum(other.shift, -shift), moved = other.sums[0] * by;
  sums[2] += other.sums[2] + by * (DoubleDouble{2} * other.sums[1] + moved);
  sums[1] += other.sums[1] + moved;
  sums[0] += other.sums[0];
}

DoubleDouble ConjugateSums::squares() const {
  // Divides first, since the square of sums[1] may overflow.
  const DoubleDouble out = sums[2] - sums[1] * (sums[1] / sums[0]);
  return out.hi > 0 ? out : DoubleDouble{};
}

}  // namespace bayes
