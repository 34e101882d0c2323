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
    if (!settled_ && t < by_element_) {
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
    if (t < by_element_) {
      learn_element(probability, t);
      if (t == by_element_ - 1) use_elements(x);
      return;
    }
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
  }

  /// Ends the adaptation, after this many steps: proposals no longer change.
  void settle(const std::vector<double> &x, int steps) {
    settled_ = true;
    if (steps < by_element_) return use_elements(x);
    refactor();
    if (scales_ > 0) log_scale_ = sum_of_scales_ / scales_;
  }

 private:
  /// best scale for a one-dimensional normal distribution, in standard deviations
  static constexpr double single = 2.38;

  /// About two steps correct a scale by a factor of e, and 30 steps by a factor of 1e6; later
  /// changes are smaller.
  void learn_element(double probability, int t) {
    const std::size_t i = std::size_t(t % size_);
    const double visits = double(t / size_) + 1;
    log_scales_[i] += std::min(1.0, steps_of_element / visits) * (probability - 0.44);
  }

  /// From now on all elements are proposed at once, with the scales that they have.
  void use_elements(const std::vector<double> &x) {
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
  bool settled_ = false;
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

/// One chain. It calls the density, and hands out its draws.
class OneChain {
 public:
  OneChain(const LogDensity &log_density, std::span<const double> starts, int number,
           const MetropolisOptions &options)
      : log_density_(log_density),
        options_(options),
        number_(number),
        random_(options.seed, std::uint64_t(number), 0x6d6574),
        proposal_(options.scale.size()),
        here_(begin_chain(log_density, starts, number, options, random_, x_)),
        proposals_(options.scale, x_.data(), options.plan, options.adapt) {}

  /// False if time was over before its end.
  bool warm_up(Control &control) {
    const int warmup = options_.plan.warmup;
    for (int i = 0; i < warmup; ++i) {
      if (i > 0 && control.out_of_time()) {
        if (options_.adapt) proposals_.settle(x_, i);
        return false;
      }
      const double probability = step(control);
      if (options_.adapt) proposals_.learn(x_, probability, i);
    }
    if (options_.adapt && warmup > 0) proposals_.settle(x_, warmup);
    return true;
  }

  /// Makes the next draw.
  MetropolisDraw draw(Control &control, const std::function<void(const MetropolisDraw &)> &take) {
    const int thin = options_.plan.thin;
    const std::int64_t before = accepted_;
    for (int i = 0; i < thin; ++i) step(control);
    const MetropolisDraw out = {number_ + 1, ++draws_, x_, here_,
                                double(accepted_ - before) / thin};
    of_draws_ += accepted_ - before;
    take(out);
    return out;
  }
  /// the share of proposals accepted since the warmup
  double acceptance() const { return double(of_draws_) / (double(draws_) * options_.plan.thin); }

 private:
  /// Returns the probability with which the proposal was accepted.
  double step(Control &control) {
    control.poll();
    double probability = 0;
    if (proposals_.propose(x_, step_++, random_, proposal_)) {
      const double there = checked_density(log_density_, proposal_);
      probability = there >= here_ ? 1 : std::exp(there - here_);
      if (random_.uniform() < probability) {
        x_.swap(proposal_);
        here_ = there;
        ++accepted_;
      }
    }
    return probability;
  }

  const LogDensity &log_density_;
  const MetropolisOptions &options_;
  int number_, draws_ = 0, step_ = 0;
  std::int64_t accepted_ = 0, of_draws_ = 0;
  Random random_;
  std::vector<double> x_, proposal_;
  double here_;
  Proposals proposals_;
};

/// The log density and the elements of evenly spaced draws of every chain.
class KeptDraws {
 public:
  KeptDraws(const ChainPlan &plan, std::size_t dimension)
      : kept_(dimension + 1, std::vector<std::vector<double>>(std::size_t(plan.chains))) {
    const std::int64_t most = std::min(max_of_element, max_diagnosed / std::int64_t(dimension + 1));
    every_ = int(1 + plan.all_stored() / most);
  }
  void add(int chain, const MetropolisDraw &draw) {
    if (draw.draw % every_ != 0) return;
    kept_[0][std::size_t(chain)].push_back(draw.log_density);
    for (std::size_t i = 0; i < draw.x.size(); ++i)
      kept_[i + 1][std::size_t(chain)].push_back(draw.x[i]);
  }
  void diagnose(MetropolisRun &run, Control &control) const {
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      std::vector<Chain> chains;
      for (std::size_t c = 0; c < kept_[i].size(); ++c)
        chains.push_back({std::int64_t(c) + 1, kept_[i][c]});
      const std::optional<double> found = rhat(chains, control);
      if (!found || *found <= run.rhat) continue;
      run.rhat = *found;
      run.worst = i;
    }
  }

 private:
  std::vector<std::vector<std::vector<double>>> kept_;
  int every_;
};

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
  t.seed(seed_key, out.seed);
  t.boolean({"adapt", "whether proposals adapt in the warmup"}, out.adapt);
  t.number({"max_seconds", "seconds that all chains may take"}, out.max_seconds, above(0, 1e9),
           true);
  std::optional<Tensor> scale;
  t.number_or_tensor({"scale", "a guess of the standard deviations", "a number, or d numbers", "1"},
                     scale);
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
  const BudgetScope time(control, control.budget.from_now(options.max_seconds));
  const Budget all = control.budget;
  // Chains that share a limited time take turns, so that all have as many draws when it is over.
  const bool by_turns = all.limited();
  KeptDraws kept(plan, dimension);
  MetropolisRun run;
  std::vector<OneChain> chains;
  chains.reserve(std::size_t(plan.chains));
  for (int number = 0; number < plan.chains; ++number) {
    const double end = all.limit() * (number + 1) / (2 * plan.chains);
    const BudgetScope warmup_time(control, by_turns ? all.until(end) : all);
    OneChain &chain = chains.emplace_back(log_density, starts, number, options);
    run.short_warmup |= !chain.warm_up(control);
    if (by_turns) continue;
    for (int i = 0; i < plan.stored(); ++i) kept.add(number, chain.draw(control, take));
    run.draws = plan.stored();
  }
  for (; by_turns && run.draws < plan.stored(); ++run.draws) {
    if (run.draws > 0 && control.out_of_time()) break;
    for (int number = 0; number < plan.chains; ++number)
      kept.add(number, chains[std::size_t(number)].draw(control, take));
  }
  for (const OneChain &chain : chains) run.acceptance.push_back(chain.acceptance());
  kept.diagnose(run, control);
  return run;
}

}  // namespace bayes
