#include "regression/responses.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/incomplete.hpp"
#include "base/simd.hpp"
#include "base/special.hpp"
#include "families/product/column_family.hpp"
#include "families/product/counts.hpp"
#include "regression/level_responses.hpp"
#include "regression/response_step.hpp"

namespace bayes {
namespace {

using simd::lanes;
using simd::registers;
using simd::sum_lanes;
using simd::Vector;

constexpr const char *truth_requirement = "0 or 1, false or true",
                     *amount_requirement = "a positive number",
                     *number_requirement = "a finite number";

/// A count, or 0 for what another server's rows may hold and cannot be one: tables are asked for
/// it.
double counted(double y) { return y >= 0 && y <= exact_counts ? std::floor(y) : 0; }

/// exp(x), finite: a predictor beyond it is far from every mode.
Vector bounded_exp(Vector x) { return simd::exp(-simd::max(-x, simd::all(-700))); }

/// exp(d) - 1 - d of numbers or vectors of them, where ratio = exp(d): without cancellation where d
/// is small, as half a deviance is for counts near their mean.
template <class T> T excess(T d, T ratio) {
  T series = 1 + d * (1.0 / 16);
#pragma GCC unroll 13
  for (int k = 15; k >= 3; --k) series = 1 + d * (1.0 / k) * series;
  const T small = d * d * 0.5 * series, large = (ratio - 1.0) - d;
  return (d > -0.5) & (d < 0.5) ? small : large;
}

/// f(first row of a vector, its partial sums of the log density) for all vectors of a block.
template <class F> void each_vector(ResponseValues &values, F f) {
  Vector sums[registers] = {};
  for (int b = 0; b < block_rows; b += lanes) f(b, sums[b / lanes % registers]);
  add_lanes(sums, values.log_likelihood);
}

/// The same for responses with a dispersion: f also gets the partial sums of slope and curvature.
template <class F> void each_dispersed(ResponseValues &values, F f) {
  Vector sums[registers] = {}, slopes[registers] = {}, curvatures[registers] = {};
  for (int b = 0; b < block_rows; b += lanes) {
    const int part = b / lanes % registers;
    f(b, sums[part], slopes[part], curvatures[part]);
  }
  add_lanes(sums, values.log_likelihood);
  add_lanes(slopes, values.slope);
  add_lanes(curvatures, values.curvature);
}

// ---- yes and no ----

class LogitStep final : public ResponseStep {
 public:
  double operations() const override { return 60; }
  void operator()(const ResponseBlock &block, ResponseSlopes out,
                  ResponseValues &values) const override {
    Vector sums[registers] = {};
    for (int b = 0; b < block_rows; b += lanes) {
      const Vector sign = 2.0 * simd::load(block.response + b) - 1.0,
                   weight = simd::load(block.weight + b);
      const Vector margin = sign * simd::load(block.predictor + b);
      // P(y) = 1 / (1 + exp(-margin)) and its complement, both from exp(-|margin|), which cannot
      // overflow
      const Vector e = simd::exp(-simd::max(margin, -margin)), total = 1.0 + e, share = 1.0 / total;
      const Vector wrong = margin > 0 ? e * share : share;
      const Vector log_total = log_of_total(e, total, share);
      sums[b / lanes % registers] += weight * (log_total + simd::max(-margin, Vector{}));
      simd::store(out.slope + b, weight * sign * wrong);
      simd::store(out.curvature + b, weight * e * share * share);
    }
    for (Vector &sum : sums) sum = -sum;
    add_lanes(sums, values.log_likelihood);
  }
};

class ProbitStep final : public ResponseStep {
 public:
  double operations() const override { return 200; }
  void operator()(const ResponseBlock &block, ResponseSlopes out,
                  ResponseValues &values) const override {
    for (int b = 0; b < block.rows; ++b) {
      const double sign = 2 * block.response[b] - 1;
      const LogNormalCdf at = log_normal_cdf(sign * block.predictor[b]);
      values.log_likelihood[b % sum_lanes] += block.weight[b] * at.value;
      out.slope[b] = block.weight[b] * sign * at.slope;
      out.curvature[b] = block.weight[b] * at.curvature;
    }
    std::fill(out.slope + block.rows, out.slope + block_rows, 0.0);
    std::fill(out.curvature + block.rows, out.curvature + block_rows, 0.0);
  }
};

/// P(Y <= y) of successes of n trials, each of probability F(a).
double binomial_below(Link link, double y, double n, double a) {
  if (y >= n) return 1;
  const double p = probability_at(link, a), q = probability_at(link, -a);
  return p <= q ? beta_above(y + 1, n - y, p) : beta_below(n - y, y + 1, q);
}

/// Of the log density of y successes of n trials.
ResponseSlope binomial_slope(Link link, double y, double n, double a) {
  if (link == Link::logit) {
    const double yes = probability_at(link, a), no = probability_at(link, -a);
    return {y * no - (n - y) * yes, n * yes * no};
  }
  const LogNormalCdf yes = log_normal_cdf(a), no = log_normal_cdf(-a);
  return {y * yes.slope - (n - y) * no.slope, y * yes.curvature + (n - y) * no.curvature};
}

double log_choose(double n, double y) {
  return log_factorial(counted(n)) - log_factorial(counted(y)) - log_factorial(counted(n - y));
}

class BinomialLogitStep final : public ResponseStep {
 public:
  double operations() const override { return 100; }
  void operator()(const ResponseBlock &block, ResponseSlopes out,
                  ResponseValues &values) const override {
    alignas(64) double constant[block_rows] = {};
    for (int b = 0; b < block.rows; ++b)
      constant[b] = log_choose(block.trials[b], block.response[b]);
    each_vector(values, [&](int b, Vector &sum) {
      const Vector y = simd::load(block.response + b), n = simd::load(block.trials + b),
                   a = simd::load(block.predictor + b), weight = simd::load(block.weight + b);
      const Vector e = simd::exp(-simd::max(a, -a)), total = 1.0 + e, share = 1.0 / total;
      const Vector yes = a > 0 ? share : e * share, no = a > 0 ? e * share : share;
      const Vector log_total = log_of_total(e, total, share);
      sum += weight * (simd::load(constant + b) - n * log_total - y * simd::max(-a, Vector{}) -
                       (n - y) * simd::max(a, Vector{}));
      simd::store(out.slope + b, weight * (y * no - (n - y) * yes));
      simd::store(out.curvature + b, weight * n * e * share * share);
    });
  }
};

class BinomialProbitStep final : public ResponseStep {
 public:
  double operations() const override { return 400; }
  void operator()(const ResponseBlock &block, ResponseSlopes out,
                  ResponseValues &values) const override {
    for (int b = 0; b < block.rows; ++b) {
      const double y = block.response[b], no = block.trials[b] - y, a = block.predictor[b],
                   weight = block.weight[b];
      const LogNormalCdf above = log_normal_cdf(a), below = log_normal_cdf(-a);
      values.log_likelihood[b % sum_lanes] +=
          weight * (log_choose(block.trials[b], y) + y * above.value + no * below.value);
      out.slope[b] = weight * (y * above.slope - no * below.slope);
      out.curvature[b] = weight * (y * above.curvature + no * below.curvature);
    }
    std::fill(out.slope + block.rows, out.slope + block_rows, 0.0);
    std::fill(out.curvature + block.rows, out.curvature + block_rows, 0.0);
  }
};

class Binomial : public NumberResponse {
 public:
  explicit constexpr Binomial(Link link)
      : Binomial("binomial", link, "a whole number from 0 to the number of trials") {}
  bool has_trials() const override { return true; }
  bool allows(double y) const override { return allowed_count(y); }
  std::unique_ptr<ResponseStep> step(const StepUnknowns &) const override {
    if (link == Link::logit) return std::make_unique<BinomialLogitStep>();
    return std::make_unique<BinomialProbitStep>();
  }
  // P(no) is P(yes) at the opposite predictor: a difference from 1 would lose its digits.
  double log_density(double y, const ResponsePoint &at) const override {
    const double no = at.trials - y;
    // 0 times the logarithm of a probability that underflows is 0.
    return log_choose(at.trials, y) + (y > 0 ? y * log_probability_at(link, at.predictor) : 0) +
           (no > 0 ? no * log_probability_at(link, -at.predictor) : 0);
  }
  ResponseSlope slope(double y, const ResponsePoint &at) const override {
    return binomial_slope(link, y, at.trials, at.predictor);
  }
  VarianceTerms variance_terms(double n, double) const override { return {1, n > 0 ? -1 / n : 0}; }
  double below(double y, const ResponsePoint &at) const override {
    return binomial_below(link, y, at.trials, at.predictor);
  }
  double sample(const ResponsePoint &at, Random &random) const override {
    return binomial_variate(at.trials, probability_at(link, at.predictor), random);
  }
  double log_fall(double y, const ResponsePoint &at) const override {
    const double slope = link == Link::logit ? probability_at(link, -at.predictor)
                                             : log_normal_cdf(at.predictor).slope;
    return NumberResponse::log_fall(y, at) + std::log(slope);
  }
  ResponseFall fall(double y, const ResponsePoint &at) const override {
    const double n = at.trials, peak = predictor_at(link, (y + 1) / (n + 1));
    return {peak, 1 / std::sqrt(binomial_slope(link, y + 1, n + 1, peak).curvature)};
  }

