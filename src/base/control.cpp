#include "base/control.hpp"

namespace bayes {
namespace {

constinit thread_local Control *current = nullptr;

}  // namespace

PollScope::PollScope(Control &control) : before_(current) { current = &control; }
PollScope::~PollScope() { current = before_; }

void poll_here() {
  if (current) current->poll();
}

}  // namespace bayes
