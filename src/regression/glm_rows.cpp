#include "regression/glm_rows.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "base/aligned.hpp"
#include "base/error.hpp"
#include "base/message.hpp"
#include "base/simd.hpp"
#include "base/special.hpp"
#include "data/pass.hpp"
#include "data/rows.hpp"
#include "data/sweep.hpp"
#include "document/members.hpp"
#include "families/normal/normal_block.hpp"
#include "regression/link_moments.hpp"
#include "regression/response_step.hpp"

namespace bayes {
namespace {

// A block of the rows of a regression.

/// The data of a block that all passes need: packed features, and y, offset, trials and weight of
/// the rows. Weights past the last row are 0.
struct BlockOfRows {
  BlockOfRows(const RowShape &shape, const GlmColumns &columns, const Segment &segment,
              std::int64_t at)
      : data(segment.blocks + std::size_t(at / block_rows) * shape.block_doubles()),
        rows(int(std::min<std::int64_t>(block_rows, segment.rows - at))) {
    fill(data, 1, response);
    if (shape.weighted)
      fill(data + std::size_t(shape.dimension) * block_rows, 0, weight);
    else {
      std::fill_n(weight, rows, 1.0);
      std::fill(weight + rows, weight + block_rows, 0.0);
    }
    if (columns.trials < 0)
      std::fill_n(trials, block_rows, columns.every);
    else
      fill(feature(columns.trials), columns.every, trials);
    shifted = columns.offset >= 0 || columns.exposure >= 0;
    if (!shifted) return;
    fill(columns.offset < 0 ? nullptr : feature(columns.offset), 0, offset);
    if (columns.exposure < 0) return;
    alignas(cache_line) double exposure[block_rows];
    fill(feature(columns.exposure), 1, exposure);
    for (int b = 0; b < block_rows; b += simd::lanes)
      simd::store(offset + b, simd::load(offset + b) + simd::log(simd::load(exposure + b)));
  }
  const double *feature(int column) const { return data + std::size_t(1 + column) * block_rows; }

  const double *data;
  int rows;
  bool shifted;
  alignas(cache_line) double response[block_rows], offset[block_rows], trials[block_rows],
      weight[block_rows];

 private:
  /// Copies the numbers of the rows, 0 where there are none; `past`: for what follows the last one.
  void fill(const double *from, double past, double *to) const {
    if (from)
      std::copy_n(from, rows, to);
    else
      std::fill_n(to, rows, 0.0);
    std::fill(to + rows, to + block_rows, past);
  }
};

}  // namespace

using normal_block::block_vectors;
using normal_block::tile;
using simd::lanes;
using simd::registers;
using simd::sum_lanes;

namespace {

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

class GramStep final : public ResponseStep {
 public:
  double operations() const override { return 1; }
  void operator()(const ResponseBlock &block, ResponseSlopes out, ResponseValues &) const override {
    std::copy_n(block.weight, block_rows, out.curvature);
  }
};

class AugmentStep final : public ResponseStep {
 public:
  explicit AugmentStep(const RowRandom &random) : random_(random) {}
  double operations() const override { return 500; }
  void operator()(const ResponseBlock &block, ResponseSlopes out,
                  ResponseValues &values) const override {
    for (int b = 0; b < block.rows; ++b) {
      const double sign = 2 * block.response[b] - 1, margin = sign * block.predictor[b];
      const double drawn = margin + normal_above(-margin, random_, block.first + b);
      values.log_likelihood[b % sum_lanes] += log_normal_cdf(margin).value;
      values.squares[b % sum_lanes] += drawn * drawn;
      out.slope[b] = sign * drawn;
    }
    std::fill(out.slope + block.rows, out.slope + block_rows, 0.0);
  }

 private:
  const RowRandom &random_;
};

class PolyaGammaStep final : public ResponseStep {
 public:
  explicit PolyaGammaStep(const RowRandom &random) : random_(random) {}
  double operations() const override { return 1000; }
  void operator()(const ResponseBlock &block, ResponseSlopes out,
                  ResponseValues &values) const override {
    for (int b = 0; b < block.rows; ++b) {
      const double sign = 2 * block.response[b] - 1, margin = sign * block.predictor[b];
      values.log_likelihood[b % sum_lanes] -=
          std::log1p(std::exp(-std::fabs(margin))) + std::max(-margin, 0.0);
      Random own(random_.bits(block.first + b));
      out.curvature[b] = polya_gamma(margin, own);
      out.slope[b] = 0.5 * sign;
    }
    std::fill(out.slope + block.rows, out.slope + block_rows, 0.0);
    std::fill(out.curvature + block.rows, out.curvature + block_rows, 0.0);
  }