 protected:
  constexpr Binomial(const char *name, Link link, const char *requirement)
      : NumberResponse(name, link, requirement) {}
};

/// One trial.
class Bernoulli final : public Binomial {
 public:
  explicit constexpr Bernoulli(Link link) : Binomial("bernoulli", link, truth_requirement) {}
  bool has_trials() const override { return false; }
  bool binary() const override { return true; }
  bool allows(double y) const override { return y == 0 || y == 1; }
  std::unique_ptr<ResponseStep> step(const StepUnknowns &) const override {
    if (link == Link::logit) return std::make_unique<LogitStep>();
    return std::make_unique<ProbitStep>();
  }
};

// ---- counts ----

/// log P(y) of a Poisson variable whose mean is y > 0
double log_poisson_at_mode(double y) {
  return -0.5 * std::log(y) - half_log_two_pi - stirling_error(y);
}

class PoissonStep final : public ResponseStep {
 public:
  double operations() const override { return 60; }
  void operator()(const ResponseBlock &block, ResponseSlopes out,
                  ResponseValues &values) const override {
    alignas(64) double at_mode[block_rows] = {};
    for (int b = 0; b < block.rows; ++b) at_mode[b] = table_.at(block.response[b]);
    Vector squares[registers] = {}, zeros[registers] = {}, zeros_expected[registers] = {};
    each_vector(values, [&](int b, Vector &sum) {
      const Vector y = simd::load(block.response + b), a = simd::load(block.predictor + b),
                   weight = simd::load(block.weight + b), mean = bounded_exp(a);
      zeros[b / lanes % registers] += y > 0 ? Vector{} : weight;
      zeros_expected[b / lanes % registers] += weight * simd::exp(-mean);
      squares[b / lanes % registers] += weight * (y - mean) * ((y - mean) / (mean + 1e-300));
      const Vector counted = simd::max(y, simd::all(1)),
                   off = counted * excess(a - simd::log(counted), mean / counted);
      sum += weight * (simd::load(at_mode + b) - (y > 0 ? off : mean));
      simd::store(out.slope + b, weight * (y - mean));
      simd::store(out.curvature + b, weight * mean);
    });
    add_lanes(squares, values.squares);
    add_lanes(zeros, values.zeros);
    add_lanes(zeros_expected, values.zeros_expected);
  }

