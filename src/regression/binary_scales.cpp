#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/aligned.hpp"
#include "base/error.hpp"
#include "base/message.hpp"
#include "data/pass.hpp"
#include "families/normal/normal_block.hpp"
#include "regression/binary_block.hpp"
#include "regression/binary_rows.hpp"

namespace bayes {

using normal_block::block_vectors;
using simd::lanes;
using simd::registers;
using simd::sum_lanes;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
/// The squares of smaller ranges of a column would underflow.
constexpr double min_range = 1e-140;
/// Of the total weight; terms of rows that weigh less would be larger than 1e100, in scales of
/// their column.
constexpr double min_share = 1e-200;

/// Range and sum of one term over all rows, from which its centre and scale follow.
struct TermRange {
  double low = infinite, high = -infinite, sum = 0;
  /// it is 0 or 1 in every row
  bool two_valued = true;
};
struct RangePart {
  std::vector<TermRange> terms;
  double weight = 0, positives = 0;
};

/// The terms of all blocks of a segment, for passes that find scales.
class TermBlocks {
 public:
  TermBlocks(const RowSource &rows, const RegressionTerms &terms, int threads)
      : shape_(rows.shape()),
        terms_(terms),
        x_(std::size_t(threads), Buffer(std::size_t(terms.size()) * block_rows)) {}
  /// f(x of a block's terms, block)
  template <class F> void each(int worker, const Segment &segment, const Stop &stop, F f) {
    double *const own = x_[std::size_t(worker)].data();
    for (std::int64_t at = 0; at < segment.rows && !stop(); at += block_rows) {
      const BlockOfRows block(shape_, segment, at);
      terms_.expand_block(block.data, 1, block.rows, own);
      f(own, block);
    }
  }

 private:
  const RowShape shape_;
  const RegressionTerms &terms_;
  std::vector<Buffer> x_;
};

/// Adds numbers of an answer, as many as there are.
/// Adds a block to the range of a term. Rows past the last must repeat the term of another row,
/// with weight 0.
void add_range(const double *x, const double *weight, TermRange &range) {
  using simd::Vector;
  Vector low[registers], high[registers], sum[registers] = {}, other[registers] = {};
  for (int v = 0; v < registers; ++v) low[v] = high[v] = simd::all(x[0]);
#pragma GCC unroll 8
  for (int v = 0; v < block_vectors; ++v) {
    const int part = v % registers;
    const Vector at = simd::load(x + v * lanes), product = at * (at - 1.0);
    low[part] = -simd::max(-low[part], -at);
    high[part] = simd::max(high[part], at);
    other[part] = simd::max(other[part], simd::max(product, -product));
    sum[part] = simd::madd(simd::load(weight + v * lanes), at, sum[part]);
  }
  double lows[sum_lanes], highs[sum_lanes], others[sum_lanes];
  for (int v = 0; v < registers; ++v) {
    simd::store(lows + v * lanes, low[v]);
    simd::store(highs + v * lanes, high[v]);
    simd::store(others + v * lanes, other[v]);
  }
  range.low = std::min(range.low, *std::min_element(lows, lows + sum_lanes));
  range.high = std::max(range.high, *std::max_element(highs, highs + sum_lanes));
  range.two_valued &= *std::max_element(others, others + sum_lanes) == 0;
  range.sum += simd::sum(sum);
}

/// The weighted sum of ((x - centre) factor)^2 over a block.
double sum_of_squares(const double *x, const double *weight, double centre, double factor) {
  simd::Vector sum[registers] = {};
#pragma GCC unroll 8
  for (int v = 0; v < block_vectors; ++v) {
    const simd::Vector q = (simd::load(x + v * lanes) - centre) * factor;
    sum[v % registers] = simd::madd(simd::load(weight + v * lanes), q * q, sum[v % registers]);
  }
  return simd::sum(sum);
}

/// Finds ranges and sums of the terms over all rows, from which their centres and scales follow.
struct RangesPass {
  static constexpr const char *name = "binary ranges";
  struct Sums {
    std::vector<double> low, high, sum;
    /// 1 for terms that are 0 or 1 in every row, else 0
    std::vector<double> two_valued;
    /// total weight of all rows; of the rows with y = 1
    double weight = 0, positives = 0;

    explicit Sums(std::size_t p)
        : low(p, infinite),
          high(p, -infinite),
          sum(p, 0.0),
          two_valued(p, 1.0) {}
    template <class F> void fields(F &f) {
      for (const auto &[key, numbers] :
           {std::pair("low", &low), std::pair("high", &high), std::pair("sum", &sum),
            std::pair("two_valued", &two_valued)})
        f.values(key, *numbers);
      f.number("weight", weight);
      f.number("positives", positives);
      for (std::size_t j = 0; j < low.size(); ++j) f.require(low[j] <= high[j]);
      f.require(positives >= 0 && positives <= weight && weight > 0);
    }
    void add(const Sums &part) {
      for (std::size_t j = 0; j < low.size(); ++j) {
        low[j] = std::min(low[j], part.low[j]);
        high[j] = std::max(high[j], part.high[j]);
        sum[j] += part.sum[j];
        two_valued[j] = std::min(two_valued[j], part.two_valued[j]);
      }
      weight += part.weight;
      positives += part.positives;
    }
  };
  RegressionTerms terms = {};