 private:
  const RowRandom &random_;
};

/// The sums of one segment, before they are added to the total.
struct GlmPart {
  double log_likelihood = 0, squares = 0, zeros = 0, zeros_expected = 0;
  std::vector<double> gradient, curvature;
  /// For unknowns besides coefficients: minus mixed derivatives by one and all coefficients, one
  /// after the other. Slopes and curvatures of a dispersion (and degrees of freedom), or by cuts.
  std::vector<double> mixed;
  GapSlopes dispersion;
  CutSlopes cuts;

  /// Adds what concerns unknowns besides coefficients.
  void add_extras(const GlmPart &other) {
    const auto add = [](std::vector<double> &to, const std::vector<double> &from) {
      to.resize(from.size());
      for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
    };
    add(mixed, other.mixed);
    add(dispersion.slope, other.dispersion.slope);
    add(dispersion.curvature, other.dispersion.curvature);
    add(cuts.slope, other.cuts.slope);
    add(cuts.curvature, other.cuts.curvature);
    add(cuts.next, other.cuts.next);
  }
};

}  // namespace

/// One thread's workspace.
class GlmRows::Worker {
 public:
  Worker(const GlmRows &of, bool curvature)
      : of_(of),
        p_(of.terms_.size()),
        predictors_(of.response_.predictors(of.columns_.levels)),
        padded_(normal_block::padded(p_)),
        z_(std::size_t(padded_) * block_rows),
        weighted_(curvature ? z_.size() : 0),
        of_predictors_(4 * std::size_t(predictors_) * block_rows),
        gradient_(std::size_t(predictors_) * std::size_t(p_) * sum_lanes),
        mixed_(of.response_.ordered() ? 0 : std::size_t(of.extras()) * gradient_.size()),
        scatter_(curvature ? std::size_t(predictors_) * normal_block::scatter_size(p_) : 0) {
    for (const double s : of.scales_.scale) factor_.push_back(1 / s);
    if (of.response_.ordered()) mixed_by_cut_.resize(cuts() * std::size_t(p_));
    if (!curvature || !of.response_.classes()) return;
    const int all = p_ * predictors_;
    for (Buffer *const each : {&shares_, &weighted_shares_})
      *each = Buffer(std::size_t(normal_block::padded(all)) * block_rows);
    products_ = Buffer(normal_block::scatter_size(all));
  }

