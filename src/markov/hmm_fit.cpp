// Fitting a hidden Markov model: starting points, learner or sampler, the order of the states, and
// the fitted model.
#include <algorithm>
#include <numeric>

#include "fit/fit_run.hpp"
#include "markov/hmm_emissions.hpp"
#include "markov/hmm_gibbs.hpp"
#include "markov/hmm_trial.hpp"

namespace bayes {
namespace {

template <class E> class Fit {
  using P = typename E::Point;
  using Q = typename E::Posterior;

 public:
  Fit(const Sequences &sequences, std::vector<std::string> symbols, const HmmOptions &options,
      bool vectors, const HiddenMarkovModel *start, bool update, Control &control)
      : sequences_(sequences),
        symbols_(std::move(symbols)),
        options_(options),
        k_(options.k),
        update_(update),
        control_(control),
        run_(*model_, options, control),
        start_(start ? &std::get<typename E::Fitted>(start->state->fitted) : nullptr),
        emissions_(sequences, options, start_, symbols_, control) {
    run_.set_weight(sequences.weight);
    check_memory();
    model_->state->vectors = vectors;
    model_->state->whole_steps = E::whole_steps;
    find_start_of_chain();
    if (update) {
      prior_ = *start_->posterior;
    } else {
      const auto over = [](const auto &prior, const auto &possible) {
        return (possible.array() > 0).select(prior, 0.0);
      };
      prior_ = {over(options.initial_prior.row(k_), initial_),
                over(options.transition_prior.square(k_), transition_),
                replicate(emissions_.prior(), k_)};
    }
    if (start_)
      start_point_ = start_->point;
    else if (!options.probabilities.is_null())
      start_point_ = MarkovPoint<P>{initial_, transition_, given_probabilities()};
  }

  std::unique_ptr<HiddenMarkovModel> run() {
    typename E::Fitted fitted;
    if (options_.method == "em")
      fit_point(MarkovMaximumLikelihood<P, std::decay_t<decltype(emissions_.floor())>>(
                    emissions_.floor(), E::whole_steps),
                fitted);
    else if (options_.method == "map")
      fit_point(MarkovMaximumPosterior<P, Q>(prior_, E::whole_steps), fitted);
    else if (options_.method == "gibbs")
      sample(fitted);
    else
      fit_variational(fitted);
    model_->state->weight = sequences_.weight;
    order(fitted);
    sort_symbols(fitted);
    model_->state->fitted = std::move(fitted);
    model_->state->symbols = std::move(symbols_);
    describe();
    return std::move(model_);
  }

 private:
  void check_memory() const {
    const double states = double(k_) * k_, each = emissions_.numbers(emissions_.dimension(), k_),
                 sums = emissions_.sums(emissions_.dimension(), k_);
    require_model_size(std::to_string(k_) + " states", 3 * states + 2 * each, "Use a smaller k.");
    const double window =
        3.0 * double(window_blocks(padded_states(k_)) * block_rows) * padded_states(k_);
    require_memory({.what = std::to_string(k_) + " states",
                    .bytes = 8 * (8 * each + 10 * states +
                                  (1 + control_.threads) * (sums + 3 * states + window)),
                    .data = "sequences"},
                   control_);
  }

  /// Where the chain begins before anything is known, and what in it cannot be.
  void find_start_of_chain() {
    initial_ = Vector::Constant(k_, 1.0 / k_);
    transition_ = Matrix::Constant(k_, k_, 1.0 / k_);
    if (options_.topology == "left-to-right") {
      initial_.setZero();
      initial_(0) = 1;
      for (int i = 0; i < k_; ++i)
        transition_.row(i).setZero(), transition_.row(i).tail(k_ - i).setConstant(1.0 / (k_ - i));
    }
    const auto restrict_to = [](auto row, const auto &given, const char *key) {
      for (Eigen::Index i = 0; i < row.size(); ++i)
        if (given(i) > 0 && row(i) == 0)
          throw Error(
              Errc::invalid_argument,
              std::string("option \"init.") + key + "\" allows what option topology forbids", {},
              "Leave one of them out.");
      row = given;
    };
    if (options_.initial) restrict_to(initial_.head(k_), *options_.initial, "initial");
    for (int i = 0; options_.transitions && i < k_; ++i)
      restrict_to(transition_.row(i), options_.transitions->row(i), "transitions");
    if (start_) initial_ = start_->point.initial, transition_ = start_->point.transition;
    named_ =
        start_ || options_.given_start() || options_.topology != "ergodic" || sequences_.labelled;
  }

  P given_probabilities() {
    if constexpr (std::is_same_v<E, ProductEmissions>) {
      P out{emissions_.shared_columns(), Matrix::Zero(Eigen::Index(symbols_.size()), k_)};
      const auto &states = *options_.probabilities.template as<Document::List>();
      for (int i = 0; i < k_; ++i) {
        double left = 1;
        std::vector<bool> given(symbols_.size(), false);
        for (const auto &[symbol, p] : *states[std::size_t(i)].template as<Document::Object>()) {
          const auto at = std::find(symbols_.begin(), symbols_.end(), symbol);
          if (at == symbols_.end())
            throw Error(Errc::invalid_argument, "option \"init.probabilities\" names symbol \"" +
                                                    symbol + "\", which no sequence has");
          given[std::size_t(at - symbols_.begin())] = true;
          left -= out.values(at - symbols_.begin(), i) = *to_number(p, false);
        }
        const auto others = std::count(given.begin(), given.end(), false);
        if (others == 0 && left > 1e-6)
          throw Error(Errc::invalid_argument,
                      "option \"init.probabilities\" names all symbols for state " +
                          std::to_string(i + 1) + ", but their probabilities do not sum to 1",
                      "They leave " + bayes::describe(left) + ".");
        for (std::size_t v = 0; v < given.size(); ++v)
          if (!given[v]) out.values(Eigen::Index(v), i) = std::max(0.0, left) / double(others);
        out.values.col(i) = out.values.col(i).cwiseMax(1e-12);
        double sum = 0;  // in order, whatever the memory that Eigen would look at
        for (Eigen::Index v = 0; v < out.values.rows(); ++v) sum += out.values(v, i);
        if (std::abs(sum - 1) > exact_sum) out.values.col(i) /= sum;
      }
      return out;
    } else {
      throw Error(Errc::internal, "probabilities of normals");
    }
  }

  /// Restarts differ in where states lie, and every third in how long they last.
  Matrix first_transition(int restart) const {
    if (options_.transitions || restart % 3 != 0) return transition_;
    Matrix out = transition_;
    for (int i = 0; i < k_; ++i)
      if (out(i, i) > 0 && out(i, i) < 1) {
        out.row(i) *= 0.2 / (1 - out(i, i));
        out(i, i) = 0.8;
      }
    return out;
  }

  auto starting_statistics(int restart) {
    emissions_.sample().scale_weights(sequences_.weight);
    return emissions_.starting_statistics(restart);
  }

  /// Where there are too many steps, restarts run on some of the sequences.
  template <class Begin, class Go> auto best_of_restarts(Begin begin, Go go) {
    std::optional<Trial> trial;
    TrialData<const Sequences> data;
    if (options_.restarts > 1 && sequences_.steps > most_trial_steps) {
      trial.emplace(sequences_, options_.seed, control_);
      data = {&trial->sequences(), trial->sequences().weight};
    }
    return run_.best_of_restarts(sequences_, data, std::move(begin), std::move(go));
  }

  template <class Statistics> void set_counts(const Statistics &statistics) {
    model_->state->visits = statistics.count;
    model_->state->transitions = statistics.transitions;
  }

  MarkovPoint<P> begin_point(int restart) {
    if (start_point_) return *start_point_;
    return {initial_, first_transition(restart),
            emissions_.first_point(starting_statistics(restart))};
  }

  template <class L> void fit_point(const L &learner, typename E::Fitted &fitted) {
    auto run = best_of_restarts([&](int restart) { return begin_point(restart); },
                                [&](auto state, const Sequences &data) {
                                  return optimize(learner, std::move(state), data, control_,
                                                  run_.schedule());
                                });
    set_counts(*run.statistics);
    model_->info.log_likelihood = run.sums.objective;
    fitted.point = std::move(run.state);
  }

  MarkovPosterior<Q> begin_posterior(const MarkovVariational<Q> &learner, int restart) {
    if (start_ && start_->posterior) return *start_->posterior;
    if (start_point_) {  // one pass with the point gives the first posterior
      const auto scorer = make_scorer(start_point_->emissions);
      const MarkovSums sums = markov_step(sequences_, control_, markov::chain_of(*start_point_),
                                          *emissions_of(scorer, E::whole_steps, sequences_.values));
      return learner.update(markov::statistics_of(sums, scorer), prior_);
    }
    const Matrix moves = first_transition(restart) * (sequences_.weight / k_);
    return learner.update(
        {initial_ * sequences_.weights, moves, Vector(), starting_statistics(restart)}, prior_);
  }

  void fit_variational(typename E::Fitted &fitted) {
    const MarkovVariational<Q> learner(prior_, E::whole_steps);
    auto run = best_of_restarts(
        [&](int restart) { return begin_posterior(learner, restart); },
        [&](auto state, const Sequences &data) {
          if (!options_.stochastic())
            return optimize(learner, std::move(state), data, control_, run_.schedule());
          auto run = optimize_stochastic(learner, std::move(state), data, control_, run_.schedule(),
                                         options_.plan);
          // The estimates on the way were noisy; what is compared and reported is
          // exact.
          auto exact = expected_statistics(learner, run.state, data, control_);
          run.trace.push_back(exact.sums.objective + learner.objective(run.state));
          run.statistics = std::move(exact.statistics);
          return run;
        });
    set_counts(*run.statistics);
    fitted.point = mean_parameters(run.state);
    fitted.posterior = std::move(run.state);
    score_point(fitted);
  }

  void score_point(const typename E::Fitted &fitted) {
    const auto scorer = make_scorer(fitted.point.emissions);
    model_->info.log_likelihood =
        markov_step(sequences_, control_, markov::chain_of(fitted.point),
                    *emissions_of(scorer, E::whole_steps, sequences_.values))
            .objective;
  }

  void sample(typename E::Fitted &fitted) {
    for_each_step(sequences_, control_,
                  [&](const double *, std::int64_t sequence, std::int64_t, double weight) {
                    if (weight != 1)
                      throw Error(Errc::invalid_argument,
                                  "method gibbs takes no weights, but that of sequence " +
                                      std::to_string(sequence) + " is " + bayes::describe(weight),
                                  "It draws a state for every step." + numbering(sequences_),
                                  "Use method vi or em, or leave the weights out.");
                  });
    // Chains begin after some steps uphill from a restart of their own.
    std::optional<Trial> trial;
    if (sequences_.steps > most_trial_steps) trial.emplace(sequences_, options_.seed, control_);
    const Sequences &data = trial ? trial->sequences() : sequences_;
    const MarkovVariational<Q> learner(prior_, E::whole_steps);
    const std::function<MarkovPoint<P>(int)> begin = [&](int chain) {
      if (start_point_) return *start_point_;
      Schedule brief;
      brief.max_iterations = 20;
      brief.tolerance = 1e-4;
      brief.weight = data.weight;
      QuietControl quiet(control_);
      return mean_parameters(
          optimize(learner, begin_posterior(learner, chain + 1), data, quiet, brief).state);
    };
    SampledHmm<P, Q> draws = sample_hmm(sequences_, prior_, E::whole_steps, named_, options_.chains,
                                        options_.seed, control_, begin);
    fitted.point = std::move(draws.point);
    fitted.deviations = std::move(draws.deviations);
    model_->state->visits = std::move(draws.visits);
    model_->state->transitions = std::move(draws.transitions);
    run_.take(std::move(draws.chains), options_.chains);
    score_point(fitted);
  }

  /// States by falling visits, unless somebody has given them their places.
  void order(typename E::Fitted &fitted) {
    auto &state = *model_->state;
    state.visits = state.visits.cwiseMax(0);
    state.transitions = state.transitions.cwiseMax(0);
    std::vector<int> order(static_cast<std::size_t>(k_));
    std::iota(order.begin(), order.end(), 0);
    const Vector visits = state.visits;
    if (!named_)
      std::stable_sort(order.begin(), order.end(),
                       [&](int a, int b) { return visits(a) > visits(b); });
    state.visits = pick_entries(visits, order);
    state.transitions = markov::reordered(state.transitions, order);
    if (fitted.posterior) {
      fitted.posterior = reordered(*fitted.posterior, order);
      // added up in this order, as whoever reads the model does
      fitted.point = mean_parameters(*fitted.posterior);
    } else {
      fitted.point = reordered(fitted.point, order);
    }
    if (!fitted.deviations) return;
    HmmDeviations &d = *fitted.deviations;
    d = {pick_entries(d.initial, order), markov::reordered(d.transition, order),
         d.emissions.size() ? pick_columns(d.emissions, order) : d.emissions};
  }

  /// Symbols by name, whatever the order in which they came; those of a start model keep their
  /// places.
  void sort_symbols(typename E::Fitted &fitted) {
    if constexpr (std::is_same_v<E, ProductEmissions>) {
      if (start_ || symbols_.empty()) return;
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
      std::sort(symbols_.begin(), symbols_.end());
    }
  }

  void describe() {
    Document options = options_.document();
    if (options_.bayesian() && !update_) options.set("prior", prior_document());
    run_.describe(sequences_.count, sequences_.rows.skipped(), sequences_.dimension, k_,
                  std::move(options));
  }

  Document prior_document() const {
    Document prior = Document::object();
    const auto number_or_all = [](const Tensor &t) {
      return t.shape.empty() ? Document(t.values[0]) : Document(t);
    };
    prior.set("initial", number_or_all(options_.initial_prior.given))
        .set("transition", number_or_all(options_.transition_prior.given));
    emissions_.write_prior(prior);
    return prior;
  }

  const Sequences &sequences_;
  std::vector<std::string> symbols_;
  const HmmOptions &options_;
  const int k_;
  const bool update_;
  Control &control_;
  std::unique_ptr<HiddenMarkovModel> model_ = std::make_unique<HiddenMarkovModel>();
  FitRun run_;
  const typename E::Fitted *start_;
  E emissions_;
  bool named_ = false;
  Vector initial_;
  Matrix transition_;
  MarkovPosterior<Q> prior_;
  std::optional<MarkovPoint<P>> start_point_;
};

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
    if (symbols.size() > known.size())
      throw Error(Errc::invalid_argument,
                  "symbol \"" + symbols[known.size()] + "\" is unknown to the start model",
                  "Its states have no probability for it.",
                  "Fit without a start model, or leave such sequences out.");
  }
  // A step on too few observations goes nowhere.
  constexpr std::int64_t least_batch_steps = 2000;
  if (!read.batch_given)
    read.plan.batch_rows =
        std::max(read.plan.batch_rows,
                 (least_batch_steps * sequences.count + sequences.steps - 1) / sequences.steps);
  if (read.symbols && symbols.empty())
    throw Error(Errc::invalid_argument, "all observations are missing", {},
                "Leave such sequences out.");
  if (read.symbols) sequences.values = int(symbols.size());
  const auto go = [&]<class E>(std::type_identity<E>) {
    auto model = Fit<E>(sequences, std::move(symbols), read, vectors, start, update, control).run();
    // What could not be read back must not be given away: parameters may have left the range of a
    // double.
    try {
      Model::from_document(model->to_document());
    } catch (const Error &error) {
      throw Error(Errc::numeric, "the fit led to parameters that cannot be", error.what(),
                  "Rescale the observations.");
    }
    return model;
  };
  if (read.products) return go(std::type_identity<ProductEmissions>{});
  if (start &&
      read.covariance != std::get<NormalHmm>(start->state->fitted).point.emissions.shape.name)
    throw Error(Errc::internal, "the start model has another covariance");
  return go(std::type_identity<NormalEmissions>{});
}

}  // namespace bayes
