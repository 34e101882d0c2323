#include "base/control.hpp"

namespace bayes {
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