  void process(const Segment &segment, const ResponseStep &step, const double *u, const Stop &stop,
               GlmPart &out) {
    for (Buffer *const sums : {&gradient_, &mixed_, &scatter_, &products_})
      std::fill(sums->begin(), sums->end(), 0.0);
    std::fill(mixed_by_cut_.begin(), mixed_by_cut_.end(), 0.0);
    ResponseValues values;
    CutSlopes &by_cut = out.cuts;
    by_cut = {std::vector<double>(cuts()), std::vector<double>(cuts()),
              std::vector<double>(cuts())};
    values.cut_slope = by_cut.slope.data();
    values.cut_curvature = by_cut.curvature.data();
    values.cut_next = by_cut.next.data();
    double *const predictor = of_predictors_.data(), *const slope = predictor + of_all(),
                  *const curvature = slope + of_all();
    alignas(cache_line) double mixed[2 * block_rows];
    std::fill_n(predictor, of_all(), 0.0);
    const RowShape shape = of_.rows_.shape();
    for (std::int64_t at = 0; at < segment.rows; at += block_rows) {
      if (stop()) return;
      BlockOfRows block(shape, of_.columns_, segment, at);
      if (of_.response_mean_ != 0)
        for (double &y : block.response) y -= of_.response_mean_;
      of_.terms_.expand_block(block.data, 1, block.rows, z_.data());
      standardize();
      for (int k = 0; u && k < predictors_; ++k) {
        predict(u + std::ptrdiff_t(k) * p_, predictor + k * block_rows);
        for (int b = 0; block.shifted && b < block_rows; ++b)
          predictor[k * block_rows + b] += block.offset[b];
      }
      step({segment.first + at, block.rows, predictor, block.response, block.trials, block.weight},
           {slope, curvature, mixed, share_of_predictor()}, values);
      for (int k = 0; u && k < predictors_; ++k)
        add_gradient(slope + k * block_rows, gradient_.data() + std::ptrdiff_t(k) * p_ * sum_lanes);
      for (std::size_t at = 0; u && at < mixed_.size(); at += gradient_.size())
        add_gradient(mixed + at / gradient_.size() * block_rows, mixed_.data() + at);
      if (u && cuts() > 0) add_mixed(block, mixed);
      for (int k = 0; !scatter_.empty() && k < predictors_; ++k) {
        weigh(curvature + k * block_rows, weighted_);
        if (!scatter(p_, z_, weighted_, scatter_.data() + std::size_t(k) * scatter_size(), stop))
          return;
      }
      if (!products_.empty() && !add_products(curvature, stop)) return;
    }
    out.log_likelihood = simd::sum(values.log_likelihood);
    out.squares = simd::sum(values.squares);
    out.zeros = simd::sum(values.zeros);
    out.zeros_expected = simd::sum(values.zeros_expected);
    out.dispersion = {{simd::sum(values.slope)}, {simd::sum(values.curvature)}};
    if (of_.response_.learns_degrees())
      out.dispersion = {{simd::sum(values.degrees_slope), simd::sum(values.slope)},
                        {simd::sum(values.degrees_curvature), simd::sum(values.degrees_mixed),
                         simd::sum(values.curvature)}};
    const int all = p_ * predictors_;
    out.gradient.assign(std::size_t(all), 0.0);
    normal_block::reduce_sums(all, gradient_.data(), out.gradient.data());
    out.mixed.assign(mixed_.size() / sum_lanes, 0.0);
    normal_block::reduce_sums(int(out.mixed.size()), mixed_.data(), out.mixed.data());
    if (cuts() > 0) out.mixed = mixed_by_cut_;
    if (!scatter_.empty()) add_curvatures(out.curvature);
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

  void add_gradient(const double *slope, double *sums) {
    for (int j = 0; j < p_; ++j) {
      const double *const z = row_of(z_, j);
      simd::Vector sum[registers] = {};
#pragma GCC unroll 8
      for (int v = 0; v < block_vectors; ++v)
        sum[v % registers] = simd::madd(simd::load(z + v * lanes), simd::load(slope + v * lanes),
                                        sum[v % registers]);
      add_lanes(sum, sums + std::size_t(j) * sum_lanes);
    }
  }

  /// Each row has mixed derivatives with the cuts below and above its level alone.
  void add_mixed(const BlockOfRows &block, const double *mixed) {
    for (int b = 0; b < block.rows; ++b) {
      const std::size_t level = level_at(block.response[b], cuts());
      for (const std::size_t above : {std::size_t(0), std::size_t(1)}) {
        const std::size_t cut = level + above - 1;  // below the lowest level it is none
        if (!(cut < cuts())) continue;
        double *const to = mixed_by_cut_.data() + cut * std::size_t(p_);
        const double weight = mixed[above * block_rows + std::size_t(b)];
        for (int j = 0; j < p_; ++j) to[j] += weight * row_of(z_, j)[b];
      }
    }
  }

  /// z times a number for each row
  void weigh(const double *weights, Buffer &out, int first = 0) {
    for (int j = 0; j < p_; ++j) {
      const double *const z = row_of(z_, j);
      double *const to = row_of(out, first + j);
      for (int b = 0; b < block_rows; b += lanes)
        simd::store(to + b, simd::load(z + b) * simd::load(weights + b));
    }
  }

  /// Adds the sums of products of two sets of numbers for each row; false if stopped.
  bool scatter(int size, const Buffer &y, const Buffer &weighted, double *sums, const Stop &stop) {
    // With thousands of terms a block takes tenths of a second, so `stop` is checked in between.
    constexpr int at_once = 64;
    static_assert(at_once % tile == 0 && at_once >= normal_block::lane_sums_limit);
    const int padded = normal_block::padded(size);
    for (int from = 0; from < padded; from += at_once) {
      const int to = std::min(padded, from + at_once);
      if (size <= normal_block::lane_sums_limit) {
        normal_block::scatter_tiles<true>(from, to, y.data(), weighted.data(), sums);
      } else {
        if (stop()) return false;
        normal_block::scatter_tiles<false>(from, to, y.data(), weighted.data(),
                                           sums + normal_block::packed_triangle_size(from));
      }
    }
    return true;
  }

  /// Of several predictors; false if stopped.
  bool add_products(const double *curvature, const Stop &stop) {
    for (int k = 0; k < predictors_; ++k) {
      weigh(share_of_predictor() + k * block_rows, shares_, k * p_);
      weigh(curvature + k * block_rows, weighted_shares_, k * p_);
    }
    return scatter(p_ * predictors_, shares_, weighted_shares_, products_.data(), stop);
  }

  /// The lower triangle of minus the second derivatives by all coefficients.
  void add_curvatures(std::vector<double> &out) {
    const std::size_t p = std::size_t(p_), all = p * std::size_t(predictors_);
    out.assign(all * (all + 1) / 2, 0.0);
    if (!products_.empty()) {
      normal_block::reduce_scatter(int(all), products_.data(), out.data());
      for (double &each : out) each = -each;
    }
    std::vector<double> own(p * (p + 1) / 2);
    for (std::size_t k = 0; k < std::size_t(predictors_); ++k) {
      std::fill(own.begin(), own.end(), 0.0);
      normal_block::reduce_scatter(p_, scatter_.data() + k * scatter_size(), own.data());
      auto from = own.begin();
      for (std::size_t i = k * p; i < (k + 1) * p; ++i)
        for (std::size_t j = k * p; j <= i; ++j) out[i * (i + 1) / 2 + j] += *from++;
    }
  }

  std::size_t cuts() const {
    return of_.response_.ordered() ? std::size_t(of_.columns_.levels) - 1 : 0;
  }
  std::size_t of_all() const { return std::size_t(predictors_) * block_rows; }
  std::size_t scatter_size() const { return scatter_.size() / std::size_t(predictors_); }
  double *share_of_predictor() { return of_predictors_.data() + 3 * of_all(); }

  const GlmRows &of_;
  const int p_, predictors_, padded_;
  std::vector<double> factor_;
  /// padded terms x block_rows
  Buffer z_, weighted_;
  /// predictors, slopes, curvatures and shares (ResponseSlopes::product), block_rows of each
  Buffer of_predictors_;
  /// of several predictors: terms times shares, and those times weights
  Buffer shares_, weighted_shares_;
  /// partial sums
  Buffer gradient_, mixed_, scatter_, products_;
  std::vector<double> mixed_by_cut_;
};

GlmRows::GlmRows(RowSource &rows, const RegressionTerms &terms, const ResponseFamily &response,
                 const GlmColumns &columns, Control &control)
    : rows_(rows),
      terms_(terms),
      response_(response),
      columns_(columns),
      control_(control) {
  find_scales();
}

/// The sums of a step over all rows: of the response, at u, or of `step`, which is about single
/// rows and therefore made where they are, or of z z' if there is neither.
struct GlmRows::SumsPass {
  static constexpr const char *name = "glm";
  using Sums = GlmSums;
  const ResponseFamily *response = nullptr;
  const ResponseStep *step = nullptr;
  Vector u = {};
  bool gradient = true, curvature = false;
  double response_mean = 0;
  RegressionTerms terms = {};
  GlmColumns columns = {};
  TermScales scales = {};