 private:
  /// log_poisson_at_mode(), 0 for 0
  class Table {
   public:
    Table() {
      for (std::size_t y = 1; y < known_.size(); ++y) known_[y] = log_poisson_at_mode(double(y));
    }
    double at(double y) const {
      y = counted(y);
      return y < double(known_.size()) ? known_[std::size_t(y)] : log_poisson_at_mode(y);
    }

   private:
    std::array<double, 256> known_ = {};
  };
  const Table table_;
};

/// log P(y) of a Poisson variable whose mean is exp(a)
double log_poisson_of(double y, double a) {
  if (y == 0) return -std::exp(a);
  const double d = a - std::log(y);
  return log_poisson_at_mode(y) - y * excess(d, std::exp(d));
}

/// A Poisson draw of this mean, which may be infinite.
double drawn_count(double mean, Random &random) {
  return mean < exact_counts ? std::min(exact_counts, poisson_variate(mean, random)) : exact_counts;
}

class PoissonResponse final : public NumberResponse {
 public:
  constexpr PoissonResponse() : NumberResponse("poisson", Link::log, count_requirement) {}
  bool allows(double y) const override { return allowed_count(y); }
  std::unique_ptr<ResponseStep> step(const StepUnknowns &) const override {
    return std::make_unique<PoissonStep>();
  }
  double log_density(double y, const ResponsePoint &at) const override {
    return log_poisson_of(y, at.predictor);
  }
  ResponseSlope slope(double y, const ResponsePoint &at) const override {
    const double mean = std::exp(std::min(at.predictor, 700.0));
    return {y - mean, mean};
  }
  VarianceTerms variance_terms(double, double) const override { return {1, 0}; }
  double below(double y, const ResponsePoint &at) const override {
    return gamma_above_at(y + 1, at.predictor);
  }
  double sample(const ResponsePoint &at, Random &random) const override {
    return drawn_count(std::exp(at.predictor), random);
  }
};

/// Terms of the log density of a negative binomial response that depend on y and the size
/// r = 1 / dispersion alone.
struct CountTerms {
  /// log Gamma(y + r) - log Gamma(r) - log y!
  double value;
  /// digamma(y + r) - digamma(r), and its derivative by r
  double first, second;
};

/// A table of them for small counts.
class CountTable {
 public:
  explicit CountTable(double r) : r_(r) {
    CountTerms at{0, 0, 0};
    for (std::size_t y = 0; y < terms_.size(); ++y) {
      terms_[y] = at;
      const double next = double(y) + r;
      at.value += std::log(next) - std::log(double(y) + 1);
      at.first += 1 / next;
      at.second -= 1 / (next * next);
    }
  }
  CountTerms at(double y) const {
    if (y < double(terms_.size())) return terms_[std::size_t(y)];
    // log Gamma(y + r) - log Gamma(r) - log y! = -log B(r, y + 1) - log(y + r)
    return {-log_beta(r_, y + 1) - std::log(y + r_), digamma(y + r_) - digamma(r_),
            trigamma(y + r_) - trigamma(r_)};
  }

