// Means and standard deviations of the elements of draws, over all draws after warmup and thinning,
// including those that the model does not store.
#pragma once

#include <algorithm>

#include "base/checkpoint.hpp"
#include "base/linalg.hpp"

namespace bayes {

class DrawMoments {
 public:
  explicit DrawMoments(Eigen::Index size = 0)
      : mean_(Vector::Zero(size)),
        average_(Vector::Zero(size)),
        squares_(Vector::Zero(size)) {}

  /// `expected`: the mean of the conditional distribution from which the draw was made, or, if it
  /// is not known, the draw itself. Its average has the same limit as that of the draws, and a
  /// smaller error (Rao-Blackwell).
  void add(const Vector &draw, const Vector &expected) {
    ++count_;
    mean_ += (expected - mean_) / count_;
    const Vector away = draw - average_;
    average_ += away / count_;
    squares_ += away.cwiseProduct(draw - average_);
  }

  /// Adds the draws of another chain.
  void merge(const DrawMoments &other) {
    if (other.count_ == 0) return;
    const double count = count_ + other.count_, share = other.count_ / count;
    mean_ += share * (other.mean_ - mean_);
    const Vector away = other.average_ - average_;
    average_ += share * away;
    squares_ += other.squares_ + (count_ * share) * away.cwiseProduct(away);
    count_ = count;
  }

  void exchange(StateNumbers &numbers) {
    numbers.number(count_);
    for (Vector *const each : {&mean_, &average_, &squares_}) numbers.dense(*each);
  }

  const Vector &mean() const { return mean_; }
  /// 0 after one draw
  Vector deviation() const { return (squares_ / std::max(1.0, count_ - 1)).cwiseSqrt(); }

 private:
  double count_ = 0;
  Vector mean_, average_, squares_;
};

}  // namespace bayes