  /// coefficients, and all unknowns
  int coefficients() const { return terms.size() * response->predictors(columns.levels); }
  int unknowns() const { return coefficients() + response->extras(columns.levels); }
  template <class F> void fields(F &f, RowSource &rows);
  Sums nothing(RowSource &) const {
    const int p = gradient ? unknowns() : terms.size(), q = curvature ? p : 0;
    return {0, 0, Vector::Zero(p), Matrix::Zero(q, q)};
  }
  Sums here(RowSource &rows, Control &control) const;

 private:
  void take_extras(const GlmPart &part, std::span<const double> extras, Sums &out) const;
};

template <class F> void GlmRows::SumsPass::fields(F &f, RowSource &rows) {
  if (!F::reading && step) refuse_remote("a draw for each row");
  response_fields(f, response);
  f.flag("gradient", gradient);
  f.number("response_mean", response_mean);
  terms.fields(f, rows.shape().dimension);
  columns.fields(f, rows.shape().dimension);
  f.numbers("centre", scales.centre, std::size_t(terms.size()));
  f.numbers("scale", scales.scale, std::size_t(terms.size()));
  f.flag("curvature", curvature);
  f.require(double(terms.size()) * response->predictors(columns.levels) <= max_terms);
  if (F::reading) u.resize(gradient ? unknowns() : 0);
  f.vector("u", u);
}

GlmSums GlmRows::SumsPass::here(RowSource &rows, Control &control) const {
  const GlmRows own(rows, terms, *response, columns, scales, response_mean, control);
  const int p = gradient ? coefficients() : terms.size();
  const std::span<const double> extras(u.data() + (gradient ? p : 0), gradient ? u.size() - p : 0);
  std::unique_ptr<ResponseStep> made;
  if (!step && gradient)
    made = response->step({response->dispersed() ? extras.back() : 0,
                           response->learns_degrees() ? std::exp(extras[0]) : columns.degrees,
                           columns.levels, columns.anchor,
                           response->ordered() ? extras : std::span<const double>()});
  else if (!step)
    made = std::make_unique<GramStep>();
  const ResponseStep &own_step = step ? *step : *made;
  const std::size_t triangle = curvature ? std::size_t(p) * std::size_t(p + 1) / 2 : 0;
  Sweep sweep(rows, control);
  const SweepPlan plan =
      sweep.plan(own_step.operations() + (curvature ? double(p) * (p + 8) : 0) + 8.0 * p,
                 8 * (triangle + std::size_t(p)));
  std::vector<std::unique_ptr<Worker>> workers;
  for (int t = 0; t < plan.threads; ++t)
    workers.push_back(std::make_unique<Worker>(own, curvature));
  std::vector<GlmPart> parts(static_cast<std::size_t>(plan.slots));
  GlmSums out = nothing(rows);
  GlmPart total;
  sweep.run(
      plan,
      [&](int worker, int slot, const Segment &segment, const Stop &stop) {
        workers[std::size_t(worker)]->process(segment, own_step, gradient ? u.data() : nullptr,
                                              stop, parts[std::size_t(slot)]);
      },
      [&](int slot) {
        const GlmPart &part = parts[std::size_t(slot)];
        out.log_likelihood += part.log_likelihood;
        out.squares += part.squares;
        out.zeros += part.zeros;
        out.zeros_expected += part.zeros_expected;
        for (int j = 0; j < p; ++j) out.gradient(j) += part.gradient[std::size_t(j)];
        auto at = part.curvature.begin();
        for (int i = 0; curvature && i < p; ++i)
          for (int j = 0; j <= i; ++j) out.curvature(i, j) += *at++;
        if (!extras.empty()) total.add_extras(part);
      });
  // A part of a fit may have no rows.
  if (!extras.empty() && !total.dispersion.slope.empty()) take_extras(total, extras, out);
  for (Eigen::Index i = 0; i < out.curvature.rows(); ++i)
    for (Eigen::Index j = 0; j < i; ++j) out.curvature(j, i) = out.curvature(i, j);
  return out;
}

/// Sets what concerns unknowns besides coefficients.
void GlmRows::SumsPass::take_extras(const GlmPart &part, std::span<const double> extras,
                                    GlmSums &out) const {
  const int p = coefficients(), q = int(extras.size());
  GapSlopes gaps = part.dispersion;
  std::vector<double> mixed = part.mixed;
  if (response->ordered()) {
    gaps = by_log_gaps(part.cuts, extras, columns.anchor);
    mixed = mixed_by_log_gaps(part.mixed, std::size_t(p), extras, columns.anchor);
  }
  for (int i = 0; i < q; ++i) out.gradient(p + i) = gaps.slope[std::size_t(i)];
  if (!curvature) return;
  auto at = gaps.curvature.begin();
  for (int i = 0; i < q; ++i) {
    for (int j = 0; j < p; ++j) out.curvature(p + i, j) = mixed[std::size_t(i * p + j)];
    for (int j = 0; j <= i; ++j) out.curvature(p + i, p + j) = *at++;
  }
}

const PassOver<PartOfRows> glm_sums_pass = pass_over<PartOfRows, GlmRows::SumsPass>();

GlmSums GlmRows::pass(const ResponseStep *step, const Vector &u, bool gradient, bool curvature) {
  return run(rows_,
             SumsPass{&response_, step, u, gradient, curvature, response_mean_, terms_.unnamed(),
                      columns_, scales_},
             control_);
}

GlmSums GlmRows::likelihood(const Vector &u, bool curvature) {
  return pass(nullptr, u, true, curvature);
}

Matrix GlmRows::gram() { return pass(nullptr, {}, false, true).curvature; }

GlmSums GlmRows::augment(const Vector &u, const RowRandom &random) {
  const AugmentStep step(random);
  return pass(&step, u, true, false);
}

GlmSums GlmRows::augment_logit(const Vector &u, const RowRandom &random) {
  const PolyaGammaStep step(random);
  return pass(&step, u, true, true);
}

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
/// The squares of smaller ranges of a column would underflow.
constexpr double min_range = 1e-140;
/// The largest product of columns; an element of a row is not larger either.
constexpr double max_product = 1e150;
/// Of the total weight; terms of rows that weigh less would be larger than 1e100, in scales of
/// their column.
constexpr double min_share = 1e-200;

/// Range and sum of one term over all rows, from which its centre and scale follow.
struct TermRange {
  double low = infinite, high = -infinite, sum = 0;
  /// it is 0 or 1 in every row
  bool two_valued = true;
};
/// Facts of responses, offsets and trials.
struct RangeOfResponses {
  /// the weights; weighted sums of the responses, of trials or exposures, and of offsets
  double weight = 0, total = 0, base = 0, offset = 0;
  /// of y - offset
  double least = infinite, greatest = -infinite;
  double least_exposure = infinite, largest_offset = 0;
  /// the greatest y - trials and the greatest y with that; the greatest distance of a number of
  /// trials from a whole one
  double beyond_trials = -infinite, successes_beyond = -infinite, fraction_of_trials = 0;
  /// of a labelled response the weights of the levels; else empty
  std::vector<double> levels = {};