 private:
  const double r_;
  std::array<CountTerms, 128> terms_;
};

class NegativeBinomialStep final : public ResponseStep {
 public:
  explicit NegativeBinomialStep(double log_dispersion)
      : log_dispersion_(log_dispersion),
        dispersion_(std::exp(log_dispersion)),
        table_(1 / dispersion_) {}
  double operations() const override { return 120; }
  void operator()(const ResponseBlock &block, ResponseSlopes out,
                  ResponseValues &values) const override {
    alignas(64) double value[block_rows] = {}, first[block_rows] = {}, second[block_rows] = {};
    for (int b = 0; b < block.rows; ++b) {
      const CountTerms at = table_.at(counted(block.response[b]));
      value[b] = at.value;
      first[b] = at.first;
      second[b] = at.second;
    }
    const double d = dispersion_, r = 1 / d, log_r = -log_dispersion_;
    Vector zeros[registers] = {}, zeros_expected[registers] = {};
    each_dispersed(values, [&](int b, Vector &sum, Vector &slope, Vector &curvature) {
      const Vector y = simd::load(block.response + b), a = simd::load(block.predictor + b),
                   weight = simd::load(block.weight + b), mean = bounded_exp(a);
      const Vector odds = d * mean, whole = 1.0 + odds, log_whole = lane_log1p(odds);
      const Vector missed = (y - mean) / whole;
      zeros[b / lanes % registers] += y > 0 ? Vector{} : weight;
      zeros_expected[b / lanes % registers] += weight * simd::exp(-r * log_whole);
      // of the log density by r
      const Vector by_size = simd::load(first + b) - log_whole - d * missed;
      const Vector by_size_twice = simd::load(second + b) + d * d * (mean / whole + missed / whole);
      // the logarithm of odds / whole
      const Vector log_share = odds > 1 ? -lane_log1p(1.0 / odds) : a - log_r - log_whole;
      sum += weight * (simd::load(value + b) + y * log_share - r * log_whole);
      slope -= weight * r * by_size;
      curvature -= weight * r * (r * by_size_twice + by_size);
      simd::store(out.slope + b, weight * missed);
      simd::store(out.curvature + b, weight * (mean / whole) * ((1.0 + d * y) / whole));
      simd::store(out.mixed + b, weight * missed * (odds / whole));
    });
    add_lanes(zeros, values.zeros);
    add_lanes(zeros_expected, values.zeros_expected);
  }

