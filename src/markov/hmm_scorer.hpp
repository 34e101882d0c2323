// A hidden Markov model prepared for scoring sequences.
#pragma once

#include <memory>
#include <optional>

#include "families/normal/normal_clusters.hpp"
#include "families/product/product.hpp"
#include "markov/hmm_state.hpp"
#include "markov/markov_learners.hpp"

namespace bayes {

/// With a posterior, emissions are its predictive: a row's density with the parameters of its state
/// integrated out.
class HmmScorer {
 public:
  HmmScorer(const HiddenMarkovModel::State &state, int dimension)
      : chain_(std::visit([](const auto &fitted) { return markov::chain_of(fitted.point); },
                          state.fitted)) {
    std::visit(
        [&]<class Fitted>(const Fitted &fitted) {
          if (fitted.posterior) {
            const auto q = untied(fitted.posterior->emissions);
            using Clusters = typename std::decay_t<decltype(q)>::Clusters;
            emissions_ = predictive_emissions(chain_.states(), dimension, [q]() -> RowScorer {
              const auto clusters = std::make_shared<Clusters>(pick(q, {0}), q);
              return [clusters](const double *x, double *out) { clusters->log_predictive(x, out); };
            });
            if (state.is_symbols())
              emissions_ = table_emissions(std::move(emissions_), int(state.symbols.size()));
          } else {
            const auto scorer = std::make_shared<decltype(make_scorer(fitted.point.emissions))>(
                make_scorer(fitted.point.emissions));
            scorer_owner_ = scorer;
            emissions_ = emissions_of(*scorer, state.whole_steps, int(state.symbols.size()));
          }
        },
        state.fitted);
  }
  const MarkovChain &chain() const { return chain_; }
  const EmissionScorer &emissions() const { return *emissions_; }

 private:
  MarkovChain chain_;
  std::shared_ptr<const void> scorer_owner_;  // owns what the emissions refer to
  std::unique_ptr<EmissionScorer> emissions_;
};

}  // namespace bayes