  template <class F> void fields(F &f) {
    f.number("weight", weight);
    f.number("total", total);
    f.number("base", base);
    f.number("offset", offset);
    f.number("least", least);
    f.number("greatest", greatest);
    f.number("least_exposure", least_exposure);
    f.number("largest_offset", largest_offset);
    f.number("beyond_trials", beyond_trials);
    f.number("successes_beyond", successes_beyond);
    f.number("fraction_of_trials", fraction_of_trials);
    f.values("levels", levels);
    f.require(weight > 0);
  }
  void add_beyond(double beyond, double successes) {
    std::tie(beyond_trials, successes_beyond) =
        std::max(std::tuple(beyond_trials, successes_beyond), std::tuple(beyond, successes));
  }
  void add(const RangeOfResponses &other) {
    weight += other.weight;
    total += other.total;
    base += other.base;
    offset += other.offset;
    least = std::min(least, other.least);
    greatest = std::max(greatest, other.greatest);
    least_exposure = std::min(least_exposure, other.least_exposure);
    largest_offset = std::max(largest_offset, other.largest_offset);
    add_beyond(other.beyond_trials, other.successes_beyond);
    fraction_of_trials = std::max(fraction_of_trials, other.fraction_of_trials);
    for (std::size_t k = 0; k < levels.size(); ++k) levels[k] += other.levels[k];
  }
};
struct RangePart {
  std::vector<TermRange> terms;
  RangeOfResponses responses;
};

/// The terms of all blocks of a segment, for passes that find scales.
class TermBlocks {
 public:
  TermBlocks(const RowSource &rows, const RegressionTerms &terms, const GlmColumns &columns,
             int threads)
      : shape_(rows.shape()),
        terms_(terms),
        columns_(columns),
        x_(std::size_t(threads), Buffer(std::size_t(terms.size()) * block_rows)) {}
  /// f(x of a block's terms, block)
  template <class F> void each(int worker, const Segment &segment, const Stop &stop, F f) {
    double *const own = x_[std::size_t(worker)].data();
    for (std::int64_t at = 0; at < segment.rows && !stop(); at += block_rows) {
      const BlockOfRows block(shape_, columns_, segment, at);
      terms_.expand_block(block.data, 1, block.rows, own);
      f(own, block);
    }
  }

