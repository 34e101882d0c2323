#include "regression/level_responses.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "base/simd.hpp"
#include "base/special.hpp"
#include "regression/response_step.hpp"

namespace bayes {
namespace {

/// A cut that is none: the lowest level has no cut below, the highest one none above.
constexpr double no_cut = 1e8, no_bound = std::numeric_limits<double>::infinity();

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
  explicit OrdinalLogitStep(const StepUnknowns &at) : cuts_(cuts_of(at.log_gaps)) {
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
  explicit OrdinalProbitStep(const StepUnknowns &at) : cuts_(cuts_of(at.log_gaps)) {}
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
  void probabilities(int levels, int points, const double *at, double *out) const override {
    for (int s = 0; s < points; s += simd::lanes) {
      const simd::Vector predictor = simd::load(at + s);
      simd::Vector cut = {};
      // P(y < k), P(y >= k), and the smaller one's side
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
  void log_probabilities(int levels, int level, int points, const double *at,
                         double *out) const override {
    const bool inner = level > 0 && level + 1 < levels;
    for (int s = 0; s < points; ++s) {
      double cut = 0, gap = no_cut;
      for (int k = 1; k <= level && k + 1 < levels; ++k) cut += gap = std::exp(at[k * points + s]);
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
    return simd::exp(-simd::max(-log_gap, simd::all(-18)));
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
  void probabilities(int levels, int points, const double *at, double *out) const override {
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
  void log_probabilities(int levels, int level, int points, const double *at,
                         double *out) const override {
    std::vector<double> all(static_cast<std::size_t>(levels));
    for (int s = 0; s < points; ++s) {
      for (int k = 1; k < levels; ++k) all[std::size_t(k)] = at[(k - 1) * points + s];
      out[s] = all[std::size_t(level)] - log_sum_exp(all);
    }
  }
};

/// The number that a label is the text of.
std::optional<double> number_of_label(std::string_view text) {
  double out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(out))
    return std::nullopt;
  return out;
}

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

std::vector<double> cuts_of(std::span<const double> log_gaps) {
  std::vector<double> out = {0};
  for (const double each : log_gaps) out.push_back(out.back() + std::exp(each));
  return out;
}

// Cut c is the sum of the gaps up to it: a derivative by gap i is the sum of those by all cuts from
// i on.
GapSlopes by_log_gaps(const CutSlopes &cuts, std::span<const double> log_gaps) {
  const std::size_t gaps = log_gaps.size();
  GapSlopes out;
  out.slope.resize(gaps);
  out.curvature.resize(gaps * (gaps + 1) / 2);
  // sums of slopes, and of rows of the matrix of second derivatives, from a cut on
  double slope = 0;
  std::vector<double> rows(gaps + 2, 0.0);
  for (std::size_t i = gaps; i >= 1; --i) {
    const double gap = std::exp(log_gaps[i - 1]);
    slope += cuts.slope[i];
    rows[i] = rows[i + 1] + cuts.curvature[i] + cuts.next[i - 1] + (i < gaps ? cuts.next[i] : 0);
    out.slope[i - 1] = gap * slope;
    double *const row = out.curvature.data() + (i - 1) * i / 2;
    row[i - 1] = gap * gap * (rows[i] - cuts.next[i - 1]) - gap * slope;
    for (std::size_t j = 1; j < i; ++j) row[j - 1] = gap * std::exp(log_gaps[j - 1]) * rows[i];
  }
  return out;
}

std::vector<double> mixed_by_log_gaps(const std::vector<double> &by_cut, std::size_t coefficients,
                                      std::span<const double> log_gaps) {
  const std::size_t gaps = log_gaps.size();
  std::vector<double> out(gaps * coefficients), sum(coefficients);
  for (std::size_t i = gaps; i >= 1; --i)
    for (std::size_t j = 0; j < coefficients; ++j) {
      sum[j] += by_cut[i * coefficients + j];
      out[(i - 1) * coefficients + j] = std::exp(log_gaps[i - 1]) * sum[j];
    }
  return out;
}

bool level_before(std::string_view a, std::string_view b) {
  const auto x = number_of_label(a), y = number_of_label(b);
  if (x && y && *x != *y) return *x < *y;
  if (x.has_value() != y.has_value()) return x.has_value();
  return a < b;
}

}  // namespace bayes
