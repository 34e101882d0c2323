#include "regression/binary_rows.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "base/aligned.hpp"
#include "base/error.hpp"
#include "base/message.hpp"
#include "base/simd.hpp"
#include "base/special.hpp"
#include "data/pass.hpp"
#include "data/rows.hpp"
#include "data/sweep.hpp"
#include "families/normal/normal_block.hpp"
#include "regression/link_moments.hpp"

namespace bayes {
namespace {

// A block of the rows of a binary regression.

/// The data of a block that all passes need: packed features, sign (1 for y = 1, else -1) and
/// weight of the rows. Weights past the last row are 0.
struct BlockOfRows {
  BlockOfRows(const RowShape &shape, const Segment &segment, std::int64_t at)
      : data(segment.blocks + std::size_t(at / block_rows) * shape.block_doubles()),
        rows(int(std::min<std::int64_t>(block_rows, segment.rows - at))) {
    for (int b = 0; b < block_rows; ++b) sign[b] = data[b] > 0.5 ? 1 : -1;
    std::fill(weight + rows, weight + block_rows, 0.0);
    if (shape.weighted)
      std::copy_n(data + std::size_t(shape.dimension) * block_rows, rows, weight);
    else
      std::fill_n(weight, rows, 1.0);
  }
  const double *data;
  int rows;
  alignas(cache_line) double sign[block_rows], weight[block_rows];
};

}  // namespace

using normal_block::block_vectors;
using normal_block::tile;
using simd::lanes;
using simd::registers;
using simd::sum_lanes;

namespace {

/// The inputs of a step from a block of rows; weights are 0 past the last row.
struct BinaryBlock {
  std::int64_t first;
  int rows;
  /// z'u, 1 for y = 1 and -1 for y = 0, weight
  const double *predictor, *sign, *weight;
};

/// The outputs of a step: for each row, weight x the slope of the log-likelihood by the linear
/// predictor, and weight x minus its second derivative (or the augmented counterparts); block_rows
/// of each.
struct BinarySlopes {
  double *slope, *curvature;
};

/// Partial sums over rows.
struct BinaryValues {
  double log_likelihood[sum_lanes] = {}, squares[sum_lanes] = {};
};

/// Adds vectors of partial sums, where row b belongs to [b / lanes % registers].
void add_lanes(const simd::Vector (&from)[registers], double *to) {
  for (int i = 0; i < registers; ++i)
    simd::store(to + i * lanes, simd::load(to + i * lanes) + from[i]);
}

/// A draw from the standard normal distribution truncated to values above `low`.
double normal_above(double low, const RowRandom &random, std::int64_t row) {
  if (low <= 5) return -normal_quantile(random.uniforms(row)[0] * normal_cdf(-low));
  // In the far tail, by rejection from an exponential distribution (Robert 1995).
  const double rate = 0.5 * (low + std::sqrt(low * low + 4));
  for (Random own(random.bits(row));;) {
    const double e = low + own.exponential() / rate;
    if (std::log(own.uniform()) <= -0.5 * (e - rate) * (e - rate)) return e;
  }
}

}  // namespace

class BinaryRows::Step {
 public:
  virtual ~Step() = default;
  virtual void operator()(const BinaryBlock &block, BinarySlopes out,
                          BinaryValues &values) const = 0;
  /// for each row
  virtual double operations() const = 0;
  /// in messages to other servers; null if the step is about single rows
  virtual const char *name() const { return nullptr; }
};

namespace {

class LogitStep final : public BinaryRows::Step {
 public:
  const char *name() const override { return "logit"; }
  double operations() const override { return 60; }
  void operator()(const BinaryBlock &block, BinarySlopes out, BinaryValues &values) const override {
    using simd::Vector;
    Vector sums[registers] = {};
    for (int b = 0; b < block_rows; b += lanes) {
      const Vector sign = simd::load(block.sign + b), weight = simd::load(block.weight + b);
      const Vector margin = sign * simd::load(block.predictor + b);
      // P(y) = 1 / (1 + exp(-margin)) and its complement, both from exp(-|margin|), which cannot
      // overflow
      const Vector e = simd::exp(-simd::max(margin, -margin)), total = 1.0 + e, share = 1.0 / total;
      const Vector wrong = margin > 0 ? e * share : share;
      // log(1 + e), to the last digit also where the sum has lost those of e: large weights count.
      const Vector log_total = simd::madd(e - (total - 1.0), share, simd::log(total));
      sums[b / lanes % registers] += weight * (log_total + simd::max(-margin, Vector{}));
      simd::store(out.slope + b, weight * sign * wrong);
      simd::store(out.curvature + b, weight * e * share * share);
    }
    for (Vector &sum : sums) sum = -sum;
    add_lanes(sums, values.log_likelihood);
  }
};

class ProbitStep final : public BinaryRows::Step {
 public:
  const char *name() const override { return "probit"; }
  double operations() const override { return 200; }
  void operator()(const BinaryBlock &block, BinarySlopes out, BinaryValues &values) const override {
    for (int b = 0; b < block.rows; ++b) {
      const LogNormalCdf at = log_normal_cdf(block.sign[b] * block.predictor[b]);
      values.log_likelihood[b % sum_lanes] += block.weight[b] * at.value;
      out.slope[b] = block.weight[b] * block.sign[b] * at.slope;
      out.curvature[b] = block.weight[b] * at.curvature;
    }
    std::fill(out.slope + block.rows, out.slope + block_rows, 0.0);
    std::fill(out.curvature + block.rows, out.curvature + block_rows, 0.0);
  }
};

class GramStep final : public BinaryRows::Step {
 public:
  const char *name() const override { return "gram"; }
  double operations() const override { return 1; }
  void operator()(const BinaryBlock &block, BinarySlopes out, BinaryValues &) const override {
    std::copy_n(block.weight, block_rows, out.curvature);
  }
};

class AugmentStep final : public BinaryRows::Step {
 public:
  explicit AugmentStep(const RowRandom &random) : random_(random) {}
  double operations() const override { return 500; }
  void operator()(const BinaryBlock &block, BinarySlopes out, BinaryValues &values) const override {
    for (int b = 0; b < block.rows; ++b) {
      const double margin = block.sign[b] * block.predictor[b];
      const double drawn = margin + normal_above(-margin, random_, block.first + b);
      values.log_likelihood[b % sum_lanes] += log_normal_cdf(margin).value;
      values.squares[b % sum_lanes] += drawn * drawn;
      out.slope[b] = block.sign[b] * drawn;
    }
    std::fill(out.slope + block.rows, out.slope + block_rows, 0.0);
  }