  template <class F> void fields(F &f, RowSource &rows) { terms.fields(f, rows.shape().dimension); }
  Sums nothing(RowSource &) const { return Sums(std::size_t(terms.size())); }
  Sums here(RowSource &rows, Control &control) const;
};

RangesPass::Sums RangesPass::here(RowSource &rows, Control &control) const {
  const std::size_t p = std::size_t(terms.size());
  Sums out(p);
  Sweep sweep(rows, control);
  const SweepPlan plan = sweep.plan(6.0 * double(p), sizeof(TermRange) * p);
  TermBlocks blocks(rows, terms, plan.threads);
  std::vector<RangePart> parts(static_cast<std::size_t>(plan.slots));
  sweep.run(
      plan,
      [&](int worker, int slot, const Segment &segment, const Stop &stop) {
        RangePart &part = parts[std::size_t(slot)];
        part = {std::vector<TermRange>(p)};
        blocks.each(worker, segment, stop, [&](double *terms, const BlockOfRows &block) {
          double positives[sum_lanes] = {}, weights[sum_lanes] = {};
          for (int b = 0; b < block.rows; ++b) {
            weights[b % sum_lanes] += block.weight[b];
            positives[b % sum_lanes] += block.sign[b] > 0 ? block.weight[b] : 0;
          }
          part.weight += simd::sum(weights);
          part.positives += simd::sum(positives);
          for (std::size_t j = 0; j < p; ++j) {
            double *const x = terms + j * block_rows;
            std::fill(x + block.rows, x + block_rows, x[0]);
            add_range(x, block.weight, part.terms[j]);
          }
        });
      },
      [&](int slot) {
        const RangePart &part = parts[std::size_t(slot)];
        out.weight += part.weight;
        out.positives += part.positives;
        for (std::size_t j = 0; j < p; ++j) {
          const TermRange &from = part.terms[j];
          out.low[j] = std::min(out.low[j], from.low);
          out.high[j] = std::max(out.high[j], from.high);
          out.sum[j] += from.sum;
          if (!from.two_valued) out.two_valued[j] = 0;
        }
      });
  return out;
}

/// For each term with a reach above 0 the weighted sum of ((x - centre) / reach)^2.
struct SquaresPass {
  static constexpr const char *name = "binary squares";
  using Sums = NumberSums;
  RegressionTerms terms = {};
  std::vector<double> centre = {}, reach = {};

  template <class F> void fields(F &f, RowSource &rows) {
    terms.fields(f, rows.shape().dimension);
    f.numbers("centre", centre, std::size_t(terms.size()));
    f.numbers("reach", reach, std::size_t(terms.size()));
  }
  Sums nothing(RowSource &) const { return {std::vector<double>(reach.size())}; }
  Sums here(RowSource &rows, Control &control) const;
};

SquaresPass::Sums SquaresPass::here(RowSource &rows, Control &control) const {
  const std::size_t p = reach.size();
  Sums out = nothing(rows);
  Sweep sweep(rows, control);
  const SweepPlan plan = sweep.plan(6.0 * double(p), sizeof(TermRange) * p);
  TermBlocks blocks(rows, terms, plan.threads);
  std::vector<std::vector<double>> slots(static_cast<std::size_t>(plan.slots));
  sweep.run(
      plan,
      [&](int worker, int slot, const Segment &segment, const Stop &stop) {
        std::vector<double> &part = slots[std::size_t(slot)];
        part.assign(p, 0.0);
        blocks.each(worker, segment, stop, [&](const double *terms, const BlockOfRows &block) {
          for (std::size_t j = 0; j < p; ++j)
            if (reach[j] > 0)
              part[j] +=
                  sum_of_squares(terms + j * block_rows, block.weight, centre[j], 1 / reach[j]);
        });
      },
      [&](int slot) {
        for (std::size_t j = 0; j < p; ++j) out.numbers[j] += slots[std::size_t(slot)][j];
      });
  return out;
}

}  // namespace

const PassOver<PartOfRows> binary_ranges_pass = pass_over<PartOfRows, RangesPass>(),
                           binary_squares_pass = pass_over<PartOfRows, SquaresPass>();

void BinaryRows::find_scales() {
  const std::size_t p = std::size_t(size());
  scales_.centre.assign(p, 0.0);
  scales_.scale.assign(p, 1.0);
  const RangesPass::Sums range = run(rows_, RangesPass{terms_.unnamed()}, control_);
  weight_ = range.weight;
  positives_ = range.positives;
  // for terms whose squares must be summed, the largest distance from the centre; else 0
  std::vector<double> reach(p, 0.0);
  for (std::size_t j = terms_.intercept() ? 1 : 0; j < p; ++j) {
    const double low = range.low[j], high = range.high[j];
    double &centre = scales_.centre[j];
    if (terms_.intercept())
      centre = low == high ? low : std::clamp(range.sum[j] / weight_, low, high);
    if (!std::isfinite(centre))
      throw Error(Errc::numeric, message("the mean of term {} overflows", terms_.name(int(j))),
                  "Values and weights are too large together.", "Rescale them.");
    const double most = std::max(high - centre, centre - low);
    if (most == 0) constant_.push_back(int(j));
    if (range.two_valued[j] != 0 || most == 0) continue;
    if (most < min_range) require_constant(rows_, 1 + terms_[int(j)].column, control_);
    reach[j] = most;
  }
  const std::vector<double> sums =
      run(rows_, SquaresPass{terms_.unnamed(), scales_.centre, reach}, control_).numbers;
  for (std::size_t j = 0; j < p; ++j) {
    if (!(reach[j] > 0)) continue;
    const double share = sums[j] / weight_;
    if (!(share >= min_share && std::isfinite(share)))
      throw Error(Errc::numeric,
                  message("the rows in which term {} differs from its mean weigh too little",
                          terms_.name(int(j))),
                  "They are less than 1e-200 of all rows.",
                  "Rescale the weights, or leave out rows that weigh next to nothing.");
    scales_.scale[j] = reach[j] * std::sqrt(share);
  }
}

}  // namespace bayes
