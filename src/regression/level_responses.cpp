#include "regression/level_responses.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <tuple>

#include "base/simd.hpp"
#include "base/special.hpp"
#include "regression/response_step.hpp"

namespace bayes {
namespace {

/// A cut that is none: the lowest level has no cut below, the highest one none above. No predictor
/// is as large.
constexpr double no_cut = 1e300, no_bound = std::numeric_limits<double>::infinity();

/// Larger gaps are no different: nothing is known of levels without rows under a flat prior.
constexpr double max_log_gap = 18;

/// log F(x) of a logit, its complement F(-x), and its density F(x) F(-x).
struct LogitParts {
  simd::Vector log_value, complement, density;
};
LogitParts logit_parts(simd::Vector x) {
  const simd::Vector e = simd::exp(-simd::max(x, -x)), total = 1.0 + e, share = 1.0 / total;
  return {-(log_of_total(e, total, share) + simd::max(-x, simd::Vector{})),
          x > 0 ? e * share : share, e * share * share};
}

/// log(1 - exp(-gap)), gap > 0
double log_missing(double gap) { return std::log(-std::expm1(-gap)); }

/// The cuts below and above the level of each row of a block, less its predictor.
struct Bounds {
  alignas(64) double low[block_rows], high[block_rows];

  Bounds(const ResponseBlock &block, const std::vector<double> &cuts) {
    for (int b = 0; b < block_rows; ++b) {
      const auto level = level_of(block, b, cuts.size());
      low[b] = (level == 0 ? -no_cut : cuts[level - 1]) - block.predictor[b];
      high[b] = (level == cuts.size() ? no_cut : cuts[level]) - block.predictor[b];
    }
  }
  static std::size_t level_of(const ResponseBlock &block, int row, std::size_t most) {
    return row < block.rows ? level_at(block.response[row], most) : 0;
  }
};

/// Adds what a row's log density g(low, high) has for the cuts: weighted slopes and minus second
/// derivatives by low, by high, and by both.
void add_cuts(const ResponseValues &values, std::size_t level, std::size_t cuts,
              const double (&slope)[2], const double (&curvature)[2], double both) {
  if (level > 0) {
    values.cut_slope[level - 1] += slope[0];
    values.cut_curvature[level - 1] += curvature[0];
  }
  if (level < cuts) {
    values.cut_slope[level] += slope[1];
    values.cut_curvature[level] += curvature[1];
  }
  if (level > 0 && level < cuts) values.cut_next[level - 1] += both;
}

// With a logit, F(high) - F(low) = F(high) F(-low) (1 - exp(-gap)): three factors, each of one
// unknown alone.
class OrdinalLogitStep final : public ResponseStep {
 public:
  explicit OrdinalLogitStep(const StepUnknowns &at) : cuts_(cuts_of(at.log_gaps, at.anchor)) {
    for (const double log_gap : at.log_gaps) {
      const double gap = std::exp(log_gap);
      log_missing_.push_back(log_missing(gap));
      odds_.push_back(1 / std::expm1(gap));
    }
  }
  double operations() const override { return 150; }
  void operator()(const ResponseBlock &block, ResponseSlopes out,
                  ResponseValues &values) const override {
    const Bounds at(block, cuts_);
    alignas(64) double above[block_rows], below[block_rows];
    simd::Vector sums[simd::registers] = {};
    for (int b = 0; b < block_rows; b += simd::lanes) {
      const simd::Vector weight = simd::load(block.weight + b);
      const LogitParts high = logit_parts(simd::load(at.high + b)),
                       low = logit_parts(-simd::load(at.low + b));
      sums[b / simd::lanes % simd::registers] += weight * (high.log_value + low.log_value);
      simd::store(out.slope + b, weight * (low.complement - high.complement));
      simd::store(out.curvature + b, weight * (high.density + low.density));
      simd::store(below + b, -weight * low.complement);
      simd::store(above + b, weight * high.complement);
      simd::store(out.mixed + b, -weight * low.density);
      simd::store(out.mixed + block_rows + b, -weight * high.density);
    }
    add_lanes(sums, values.log_likelihood);
    for (int b = 0; b < block.rows; ++b) {
      const std::size_t level = Bounds::level_of(block, b, cuts_.size());
      const bool inner = level > 0 && level < cuts_.size();
      const double weight = block.weight[b], odds = inner ? odds_[level - 1] : 0,
                   bend = weight * odds * (1 + odds);
      if (inner) values.log_likelihood[b % simd::sum_lanes] += weight * log_missing_[level - 1];
      add_cuts(values, level, cuts_.size(), {below[b] - weight * odds, above[b] + weight * odds},
               {bend - out.mixed[b], bend - out.mixed[block_rows + b]}, -bend);
    }
  }