 private:
  const RowShape shape_;
  const RegressionTerms &terms_;
  const GlmColumns &columns_;
  std::vector<Buffer> x_;
};

/// Adds a block to the facts of responses.
void add_responses(const BlockOfRows &block, const GlmColumns &columns, RangeOfResponses &out) {
  double totals[sum_lanes] = {}, weights[sum_lanes] = {}, bases[sum_lanes] = {},
         offsets[sum_lanes] = {};
  for (int b = 0; b < block.rows; ++b) {
    const double weight = block.weight[b], trials = block.trials[b];
    if (!out.levels.empty())
      out.levels[level_at(block.response[b], out.levels.size() - 1)] += weight;
    weights[b % sum_lanes] += weight;
    totals[b % sum_lanes] += weight * block.response[b];
    // Offsets of a log link that are larger are refused.
    bases[b % sum_lanes] +=
        weight * (block.shifted ? std::exp(std::min(block.offset[b], 700.0)) : trials);
    const double moved = block.response[b] - (block.shifted ? block.offset[b] : 0);
    out.least = std::min(out.least, moved);
    out.greatest = std::max(out.greatest, moved);
    out.add_beyond(block.response[b] - trials, block.response[b]);
    out.fraction_of_trials =
        std::max(out.fraction_of_trials, std::fabs(trials - std::nearbyint(trials)));
    if (columns.exposure >= 0)
      out.least_exposure = std::min(out.least_exposure, block.feature(columns.exposure)[b]);
    if (block.shifted) offsets[b % sum_lanes] += weight * block.offset[b];
    if (block.shifted)
      out.largest_offset = std::max(out.largest_offset, std::fabs(block.offset[b]));
  }
  out.weight += simd::sum(weights);
  out.total += simd::sum(totals);
  out.base += simd::sum(bases);
  out.offset += simd::sum(offsets);
}

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
  static constexpr const char *name = "glm ranges";
  struct Sums {
    std::vector<double> low, high, sum;
    /// 1 for terms that are 0 or 1 in every row, else 0
    std::vector<double> two_valued;
    RangeOfResponses responses = {};

    /// `levels`: of a labelled response; else 0
    Sums(std::size_t p, std::size_t levels)
        : low(p, infinite),
          high(p, -infinite),
          sum(p, 0.0),
          two_valued(p, 1.0) {
      responses.levels.resize(levels);
    }
    template <class F> void fields(F &f) {
      for (const auto &[key, numbers] :
           {std::pair("low", &low), std::pair("high", &high), std::pair("sum", &sum),
            std::pair("two_valued", &two_valued)})
        f.values(key, *numbers);
      for (std::size_t j = 0; j < low.size(); ++j) f.require(low[j] <= high[j]);
      f.object("responses", responses);
    }
    void add(const Sums &part) {
      for (std::size_t j = 0; j < low.size(); ++j) {
        low[j] = std::min(low[j], part.low[j]);
        high[j] = std::max(high[j], part.high[j]);
        sum[j] += part.sum[j];
        two_valued[j] = std::min(two_valued[j], part.two_valued[j]);
      }
      responses.add(part.responses);
    }
  };
  RegressionTerms terms = {};
  GlmColumns columns = {};
  /// y is one of columns.levels levels
  bool labelled = false;

