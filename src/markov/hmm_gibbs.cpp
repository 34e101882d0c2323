#include "markov/hmm_gibbs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "base/assignment.hpp"
#include "base/control.hpp"
#include "base/special.hpp"
#include "families/normal/normal_completion.hpp"
#include "families/normal/normal_draw.hpp"
#include "families/normal/normal_scorer.hpp"
#include "families/product/product.hpp"
#include "mcmc/stored_draws.hpp"

namespace bayes {
namespace {

// Sums over the draws of a sampled hidden Markov model, from which its point estimate and standard
// deviations are made.

/// E[p^2] of the entries of a Dirichlet.
Vector squares_of(const Vector &alpha) {
  const double whole = alpha.sum();
  const Vector mean = alpha / whole;
  return (alpha.array() / whole * ((whole - alpha.array()) / whole) / (whole + 1) +
          mean.array().square())
      .matrix();
}

/// E[p^2] of the emission parameters that are probabilities; others may have infinite variance and
/// report no standard deviation.
Matrix squares_of(const ProductPosterior &q, const ProductPoint &mean) {
  Matrix out = Matrix::Zero(mean.values.rows(), mean.values.cols());
  q.columns->for_each([&](int j, const Column &column, const ColumnOffsets &at) {
    if (column.probabilities)
      for (Eigen::Index i = 0; i < out.cols(); ++i) {
        double *const own = out.col(i).data() + at.point;
        const double *const means = mean.values.col(i).data() + at.point;
        column.deviations(q.column(int(i), j), own);
        for (int n = 0; n < column.numbers_per_name(); ++n)
          own[n] = own[n] * own[n] + means[n] * means[n];
      }
  });
  return out;
}
Matrix squares_of(const NormalWishart &, const NormalPoint &) { return {}; }

Matrix deviations_of(const ProductPoint &point, const Matrix &squares) {
  return (squares - point.values.cwiseProduct(point.values)).cwiseMax(0).cwiseSqrt();
}
Matrix deviations_of(const NormalPoint &, const Matrix &) { return {}; }

/// Sums over draws of the chain's parameters and counts.
class WeightSums {
 public:
  void add(const MarkovWeights &q, const MarkovCounts &counts) {
    const MarkovWeights mean = markov::mean(q);
    MarkovWeights squares{squares_of(q.initial), q.transition};
    for (Eigen::Index i = 0; i < q.transition.rows(); ++i)
      squares.transition.row(i) = squares_of(q.transition.row(i));
    if (draws_++ == 0) {
      mean_ = mean;
      squares_ = squares;
      visits_ = counts.count;
      transitions_ = counts.transitions;
      return;
    }
    mean_.initial += mean.initial;
    mean_.transition += mean.transition;
    squares_.initial += squares.initial;
    squares_.transition += squares.transition;
    visits_ += counts.count;
    transitions_ += counts.transitions;
  }
  /// Adds the sums of another chain.
  void add(const WeightSums &other) {
    if (other.draws_ == 0) return;
    if (draws_ == 0) {
      *this = other;
      return;
    }
    for (const auto &[to, from] : {std::pair{&mean_, &other.mean_}, {&squares_, &other.squares_}}) {
      to->initial += from->initial;
      to->transition += from->transition;
    }
    visits_ += other.visits_;
    transitions_ += other.transitions_;
    draws_ += other.draws_;
  }
  int draws() const { return draws_; }
  double share() const { return 1.0 / draws_; }

  MarkovWeights mean() const {
    MarkovWeights out{mean_.initial * share(), mean_.transition * share()};
    out.initial /= out.initial.sum();
    out.transition.array().colwise() /= out.transition.rowwise().sum().eval().array();
    return out;
  }
  MarkovWeights deviations(const MarkovWeights &mean) const {
    const auto root = [&](const auto &squares, const auto &means) {
      return (squares * share() - means.cwiseProduct(means)).cwiseMax(0).cwiseSqrt().eval();
    };
    return {root(squares_.initial, mean.initial), root(squares_.transition, mean.transition)};
  }
  /// `k`: the number of states; `draws`: how many draws were added.
  void exchange(StateNumbers &numbers, Eigen::Index k, int draws) {
    if (draws == 0) return;
    if (numbers.reads()) {
      draws_ = draws;
      mean_ = squares_ = {Vector::Zero(k), Matrix::Zero(k, k)};
      visits_ = Vector::Zero(k);
      transitions_ = Matrix::Zero(k, k);
    }
    bayes::exchange(numbers, mean_);
    bayes::exchange(numbers, squares_);
    numbers.dense(visits_);
    numbers.dense(transitions_);
  }
  Vector visits() const { return visits_ * share(); }
  Matrix transitions() const { return transitions_ * share(); }

