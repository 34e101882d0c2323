#include "base/control.hpp"

namespace bayes {
namespace {

// Every call from SQL sets it, and a library's thread-local variables are found by a call of the
// loader, unless they have a place in each thread from its beginning; for a pointer there is room.
[[gnu::tls_model("initial-exec")]] constinit thread_local Control *current = nullptr;

}  // namespace

PollScope::PollScope(Control &control) : before_(current) { current = &control; }
PollScope::~PollScope() { current = before_; }

void poll_here() {
  if (current) current->poll();
}

}  // namespace bayes
