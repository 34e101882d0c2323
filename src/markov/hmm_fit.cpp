// The fit of a hidden Markov model: the parts that depend on the observation family, and those that
// do not.

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "document/members.hpp"
#include "families/normal/normal_response.hpp"
#include "families/product/product_response.hpp"
#include "fit/component_overlap.hpp"
#include "fit/fit_run.hpp"
#include "markov/hmm_gibbs.hpp"
#include "markov/hmm_start.hpp"
#include "markov/markov_learners.hpp"

namespace bayes {
namespace {

/// The arguments of a fit.
struct HmmTask {
  const Sequences &sequences;
  std::vector<std::string> symbols;
  const HmmOptions &options;
  bool vectors;
  const HiddenMarkovModel *start;
  bool update;
  Control &control;
};

/// The parts of a fit that do not depend on the observation family.
class HmmFitBase {
 protected:
  /// `start`: the chain of the start model, or null.
  HmmFitBase(HmmTask task, const MarkovWeights *start);

  /// `each`: numbers in the emission parameters of all states; `sums`: in a thread's emission
  /// statistics.
  void check_memory(double each, double sums) const;
  /// The transition matrix at the start of a restart. Restarts differ in their emissions; every
  /// third one also begins with persistent states (self-transition probability 0.8).
  Matrix first_transition(int restart) const;
  /// The starting point of a restart: emissions found in the data and the transitions of
  /// first_transition(); or a path (markov/hmm_start.hpp), of such emissions alone or of the best
  /// restart so far. Paths need exchangeable states, and sequences on this server.
  enum class Origin { emissions, path, best_path };
  Origin origin_of(int restart) const;
  MarkovWeights prior_of_options() const;
  void require_no_weights() const;
  /// A subset of the sequences, on which restarts and the searches for starting points of chains
  /// run; null if all sequences have few enough steps.
  const Sequences *trial();
  /// The data on which restarts run.
  const Sequences &data_of_restarts() {
    const Sequences *const some = options_.sampled() || options_.restarts > 1 ? trial() : nullptr;
    return some ? *some : sequences_;
  }
  void set_counts(const MarkovCounts &counts) {
    model_->state->visits = counts.count;
    model_->state->transitions = counts.transitions;
  }
  /// Sets names_; call once the prior is known.
  void set_numbering(const MarkovWeights &prior);
  /// Puts visits, transitions and run_ into this order of the states, and returns it; if it is
  /// empty, exchangeable states are sorted by descending visits.
  std::vector<int> order_states(std::vector<int> order);
  /// Completes the model's info. `emissions`: the prior of the emissions in the form of options.
  void describe(const Document &emissions);

  template <class Begin, class Go> auto best_of_restarts(Begin begin, Go go) {
    TrialData<const Sequences> data;
    if (const Sequences *const some = options_.restarts > 1 ? trial() : nullptr)
      data = {some, some->weight};
    return run_.best_of_restarts(sequences_, data, std::move(begin), std::move(go));
  }

  const Sequences &sequences_;
  std::vector<std::string> symbols_;
  const HmmOptions &options_;
  const int k_;
  const bool update_;
  Control &control_;
  std::unique_ptr<HiddenMarkovModel> model_ = std::make_unique<HiddenMarkovModel>();
  FitRun run_;
  /// the chain before any data: starting values, with structural zeros
  MarkovWeights first_;
  /// states are numbered by a start model, option init, the topology or known states
  bool named_ = false;
  StateNumbering names_;
  /// states that option order may exchange
  ExchangeableGroups ordered_;

 private:
  void find_start_of_chain(const MarkovWeights *start);