 private:
  const RowRandom &random_;
};

class PolyaGammaStep final : public BinaryRows::Step {
 public:
  explicit PolyaGammaStep(const RowRandom &random) : random_(random) {}
  double operations() const override { return 1000; }
  void operator()(const BinaryBlock &block, BinarySlopes out, BinaryValues &values) const override {
    for (int b = 0; b < block.rows; ++b) {
      const double margin = block.sign[b] * block.predictor[b];
      values.log_likelihood[b % sum_lanes] -=
          std::log1p(std::exp(-std::fabs(margin))) + std::max(-margin, 0.0);
      Random own(random_.bits(block.first + b));
      out.curvature[b] = polya_gamma(margin, own);
      out.slope[b] = 0.5 * block.sign[b];
    }
    std::fill(out.slope + block.rows, out.slope + block_rows, 0.0);
    std::fill(out.curvature + block.rows, out.curvature + block_rows, 0.0);
  }

 private:
  const RowRandom &random_;
};

/// The sums of one segment, before they are added to the total.
struct BinaryPart {
  double log_likelihood = 0, squares = 0;
  std::vector<double> gradient, curvature;
};

}  // namespace

/// One thread's workspace.
class BinaryRows::Worker {
 public:
  Worker(const BinaryRows &of, bool curvature)
      : of_(of),
        p_(of.size()),
        padded_(normal_block::padded(p_)),
        z_(std::size_t(padded_) * block_rows),
        weighted_(curvature ? z_.size() : 0),
        gradient_(std::size_t(p_) * sum_lanes),
        scatter_(curvature ? normal_block::scatter_size(p_) : 0) {
    for (const double s : of.scales_.scale) factor_.push_back(1 / s);
  }