 private:
  const double log_dispersion_, dispersion_;
  const CountTable table_;
};

class NegativeBinomialResponse final : public NumberResponse {
 public:
  constexpr NegativeBinomialResponse()
      : NumberResponse("negative_binomial", Link::log, count_requirement) {}
  bool dispersed() const override { return true; }
  bool allows(double y) const override { return allowed_count(y); }
  std::unique_ptr<ResponseStep> step(const StepUnknowns &at) const override {
    return std::make_unique<NegativeBinomialStep>(at.log_dispersion);
  }
  double log_density(double y, const ResponsePoint &at) const override {
    // P(y) = Beta density of a chance, with r and y + 1, over y + r: as of the column family.
    const double r = std::exp(-at.log_dispersion), log_odds = at.predictor + at.log_dispersion;
    const double carrier = y > 0 ? -log_beta(r, y + 1) - std::log(y + r) : 0;
    return carrier - r * log1p_exp(log_odds) - (y > 0 ? y * log1p_exp(-log_odds) : 0);
  }
  ResponseSlope slope(double y, const ResponsePoint &at) const override {
    const double mean = std::exp(std::min(at.predictor, 700.0)), d = std::exp(at.log_dispersion),
                 whole = 1 + d * mean;
    return {(y - mean) / whole, mean / whole * ((1 + d * y) / whole)};
  }
  VarianceTerms variance_terms(double, double) const override { return {1, 1}; }
  double below(double y, const ResponsePoint &at) const override {
    return beta_below_at(std::exp(-at.log_dispersion), y + 1, -at.predictor - at.log_dispersion);
  }
  /// A Poisson draw whose mean is a gamma draw.
  double sample(const ResponsePoint &at, Random &random) const override {
    const double d = std::exp(at.log_dispersion);
    return drawn_count(std::exp(at.predictor) * d * random.gamma(1 / d), random);
  }
};

// ---- amounts ----

/// k log k - k - log Gamma(k), of the shape k: the log density of log y at the mean
double log_gamma_at_mean(double log_dispersion) {
  return -0.5 * log_dispersion - half_log_two_pi - stirling_error(std::exp(-log_dispersion));
}

/// The terms of the log density of a gamma response that depend on its shape k alone: the log
/// density is value - log y - k excess(log y - log mean).
struct GammaShape {
  double k;
  /// log_gamma_at_mean()
  double value;
  /// its derivative log k - digamma(k), and k times the second one, 1 - k trigamma(k)
  double first, second;

