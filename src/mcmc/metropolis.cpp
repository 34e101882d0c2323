#include "mcmc/metropolis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/error.hpp"
#include "base/linalg.hpp"
#include "base/message.hpp"
#include "base/random.hpp"
#include "document/option_table.hpp"
#include "mcmc/diagnostics.hpp"

namespace bayes {
namespace {

/// Steps of the warmup for each element that adapt only its scale, if they fit into a fifth of the
/// warmup.
constexpr int steps_of_element = 30;
/// Limit of the numbers kept for R-hat, which takes 80 bytes for each draw of an element.
constexpr std::int64_t max_diagnosed = 2'000'000, max_of_element = 200'000;

constexpr double impossible = -std::numeric_limits<double>::infinity();

double checked_density(const LogDensity &log_density, std::span<const double> x) {
  const double value = log_density(x);
  if (std::isnan(value) || value == -impossible)
    throw Error(Errc::numeric,
                message("the log density is {} at {}", std::isnan(value) ? "NaN" : "Infinity",
                        point_text(x)),
                "It must be finite, or -Infinity outside of the support.");
  return value;
}

/// The proposal distribution, and its adaptation during the warmup.
class Proposals {
 public:
  Proposals(const std::vector<double> &scale, const double *start, const ChainPlan &plan,
            bool adapt)
      : size_(Eigen::Index(scale.size())),
        factor_(Matrix::Zero(size_, size_)),
        mean_(Eigen::Map<const Vector>(start, size_)),
        log_scale_(std::log(2.38 / std::sqrt(double(scale.size())))),
        target_(0.234 + 0.206 / double(scale.size())),
        warmup_(plan.warmup),
        by_element_(adapt && size_ > 1 && warmup_ / 5 >= steps_of_element * size_ ? warmup_ / 5
                                                                                  : 0) {
    for (const double each : scale) log_scales_.push_back(std::log(single * each));
    for (Eigen::Index i = 0; i < size_; ++i) factor_(i, i) = scale[std::size_t(i)];
    covariance_ = factor_.array().square().matrix();
  }

  /// Makes the proposal of step `t` from x; returns false if it overflows.
  bool propose(const std::vector<double> &x, int t, Random &random, std::vector<double> &out) {
    if (t < by_element_) {
      const std::size_t i = std::size_t(t % size_);
      out = x;
      out[i] += std::exp(log_scales_[i]) * random.normal();
      return std::isfinite(out[i]);
    }
    z_.resize(x.size());
    for (double &value : z_) value = random.normal();
    const double s = std::exp(log_scale_);
    bool finite = true;
    for (Eigen::Index i = 0; i < size_; ++i) {
      double move = 0;
      for (Eigen::Index j = 0; j <= i; ++j) move += factor_(i, j) * z_[std::size_t(j)];
      out[std::size_t(i)] = x[std::size_t(i)] + s * move;
      finite = finite && std::isfinite(out[std::size_t(i)]);
    }
    return finite;
  }

  /// Adapts to step `t` of the warmup, from 0, given the current point and the acceptance
  /// probability of the proposal.
  void learn(const std::vector<double> &x, double probability, int t) {
    const int warmup = warmup_;
    if (t < by_element_) return learn_element(x, probability, t);
    const double rate = std::pow(double(t) + 2, -0.6);
    log_scale_ += rate * (probability - target_);
    // The average over the second half is less noisy than the last value.
    if (t >= warmup / 2) {
      sum_of_scales_ += log_scale_;
      ++scales_;
    }
    // Points on the way to the bulk of the distribution say little about its covariance.
    if (t < warmup / 5) {
      for (Eigen::Index i = 0; i < size_; ++i) mean_(i) += 0.1 * (x[std::size_t(i)] - mean_(i));
    } else {
      // Nearly 1 / t (Haario, Saksman and Tamminen 2001), as a covariance needs hundreds of points
      // for each dimension; times 3, so that the start is forgotten.
      const double weight = std::min(0.1, 3.0 / (t - warmup / 5 + 10.0 * double(size_)));
      Vector away(size_);
      for (Eigen::Index i = 0; i < size_; ++i) away(i) = x[std::size_t(i)] - mean_(i);
      mean_ += weight * away;
      covariance_ += weight * (away * away.transpose() - covariance_);
      if (size_ == 1 || t % std::max<Eigen::Index>(10, size_) == 0) refactor();
    }
    if (t == warmup - 1) {
      refactor();
      log_scale_ = sum_of_scales_ / scales_;
    }
  }

 private:
  /// best scale for a one-dimensional normal distribution, in standard deviations
  static constexpr double single = 2.38;

  /// About two steps correct a scale by a factor of e, and 30 steps by a factor of 1e6; later
  /// changes are smaller.
  void learn_element(const std::vector<double> &x, double probability, int t) {
    const std::size_t i = std::size_t(t % size_);
    const double visits = double(t / size_) + 1;
    log_scales_[i] += std::min(1.0, steps_of_element / visits) * (probability - 0.44);
    if (t < by_element_ - 1) return;
    for (Eigen::Index j = 0; j < size_; ++j) {
      mean_(j) = x[std::size_t(j)];
      factor_(j, j) = std::exp(log_scales_[std::size_t(j)]) / single;
    }
    covariance_ = factor_.array().square().matrix();
  }

  void refactor() {
    if (!covariance_.allFinite()) return;
    Matrix lower, wider = covariance_;
    // A chain that has not moved in some direction must still be able to.
    wider.diagonal() *= 1 + 1e-9;
    if (cholesky(wider, lower) && lower.allFinite()) factor_ = lower;
  }

