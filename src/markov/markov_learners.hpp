// The learners of hidden Markov models (002 L11): EM for maximum likelihood and for the mode of the
// posterior, and variational inference. All share the local step of markov_step.hpp; as with
// mixtures (learners.hpp) they differ in the global step alone, and are written against the
// observation family.
//
// A Dirichlet parameter of 0, or at a point a probability of 0, stands for what cannot be: it stays
// so, and the distribution is over the rest.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "families/dirichlet.hpp"
#include "fit/driver.hpp"
#include "markov/markov_parameters.hpp"
#include "markov/markov_step.hpp"

namespace bayes {

template <class Emissions> struct MarkovStatistics {
  Vector initial;      // K: weight of the sequences that begin in a state
  Matrix transitions;  // K x K, (from, to)
  Vector count;        // K: steps
  Emissions emissions;

  void scale(double factor) {
    initial *= factor;
    transitions *= factor;
    count *= factor;
    emissions.scale(factor);
  }
};

namespace markov {

/// The entries that can be.
inline Vector possible(const Vector &of, const Vector &alpha) {
  Vector out(of.size());
  Eigen::Index n = 0;
  for (Eigen::Index i = 0; i < of.size(); ++i)
    if (alpha(i) > 0) out(n++) = of(i);
  return out.head(n);
}

inline double divergence(const Vector &q, const Vector &prior) {
  return dirichlet_divergence(possible(q, prior), possible(prior, prior));
}
inline double log_density(const Vector &p, const Vector &prior) {
  return dirichlet_log_density(possible(p, prior), possible(prior, prior));
}

/// f(row of a, row of b) added up over the initial distribution and all rows of the transitions.
template <class A, class B, class F> double over_rows(const A &a, const B &b, F f) {
  double total = f(a.initial, b.initial);
  for (Eigen::Index i = 0; i < a.transition.rows(); ++i)
    total += f(Vector(a.transition.row(i)), Vector(b.transition.row(i)));
  return total;
}

/// Counts in proportion; what there was before where there are none.
inline Vector shares(const Vector &counts, const Vector &before) {
  const double sum = counts.sum();
  return sum > 0 ? Vector(counts / sum) : before;
}

inline Vector expected_logs(const Vector &alpha) {
  const double whole = digamma(alpha.sum());
  return alpha.unaryExpr([whole](double a) {
    return a > 0 ? digamma(a) - whole : -std::numeric_limits<double>::infinity();
  });
}

/// Number by number: where Eigen works on several at once, equal probabilities may get logarithms
/// that differ in the last bit, and equal paths would not tie.
inline double log_of(double p) { return std::log(p); }

template <class Point> MarkovChain chain_of(const MarkovPoint<Point> &point) {
  return {point.initial.unaryExpr(&log_of), point.transition.unaryExpr(&log_of)};
}
template <class Posterior> MarkovChain chain_of(const MarkovPosterior<Posterior> &q) {
  Matrix transition(q.transition.rows(), q.transition.cols());
  for (Eigen::Index i = 0; i < transition.rows(); ++i)
    transition.row(i) = expected_logs(q.transition.row(i));
  return {expected_logs(q.initial), transition};
}

}  // namespace markov

/// EM for maximum likelihood (Baum and Welch).
template <class Point, class Floor> class MarkovMaximumLikelihood {
 public:
  using State = MarkovPoint<Point>;
  using Scorer = decltype(make_scorer(std::declval<const Point &>()));
  using Statistics = MarkovStatistics<typename Scorer::Statistics>;

  MarkovMaximumLikelihood(const Floor &floor, bool whole_steps)
      : whole_steps(whole_steps),
        floor_(floor) {}
  double objective(const State &) const { return 0; }
  State update(const Statistics &s, const State &state) const {
    State out{markov::shares(s.initial, state.initial), state.transition,
              maximum_likelihood(s.emissions, state.emissions, floor_)};
    for (Eigen::Index i = 0; i < out.transition.rows(); ++i)
      out.transition.row(i) = markov::shares(s.transitions.row(i), state.transition.row(i));
    return out;
  }
  const bool whole_steps;

 private:
  const Floor &floor_;
};

/// EM for the mode of the posterior. Every Dirichlet parameter must be 0 or at least 1.
template <class Point, class Prior> class MarkovMaximumPosterior {
 public:
  using State = MarkovPoint<Point>;
  using Scorer = decltype(make_scorer(std::declval<const Point &>()));
  using Statistics = MarkovStatistics<typename Scorer::Statistics>;

  MarkovMaximumPosterior(MarkovPosterior<Prior> prior, bool whole_steps)
      : whole_steps(whole_steps),
        prior_(std::move(prior)) {}
  double objective(const State &state) const {
    return markov::over_rows(state, prior_, markov::log_density) +
           log_prior(state.emissions, prior_.emissions);
  }
  State update(const Statistics &s, const State &state) const {
    const auto mode = [](const Vector &counts, const Vector &alpha, const Vector &before) {
      return markov::shares(counts + alpha.unaryExpr([](double a) { return a > 0 ? a - 1 : 0; }),
                            before);
    };
    State out{mode(s.initial, prior_.initial, state.initial), state.transition,
              maximum_posterior(s.emissions, prior_.emissions)};
    for (Eigen::Index i = 0; i < out.transition.rows(); ++i)
      out.transition.row(i) =
          mode(s.transitions.row(i), prior_.transition.row(i), state.transition.row(i));
    return out;
  }
  const bool whole_steps;

 private:
  MarkovPosterior<Prior> prior_;
};

/// Variational inference: the objective is the ELBO with all constants. With move() also its
/// stochastic form (Foti and others 2014, whole sequences).
template <class Posterior> class MarkovVariational {
 public:
  using State = MarkovPosterior<Posterior>;
  using Scorer = decltype(make_scorer(std::declval<const Posterior &>()));
  using Statistics = MarkovStatistics<typename Scorer::Statistics>;

  MarkovVariational(State prior, bool whole_steps)
      : whole_steps(whole_steps),
        prior_(std::move(prior)) {}
  double objective(const State &state) const {
    return -markov::over_rows(state, prior_, markov::divergence) -
           divergence(state.emissions, prior_.emissions);
  }
  State update(const Statistics &s, const State &state) const {
    const auto add = [](const auto &prior, const auto &counts) {
      return (prior.array() > 0).select(prior + counts, 0.0);
    };
    return {add(prior_.initial, s.initial), add(prior_.transition, s.transitions),
            posterior(s.emissions, prior_.emissions, state.emissions)};
  }
  State move(const State &from, const State &to, double step) const {
    return {(1 - step) * from.initial + step * to.initial,
            (1 - step) * from.transition + step * to.transition,
            blend(from.emissions, to.emissions, step)};
  }
  const bool whole_steps;

 private:
  State prior_;
};

namespace markov {

/// Sums as statistics of a family.
template <class Scorer>
MarkovStatistics<typename Scorer::Statistics> statistics_of(const MarkovSums &sums,
                                                            const Scorer &scorer) {
  const Eigen::Index k = Eigen::Index(sums.initial.size());
  return {Eigen::Map<const Vector>(sums.initial.data(), k),
          Eigen::Map<const Matrix>(sums.transitions.data(), k, k).transpose(),
          Eigen::Map<const Vector>(sums.visits.data(), k),
          scorer.statistics(sums.counts, sums.raw)};
}

}  // namespace markov

template <class L>
requires requires(const typename L::State &state) { make_scorer(state.emissions); }
LocalResult<typename L::Statistics> expected_statistics(const L &learner,
                                                        const typename L::State &state,
                                                        const Sequences &sequences,
                                                        Control &control) {
  const auto scorer = make_scorer(state.emissions);
  const MarkovSums sums = markov_step(sequences, control, markov::chain_of(state),
                                      *emissions_of(scorer, learner.whole_steps, sequences.values));
  return {markov::statistics_of(sums, scorer), {sums.objective, 0}};
}

/// Random samples of whole sequences, drawn uniformly with replacement.
class SequenceSampler {
 public:
  SequenceSampler(const Sequences &from, std::int64_t batch)
      : from_(from),
        size_(batch),
        shape_(from.rows.shape()),
        rows_(shape_) {
    if (whole()) return;
    Buffer block(shape_.block_doubles());
    for (std::int64_t row = 0; row < from.rows.rows(); ++row) {
      if (row % block_rows == 0) from_.rows.read_block(row / block_rows, block.data());
      const double weight =
          block[std::size_t(shape_.dimension) * block_rows + std::size_t(row % block_rows)];
      if (weight < 0) starts_.push_back(row);
    }
  }
  bool whole() const { return size_ >= from_.count; }
  double scale() const { return double(from_.count) / double(size_); }
  /// By steps, not by sequences: how long the drawn ones happen to be would drown what the
  /// objective gains.
  double objective_scale() const { return from_.weight / batch_->weight; }

