#include "base/budget.hpp"

#include <algorithm>
#include <chrono>

namespace bayes {

double Budget::steady() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double Budget::left() const { return limited() ? std::max(0.0, limit_ - seconds()) : limit_; }

Budget Budget::until(double limit) const {
  Budget out = *this;
  out.limit_ = std::min(limit_, limit);
  return out;
}

Budget Budget::from_now(double limit) const { return Budget(std::min(limit, left()), clock_); }

}  // namespace bayes