  explicit GammaShape(double log_dispersion)
      : k(std::exp(-log_dispersion)),
        value(log_gamma_at_mean(log_dispersion)) {
    if (k < 30) {
      first = -log_dispersion - digamma(k);
      second = 1 - k * trigamma(k);
      return;
    }
    // Stirling's series, as the differences cancel
    const double q = 1 / (k * k);
    first = (0.5 + (1.0 / 12 - q * (1.0 / 120 - q * (1.0 / 252 - q / 240))) / k) / k;
    second = -(0.5 + (1.0 / 6 - q * (1.0 / 30 - q * (1.0 / 42 - q / 30))) / k) / k;
  }
};

/// Gamma responses with shape k = 1 / dispersion: with k = 1 exponential ones, which have no
/// dispersion to learn.
template <bool learned> class GammaStep final : public ResponseStep {
 public:
  explicit GammaStep(double log_dispersion = 0) : shape_(log_dispersion) {}
  double operations() const override { return learned ? 80 : 50; }
  void operator()(const ResponseBlock &block, ResponseSlopes out,
                  ResponseValues &values) const override {
    const double k = shape_.k;
    each_dispersed(values, [&](int b, Vector &sum, Vector &slope, Vector &curvature) {
      const Vector y = simd::load(block.response + b), a = simd::load(block.predictor + b),
                   weight = simd::load(block.weight + b), ratio = y * bounded_exp(-a);
      simd::store(out.curvature + b, weight * k * ratio);
      simd::store(out.slope + b, weight * k * (ratio - 1.0));
      if constexpr (learned) {
        const Vector log_y = simd::log(y), off = excess(log_y - a, ratio),
                     by_shape = shape_.first - off;
        sum += weight * (shape_.value - log_y - k * off);
        slope -= weight * k * by_shape;
        curvature -= weight * k * (shape_.second + by_shape);
        simd::store(out.mixed + b, weight * k * (ratio - 1.0));
      } else {
        sum -= weight * (a + ratio);
      }
    });
  }

 private:
  const GammaShape shape_;
};

class Amount : public NumberResponse {
 public:
  constexpr explicit Amount(const char *name)
      : NumberResponse(name, Link::log, amount_requirement) {}
  bool whole() const override { return false; }
  bool allows(double y) const override { return y > 0; }
  double log_density(double y, const ResponsePoint &at) const override {
    return log_fall(y, at) - std::log(y);
  }
  ResponseSlope slope(double y, const ResponsePoint &at) const override {
    const double k = std::exp(-at.log_dispersion),
                 ratio = y * std::exp(std::min(-at.predictor, 700.0));
    return {k * (ratio - 1), k * ratio};
  }
  VarianceTerms variance_terms(double, double) const override { return {0, 1}; }
  double below(double y, const ResponsePoint &at) const override {
    if (y <= 0) return 0;
    return gamma_below_at(std::exp(-at.log_dispersion),
                          std::log(y) - at.predictor - at.log_dispersion);
  }
  double sample(const ResponsePoint &at, Random &random) const override {
    const double d = std::exp(at.log_dispersion);
    return std::exp(at.predictor) * d * random.gamma(1 / d);
  }
  // y and the mean enter by their ratio alone.
  double log_fall(double y, const ResponsePoint &at) const override {
    const double d = std::log(y) - at.predictor;
    return log_gamma_at_mean(at.log_dispersion) -
           std::exp(-at.log_dispersion) * excess(d, std::exp(d));
  }
  ResponseFall fall(double y, const ResponsePoint &at) const override {
    return {std::log(y), std::exp(0.5 * at.log_dispersion)};
  }
};

class Exponential final : public Amount {
 public:
  constexpr Exponential() : Amount("exponential") {}
  std::unique_ptr<ResponseStep> step(const StepUnknowns &) const override {
    return std::make_unique<GammaStep<false>>();
  }
};

class GammaResponse final : public Amount {
 public:
  constexpr GammaResponse() : Amount("gamma") {}
  bool dispersed() const override { return true; }
  bool scales() const override { return true; }
  std::unique_ptr<ResponseStep> step(const StepUnknowns &at) const override {
    return std::make_unique<GammaStep<true>>(at.log_dispersion);
  }
};

// ---- numbers on the whole line ----

/// The log density at the predictor.
template <bool student> double log_greatest_density(double log_dispersion, double degrees) {
  return -0.5 * log_dispersion -
         (student ? log_beta(0.5, 0.5 * degrees) + 0.5 * std::log(degrees) : half_log_two_pi);
}

/// Normal responses, whose dispersion is the variance s^2, or with `student` those of a Student t
/// distribution with scale s: in units of s their log density is -(degrees + 1) / 2 log(1 + r^2 /
/// degrees), which grows with the distance r far more slowly than r^2.
template <bool student> class LocationStep final : public ResponseStep {
 public:
  explicit LocationStep(const StepUnknowns &at)
      : scale_(std::exp(-0.5 * at.log_dispersion)),
        degrees_(at.degrees),
        constant_(log_greatest_density<student>(at.log_dispersion, at.degrees)) {}
  double operations() const override { return student ? 70 : 30; }
  void operator()(const ResponseBlock &block, ResponseSlopes out,
                  ResponseValues &values) const override {
    each_dispersed(values, [&](int b, Vector &sum, Vector &slope, Vector &curvature) {
      const Vector weight = simd::load(block.weight + b),
                   r = scale_ * (simd::load(block.response + b) - simd::load(block.predictor + b)),
                   square = r * r;
      // What a row counts, as if it were normal, and what is left of its curvature.
      Vector share = simd::all(1), bent = simd::all(1), loss = 0.5 * square;
      if constexpr (student) {
        const Vector part = 1.0 / (degrees_ + square);
        share = (degrees_ + 1) * part;
        bent = share * degrees_ * part;
        loss = 0.5 * (degrees_ + 1) * lane_log1p(square / degrees_);
      }
      sum += weight * (constant_ - loss);
      slope += weight * (0.5 * share * square - 0.5);
      curvature += weight * 0.5 * bent * square;
      simd::store(out.slope + b, weight * scale_ * share * r);
      simd::store(out.curvature + b,
                  weight * (scale_ * scale_) * (student ? bent * (1.0 - square / degrees_) : bent));
      simd::store(out.mixed + b, weight * scale_ * bent * r);
    });
  }

 private:
  const double scale_, degrees_, constant_;
};

template <bool student> class Location : public NumberResponse {
 public:
  constexpr Location()
      : NumberResponse(student ? "student_t" : "normal", Link::identity, number_requirement) {}
  bool dispersed() const override { return true; }
  bool scales() const override { return true; }
  bool has_degrees() const override { return student; }
  bool whole() const override { return false; }
  bool allows(double y) const override { return std::isfinite(y); }
  std::unique_ptr<ResponseStep> step(const StepUnknowns &at) const override {
    return std::make_unique<LocationStep<student>>(at);
  }
  double log_density(double y, const ResponsePoint &at) const override {
    const double r = distance(y, at);
    return log_greatest_density<student>(at.log_dispersion, at.degrees) -
           (student ? 0.5 * (at.degrees + 1) * std::log1p(r * r / at.degrees) : 0.5 * r * r);
  }
  ResponseSlope slope(double y, const ResponsePoint &at) const override {
    const double s = std::exp(-0.5 * at.log_dispersion), r = distance(y, at);
    if (!student) return {s * r, s * s};
    const double part = 1 / (at.degrees + r * r), share = (at.degrees + 1) * part;
    return {s * share * r, s * s * share * (at.degrees - r * r) * part};
  }
  VarianceTerms variance_terms(double, double degrees) const override {
    return {0, 0,
            !student      ? 1
            : degrees > 2 ? degrees / (degrees - 2)
                          : std::numeric_limits<double>::quiet_NaN()};
  }
  double below(double y, const ResponsePoint &at) const override {
    const double r = distance(y, at);
    return student ? student_below(at.degrees, r) : normal_below(r);
  }
  double sample(const ResponsePoint &at, Random &random) const override {
    const double share = student ? random.chi_square(at.degrees) / at.degrees : 1;
    return at.predictor + std::exp(0.5 * at.log_dispersion) * random.normal() / std::sqrt(share);
  }
  double log_fall(double y, const ResponsePoint &at) const override { return log_density(y, at); }
  ResponseFall fall(double y, const ResponsePoint &at) const override {
    return {y, std::exp(0.5 * at.log_dispersion) *
                   (student ? std::sqrt(at.degrees / (at.degrees + 1)) : 1)};
  }

 private:
  static double distance(double y, const ResponsePoint &at) {
    return (y - at.predictor) * std::exp(-0.5 * at.log_dispersion);
  }
};

/// The terms of the log density of a Student t response by the logarithm of its degrees of freedom
/// n that depend on n alone: slope and second derivative of log Gamma((n + 1) / 2) - log Gamma(n /
/// 2) - log(n) / 2.
struct DegreesTerms {
  double n, first, second;