 private:
  const std::vector<double> cuts_;
  /// by inner level: log(1 - exp(-gap)), and its slope by the gap
  std::vector<double> log_missing_, odds_;
};

/// log(Phi(high) - Phi(low)), low < high
double log_normal_between(double low, double high) {
  // both on the side where Phi is small
  if (low + high > 0) return log_normal_between(-high, -low);
  const double gap = high - low;
  if (gap < 1e-5) {
    const double middle = 0.5 * (low + high);
    return -0.5 * middle * middle - half_log_two_pi + std::log(gap);
  }
  const double above = log_normal_cdf(high).value;
  if (low < -no_cut / 2) return above;
  return above + log_missing(above - log_normal_cdf(low).value);
}

class OrdinalProbitStep final : public ResponseStep {
 public:
  explicit OrdinalProbitStep(const StepUnknowns &at) : cuts_(cuts_of(at.log_gaps, at.anchor)) {}
  double operations() const override { return 600; }
  void operator()(const ResponseBlock &block, ResponseSlopes out,
                  ResponseValues &values) const override {
    const Bounds at(block, cuts_);
    for (double *const each : {out.slope, out.curvature, out.mixed, out.mixed + block_rows})
      std::fill(each + block.rows, each + block_rows, 0.0);
    for (int b = 0; b < block.rows; ++b) {
      const std::size_t level = Bounds::level_of(block, b, cuts_.size());
      const double low = at.low[b], high = at.high[b], weight = block.weight[b],
                   value = log_normal_between(low, high);
      const auto density = [value](double x) {
        return std::fabs(x) > no_cut / 2 ? 0 : std::exp(-0.5 * x * x - half_log_two_pi - value);
      };
      // of the log density: slopes by low and high, and minus second derivatives
      const double of_low = density(low), of_high = density(high), slope = of_low - of_high,
                   by_low = of_low * of_low - low * of_low,
                   by_high = of_high * of_high + high * of_high, both = -of_low * of_high;
      values.log_likelihood[b % simd::sum_lanes] += weight * value;
      out.slope[b] = weight * slope;
      out.curvature[b] = weight * (slope * slope + high * of_high - low * of_low);
      out.mixed[b] = -weight * (by_low + both);
      out.mixed[block_rows + b] = -weight * (by_high + both);
      add_cuts(values, level, cuts_.size(), {-weight * of_low, weight * of_high},
               {weight * by_low, weight * by_high}, weight * both);
    }
  }