  void process(const Segment &segment, const Step &step, const double *u, const Stop &stop,
               BinaryPart &out) {
    std::fill(gradient_.begin(), gradient_.end(), 0.0);
    std::fill(scatter_.begin(), scatter_.end(), 0.0);
    BinaryValues values;
    alignas(cache_line) double predictor[block_rows] = {}, slope[block_rows], curvature[block_rows];
    const RowShape shape = of_.rows_.shape();
    for (std::int64_t at = 0; at < segment.rows; at += block_rows) {
      if (stop()) return;
      const BlockOfRows block(shape, segment, at);
      of_.terms_.expand_block(block.data, 1, block.rows, z_.data());
      standardize();
      if (u) predict(u, predictor);
      step({segment.first + at, block.rows, predictor, block.sign, block.weight},
           {slope, curvature}, values);
      if (u) add_gradient(slope);
      if (!scatter_.empty() && !add_curvature(curvature, stop)) return;
    }
    out.log_likelihood = simd::sum(values.log_likelihood);
    out.squares = simd::sum(values.squares);
    out.gradient.assign(std::size_t(p_), 0.0);
    normal_block::reduce_sums(p_, gradient_.data(), out.gradient.data());
    if (scatter_.empty()) return;
    out.curvature.assign(std::size_t(p_) * std::size_t(p_ + 1) / 2, 0.0);
    normal_block::reduce_scatter(p_, scatter_.data(), out.curvature.data());
  }

 private:
  double *row_of(Buffer &buffer, int j) { return buffer.data() + std::size_t(j) * block_rows; }

  void standardize() {
    for (int j = of_.terms_.intercept() ? 1 : 0; j < p_; ++j) {
      double *const z = row_of(z_, j);
      const simd::Vector centre = simd::all(of_.scales_.centre[std::size_t(j)]),
                         factor = simd::all(factor_[std::size_t(j)]);
      for (int b = 0; b < block_rows; b += lanes)
        simd::store(z + b, (simd::load(z + b) - centre) * factor);
    }
  }

  void predict(const double *u, double *out) {
    constexpr int group = 4;
    for (int first = 0; first < block_rows; first += group * lanes) {
      simd::Vector sum[group] = {};
      for (int j = 0; j < p_; ++j)
#pragma GCC unroll 4
        for (int v = 0; v < group; ++v)
          sum[v] = simd::madd(u[j], simd::load(row_of(z_, j) + first + v * lanes), sum[v]);
#pragma GCC unroll 4
      for (int v = 0; v < group; ++v) simd::store(out + first + v * lanes, sum[v]);
    }
  }

  void add_gradient(const double *slope) {
    for (int j = 0; j < p_; ++j) {
      const double *const z = row_of(z_, j);
      simd::Vector sum[registers] = {};
#pragma GCC unroll 8
      for (int v = 0; v < block_vectors; ++v)
        sum[v % registers] = simd::madd(simd::load(z + v * lanes), simd::load(slope + v * lanes),
                                        sum[v % registers]);
      add_lanes(sum, gradient_.data() + std::size_t(j) * sum_lanes);
    }
  }

  /// False if stopped.
  bool add_curvature(const double *curvature, const Stop &stop) {
    for (int j = 0; j < p_; ++j) {
      const double *const z = row_of(z_, j);
      double *const to = row_of(weighted_, j);
      for (int b = 0; b < block_rows; b += lanes)
        simd::store(to + b, simd::load(z + b) * simd::load(curvature + b));
    }
    // With thousands of terms a block takes tenths of a second, so `stop` is checked in between.
    constexpr int at_once = 64;
    static_assert(at_once % tile == 0 && at_once >= normal_block::lane_sums_limit);
    for (int from = 0; from < padded_; from += at_once) {
      const int to = std::min(padded_, from + at_once);
      if (p_ <= normal_block::lane_sums_limit) {
        normal_block::scatter_tiles<true>(from, to, z_.data(), weighted_.data(), scatter_.data());
      } else {
        if (stop()) return false;
        normal_block::scatter_tiles<false>(
            from, to, z_.data(), weighted_.data(),
            scatter_.data() + normal_block::packed_triangle_size(from));
      }
    }
    return true;
  }