  explicit DegreesTerms(double degrees) : n(degrees) {
    if (n < 1e4) {
      const double by_n = 0.5 * (digamma(0.5 * (n + 1)) - digamma(0.5 * n) - 1 / n),
                   twice =
                       0.5 * (0.5 * (trigamma(0.5 * (n + 1)) - trigamma(0.5 * n)) + 1 / (n * n));
      first = n * by_n;
      second = n * by_n + n * n * twice;
      return;
    }
    // The differences cancel: the logarithm is a constant - 1 / (4 n) + 1 / (24 n^3) - ...
    first = 1 / (4 * n);
    second = -1 / (4 * n);
  }
};

class LearnedStudentStep final : public ResponseStep {
 public:
  explicit LearnedStudentStep(const StepUnknowns &at)
      : location_(at),
        of_(at.degrees),
        scale_(std::exp(-0.5 * at.log_dispersion)) {}
  double operations() const override { return location_.operations() + 50; }
  void operator()(const ResponseBlock &block, ResponseSlopes out,
                  ResponseValues &values) const override {
    // The mixed derivative with the dispersion comes after that with the degrees of freedom.
    ResponseSlopes given = out;
    given.mixed = out.mixed + block_rows;
    location_(block, given, values);
    const double n = of_.n;
    Vector slopes[registers] = {}, curvatures[registers] = {}, both[registers] = {};
    for (int b = 0; b < block_rows; b += lanes) {
      const int part = b / lanes % registers;
      const Vector weight = simd::load(block.weight + b),
                   r = scale_ * (simd::load(block.response + b) - simd::load(block.predictor + b)),
                   square = r * r, share = 1.0 / (n + square), log_part = lane_log1p(square / n);
      // by log n: of -(n + 1) / 2 log(1 + r^2 / n), and of its slope
      const Vector off = square * share, first = of_.first + 0.5 * ((n + 1) * off - n * log_part),
                   second = of_.second +
                            0.5 * (n * off - (n + 1) * off * (n * share) + n * off - n * log_part);
      const Vector bent = n * share * ((square - 1.0) * share);
      slopes[part] += weight * first;
      curvatures[part] -= weight * second;
      both[part] -= weight * 0.5 * square * bent;
      simd::store(out.mixed + b, -weight * scale_ * r * bent);
    }
    add_lanes(slopes, values.degrees_slope);
    add_lanes(curvatures, values.degrees_curvature);
    add_lanes(both, values.degrees_mixed);
  }