 private:
  const std::vector<double> cuts_;
};

class Ordinal final : public LevelResponse {
 public:
  explicit constexpr Ordinal(Link link)
      : LevelResponse("ordinal", link, "one of the levels, which have an order") {}
  bool ordered() const override { return true; }
  std::unique_ptr<ResponseStep> step(const StepUnknowns &at) const override {
    if (link == Link::logit) return std::make_unique<OrdinalLogitStep>(at);
    return std::make_unique<OrdinalProbitStep>(at);
  }
  void probabilities(LevelShape shape, int points, const double *at, double *out) const override {
    const int levels = shape.levels;
    for (int s = 0; s < points; s += simd::lanes) {
      const simd::Vector predictor = simd::load(at + s);
      simd::Vector cut = {};
      for (int k = 1; k <= shape.anchor; ++k)
        cut = cut - bounded_gap(simd::load(at + k * points + s));
      // on both sides of the cut below level k, of which the lowest one has none
      Side below = {{}, simd::all(1)};
      for (int k = 0; k + 1 < levels; ++k) {
        simd::Vector gap = simd::all(no_cut);
        if (k > 0) cut += gap = bounded_gap(simd::load(at + k * points + s));
        const Side next = side(cut - predictor);
        simd::store(out + k * points + s, between(below, next, gap));
        below = next;
      }
      simd::store(out + (levels - 1) * points + s, below.above);
    }
  }
  void log_probabilities(LevelShape shape, int level, int points, const double *at,
                         double *out) const override {
    const int levels = shape.levels;
    const bool inner = level > 0 && level + 1 < levels;
    for (int s = 0; s < points; ++s) {
      double cut = 0, gap = no_cut;
      const auto gap_at = [&](int k) {
        return std::exp(std::min(at[k * points + s], max_log_gap));
      };
      for (int k = 1; k <= shape.anchor; ++k) cut -= gap_at(k);
      for (int k = 1; k <= level && k + 1 < levels; ++k) cut += gap = gap_at(k);
      const double high = level + 1 < levels ? cut - at[s] : no_bound,
                   low = level == 0 ? -no_bound : (inner ? cut - gap : cut) - at[s];
      out[s] = link == Link::probit
                   ? log_normal_between(low, high)
                   : log_probability_at(link, high) + log_probability_at(link, -low) +
                         log_missing(inner ? gap : no_cut);
    }
  }

 private:
  /// The probabilities on both sides of a cut.
  struct Side {
    simd::Vector below, above;
  };
  Side side(simd::Vector at) const {
    Side out;
    if (link == Link::logit) {
      const simd::Vector e = simd::exp(-simd::max(at, -at)), share = 1.0 / (1.0 + e);
      out.below = at > 0 ? share : e * share;
      out.above = at > 0 ? e * share : share;
      return out;
    }
    for (int b = 0; b < simd::lanes; ++b) {
      out.below[b] = normal_cdf(at[b]);
      out.above[b] = normal_cdf(-at[b]);
    }
    return out;
  }
  /// The probability between two cuts with this gap.
  simd::Vector between(const Side &low, const Side &high, simd::Vector gap) const {
    if (link == Link::logit) {
      const simd::Vector missing = gap < 1e-5 ? gap * (1.0 - 0.5 * gap) : 1.0 - simd::exp(-gap);
      return high.below * low.above * missing;
    }
    const simd::Vector from_below = high.below - low.below, from_above = low.above - high.above;
    return simd::max(high.below < 0.5 ? from_below : from_above, simd::Vector{});
  }
  static simd::Vector bounded_gap(simd::Vector log_gap) {
    return simd::exp(-simd::max(-log_gap, simd::all(-max_log_gap)));
  }
};

class CategoricalStep final : public ResponseStep {
 public:
  explicit CategoricalStep(int predictors) : predictors_(predictors) {}
  double operations() const override { return 40.0 * predictors_; }
  void operator()(const ResponseBlock &block, ResponseSlopes out,
                  ResponseValues &values) const override {
    simd::Vector sums[simd::registers] = {};
    for (int b = 0; b < block_rows; b += simd::lanes) {
      const simd::Vector y = simd::load(block.response + b), weight = simd::load(block.weight + b);
      const auto predictor = [&](int k) { return simd::load(block.predictor + at(k) + b); };
      simd::Vector most = {}, own = {};
      for (int k = 0; k < predictors_; ++k) {
        most = simd::max(most, predictor(k));
        own = y == double(k + 1) ? predictor(k) : own;
      }
      simd::Vector total = simd::exp(-most);
      for (int k = 0; k < predictors_; ++k) {
        const simd::Vector e = simd::exp(predictor(k) - most);
        total += e;
        simd::store(out.curvature + at(k) + b, e);
      }
      sums[b / simd::lanes % simd::registers] += weight * (own - most - simd::log(total));
      const simd::Vector share = 1.0 / total;
      for (int k = 0; k < predictors_; ++k) {
        const simd::Vector p = share * simd::load(out.curvature + at(k) + b);
        simd::store(out.curvature + at(k) + b, weight * p);
        simd::store(out.product + at(k) + b, p);
        simd::store(out.slope + at(k) + b, weight * ((y == double(k + 1) ? 1.0 - p : -p)));
      }
    }
    add_lanes(sums, values.log_likelihood);
  }

