// Sequences under a hidden Markov model at given parameters: likelihood, state probabilities and
// most probable paths of one sequence, and a model prepared for scoring them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/control.hpp"
#include "families/product/product.hpp"
#include "markov/hmm_state.hpp"
#include "markov/markov_learners.hpp"
#include "markov/markov_window.hpp"
#include "questions/make.hpp"

namespace bayes {

// One sequence at given parameters: its likelihood, state probabilities and most probable paths.
// Memory does not limit the length: windows are recomputed from checkpoints, as in markov_step.hpp.

/// A chain and its emissions at one point of the parameters.
struct ScoredChain {
  const MarkovChain *chain = nullptr;
  const EmissionScorer *emissions = nullptr;
};

/// The likelihood of a sequence, and the distribution of its last state.
struct SequenceEnd {
  /// -infinity if the sequence is impossible
  double log_likelihood;
  /// p(last state | sequence); for no steps the initial probabilities (which must sum to 1); empty
  /// if impossible
  std::vector<double> states;
};

/// The sequence occupies rows 0 .. one.steps - 1, here and below.
BAYES_API SequenceEnd sequence_end(const Sequences &one, Control &control,
                                   const ScoredChain &point);

/// take(first step, steps, K posterior probabilities for each), in order of time. For several
/// points, which must have the same number of states, the averages over those under which the
/// sequence is possible; throws Error(numeric) if there are none.
BAYES_API void smooth_sequence(
    const Sequences &one, Control &control, std::span<const ScoredChain> points,
    const std::function<void(std::int64_t first, int steps, const double *probabilities)> &take);

struct StatePath {
  double log_probability;
  std::vector<int> states;
};

/// The most probable path (Viterbi 1967). Ties go to the path whose last state is smallest, then
/// the last but one, and so on. Throws Error(numeric) if the sequence is impossible.
BAYES_API StatePath best_path(const Sequences &one, Control &control, const ScoredChain &point);

/// The `count` most probable paths, fewer if there are no more of positive probability (Seshadri
/// and Sundberg 1994: every state keeps the `count` best paths that end in it). Throws
/// Error(too_large) if these do not fit into control.memory.
BAYES_API std::vector<StatePath> best_paths(const Sequences &one, int count, Control &control,
                                            const ScoredChain &point);

[[noreturn]] void throw_impossible(const char *what);

/// Scores under each stored draw of the parameters, or without draws under the point estimate. With
/// a posterior the emission density of a row is its posterior predictive: the parameters of the
/// state are integrated out.
class HmmScorer {
 public:
  HmmScorer(const HiddenMarkovModel::State &state, int dimension) {
    std::visit(
        [&]<class Fitted>(const Fitted &fitted) {
          fitted.for_each_point([&](const auto &point) {
            poll_here();
            auto part = std::make_unique<Part>(markov::chain_of(point));
            if (fitted.posterior)
              part->emissions = predictive(fitted.posterior->emissions, state, dimension);
            else
              part->take(std::make_shared<decltype(make_scorer(point.emissions))>(
                             make_scorer(point.emissions)),
                         state);
            points_.push_back({&part->chain, part->emissions.get()});
            parts_.push_back(std::move(part));
          });
          if (points_.size() > 1) average(fitted.draws, state);
        },
        state.fitted);
    if (!average_) path_point_ = points_[0];
  }

  /// One for each draw, or a single one.
  const std::vector<ScoredChain> &points() const { return points_; }
  /// The point for decoding: the averages of all log densities over the draws, or the single point.
  const ScoredChain &path_point() const { return path_point_; }

 private:
  struct Part {
    explicit Part(MarkovChain chain) : chain(std::move(chain)) {}
    template <class Scorer>
    void take(std::shared_ptr<Scorer> scorer, const HiddenMarkovModel::State &state) {
      emissions = emissions_of(*scorer, state.whole_steps, int(state.symbols.size()));
      owner = std::move(scorer);
    }
    MarkovChain chain;
    std::shared_ptr<const void> owner;  // keeps alive the scorer of the emissions
    std::unique_ptr<EmissionScorer> emissions;
  };

  template <class Q>
  static std::unique_ptr<EmissionScorer> predictive(const Q &posterior,
                                                    const HiddenMarkovModel::State &state,
                                                    int dimension) {
    const auto q = untied(posterior);
    auto out = predictive_emissions(q.components(), dimension, [q, dimension] {
      if constexpr (std::is_same_v<Q, NormalWishart>)
        return row_part(all_elements(dimension), q);
      else
        return row_part(all_elements(dimension), q, Vector::Zero(dimension));
    });
    if (!state.is_symbols()) return out;
    return table_emissions(std::move(out), int(state.symbols.size()));
  }

  template <class Draws> void average(const Draws &draws, const HiddenMarkovModel::State &state) {
    std::vector<const MarkovWeights *> weights;
    std::vector<const EmissionScorer *> emissions;
    for (const auto &draw : draws) weights.push_back(&draw);
    for (const ScoredChain &point : points_) emissions.push_back(point.emissions);
    average_ = std::make_unique<Part>(markov::average_log_chain(weights));
    average_->emissions = averaged_emissions(std::move(emissions));
    if (state.is_symbols())
      average_->emissions =
          table_emissions(std::move(average_->emissions), int(state.symbols.size()));
    path_point_ = {&average_->chain, average_->emissions.get()};
  }

  std::vector<std::unique_ptr<Part>> parts_;
  std::unique_ptr<Part> average_;
  std::vector<ScoredChain> points_;
  ScoredChain path_point_;
};

}  // namespace bayes