  const BinaryRows &of_;
  const int p_, padded_;
  std::vector<double> factor_;
  /// padded terms x block_rows
  Buffer z_, weighted_;
  /// partial sums
  Buffer gradient_, scatter_;
};

namespace {

/// The symmetric matrix of a packed lower triangle.
Matrix symmetric(const std::vector<double> &packed, int p) {
  Matrix out(p, p);
  std::size_t at = 0;
  for (int i = 0; i < p; ++i)
    for (int j = 0; j <= i; ++j) out(i, j) = out(j, i) = packed[at++];
  return out;
}

}  // namespace

BinaryRows::BinaryRows(RowSource &rows, const RegressionTerms &terms, Control &control)
    : rows_(rows),
      terms_(terms),
      control_(control) {
  find_scales();
}

/// The sums of a step over all rows.
struct BinaryRows::SumsPass {
  static constexpr const char *name = "binary";
  using Sums = BinarySums;
  const Step *step = nullptr;
  Vector u = {};
  bool gradient = true, curvature = false;
  RegressionTerms terms = {};
  TermScales scales = {};

  template <class F> void fields(F &f, RowSource &rows);
  Sums nothing(RowSource &) const {
    const int p = terms.size(), q = curvature ? p : 0;
    return {0, 0, Vector::Zero(p), Matrix::Zero(q, q)};
  }
  Sums here(RowSource &rows, Control &control) const;
};

template <class F> void BinaryRows::SumsPass::fields(F &f, RowSource &rows) {
  static const LogitStep logit;
  static const ProbitStep probit;
  static const GramStep gram;
  std::string what;
  if constexpr (!F::reading) {
    if (!step->name()) refuse_remote("a draw for each row");
    what = step->name();
  }
  f.text("what", what);
  if constexpr (F::reading) {
    for (const Step *const each : std::initializer_list<const Step *>{&logit, &probit, &gram})
      if (what == each->name()) step = each;
    f.require(step);
    gradient = step != &gram;
  }
  terms.fields(f, rows.shape().dimension);
  f.numbers("centre", scales.centre, std::size_t(terms.size()));
  f.numbers("scale", scales.scale, std::size_t(terms.size()));
  f.flag("curvature", curvature);
  if (F::reading) u.resize(gradient ? terms.size() : 0);
  f.vector("u", u);
}

BinarySums BinaryRows::SumsPass::here(RowSource &rows, Control &control) const {
  const BinaryRows own(rows, terms, scales, control);
  const int p = own.size();
  const std::size_t triangle = curvature ? std::size_t(p) * std::size_t(p + 1) / 2 : 0;
  Sweep sweep(rows, control);
  const SweepPlan plan =
      sweep.plan(step->operations() + (curvature ? double(p) * (p + 8) : 0) + 8.0 * p,
                 8 * (triangle + std::size_t(p)));
  std::vector<std::unique_ptr<Worker>> workers;
  for (int t = 0; t < plan.threads; ++t)
    workers.push_back(std::make_unique<Worker>(own, curvature));
  std::vector<BinaryPart> parts(static_cast<std::size_t>(plan.slots));
  BinarySums out;
  out.gradient = Vector::Zero(p);
  std::vector<double> packed(triangle);
  sweep.run(
      plan,
      [&](int worker, int slot, const Segment &segment, const Stop &stop) {
        workers[std::size_t(worker)]->process(segment, *step, gradient ? u.data() : nullptr, stop,
                                              parts[std::size_t(slot)]);
      },
      [&](int slot) {
        const BinaryPart &part = parts[std::size_t(slot)];
        out.log_likelihood += part.log_likelihood;
        out.squares += part.squares;
        for (int j = 0; j < p; ++j) out.gradient(j) += part.gradient[std::size_t(j)];
        for (std::size_t i = 0; i < triangle; ++i) packed[i] += part.curvature[i];
      });
  if (curvature) out.curvature = symmetric(packed, p);
  return out;
}

const PassOver<PartOfRows> binary_sums_pass = pass_over<PartOfRows, BinaryRows::SumsPass>();

BinarySums BinaryRows::pass(const Step &step, const Vector &u, bool gradient, bool curvature) {
  return run(rows_, SumsPass{&step, u, gradient, curvature, terms_.unnamed(), scales_}, control_);
}

BinarySums BinaryRows::likelihood(Link link, const Vector &u, bool curvature) {
  if (link == Link::logit) return pass(LogitStep(), u, true, curvature);
  return pass(ProbitStep(), u, true, curvature);
}

Matrix BinaryRows::gram() { return pass(GramStep(), {}, false, true).curvature; }

BinarySums BinaryRows::augment(const Vector &u, const RowRandom &random) {
  return pass(AugmentStep(random), u, true, false);
}

BinarySums BinaryRows::augment_logit(const Vector &u, const RowRandom &random) {
  return pass(PolyaGammaStep(random), u, true, true);
}

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