 private:
  const LocationStep<true> location_;
  const DegreesTerms of_;
  const double scale_;
};

class LearnedStudent final : public Location<true> {
 public:
  bool learns_degrees() const override { return true; }
  std::unique_ptr<ResponseStep> step(const StepUnknowns &at) const override {
    return std::make_unique<LearnedStudentStep>(at);
  }
};

}  // namespace

// P(Y <= y) of counts falls by y + 1 times P(y + 1), since its derivative by the logarithm of the
// mean telescopes; for other links by the slope of the logarithm of the mean besides.

double NumberResponse::log_fall(double y, const ResponsePoint &at) const {
  return std::log(y + 1) + log_density(y + 1, at);
}

ResponseFall NumberResponse::fall(double y, const ResponsePoint &at) const {
  const double peak = std::log(y + 1);
  return {peak, 1 / std::sqrt(slope(y + 1, {peak, at.trials, at.log_dispersion}).curvature)};
}

std::span<const NumberResponse *const> number_responses() {
  static const Bernoulli bernoulli_logit(Link::logit), bernoulli_probit(Link::probit);
  static const Binomial binomial_logit(Link::logit), binomial_probit(Link::probit);
  static const PoissonResponse poisson;
  static const NegativeBinomialResponse negative_binomial;
  static const Exponential exponential;
  static const GammaResponse gamma;
  static const Location<false> normal;
  static const Location<true> student;
  static const NumberResponse *const all[] = {
      &bernoulli_logit,   &bernoulli_probit, &binomial_logit, &binomial_probit, &poisson,
      &negative_binomial, &exponential,      &gamma,          &normal,          &student};
  return all;
}

std::span<const ResponseFamily *const> all_responses() {
  static const std::vector<const ResponseFamily *> all = [] {
    const auto numbers = number_responses();
    std::vector<const ResponseFamily *> out(numbers.begin(), numbers.end());
    const auto levels = level_responses();
    out.insert(out.end(), levels.begin(), levels.end());
    return out;
  }();
  return all;
}

namespace {

template <class Response>
const Response *find_among(std::span<const Response *const> all, std::string_view name,
                           std::optional<Link> link) {
  for (const Response *const each : all)
    if (each->name == name && each->link == link.value_or(each->link)) return each;
  return nullptr;
}

}  // namespace

const ResponseFamily *find_response(std::string_view name, std::optional<Link> link) {
  return find_among(all_responses(), name, link);
}

const NumberResponse *find_number_response(std::string_view name, std::optional<Link> link) {
  return find_among(number_responses(), name, link);
}

const NumberResponse &student_of_learned_degrees() {
  static const LearnedStudent response;
  return response;
}

const NumberResponse &bernoulli(Link link) { return *find_number_response("bernoulli", link); }

}  // namespace bayes