 private:
  static std::ptrdiff_t at(int predictor) { return std::ptrdiff_t(predictor) * block_rows; }
  const int predictors_;
};

class Categorical final : public LevelResponse {
 public:
  constexpr Categorical() : LevelResponse("categorical", Link::logit, "one of the levels") {}
  std::unique_ptr<ResponseStep> step(const StepUnknowns &at) const override {
    return std::make_unique<CategoricalStep>(at.levels - 1);
  }
  void probabilities(LevelShape shape, int points, const double *at, double *out) const override {
    const int levels = shape.levels;
    for (int s = 0; s < points; s += simd::lanes) {
      simd::Vector most = {};
      for (int k = 1; k < levels; ++k)
        most = simd::max(most, simd::load(at + (k - 1) * points + s));
      simd::Vector total = simd::exp(-most);
      simd::store(out + s, total);
      for (int k = 1; k < levels; ++k) {
        const simd::Vector e = simd::exp(simd::load(at + (k - 1) * points + s) - most);
        simd::store(out + k * points + s, e);
        total += e;
      }
      const simd::Vector share = 1.0 / total;
      for (int k = 0; k < levels; ++k)
        simd::store(out + k * points + s, share * simd::load(out + k * points + s));
    }
  }
  void log_probabilities(LevelShape shape, int level, int points, const double *at,
                         double *out) const override {
    const int levels = shape.levels;
    std::vector<double> all(static_cast<std::size_t>(levels));
    for (int s = 0; s < points; ++s) {
      for (int k = 1; k < levels; ++k) all[std::size_t(k)] = at[(k - 1) * points + s];
      out[s] = all[std::size_t(level)] - log_sum_exp(all);
    }
  }
};

/// What the order of labels depends on, in turn: whether it is a number; which one; among those
/// that are the same double, whether it is written as a decimal, whose digits then count; the text.
struct LabelKey {
  explicit LabelKey(std::string_view label) : text(label) {
    const char *const end = label.data() + label.size();
    const auto found = std::from_chars(label.data(), end, value);
    number = found.ec == std::errc() && found.ptr == end && std::isfinite(value);
    negative = label.starts_with('-');
    label.remove_prefix(negative);
    const std::size_t point = std::min(label.find('.'), label.size());
    whole = label.substr(0, point);
    fraction = label.substr(std::min(point + 1, label.size()));
    const auto digits = [](std::string_view part) {
      return std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
    };
    decimal = !whole.empty() && digits(whole) && digits(fraction);
    whole.remove_prefix(std::min(whole.find_first_not_of('0'), whole.size()));
    if (number || !decimal) return;
    number = true;  // beyond doubles
    value = whole.empty() ? 0 : negative ? -no_bound : no_bound;
  }
  /// Digits before the point without leading zeros: the more there are, the larger is the number.
  std::tuple<std::size_t, std::string_view, std::string_view> magnitude() const {
    return {whole.size(), whole, fraction};
  }