  const Sequences &draw(Random random) {
    rows_.clear();
    batch_.emplace(Sequences{rows_, from_.dimension, from_.labelled});
    batch_->values = from_.values;
    SequenceWriter writer(*batch_, shape_,
                          [this](const double *x, double weight) { rows_.append(x, weight); });
    Buffer block(shape_.block_doubles());
    std::vector<double> x(std::size_t(shape_.dimension)), all;
    for (std::int64_t i = 0; i < size_; ++i) {
      const std::int64_t start = starts_[std::size_t(random.below(std::uint64_t(starts_.size())))];
      // Its end shows when it is reached.
      all.clear();
      double weight = 0;
      for (std::int64_t row = start; row < from_.rows.rows(); ++row) {
        if (row == start || row % block_rows == 0)
          from_.rows.read_block(row / block_rows, block.data());
        const double *const at = block.data() + row % block_rows;
        const double w = at[std::size_t(shape_.dimension) * block_rows];
        if (row > start && !(w > 0)) break;
        weight = std::abs(w);
        for (std::size_t j = 0; j < x.size(); ++j) all.push_back(at[j * block_rows]);
      }
      writer.begin(std::int64_t(all.size() / x.size()), weight);
      for (std::size_t at = 0; at < all.size(); at += x.size()) writer.step(all.data() + at);
    }
    return *batch_;
  }

 private:
  const Sequences &from_;
  std::int64_t size_;
  RowShape shape_;
  MemoryRows rows_;
  std::optional<Sequences> batch_;
  std::vector<std::int64_t> starts_;
};

inline SequenceSampler sampler_of(const Sequences &sequences, const StochasticPlan &plan) {
  return {sequences, plan.batch_rows};
}

}  // namespace bayes
