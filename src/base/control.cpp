#include "base/control.hpp"

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

namespace {

// Every call from SQL sets this variable. In a shared library, access to a thread-local variable
// usually costs a call into the loader (__tls_get_addr). The initial-exec model avoids it by taking
// space from the static TLS block, of which the loader reserves enough for a pointer.
[[gnu::tls_model("initial-exec")]] constinit thread_local Control *current = nullptr;

}  // namespace

PollScope::PollScope(Control &control) : before_(current) { current = &control; }
PollScope::~PollScope() { current = before_; }

void poll_here() {
  if (current) current->poll();
}

}  // namespace bayes