  std::string_view text, whole, fraction;
  double value = 0;
  bool number, negative, decimal;
};

}  // namespace

bool LevelResponse::allows(double y) const {
  return y >= 0 && y < max_levels && y == std::floor(y);
}

std::span<const LevelResponse *const> level_responses() {
  static const Ordinal logit(Link::logit), probit(Link::probit);
  static const Categorical categorical;
  static const LevelResponse *const all[] = {&logit, &probit, &categorical};
  return all;
}

namespace {

std::vector<double> gaps_of(std::span<const double> log_gaps) {
  std::vector<double> out;
  for (const double each : log_gaps) out.push_back(std::exp(each));
  return out;
}

}  // namespace

std::vector<double> cuts_of(std::span<const double> log_gaps, int anchor) {
  const std::vector<double> gaps = gaps_of(log_gaps);
  std::vector<double> out(gaps.size() + 1);
  const std::size_t at = std::size_t(anchor);
  for (std::size_t i = at; i >= 1; --i) out[i - 1] = out[i] - gaps[i - 1];
  for (std::size_t i = at + 1; i < out.size(); ++i) out[i] = out[i - 1] + gaps[i - 1];
  return out;
}

// A gap above the anchor moves all cuts from there on up, one below it those before down. So a
// derivative by a gap is the sum of those by these cuts, and a second one by two gaps on one side
// the sum over the cuts that the outer one moves; gaps on both sides move no cuts that have to do
// with each other, but for those next to the anchor, which does not move.
GapSlopes by_log_gaps(const CutSlopes &cuts, std::span<const double> log_gaps, int anchor) {
  const std::size_t gaps = log_gaps.size(), at = std::size_t(anchor);
  GapSlopes out;
  out.slope.resize(gaps);
  out.curvature.resize(gaps * (gaps + 1) / 2);
  const auto row_of = [&](std::size_t cut) {
    return cuts.curvature[cut] + (cut > 0 ? cuts.next[cut - 1] : 0) +
           (cut < gaps ? cuts.next[cut] : 0);
  };
  const std::vector<double> all = gaps_of(log_gaps);
  const auto gap = [&](std::size_t i) { return all[i - 1]; };
  const auto entry = [&](std::size_t i, std::size_t j) -> double & {
    return out.curvature[(std::max(i, j) - 1) * std::max(i, j) / 2 + std::min(i, j) - 1];
  };
  // Sums over the cuts that gap i moves; of the rows of the matrix of second derivatives, too.
  const auto take = [&](std::size_t i, double sign, double slope, double rows) {
    out.slope[i - 1] = sign * gap(i) * slope;
    entry(i, i) = gap(i) * gap(i) * (rows - cuts.next[i - 1]) - out.slope[i - 1];
    const bool above = i > at;
    for (std::size_t j = above ? at + 1 : i + 1; j < (above ? i : at + 1); ++j)
      entry(i, j) = gap(i) * gap(j) * rows;
  };
  double slope = 0, rows = 0;
  for (std::size_t i = gaps; i > at; --i) take(i, 1, slope += cuts.slope[i], rows += row_of(i));
  slope = rows = 0;
  for (std::size_t i = 1; i <= at; ++i)
    take(i, -1, slope += cuts.slope[i - 1], rows += row_of(i - 1));
  return out;
}

std::vector<double> mixed_by_log_gaps(const std::vector<double> &by_cut, std::size_t coefficients,
                                      std::span<const double> log_gaps, int anchor) {
  const std::size_t gaps = log_gaps.size(), at = std::size_t(anchor);
  const std::vector<double> all = gaps_of(log_gaps);
  std::vector<double> out(gaps * coefficients);
  for (std::size_t j = 0; j < coefficients; ++j) {
    double sum = 0;
    for (std::size_t i = gaps; i > at; --i)
      out[(i - 1) * coefficients + j] = all[i - 1] * (sum += by_cut[i * coefficients + j]);
    sum = 0;
    for (std::size_t i = 1; i <= at; ++i)
      out[(i - 1) * coefficients + j] = -all[i - 1] * (sum += by_cut[(i - 1) * coefficients + j]);
  }
  return out;
}

bool level_before(std::string_view a, std::string_view b) {
  const LabelKey x(a), y(b);
  if (x.number != y.number) return x.number;
  if (x.number && x.value != y.value) return x.value < y.value;
  if (x.number && x.decimal != y.decimal) return x.decimal;
  if (x.number && x.decimal && x.magnitude() != y.magnitude()) {
    if (x.negative != y.negative) return x.negative;
    return (x.magnitude() < y.magnitude()) != x.negative;
  }
  return a < b;
}

}  // namespace bayes
