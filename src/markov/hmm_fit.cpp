// Fitting a hidden Markov model: the parts that do not depend on the observation family.
#include <algorithm>
#include <numeric>

#include "markov/hmm_family_fit.hpp"
#include "markov/sequence_checks.hpp"

namespace bayes {

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
  auto model = read.products ? fit_product_hmm(task) : fit_normal_hmm(task);
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
