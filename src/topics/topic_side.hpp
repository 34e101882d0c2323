// The topics' side of variational inference: their factors for the local step, and their divergence
// from the prior.
#pragma once

#include <algorithm>
#include <vector>

#include "base/control.hpp"
#include "data/ordered_tasks.hpp"
#include "topics/document_step.hpp"
#include "topics/lda_variational.hpp"

namespace bayes {

/// f(first, last, slot) for the terms in chunks, on all threads, and merge(slot) in their order. f
/// polls. `each`: operations for a term.
template <class F, class M>
void each_chunk(std::int32_t terms, double each, Control &control, F f, M merge) {
  constexpr std::int32_t chunk = 512;
  const std::size_t tasks = std::size_t((terms + chunk - 1) / chunk);
  const SweepPlan plan = plan_tasks(each * terms, 4096, control);
  run_in_order(
      tasks, plan, control,
      [&](int, int slot, std::size_t task, const Stop &) {
        const std::int32_t first = std::int32_t(task) * chunk;
        f(first, std::min(first + chunk, terms), slot);
      },
      merge);
}

/// The most slots that each_chunk uses.
inline int most_slots(const Control &control) { return 4 * std::max(1, control.threads); }

/// Operations of the local step for one entry of a document.
inline double operations_of_entry(int topics) { return 20.0 * padded_topics(topics); }

/// Will a piece have most of the terms? Then sums have rows for all of them.
inline bool most_terms(const CorpusTotals &totals) {
  return 4 * std::int64_t(totals.vocabulary) <=
         std::min(totals.entries, piece_entries(totals.vocabulary));
}

/// The plan of a pass over documents whose sums have rows for terms.
inline SweepPlan plan_documents(const CorpusTotals &totals, int topics, const Control &control) {
  const double v = totals.vocabulary,
               rows = std::min(v, double(piece_entries(totals.vocabulary) + totals.most_entries));
  return plan_tasks(operations_of_entry(topics) * double(totals.entries),
                    std::size_t(8 * rows * padded_topics(topics) + 4 * v), control);
}

/// Over all terms, for every topic: stride() numbers.
Buffer sums_of_terms(const TermTopics &values, Control &control);

/// What a bound says of the topics: minus their divergence from the prior, and how to factor them.
class TopicSide {
 public:
  TopicSide(const TopicTask &task, std::int32_t terms, int topics);

  TopicParameters parameters(const TopicState &state) const {
    return {state.counts, state.scale, state.eta, added_};
  }
  /// Digamma of the sums of the topics' parameters, from the sums of the counts.
  Buffer digammas(const TopicState &state, const Buffer &count_totals) const;

  /// Factors of all terms, and what the divergence needs.
  void factor(const TopicState &state, const Buffer &count_totals, Control &control);
  /// KL(q || p) of all topics, at the last factors of all terms.
  double divergence(const TopicState &state, const Buffer &count_totals) const;
  /// The best eta for them.
  double learn_eta() const;

  TopicFactors factors;

 private:
  std::vector<double> totals(const TopicState &state, const Buffer &count_totals) const;

  const TermTopics *added_;
  const bool point_;
  Buffer added_totals_;
  std::vector<double> not_zero_;
  TopicSums sums_;
};

}  // namespace bayes
