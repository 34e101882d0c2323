// Sums over the draws of a sampled hidden Markov model, from which its point estimate and standard
// deviations are made.
#pragma once

#include "families/product/product.hpp"
#include "markov/hmm_gibbs.hpp"

namespace bayes {

/// E[p^2] of the entries of a Dirichlet.
inline Vector squares_of(const Vector &alpha) {
  const double whole = alpha.sum();
  const Vector mean = alpha / whole;
  return (alpha.array() / whole * ((whole - alpha.array()) / whole) / (whole + 1) +
          mean.array().square())
      .matrix();
}

/// E[p^2] of the emission parameters that are probabilities; others may have infinite variance and
/// report no standard deviation.
inline Matrix squares_of(const ProductPosterior &q, const ProductPoint &mean) {
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
inline Matrix squares_of(const NormalWishart &, const NormalPoint &) { return {}; }

inline Matrix deviations_of(const ProductPoint &point, const Matrix &squares) {
  return (squares - point.values.cwiseProduct(point.values)).cwiseMax(0).cwiseSqrt();
}
inline Matrix deviations_of(const NormalPoint &, const Matrix &) { return {}; }

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

}  // namespace bayes