 private:
  MarkovWeights mean_, squares_;
  Vector visits_;
  Matrix transitions_;
  int draws_ = 0;
};

/// Sums over draws, of one chain or of all.
template <class P, class Q> struct HmmSums {
  WeightSums weights;
  P emissions;
  Matrix squares;

  /// Adds the conditional posterior of a draw, given its counts.
  void add(const MarkovPosterior<Q> &q, const MarkovCounts &counts) {
    const P mean = point_estimate(q.emissions);
    const Matrix of_draw = squares_of(q.emissions, mean);
    if (weights.draws() == 0) {
      emissions = mean;
      squares = of_draw;
    } else {
      accumulate(emissions, mean, 1);
      squares += of_draw;
    }
    weights.add(q, counts);
  }
  /// Adds the sums of another chain.
  void add(const HmmSums &other) {
    if (other.weights.draws() == 0) return;
    if (weights.draws() == 0) {
      *this = other;
      return;
    }
    weights.add(other.weights);
    accumulate(emissions, other.emissions, 1);
    squares += other.squares;
  }
  /// `draws`: how many draws were added, of posteriors of the form of `prior`.
  void exchange(StateNumbers &numbers, const MarkovPosterior<Q> &prior, int draws) {
    weights.exchange(numbers, prior.initial.size(), draws);
    if (draws == 0) return;
    if (numbers.reads()) {
      emissions = point_estimate(prior.emissions);
      squares = squares_of(prior.emissions, emissions);
    }
    bayes::exchange(numbers, emissions);
    numbers.dense(squares);
  }
};

/// For families that need whole rows: makes functions that impute the missing elements of a sweep's
/// steps by draws, each step from a random stream of its own.
std::function<CompleteStep()> completion_of(const NormalPoint &point, std::uint64_t seed, int chain,
                                            int sweep) {
  return [&point, seed, chain, sweep]() -> CompleteStep {
    // Nothing is computed before the first step with missing elements.
    const auto completion = std::make_shared<ElementCompletion>();
    return [=, &point](std::span<double> x, int state, std::int64_t row) {
      if (completion->point().components() == 0) completion->set_point(point);
      Random random(seed, std::uint64_t(chain), std::uint64_t(sweep),
                    16 * (std::uint64_t(row) + 1) + 9);
      completion->complete(x, completion->pattern_of(x), state, &random);
    };
  };
}
std::function<CompleteStep()> completion_of(const ProductPoint &, std::uint64_t, int, int) {
  return {};
}

/// How many numbers a draw of the parameters has.
template <class Q> double numbers_of_draw(const MarkovPosterior<Q> &prior) {
  const double k = double(prior.initial.size());
  return k * (1 + k + parameters_of(prior.emissions));
}

/// How many draws of the parameters to hold while the chains run. Not more than 500 unless the user
/// asks for more, because sequences are scored under every stored draw.
template <class Q>
std::int64_t held_draws(const MarkovPosterior<Q> &prior, const ChainPlan &plan,
                        const Control &control) {
  const double each = numbers_of_draw(prior),
               held = std::clamp(control.memory / 4 / (8 * each), 1.0, 1e9);
  return plan.stored_draws > 0 ? collected_draws(plan, std::int64_t(held))
                               : equal_draws(plan, std::min({held, 500.0, 5e5 / each}));
}
template <class Q>
std::int64_t held_for_extension(const MarkovPosterior<Q> &prior, const Control &control) {
  const double each = numbers_of_draw(prior);
  return bayes::held_for_extension(each, std::int64_t(control.memory / 4 / (8 * each)));
}

/// Is none of the states exchangeable?
bool none_exchangeable(const StateNumbering &names) {
  return names.groups == no_exchange(int(names.groups.size()));
}

template <class P, class Q> class Sampling {
 public:
  Sampling(const Sequences &sequences, const MarkovPosterior<Q> &prior, bool whole_steps,
           const StateNumbering &names, const ChainPlan &plan, std::uint64_t seed,
           const Control &control)
      : sequences_(sequences),
        prior_(prior),
        learner_(prior, whole_steps),
        names_(names),
        named_(none_exchangeable(names)),
        seed_(seed),
        held_(held_draws(prior, plan, control)) {
    if (!named_) reference_.assign(std::size_t(sequences.rows.rows()), 0);
  }

  class Chain;

  std::int64_t held() const { return held_; }

  void retain(std::span<const int> held) {
    bayes::retain(draws_, held);
    bayes::retain(log_likelihoods_, held);
  }
  void exchange(StateNumbers &numbers, int chain, std::int64_t kept, std::int64_t held) {
    const int k = int(prior_.initial.size());
    if (chain == 0) numbers.labels(reference_, k - 1);
    of_chain_.exchange(numbers, prior_, int(kept));
    const MarkovPoint<P> any = mean_parameters(prior_);
    const std::size_t before = draws_.size() - (numbers.reads() ? 0 : std::size_t(held));
    for (std::size_t s = before; s < before + std::size_t(held); ++s) {
      poll_here();
      if (numbers.reads()) draws_.push_back(any);
      bayes::exchange(numbers, draws_[s]);
    }
    log_likelihoods_.resize(draws_.size());
    numbers.numbers(std::span(log_likelihoods_).last(std::size_t(held)));
  }

  void end_chain() { sums_.add(std::exchange(of_chain_, {})); }

  SampledHmm<P, Q> result(ChainRun chains, Control &control) {
    SampledHmm<P, Q> out;
    auto &[weights, emissions, squares] = sums_;
    static_cast<MarkovWeights &>(out.point) = weights.mean();
    accumulate(emissions, P(emissions), weights.share() - 1);
    out.point.emissions = std::move(emissions);
    MarkovWeights deviations = weights.deviations(out.point);
    out.deviations = {std::move(deviations.initial), std::move(deviations.transition),
                      deviations_of(out.point.emissions, squares * weights.share())};
    out.visits = weights.visits();
    out.transitions = weights.transitions();
    const auto held = std::int64_t(draws_.size());
    const double numbers = numbers_of_draw(prior_) * double(held);
    std::vector<double> logs;
    for (const int index : draws_to_store(chains, held, numbers, control)) {
      out.draws.push_back(std::move(draws_[std::size_t(index)]));
      logs.push_back(log_likelihoods_[std::size_t(index)]);
    }
    out.log_likelihood = log_sum_exp(logs) - std::log(double(logs.size()));
    out.chains = std::move(chains);
    return out;
  }

 private:
  const Sequences &sequences_;
  const MarkovPosterior<Q> &prior_;
  const MarkovVariational<Q> learner_;
  const StateNumbering &names_;
  const bool named_;
  const std::uint64_t seed_;
  std::vector<std::uint16_t> reference_;
  HmmSums<P, Q> of_chain_, sums_;
  const std::int64_t held_;
  std::vector<MarkovPoint<P>> draws_;
  std::vector<double> log_likelihoods_;  // of draws_
};

template <class P, class Q> class Sampling<P, Q>::Chain final : public ChainSampler {
 public:
  Chain(Sampling &all, int number, MarkovPoint<P> begin)
      : all_(all),
        number_(number),
        parameters_(std::move(begin)) {}

  double sweep(int index, Control &control) override {
    if (posterior_) {
      rename(index);
      Random random(all_.seed_, std::uint64_t(number_), std::uint64_t(index - 1), 8);
      parameters_ = draw_parameters<P>(*posterior_, random);
    }
    // The path at the end of the first chain's warmup becomes the reference for the numbering of
    // the states in all later draws.
    const bool naming = std::exchange(names_, false);
    compared_ = !all_.named_ && !naming && warm_;
    const auto scorer = make_scorer(parameters_.emissions);
    const PathDraws draws{RowRandom(all_.seed_, std::uint64_t(number_), std::uint64_t(index), 7),
                          naming ? all_.reference_.data() : nullptr,
                          compared_ ? all_.reference_.data() : nullptr};
    const MarkovSums sums =
        markov_step(all_.sequences_, control, markov::chain_of(parameters_),
                    *emissions_of(scorer, all_.learner_.whole_steps, all_.sequences_.values,
                                  completion_of(parameters_.emissions, all_.seed_, number_, index)),
                    &draws);
    log_likelihood_ = sums.objective;
    confusion_ = sums.confusion;
    const double log_joint = log_likelihood_ + density();
    if (!std::isfinite(log_joint)) return log_joint;
    const auto statistics = markov::statistics_of(sums, scorer);
    counts_ = statistics;
    posterior_ = all_.learner_.update(statistics, all_.prior_);
    return log_joint;
  }

  void end_warmup() override {
    warm_ = true;
    names_ = !all_.named_ && number_ == 0;
  }

  void record(std::vector<double> &values) const override {
    values.push_back(without_rounding_errors(log_likelihood_));
    values.push_back(double((counts_.count.array() > 0).count()));
  }

  void keep(double) override {
    order_ = no_exchange(int(counts_.count.size()));
    if (compared_) {
      const std::vector<int> name =
          best_assignment(confusion_, int(order_.size()), all_.names_.groups);
      for (std::size_t i = 0; i < order_.size(); ++i) order_[std::size_t(name[i])] = int(i);
    }
    all_.of_chain_.add(reordered(*posterior_, order_), markov::reordered(counts_, order_));
  }

  void store(double) override {
    all_.draws_.push_back(reordered(parameters_, order_));
    all_.log_likelihoods_.push_back(log_likelihood_);
  }

  void exchange_state(StateNumbers &numbers) override {
    bayes::exchange(numbers, parameters_);
    numbers.flag(warm_);
    numbers.flag(names_);
    bool swept = posterior_.has_value();
    numbers.flag(swept);
    if (!swept) return;
    if (numbers.reads()) {
      posterior_ = all_.prior_;
      const Vector none = Vector::Zero(all_.prior_.initial.size());
      counts_ = {none, Matrix::Zero(none.size(), none.size()), none};
    }
    bayes::exchange(numbers, *posterior_);
    bayes::exchange(numbers, counts_);
  }

 private:
  /// A Metropolis step on the numbering of the states given the last path, if only the prior of the
  /// chain distinguishes them.
  void rename(int index) {
    if (all_.names_.of_prior.empty()) return;
    Random random(all_.seed_, std::uint64_t(number_), std::uint64_t(index - 1), 10);
    const std::vector<int> order =
        markov::draw_state_order(counts_, all_.prior_, all_.names_.of_prior, random);
    if (markov::is_identity(order)) return;
    posterior_ = {markov::posterior(markov::reordered(counts_, order), all_.prior_),
                  pick(posterior_->emissions, order)};
  }

  /// log prior density, kept finite: a probability that was drawn as 0 under a Dirichlet parameter
  /// below 1 has an infinite one.
  double density() const {
    constexpr double least = std::numeric_limits<double>::min();
    const MarkovWeights above{parameters_.initial.cwiseMax(least),
                              parameters_.transition.cwiseMax(least)};
    return markov::log_density(above, all_.prior_) +
           log_prior(parameters_.emissions, all_.prior_.emissions);
  }

  Sampling &all_;
  const int number_;
  MarkovPoint<P> parameters_;
  /// Is the warmup over, and will the next path become the reference?
  bool warm_ = false, names_ = false;
  /// the order of the states in the last kept draw
  std::vector<int> order_;
  // of the last sweep
  bool compared_ = false;
  double log_likelihood_ = 0;
  std::vector<double> confusion_;
  MarkovCounts counts_;
  std::optional<MarkovPosterior<Q>> posterior_;
};

}  // namespace

Vector draw_distribution(const Vector &alpha, Random &random) {
  Vector out = Vector::Zero(alpha.size());
  std::vector<double> possible, drawn;
  for (const double a : alpha)
    if (a > 0) possible.push_back(a);
  drawn.resize(possible.size());
  random.dirichlet(possible, drawn);
  auto at = drawn.begin();
  for (Eigen::Index i = 0; i < alpha.size(); ++i)
    if (alpha(i) > 0) out(i) = *at++;
  return out;
}

Matrix draw_distributions(const Matrix &alpha, Random &random) {
  Matrix out(alpha.rows(), alpha.cols());
  for (Eigen::Index i = 0; i < alpha.rows(); ++i)
    out.row(i) = draw_distribution(alpha.row(i), random);
  return out;
}

template <class P, class Q>
SampledHmm<P, Q> sample_hmm(const Sequences &sequences, const MarkovPosterior<Q> &prior,
                            bool whole_steps, const StateNumbering &names, const ChainPlan &plan,
                            std::uint64_t seed, Control &control,
                            const std::function<MarkovPoint<P>(int chain)> &begin) {
  if (!none_exchangeable(names) &&
      2.0 * double(sequences.rows.rows()) > std::max(control.row_memory, 64e6))
    throw Error(Errc::too_large,
                "method gibbs keeps the states of one path, which for " +
                    std::to_string(sequences.steps) + " steps do not fit into maintenance_work_mem",
                {}, "Raise maintenance_work_mem, or use method vi or svi.");
  Sampling<P, Q> all(sequences, prior, whole_steps, names, plan, seed, control);
  ChainSettings settings{"gibbs",    plan,           {"log_likelihood", "states"},
                         all.held(), "observations", plan.all_stored()};
  settings.retain = [&all](std::span<const int>, std::span<const int> held) { all.retain(held); };
  settings.exchange = [&all](StateNumbers &numbers, int chain, std::int64_t kept,
                             std::int64_t held) { all.exchange(numbers, chain, kept, held); };
  settings.end_chain = [&all] { all.end_chain(); };
  settings.max_held_draws = held_for_extension(prior, control);
  ChainRun chains = run_chains(settings, control, [&](int chain) {
    return std::make_unique<typename Sampling<P, Q>::Chain>(all, chain, begin(chain));
  });
  return all.result(std::move(chains), control);
}

template SampledHmm<NormalPoint, NormalWishart> sample_hmm(
    const Sequences &, const MarkovPosterior<NormalWishart> &, bool, const StateNumbering &,
    const ChainPlan &, std::uint64_t, Control &,
    const std::function<MarkovPoint<NormalPoint>(int)> &);
template SampledHmm<ProductPoint, ProductPosterior> sample_hmm(
    const Sequences &, const MarkovPosterior<ProductPosterior> &, bool, const StateNumbering &,
    const ChainPlan &, std::uint64_t, Control &,
    const std::function<MarkovPoint<ProductPoint>(int)> &);

}  // namespace bayes