  std::optional<Trial> trial_;
};

/// E: the observation family (hmm_start.hpp).
template <class E> class HmmFit : HmmFitBase {
  using P = typename E::Point;
  using Q = typename E::Posterior;
  using Fitted = typename E::Fitted;

 public:
  explicit HmmFit(const HmmTask &task)
      : HmmFitBase(task, task.start ? &std::get<Fitted>(task.start->state->fitted).point : nullptr),
        start_(task.start ? &std::get<Fitted>(task.start->state->fitted) : nullptr),
        emissions_(sequences_, options_, start_, symbols_, control_) {
    if (start_) take_start(task.start->state->visits);
    check_memory(emissions_.numbers(emissions_.dimension(), k_),
                 emissions_.sums(emissions_.dimension(), k_));
    model_->state->whole_steps = E::whole_steps;
    prior_ = update_ ? *start_posterior_
                     : MarkovPosterior<Q>{prior_of_options(), replicate(emissions_.prior(), k_)};
    set_numbering(prior_);
    const Columns *columns = nullptr;
    if constexpr (std::is_same_v<E, ProductEmissions>) columns = &emissions_.columns();
    options_.order.check(sequences_.dimension, columns);
    if (options_.linear_response.value_or(false))
      require_linear_response_size(double(markov::natural_parameters(prior_).size()) +
                                   natural_size(prior_.emissions));
    if constexpr (std::is_same_v<E, ProductEmissions>)
      if (!start_ && !options_.probabilities.is_null())
        start_point_ = MarkovPoint<P>{first_, emissions_.given_probabilities(symbols_)};
  }

  std::unique_ptr<HiddenMarkovModel> run() {
    Fitted fitted;
    if (options_.method == Method::em)
      fit_point(MarkovMaximumLikelihood<P, std::decay_t<decltype(emissions_.floor())>>(
                    emissions_.floor(), E::whole_steps),
                fitted);
    else if (options_.method == Method::map)
      fit_point(MarkovMaximumPosterior<P, Q>(prior_, E::whole_steps), fitted);
    else if (options_.method == Method::gibbs)
      sample(fitted);
    else
      fit_variational(fitted);
    order(fitted);
    sort_symbols(fitted);
    model_->state->fitted = std::move(fitted);
    model_->state->symbols = std::move(symbols_);
    Document prior = Document::object();
    emissions_.write_prior(prior);
    describe(prior);
    return std::move(model_);
  }

 private:
  /// Parameters of symbols that the start model does not know are taken from the prior.
  void take_start(const Vector &visits) {
    first_visits_ = visits;
    start_point_ = start_->point;
    start_posterior_ = start_->posterior;
    if constexpr (std::is_same_v<E, ProductEmissions>) {
      start_point_->emissions = widened(start_point_->emissions, visits, emissions_.prior());
      if (start_posterior_)
        start_posterior_->emissions = widened(start_posterior_->emissions, emissions_.prior());
    }
  }

  auto starting_statistics(int restart, bool grouped) {
    emissions_.sample().scale_weights(sequences_.weight);
    return emissions_.starting_statistics(restart, grouped);
  }

  /// Is this restart initialized from the data, not from start_point_? With a start model only the
  /// first restart begins there; the others are numbered as in a fit without one (fresh()).
  bool is_fresh(int restart) const { return !start_point_ || (start_ && restart > 1); }
  int fresh(int restart) const { return restart - (start_ ? 1 : 0); }

  MarkovPoint<P> begin_point(int restart) {
    if (!is_fresh(restart)) return *start_point_;
    auto emissions = emissions_.first_point(starting_statistics(fresh(restart), false));
    return {{first_.initial, first_transition(fresh(restart))}, std::move(emissions)};
  }

  /// Must the states be matched to the prior's numbering? If the chain's prior is asymmetric, and
  /// neither a start model nor given means number the states.
  bool must_match_prior() const {
    // The final run continues the best one.
    const int number = run_.schedule().restart,
              restart = number > options_.restarts ? run_.best_restart() : number;
    return !names_.of_prior.empty() && is_fresh(restart) && !options_.means;
  }

  /// Runs, permutes the states so that their paths are most probable under an asymmetric prior, and
  /// runs on from there, for as long as the objective increases. A single run ends in one of many
  /// local optima of such a prior, often with states in the wrong places.
  template <class L, class Go>
  auto run_and_renumber(const L &learner, typename L::State state, Schedule schedule, Go go) {
    auto run = go(std::move(state), schedule);
    while (must_match_prior() && run.iterations < schedule.max_iterations) {
      const std::vector<int> order =
          markov::best_state_order(*run.statistics, prior_, names_.of_prior);
      if (markov::is_identity(order) || control_.out_of_time()) break;
      schedule.max_iterations -= run.iterations + 1;
      auto next =
          go(learner.rearranged(run.state, markov::reordered(*run.statistics, order), order),
             schedule);
      if (!(next.trace.back() > run.trace.back())) break;
      next.trace.insert(next.trace.begin(), run.trace.begin(), run.trace.end());
      next.iterations += run.iterations + 1;
      run = std::move(next);
    }
    return run;
  }

  /// `number` selects random streams; `best`: the state of the best restart so far, or null.
  template <class L>
  typename L::State begin_restart(const L &learner, int restart, int number,
                                  const typename L::State *best) {
    const Origin origin = origin_of(restart);
    if (origin == Origin::best_path && best) return on_path(learner, *best, *best, k_ - 1, number);
    constexpr bool is_point = std::is_same_v<typename L::State, MarkovPoint<P>>;
    if constexpr (is_point) {
      if (origin == Origin::emissions) return begin_point(restart);
    } else if (origin == Origin::emissions) {
      return begin_posterior(learner, restart);
    }
    // (Without the best run a recorded one is repeated: any start will do.)
    const auto statistics = starting_statistics(number, true);
    const Vector shares = (statistics.count / statistics.count.sum()).cwiseMax(1e-12);
    const MarkovPoint<P> point{{shares, Vector::Ones(k_) * shares.transpose()},
                               emissions_.first_point(statistics)};
    Random random(options_.seed, std::uint64_t(number), 0, 14);
    const int keep = k_ - int(random.below(std::uint64_t(k_ / 2 + 1)));
    if constexpr (is_point)
      return on_path(learner, point, point, keep, number);
    else
      return on_path(
          learner, learner.update({{point.initial, point.transition, shares}, statistics}, prior_),
          point, keep, number);
  }

  /// `from`: has the emissions of the states; `drawn`: the parameters at which a path is drawn.
  template <class L, class Drawn>
  typename L::State on_path(const L &learner, const typename L::State &from, const Drawn &drawn,
                            int keep, int number) {
    const Sequences &data = data_of_restarts();
    const auto scorer = make_scorer(drawn.emissions);
    const PathStart start = start_on_path(data, control_, markov::chain_of(drawn),
                                          *emissions_of(scorer, E::whole_steps, data.values), keep,
                                          options_.seed, number);
    return learner.rearranged(from, start.counts, start.emissions);
  }

  template <class L> void fit_point(const L &learner, Fitted &fitted) {
    auto run = best_of_restarts(
        [&](int restart, const typename L::State *best = nullptr) {
          return begin_restart(learner, restart, restart, best);
        },
        [&](auto state, const Sequences &data) {
          return run_and_renumber(learner, std::move(state), run_.schedule(),
                                  by_sweeps(learner, data, control_));
        });
    set_counts(*run.statistics);
    model_->info.log_likelihood = run.sums.objective;
    fitted.point = std::move(run.state);
  }

  template <class L>
  static auto by_sweeps(const L &learner, const Sequences &data, Control &control) {
    return [&](typename L::State state, const Schedule &schedule) {
      return optimize(learner, std::move(state), data, control, schedule);
    };
  }

  MarkovPosterior<Q> begin_posterior(const MarkovVariational<Q> &learner, int restart) {
    if (!is_fresh(restart) && start_posterior_) return *start_posterior_;
    if (!is_fresh(restart)) {  // one pass with the point gives the first posterior
      const auto scorer = make_scorer(start_point_->emissions);
      const MarkovSums sums = markov_step(sequences_, control_, markov::chain_of(*start_point_),
                                          *emissions_of(scorer, E::whole_steps, sequences_.values));
      return learner.update(markov::statistics_of(sums, scorer), prior_);
    }
    // Not in the braces: if this throws there, g++ 16 with Eigen 5 destroys an unborn vector.
    auto emissions = starting_statistics(fresh(restart), false);
    const Matrix moves = first_transition(fresh(restart)) * (sequences_.weight / k_);
    return learner.update(
        {{first_.initial * sequences_.weights, moves, Vector()}, std::move(emissions)}, prior_);
  }

  auto by_minibatches(const MarkovVariational<Q> &learner, const Sequences &data) {
    return [&](MarkovPosterior<Q> state, const Schedule &schedule) {
      auto run =
          optimize_stochastic(learner, std::move(state), data, control_, schedule, options_.plan);
      // The objectives along the way were noisy estimates; compute the one that is compared and
      // reported.
      auto exact = expected_statistics(learner, run.state, data, control_);
      run.trace.push_back(exact.sums.objective + learner.objective(run.state));
      run.statistics = std::move(exact.statistics);
      return run;
    };
  }

  void fit_variational(Fitted &fitted) {
    const MarkovVariational<Q> learner(prior_, E::whole_steps);
    auto run = best_of_restarts(
        [&](int restart, const MarkovPosterior<Q> *best = nullptr) {
          return begin_restart(learner, restart, restart, best);
        },
        [&](auto state, const Sequences &data) {
          const Schedule &plan = run_.schedule();
          return options_.stochastic() ? run_and_renumber(learner, std::move(state), plan,
                                                          by_minibatches(learner, data))
                                       : run_and_renumber(learner, std::move(state), plan,
                                                          by_sweeps(learner, data, control_));
        });
    set_counts(*run.statistics);
    if (options_.corrected()) correct(learner, run, fitted);
    fitted.point = mean_parameters(run.state);
    fitted.posterior = std::move(run.state);
    score_point(fitted);
  }

  /// Standard deviations by linear response, if option linear_response asks for it, or by default
  /// if it is cheap enough.
  void correct(const MarkovVariational<Q> &learner, Run<MarkovVariational<Q>> &run,
               Fitted &fitted) {
    Vector found;
    if (options_.linear_response) {
      found = linear_response(learner, run.state, sequences_, control_);
    } else {
      const Sequences *const some = options_.restarts > 1 ? trial() : nullptr;
      const double steps = double(sequences_.steps), of_trial = some ? double(some->steps) : 0;
      auto response = linear_response_that_pays(
          learner, run.state, k_, sequences_, some,
          {steps, of_trial, run_.iterations() * steps + run_.trial_iterations() * of_trial},
          control_);
      found = std::move(response.deviations);
      model_->info.told_apart = response.told_apart;
      if (response.moved) {
        run_.improve(response.objective);
        run.state = std::move(*response.moved);
        set_counts(*response.statistics);
      }
    }
    const MarkovPosterior<Q> &q = run.state;
    if (found.size() == 0) return;
    Vector emissions;
    MarkovWeights chain = markov::deviations(found, q, emissions);
    fitted.deviations = {std::move(chain.initial), std::move(chain.transition), {}};
    if constexpr (std::is_same_v<E, ProductEmissions>)
      fitted.deviations->emissions = named_deviations(emissions_.columns(), emissions);
    else
      fitted.deviations->emissions =
          named_deviations(q.emissions.shape, q.emissions.dimension(), k_, emissions);
  }

  void score_point(const Fitted &fitted) {
    const auto scorer = make_scorer(fitted.point.emissions);
    model_->info.log_likelihood =
        markov_step(sequences_, control_, markov::chain_of(fitted.point),
                    *emissions_of(scorer, E::whole_steps, sequences_.values))
            .objective;
  }

  void sample(Fitted &fitted) {
    require_no_weights();
    // Each chain begins after a few variational iterations: at the best of some restarts of its
    // own.
    constexpr int restarts = 7;
    const Sequences &data = data_of_restarts();
    const MarkovVariational<Q> learner(prior_, E::whole_steps);
    const std::function<MarkovPoint<P>(int)> begin = [&](int chain) {
      if (start_point_) return *start_point_;
      Schedule brief{.max_iterations = 20, .tolerance = 1e-4 * data.weight};
      QuietControl quiet(control_);
      const auto go = [&](MarkovPosterior<Q> state) {
        return run_and_renumber(learner, std::move(state), brief, by_sweeps(learner, data, quiet));
      };
      auto best = go(begin_posterior(learner, chain + 1));
      const int last = origin_of(2) == Origin::path ? restarts : 1;
      for (int restart = 2; restart <= last && !control_.out_of_time(); ++restart) {
        const int number = options_.chains.chains + chain * restarts + restart;
        auto other = go(begin_restart(learner, restart, number, &best.state));
        if (other.trace.back() > best.trace.back()) best = std::move(other);
      }
      return mean_parameters(best.state);
    };
    SampledHmm<P, Q> draws = sample_hmm(sequences_, prior_, E::whole_steps, names_, options_.chains,
                                        options_.seed, control_, begin);
    fitted.point = std::move(draws.point);
    fitted.deviations = std::move(draws.deviations);
    model_->state->visits = std::move(draws.visits);
    model_->state->transitions = std::move(draws.transitions);
    fitted.draws = std::move(draws.draws);
    model_->info.log_likelihood = draws.log_likelihood;
    run_.take(std::move(draws.chains));
  }

  /// If a fresh restart beats the run from the start model: the order of its states that matches
  /// the start model's emissions best, unless zeros of the chain or the prior determine it. Else
  /// empty.
  std::vector<int> order_like_start(const Fitted &fitted) const {
    if (!start_ || options_.sampled() || run_.best_restart() == 1) return {};
    if (!names_.of_prior.empty()) return {};
    if (!(start_point_->transition.minCoeff() > 0 && start_point_->initial.minCoeff() > 0))
      return {};
    const PollScope scope(control_);
    return best_matching({first_visits_, start_point_->emissions, {}},
                         {model_->state->visits.cwiseMax(0), fitted.point.emissions, {}});
  }

  /// By option order, if it is given; else as above.
  std::vector<int> order_of(const Fitted &fitted) const {
    if (!options_.order.given()) return order_like_start(fitted);
    return order_within(options_.order.of(model_->state->visits, fitted.point.emissions), ordered_);
  }

  void order(Fitted &fitted) {
    const std::vector<int> order = order_states(order_of(fitted));
    if (fitted.posterior) {
      fitted.posterior = reordered(*fitted.posterior, order);
      // recomputed in this order of summation, as when the stored model is read
      fitted.point = mean_parameters(*fitted.posterior);
    } else {
      fitted.point = reordered(fitted.point, order);
    }
    for (MarkovPoint<P> &draw : fitted.draws) draw = reordered(draw, order);
    if (!fitted.deviations) return;
    HmmDeviations &d = *fitted.deviations;
    d = {pick_entries(d.initial, order), markov::reordered(d.transition, order),
         d.emissions.size() ? pick_columns(d.emissions, order) : d.emissions};
  }

  /// Symbols are numbered in the order of appearance.
  void sort_symbols(Fitted &fitted) {
    if constexpr (std::is_same_v<E, ProductEmissions>) {
      if (symbols_.empty() || std::is_sorted(symbols_.begin(), symbols_.end())) return;
      std::vector<int> by_name(symbols_.size());
      std::iota(by_name.begin(), by_name.end(), 0);
      std::sort(by_name.begin(), by_name.end(), [this](int a, int b) {
        return symbols_[std::size_t(a)] < symbols_[std::size_t(b)];
      });
      const auto sort = [&by_name](Matrix &values) {
        values = pick_columns(values.transpose(), by_name).transpose().eval();
      };
      sort(fitted.point.emissions.values);
      if (fitted.posterior) {
        sort(fitted.posterior->emissions.values);
        fitted.point = mean_parameters(*fitted.posterior);
      }
      if (fitted.deviations) sort(fitted.deviations->emissions);
      for (MarkovPoint<P> &draw : fitted.draws) sort(draw.emissions.values);
      std::sort(symbols_.begin(), symbols_.end());
    }
  }

  const Fitted *start_;
  E emissions_;
  MarkovPosterior<Q> prior_;
  std::optional<MarkovPoint<P>> start_point_;
  std::optional<MarkovPosterior<Q>> start_posterior_;
  /// of the start model
  Vector first_visits_;
};

}  // namespace

HmmFitBase::HmmFitBase(HmmTask task, const MarkovWeights *start)
    : sequences_(task.sequences),
      symbols_(std::move(task.symbols)),
      options_(task.options),
      k_(task.options.k),
      update_(task.update),
      control_(task.control),
      run_(*model_, task.options, task.control) {
  run_.set_weight(sequences_.weight, sequences_.steps);
  model_->state->vectors = task.vectors;
  model_->state->weight = sequences_.weight;
  model_->state->observed = sequences_.weight - sequences_.unobserved;
  find_start_of_chain(start);
  model_->state->zeros =
      task.start
          ? task.start->state->zeros
          : int((first_.initial.array() == 0).count() + (first_.transition.array() == 0).count());
}

void HmmFitBase::check_memory(double each, double sums) const {
  const double states = double(k_) * k_;
  require_model_size(std::to_string(k_) + " states", 3 * states + 2 * each, "Use a smaller k.");
  const double window =
      3.0 * double(window_blocks(padded_states(k_)) * block_rows) * padded_states(k_);
  require_memory({.what = std::to_string(k_) + " states",
                  .bytes = 8 * (8 * each + 10 * states +
                                (1 + control_.threads) * (sums + 3 * states + window)),
                  .data = "sequences"},
                 control_);
}

void HmmFitBase::find_start_of_chain(const MarkovWeights *start) {
  first_.initial = Vector::Constant(k_, 1.0 / k_);
  first_.transition = Matrix::Constant(k_, k_, 1.0 / k_);
  if (options_.topology == "left-to-right") {
    first_.initial.setZero();
    first_.initial(0) = 1;
    for (int i = 0; i < k_; ++i)
      first_.transition.row(i).setZero(),
          first_.transition.row(i).tail(k_ - i).setConstant(1.0 / (k_ - i));
  }
  const auto restrict_to = [](auto row, const auto &given, const char *key) {
    for (Eigen::Index i = 0; i < row.size(); ++i)
      if (given(i) > 0 && row(i) == 0)
        throw Error(Errc::invalid_argument,
                    std::string("option \"init.") + key +
                        "\" has a positive probability where option topology requires 0",
                    {}, "Leave out one of the two options.");
    row = given;
  };
  if (options_.initial) restrict_to(first_.initial.head(k_), *options_.initial, "initial");
  for (int i = 0; options_.transitions && i < k_; ++i)
    restrict_to(first_.transition.row(i), options_.transitions->row(i), "transitions");
  if (start) {  // its structural zeros hold in fresh restarts too
    const auto even = [](auto row) { row /= row.sum(); };
    first_.initial = (start->initial.array() > 0).cast<double>();
    first_.transition = (start->transition.array() > 0).cast<double>();
    even(first_.initial.head(k_));
    for (int i = 0; i < k_; ++i) even(first_.transition.row(i));
  }
  named_ = start || options_.given_start() || options_.topology != "ergodic" || sequences_.labelled;
}

Matrix HmmFitBase::first_transition(int restart) const {
  if (options_.transitions || restart % 3 != 0) return first_.transition;
  Matrix out = first_.transition;
  for (int i = 0; i < k_; ++i)
    if (out(i, i) > 0 && out(i, i) < 1) {
      out.row(i) *= 0.2 / (1 - out(i, i));
      out(i, i) = 0.8;
    }
  return out;
}

HmmFitBase::Origin HmmFitBase::origin_of(int restart) const {
  if (k_ < 2 || named_ || !names_.of_prior.empty() || sequences_.rows.remote() || restart == 1 ||
      restart % 6 == 0)
    return Origin::emissions;
  return restart > 4 && restart % 3 == 2 ? Origin::best_path : Origin::path;
}

MarkovWeights HmmFitBase::prior_of_options() const {
  return {(first_.initial.array() > 0).select(options_.initial_prior.row(k_), 0.0),
          (first_.transition.array() > 0).select(options_.transition_prior.square(k_), 0.0)};
}

void HmmFitBase::set_numbering(const MarkovWeights &prior) {
  const ExchangeableGroups of_prior = options_.bayesian() ? markov::exchangeable_states(prior)
                                                          : ExchangeableGroups(std::size_t(k_), 0);
  names_.groups = named_ ? no_exchange(k_) : of_prior;
  // A rule may number anew what a start model has numbered, an update's prior included.
  const bool given =
      options_.given_start() || options_.topology != "ergodic" || sequences_.labelled;
  ordered_ = given ? no_exchange(k_) : update_ ? ExchangeableGroups(std::size_t(k_), 0) : of_prior;
  // In an update the prior of the emissions distinguishes states as well.
  if (has_several_groups(of_prior) && !update_ && !sequences_.labelled) names_.of_prior = of_prior;
}

const Sequences *HmmFitBase::trial() {
  // Sequences of other servers are not drawn one by one: there restarts run on all of them.
  if (sequences_.steps <= max_trial_steps || sequences_.rows.remote()) return nullptr;
  if (!trial_) trial_.emplace(sequences_, options_.seed, control_);
  return &trial_->sequences();
}

void HmmFitBase::require_no_weights() const {
  for_each_step(sequences_, control_,
                [&](const double *, std::int64_t sequence, std::int64_t, double weight) {
                  if (weight != 1)
                    throw Error(Errc::invalid_argument,
                                "method gibbs takes no weights, but the weight of sequence " +
                                    std::to_string(sequence) + " is " + bayes::describe(weight),
                                "It draws a state for every step." + numbering(sequences_),
                                "Use method vi or em, or leave the weights out.");
                });
}

std::vector<int> HmmFitBase::order_states(std::vector<int> order) {
  HiddenMarkovModel::State &state = *model_->state;
  state.visits = state.visits.cwiseMax(0);
  state.transitions = state.transitions.cwiseMax(0);
  if (order.empty()) order = order_within(descending_order(state.visits), names_.groups);
  state.visits = pick_entries(state.visits, order);
  state.transitions = markov::reordered(state.transitions, order);
  run_.reorder(order);
  return order;
}

void HmmFitBase::describe(const Document &emissions) {
  Document options = options_.document();
  if (options_.bayesian() && !update_) {
    const auto number_or_all = [](const Tensor &t) {
      return t.shape.empty() ? Document(t.values[0]) : Document(t);
    };
    Document prior = Document::object();
    prior.set("initial", number_or_all(options_.initial_prior.given))
        .set("transition", number_or_all(options_.transition_prior.given));
    prior.set_all(emissions);
    options.set("prior", std::move(prior));
  }
  run_.describe(sequences_.count, sequences_.rows.skipped(), sequences_.dimension, k_,
                std::move(options));
}

namespace {

/// New symbols are learned, but at least one symbol must be known: otherwise the start model
/// carries no information about the sequences.
void require_known_symbol(const Sequences &sequences, std::size_t known, Control &control) {
  if (!has_symbol_below(sequences, std::int64_t(known), control))
    throw Error(Errc::invalid_argument, "the start model knows none of the symbols",
                "Its states carry no information about these sequences.",
                "Fit without a start model.");
}

}  // namespace

std::unique_ptr<HiddenMarkovModel> hmm_fit(Sequences &sequences, std::vector<std::string> symbols,
                                           int k, const Document &options,
                                           SequenceElements elements, bool vectors,
                                           const HiddenMarkovModel *start, bool update,
                                           Control &control) {
  const PollScope scope(control);
  HmmOptions read =
      read_hmm_options(start ? start->size() : k, options, elements, vectors, start, update);
  if (sequences.count == 0) throw Error(Errc::invalid_argument, "there are no sequences to fit");
  if (sequences.dimension > hmm_max_dimension)
    throw Error(Errc::too_large, "observations have " + std::to_string(sequences.dimension) +
                                     " elements, but a hidden Markov model takes at most " +
                                     std::to_string(hmm_max_dimension));
  if (start && start->dimension() != sequences.dimension)
    throw Error(Errc::array_shape, "observations have " + std::to_string(sequences.dimension) +
                                       " elements, but those of the start model have " +
                                       std::to_string(start->dimension()));
  if (start && start->symbols()) {
    const std::vector<std::string> &known = start->symbol_names();
    if (symbols.size() < known.size() || !std::equal(known.begin(), known.end(), symbols.begin()))
      throw Error(Errc::internal, "symbols are not numbered as in the start model");
    if (symbols.size() > known.size()) require_known_symbol(sequences, known.size(), control);
  }
  // Smaller batches make steps too noisy.
  constexpr std::int64_t min_batch_steps = 2000;
  if (!read.batch_given)
    read.plan.batch_rows =
        std::max(read.plan.batch_rows,
                 (min_batch_steps * sequences.count + sequences.steps - 1) / sequences.steps);
  if (read.symbols && symbols.empty())
    throw Error(Errc::invalid_argument, "all observations are missing", {},
                "Add sequences with observed values.");
  if (read.symbols) sequences.values = int(symbols.size());
  if (!read.products && start &&
      read.covariance != std::get<NormalHmm>(start->state->fitted).point.emissions.shape.name)
    throw Error(Errc::internal, "the start model has another covariance");
  const HmmTask task{sequences, std::move(symbols), read, vectors, start, update, control};
  auto model =
      read.products ? HmmFit<ProductEmissions>(task).run() : HmmFit<NormalEmissions>(task).run();
  // A model that could not be read back must not be returned: parameters may have overflowed or
  // underflowed.
  try {
    Model::from_document(model->to_document());
  } catch (const Error &error) {
    throw Error(Errc::numeric, "the fit led to invalid parameters", error.what(),
                "Rescale the observations.");
  }
  return model;
}

void hmm_select(Sequences &sequences, const std::vector<std::string> &symbols,
                std::span<const int> ks, const Document &options, SequenceElements elements,
                bool vectors, Control &control,
                const std::function<void(std::unique_ptr<HiddenMarkovModel>)> &emit,
                const std::function<void(int k, const Error &)> &failed) {
  SharedTime time(options, ks.size(), control);
  for (const int k : ks)
    time.select(
        k,
        [&] {
          return hmm_fit(sequences, symbols, k, options, elements, vectors, nullptr, false,
                         control);
        },
        emit, failed);
}

}  // namespace bayes