  template <class F> void fields(F &f, RowSource &rows) {
    terms.fields(f, rows.shape().dimension);
    columns.fields(f, rows.shape().dimension);
    f.flag("labelled", labelled);
  }
  Sums nothing(RowSource &) const {
    return Sums(std::size_t(terms.size()), labelled ? std::size_t(columns.levels) : 0);
  }
  Sums here(RowSource &rows, Control &control) const;
};

RangesPass::Sums RangesPass::here(RowSource &rows, Control &control) const {
  const std::size_t p = std::size_t(terms.size());
  Sums out = nothing(rows);
  Sweep sweep(rows, control);
  const SweepPlan plan = sweep.plan(6.0 * double(p), sizeof(TermRange) * p);
  TermBlocks blocks(rows, terms, columns, plan.threads);
  std::vector<RangePart> parts(static_cast<std::size_t>(plan.slots));
  sweep.run(
      plan,
      [&](int worker, int slot, const Segment &segment, const Stop &stop) {
        RangePart &part = parts[std::size_t(slot)];
        part = {std::vector<TermRange>(p), {}};
        part.responses.levels.resize(out.responses.levels.size());
        blocks.each(worker, segment, stop, [&](double *terms, const BlockOfRows &block) {
          add_responses(block, columns, part.responses);
          for (std::size_t j = 0; j < p; ++j) {
            double *const x = terms + j * block_rows;
            std::fill(x + block.rows, x + block_rows, x[0]);
            add_range(x, block.weight, part.terms[j]);
          }
        });
      },
      [&](int slot) {
        const RangePart &part = parts[std::size_t(slot)];
        out.responses.add(part.responses);
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

/// For each term with a reach above 0 the weighted sum of ((x - centre) / reach)^2, and after them
/// that of y - offset.
struct SquaresPass {
  static constexpr const char *name = "glm squares";
  using Sums = NumberSums;
  RegressionTerms terms = {};
  GlmColumns columns = {};
  std::vector<double> centre = {}, reach = {};

  template <class F> void fields(F &f, RowSource &rows) {
    terms.fields(f, rows.shape().dimension);
    columns.fields(f, rows.shape().dimension);
    f.numbers("centre", centre, std::size_t(terms.size()) + 1);
    f.numbers("reach", reach, std::size_t(terms.size()) + 1);
  }
  Sums nothing(RowSource &) const { return {std::vector<double>(reach.size())}; }
  Sums here(RowSource &rows, Control &control) const;
};

SquaresPass::Sums SquaresPass::here(RowSource &rows, Control &control) const {
  const std::size_t p = std::size_t(terms.size());
  Sums out = nothing(rows);
  Sweep sweep(rows, control);
  const SweepPlan plan = sweep.plan(6.0 * double(p), sizeof(TermRange) * p);
  TermBlocks blocks(rows, terms, columns, plan.threads);
  std::vector<std::vector<double>> slots(static_cast<std::size_t>(plan.slots));
  sweep.run(
      plan,
      [&](int worker, int slot, const Segment &segment, const Stop &stop) {
        std::vector<double> &part = slots[std::size_t(slot)];
        part.assign(p + 1, 0.0);
        blocks.each(worker, segment, stop, [&](const double *terms, const BlockOfRows &block) {
          for (std::size_t j = 0; j < p; ++j)
            if (reach[j] > 0)
              part[j] +=
                  sum_of_squares(terms + j * block_rows, block.weight, centre[j], 1 / reach[j]);
          if (!(reach[p] > 0)) return;
          alignas(cache_line) double moved[block_rows];
          for (int b = 0; b < block_rows; ++b)
            moved[b] = block.response[b] - (block.shifted ? block.offset[b] : 0);
          part[p] += sum_of_squares(moved, block.weight, centre[p], 1 / reach[p]);
        });
      },
      [&](int slot) {
        for (std::size_t j = 0; j <= p; ++j) out.numbers[j] += slots[std::size_t(slot)][j];
      });
  return out;
}

}  // namespace

const PassOver<PartOfRows> glm_ranges_pass = pass_over<PartOfRows, RangesPass>(),
                           glm_squares_pass = pass_over<PartOfRows, SquaresPass>();

namespace {

/// Throws Error for values that columns of exposures, offsets and trials cannot have.
void require_columns(const RangeOfResponses &of, const GlmColumns &columns, bool trials,
                     bool bounded) {
  const auto refuse = [](const char *option, const std::string &what, const char *requirement,
                         const char *hint) {
    throw Error(Errc::invalid_argument, message("option {} {}", option, what), requirement, hint);
  };
  if (columns.exposure >= 0 && !(of.least_exposure > 0))
    refuse("exposure",
           message("names a column that contains {}", describe_number(of.least_exposure)),
           "An exposure must be positive: its logarithm is added to the linear predictor.",
           "Leave out rows without exposure: WHERE exposure > 0.");
  if (trials && of.fraction_of_trials > 0)
    refuse("trials", "names a column with a number that is not whole", "Trials are counted.", "");
  if (trials && of.beyond_trials > 0)
    refuse("trials",
           message("gives a row {} trials, of which {} are successes",
                   describe_number(of.successes_beyond - of.beyond_trials),
                   describe_number(of.successes_beyond)),
           "The response counts the successes among the trials of its row.", "");
  // Greater ones would overflow in means, unless these are the predictors themselves.
  if (bounded && !(of.largest_offset <= 600))
    refuse("offset", message("moves a linear predictor by {}", describe_number(of.largest_offset)),
           "It must lie between -600 and 600.", "Rescale it.");
}

/// Throws Error(numeric) for a product of columns that is too large or too small to compute with.
[[noreturn]] void refuse_product(const std::string &term, const char *large_or_small) {
  throw Error(
      Errc::numeric, message("the values of term {} are too {}", term, large_or_small),
      "Products of columns must lie between -1e150 and 1e150, and differ by 1e-140 or more.",
      "Rescale the columns.");
}

/// Throws Error(numeric) for products of columns that are too large.
void require_products(const RegressionTerms &terms, const RangesPass::Sums &range) {
  for (int t = 0; t < terms.size(); ++t) {
    const std::size_t j = std::size_t(t);
    // The sum is not finite if a product overflows.
    if (terms[t].size() > 1 && !(range.low[j] >= -max_product && range.high[j] <= max_product &&
                                 std::isfinite(range.sum[j])))
      refuse_product(terms.name(t), "large");
  }
}

/// The cut that most nearly halves the rows.
int middle_cut(const std::vector<double> &levels) {
  double all = 0, below = 0, nearest = infinite;
  for (const double each : levels) all += each;
  int out = 0;
  for (std::size_t k = 0; k + 1 < levels.size(); ++k) {
    below += levels[k];
    if (const double off = std::fabs(below - 0.5 * all); off < nearest) {
      nearest = off;
      out = int(k);
    }
  }
  return out;
}

/// The mean of responses on the whole line, less their offsets, or 0 without an intercept; sets
/// `reach` to their largest distance from it. Throws Error(numeric) where that is 0, or numbers are
/// too large or too close to compute with.
double mean_of_line(const RangeOfResponses &of, bool intercept, double &reach) {
  // Greater ones would overflow in squares.
  if (!(std::max(std::fabs(of.least), std::fabs(of.greatest)) < 1e100))
    throw Error(Errc::numeric, "responses or offsets are too large to compute with",
                "The largest absolute value of one that is a number on the whole line is 1e100.",
                "Choose another unit of measurement.");
  const double mean =
      intercept ? std::clamp((of.total - of.offset) / of.weight, of.least, of.greatest) : 0;
  reach = std::max(of.greatest - mean, mean - of.least);
  if (reach == 0)
    throw Error(Errc::numeric, "the responses do not vary about their means",
                "They are the same in all rows, so that there is no dispersion to learn.");
  if (!(reach > 1e-100))
    throw Error(Errc::numeric, "the responses differ by too little to compute with",
                "Their largest distance from the mean is less than 1e-100.",
                "Choose another unit of measurement.");
  return mean;
}

}  // namespace

void GlmRows::find_scales() {
  const std::size_t p = std::size_t(terms_.size());
  scales_.centre.assign(p, 0.0);
  scales_.scale.assign(p, 1.0);
  const RangesPass::Sums range =
      run(rows_, RangesPass{terms_.unnamed(), columns_, response_.labelled()}, control_);
  const bool location = response_.link == Link::identity;
  require_columns(range.responses, columns_, response_.has_trials(), !location);
  require_products(terms_, range);
  weight_ = range.responses.weight;
  total_ = range.responses.total;
  base_ = range.responses.base;
  levels_ = range.responses.levels;
  if (response_.ordered()) columns_.anchor = middle_cut(levels_);
  // for terms whose squares must be summed, the largest distance from the centre; else 0
  std::vector<double> reach(p + 1, 0.0);
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
    if (most < min_range && terms_[int(j)].size() > 1) refuse_product(terms_.name(int(j)), "small");
    if (most < min_range) require_constant(rows_, 1 + terms_[int(j)][0].column, control_);
    reach[j] = most;
  }
  if (location) response_mean_ = mean_of_line(range.responses, terms_.intercept(), reach[p]);
  std::vector<double> centre = scales_.centre;
  centre.push_back(response_mean_);
  const std::vector<double> sums =
      run(rows_, SquaresPass{terms_.unnamed(), columns_, centre, reach}, control_).numbers;
  if (location) {
    response_scale_ = reach[p] * std::sqrt(std::max(sums[p] / weight_, min_share));
    rounding_ = 0x1p-53 * (std::fabs(response_mean_) + response_scale_);
  }
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