namespace bayes::markov {
namespace {

std::vector<int> identity(Eigen::Index k) {
  std::vector<int> out(static_cast<std::size_t>(k));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

/// log p(counts | prior) as far as it depends on the order of the states.
class Evidence {
 public:
  Evidence(const MarkovCounts &counts, const MarkovWeights &prior)
      : counts_(counts),
        prior_(prior),
        leaving_(counts.transitions.rowwise().sum()),
        prior_leaving_(prior.transition.rowwise().sum()) {}

  double of(const std::vector<int> &order) const {
    double total = 0;
    for (int a = 0; a < size(order); ++a) {
      total += of_state(order, a);
      for (int b = 0; b < size(order); ++b) total += move(order, a, b);
    }
    return total;
  }

  /// the gain if the states at positions i and j are exchanged
  double gain(std::vector<int> &order, int i, int j) const {
    const double before = around(order, i, j);
    std::swap(order[std::size_t(i)], order[std::size_t(j)]);
    const double after = around(order, i, j);
    std::swap(order[std::size_t(i)], order[std::size_t(j)]);
    return after > minus_infinity ? after - before : minus_infinity;
  }

 private:
  static int size(const std::vector<int> &order) { return int(order.size()); }

  /// the term of a Dirichlet's entry; -infinity if a structural zero has a count
  static double entry(double alpha, double count) {
    if (alpha > 0) return log_gamma(alpha + std::max(count, 0.0));
    return count > 1e-9 ? minus_infinity : 0;
  }
  double of_state(const std::vector<int> &order, int a) const {
    const int from = order[std::size_t(a)];
    const double all = prior_leaving_(a);
    return entry(prior_.initial(a), counts_.initial(from)) -
           (all > 0 ? log_gamma(all + std::max(leaving_(from), 0.0)) : 0);
  }
  double move(const std::vector<int> &order, int a, int b) const {
    return entry(prior_.transition(a, b),
                 counts_.transitions(order[std::size_t(a)], order[std::size_t(b)]));
  }
  /// the terms that involve positions i or j
  double around(const std::vector<int> &order, int i, int j) const {
    double total = of_state(order, i) + of_state(order, j);
    for (int b = 0; b < size(order); ++b) {
      total += move(order, i, b) + move(order, j, b);
      if (b != i && b != j) total += move(order, b, i) + move(order, b, j);
    }
    return total;
  }

  const MarkovCounts &counts_;
  const MarkovWeights &prior_;
  const Vector leaving_, prior_leaving_;
};

constexpr double min_gain = 1e-9;

std::vector<int> best_of_all(const Evidence &evidence, Eigen::Index k) {
  std::vector<int> best = identity(k), order = best;
  double most = evidence.of(order);
  while (std::next_permutation(order.begin(), order.end())) {
    const double now = evidence.of(order);
    if (!(now > most + min_gain)) continue;
    most = now;
    best = order;
  }
  return best;
}

}  // namespace

ExchangeableGroups exchangeable_states(const MarkovWeights &prior) {
  const int k = int(prior.initial.size());
  const Matrix &a = prior.transition;
  return exchangeable_groups(k, [&](int i, int j) {
    if (prior.initial(i) != prior.initial(j) || a(i, i) != a(j, j) || a(i, j) != a(j, i))
      return false;
    for (int l = 0; l < k; ++l)
      if (l != i && l != j && (a(i, l) != a(j, l) || a(l, i) != a(l, j))) return false;
    return true;
  });
}

std::vector<int> best_state_order(const MarkovCounts &counts, const MarkovWeights &prior,
                                  const ExchangeableGroups &of_prior) {
  const Evidence evidence(counts, prior);
  const Eigen::Index k = prior.initial.size();
  constexpr Eigen::Index few = 6;
  if (k <= few) return best_of_all(evidence, k);
  std::vector<int> order = identity(k);
  for (bool better = true; better;) {
    better = false;
    for (int i = 0; i < int(k); ++i) {
      for (int j = i + 1; j < int(k); ++j) {
        if (of_prior[std::size_t(i)] == of_prior[std::size_t(j)]) continue;
        poll_here();
        if (!(evidence.gain(order, i, j) > min_gain)) continue;
        std::swap(order[std::size_t(i)], order[std::size_t(j)]);
        better = true;
      }
    }
  }
  return order;
}

std::vector<int> draw_state_order(const MarkovCounts &counts, const MarkovWeights &prior,
                                  const ExchangeableGroups &of_prior, Random &random) {
  const Evidence evidence(counts, prior);
  const auto k = std::uint64_t(prior.initial.size());
  std::vector<int> order = identity(prior.initial.size());
  for (std::uint64_t n = 1; n < k; ++n) {
    const int i = int(random.below(k)), j = int(random.below(k));
    const double u = random.uniform();
    if (of_prior[std::size_t(i)] == of_prior[std::size_t(j)]) continue;
    if (std::log(u) < evidence.gain(order, i, j))
      std::swap(order[std::size_t(i)], order[std::size_t(j)]);
  }
  return order;
}

bool is_identity(const std::vector<int> &order) {
  return std::is_sorted(order.begin(), order.end());
}

}  // namespace bayes::markov
