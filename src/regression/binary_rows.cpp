#include "regression/binary_rows.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>

#include "base/aligned.hpp"
#include "base/error.hpp"
#include "base/message.hpp"
#include "base/simd.hpp"
#include "base/special.hpp"
#include "data/pass.hpp"
#include "families/normal/normal_block.hpp"
#include "regression/binary_block.hpp"
#include "regression/normal_tail.hpp"
#include "regression/polya_gamma.hpp"

namespace bayes {

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

}  // namespace bayes
