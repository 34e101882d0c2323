// The time that work may take.
#pragma once

#include <limits>

#include "base/api.hpp"

namespace bayes {

/// A clock that runs from construction, and a limit, in seconds.
class BAYES_API Budget {
 public:
  /// seconds since some moment
  using Clock = double (*)();
  /// a clock of the machine that only goes forward
  static double steady();

  explicit Budget(double limit = std::numeric_limits<double>::infinity(), Clock clock = steady)
      : clock_(clock),
        began_(clock()),
        limit_(limit) {}

  double seconds() const { return clock_() - began_; }
  double limit() const { return limit_; }
  bool limited() const { return limit_ < std::numeric_limits<double>::infinity(); }
  /// what is left of the time; 0 if it is over
  double left() const;
  bool over() const { return limited() && seconds() >= limit_; }

  /// The same clock with another limit, which is not later.
  Budget until(double limit) const;
  /// A clock that begins now, and has a limit of its own or what is left here, whichever is less.
  Budget from_now(double limit) const;
  /// The same clock; its limit is when this share of what is left is over.
  Budget share(double of_left) const { return until(seconds() + of_left * left()); }

 private:
  Clock clock_;
  double began_, limit_;
};

}  // namespace bayes