  Eigen::Index size_;
  Matrix factor_, covariance_;
  Vector mean_;
  double log_scale_, target_, sum_of_scales_ = 0;
  int scales_ = 0;
  int warmup_, by_element_;
  /// scales of the proposals of single elements
  std::vector<double> log_scales_;
  std::vector<double> z_;
};

/// The starting point of a chain.
double begin_chain(const LogDensity &log_density, std::span<const double> starts, int chain,
                   const MetropolisOptions &options, Random &random, std::vector<double> &x) {
  const std::size_t d = options.scale.size();
  const bool shared = starts.size() == d;
  const auto given = starts.subspan(shared ? 0 : std::size_t(chain) * d, d);
  const double at_given = checked_density(log_density, given);
  if (at_given == impossible)
    throw Error(Errc::invalid_argument,
                message("the log density is -Infinity at the start {}", point_text(given)),
                "A chain must begin within the support of the density.");
  x.assign(given.begin(), given.end());
  if (!shared || chain == 0) return at_given;
  // With dispersed starting points, R-hat shows whether the chains have converged.
  std::vector<double> nearby(d);
  for (int attempt = 0; attempt < 20; ++attempt) {
    for (std::size_t i = 0; i < d; ++i) nearby[i] = given[i] + options.scale[i] * random.normal();
    if (!std::all_of(nearby.begin(), nearby.end(), [](double v) { return std::isfinite(v); }))
      continue;
    const double value = checked_density(log_density, nearby);
    if (value == impossible) continue;
    x = nearby;
    return value;
  }
  return at_given;
}

}  // namespace

std::string point_text(std::span<const double> x) {
  std::string out = "{";
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i == 20) return out + ", ...}";
    out += message("{}{}", i > 0 ? ", " : "", x[i]);
  }
  return out + "}";
}

MetropolisOptions MetropolisOptions::read(const Document &options, std::size_t dimension) {
  MetropolisOptions out;
  out.plan.draws = 4000;
  OptionTable t = OptionTable::reading(options);
  out.plan.lines(t, true);
  t.seed("seed", out.seed);
  t.boolean("adapt", out.adapt);
  std::optional<Tensor> scale;
  t.number_or_tensor("scale", scale);
  t.finish();
  out.scale.assign(dimension, 1);
  if (!scale) return out;
  if (!scale->shape.empty() && (scale->shape.size() != 1 || scale->values.size() != dimension))
    throw Error(Errc::invalid_argument,
                message("option \"scale\" must be a number, or an array of {} of them", dimension));
  for (std::size_t i = 0; i < dimension; ++i) {
    out.scale[i] = scale->values[scale->shape.empty() ? 0 : i];
    if (!(out.scale[i] > 0))
      throw Error(Errc::invalid_argument,
                  message("option \"scale\" contains {}, but must be positive", out.scale[i]));
  }
  return out;
}

MetropolisRun metropolis(const LogDensity &log_density, std::span<const double> starts,
                         std::size_t dimension, const MetropolisOptions &options, Control &control,
                         const std::function<void(const MetropolisDraw &)> &take) {
  const ChainPlan &plan = options.plan;
  MetropolisRun run;
  // The log density and the elements of every chain.
  std::vector<std::vector<std::vector<double>>> kept(
      dimension + 1, std::vector<std::vector<double>>(std::size_t(plan.chains)));
  const std::int64_t most = std::min(max_of_element, max_diagnosed / std::int64_t(dimension + 1));
  const auto every = int(1 + plan.all_stored() / most);
  std::vector<double> x(dimension), proposal(dimension);
  for (int chain = 0; chain < plan.chains; ++chain) {
    Random random(options.seed, std::uint64_t(chain), 0x6d6574);
    double here = begin_chain(log_density, starts, chain, options, random, x);
    Proposals proposals(options.scale, x.data(), plan, options.adapt);
    std::int64_t accepted = 0, since = 0;
    int draw = 0;
    for (int step = 0; step < plan.draws; ++step) {
      control.poll();
      double probability = 0;
      if (proposals.propose(x, step, random, proposal)) {
        const double there = checked_density(log_density, proposal);
        probability = there >= here ? 1 : std::exp(there - here);
        if (random.uniform() < probability) {
          x.swap(proposal);
          here = there;
          ++since;
        }
      }
      if (step < plan.warmup) {
        since = 0;
        if (options.adapt) proposals.learn(x, probability, step);
        continue;
      }
      if ((step - plan.warmup + 1) % plan.thin != 0) continue;
      take({chain + 1, ++draw, x, here, double(since) / plan.thin});
      if (draw % every == 0) {
        kept[0][std::size_t(chain)].push_back(here);
        for (std::size_t i = 0; i < dimension; ++i) kept[i + 1][std::size_t(chain)].push_back(x[i]);
      }
      accepted += since;
      since = 0;
    }
    run.acceptance.push_back(double(accepted) / (double(draw) * plan.thin));
  }
  run.rhat = std::numeric_limits<double>::quiet_NaN();
  run.worst = 0;
  for (std::size_t i = 0; i <= dimension; ++i) {
    std::vector<Chain> chains;
    for (std::size_t c = 0; c < kept[i].size(); ++c)
      chains.push_back({std::int64_t(c) + 1, kept[i][c]});
    const std::optional<double> found = rhat(chains, control);
    if (!found || *found <= run.rhat) continue;
    run.rhat = *found;
    run.worst = i;
  }
  return run;
}

}  // namespace bayes
