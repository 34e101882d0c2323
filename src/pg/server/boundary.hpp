// The boundary between C++ and PostgreSQL: the only place that deals with both throw and longjmp.
//
// Kernels throw C++ exceptions; PostgreSQL raises errors by longjmp. A longjmp over a C++ frame
// runs no destructors (what they own leaks), a throw through a C frame is undefined. So:
//
//   * every SQL function is an entry<>: it catches everything, leaves the handler with all objects
//     destroyed, and only then raises, with plain data alone on the stack;
//   * every call into PostgreSQL that may raise while C++ objects live goes through guarded(),
//     which turns the jump into the exception Pending; PostgreSQL's error stack holds the real
//     error until entry<> raises it again.
//
// "Raises" in a comment means PostgreSQL's ERROR, a longjmp: such a function is called only through
// guarded() or with plain data alone on the stack.
//
// PG_TRY is forbidden in C++ (a throw would leave PG_exception_stack dangling), and so is catch
// (...) outside this file.
#pragma once

#include <type_traits>

#include "base/control.hpp"
#include "base/error.hpp"
#include "pg/server/postgres.hpp"

namespace bayes::pg {

/// Thrown by guarded(): PostgreSQL's error stack holds the error. Not a std::exception, so that no
/// handler swallows it by accident.
struct Pending {};

/// An Error with an SQLSTATE that Errc does not have.
class SqlError final : public Error {
 public:
  SqlError(int sqlstate, std::string message, std::string detail = {}, std::string hint = {})
      : Error(Errc::internal, std::move(message), std::move(detail), std::move(hint)),
        sqlstate_(sqlstate) {}
  int sqlstate() const noexcept { return sqlstate_; }

 private:
  int sqlstate_;
};

int sqlstate(Errc code) noexcept;

/// Calls f(), which calls PostgreSQL: an ERROR raised inside becomes a Pending. The longjmp skips
/// f's frame, so it may hold plain data only; capturing by reference ensures that.
template <class F> auto guarded(F f) -> decltype(f()) {
  static_assert(std::is_trivially_destructible_v<F>, "the longjmp crosses this frame");
  // Restored on every exit, including a throw by f. The jump lands in this very frame, so it skips
  // no destructor.
  struct Restore {
    sigjmp_buf *const jump = PG_exception_stack;
    ErrorContextCallback *const callbacks = error_context_stack;
    ~Restore() {
      PG_exception_stack = jump;
      error_context_stack = callbacks;
    }
  } restore;
  const MemoryContext context = CurrentMemoryContext;
  sigjmp_buf here;
  if (sigsetjmp(here, 0) == 0) {
    PG_exception_stack = &here;
    return f();
  }
  CurrentMemoryContext = context;
  throw Pending{};
}

/// Called regularly in long loops: throws Pending if the query has been cancelled or must stop for
/// another reason.
inline void poll_interrupts() {
  if (InterruptPending) guarded([] { ProcessInterrupts(); });
}

/// Called only inside an exception handler: saves the current exception as plain data.
void save_current_exception() noexcept;
/// Raises the saved exception.
[[noreturn]] void raise_saved();

/// PostgreSQL's error behind a Pending: where it happened, as psql shows it in CONTEXT.
std::string context_of_pending();
int sqlstate_of_pending();
/// Called inside a handler of a Pending: ends PostgreSQL's error, and returns it as an Error with
/// this further sentence in its DETAIL, to be thrown in the place of the Pending.
SqlError error_of_pending(const std::string &sentence);

/// Calls f() from code that C++ exceptions must not leave: an exception of f() is raised as
/// PostgreSQL's ERROR.
template <class F> auto raising(F f) -> decltype(f()) {
  static_assert(std::is_trivially_destructible_v<F>, "the longjmp crosses this frame");
  try {
    return f();
  } catch (...) {
    save_current_exception();
  }
  raise_saved();  // the handler is left, all objects are destroyed
}

/// The Control of SQL functions that do not use a ServerControl: it only polls for interrupts.
class Interrupts final : public Control {
 public:
  bool pending() const noexcept override { return InterruptPending != 0; }
  void poll() override { poll_interrupts(); }
};
extern Interrupts interrupts;

template <Datum (*Body)(FunctionCallInfo)> Datum entry(FunctionCallInfo fcinfo) {
  return raising([fcinfo] {
    const PollScope scope(interrupts);
    return Body(fcinfo);
  });
}

/// Reports a WARNING (or a message of any level below ERROR); may be called while C++ objects live.
/// The texts are copied; an empty detail or hint is omitted.
void report(int level, const std::string &message, const std::string &detail = {},
            const std::string &hint = {});

/// The same, but reports a message only once in a statement: fits of many groups would repeat it.
void report_once(int level, const std::string &message, const std::string &detail = {},
                 const std::string &hint = {});
/// Is this the first call with this key in the client's statement?
bool first_in_statement(const std::string &key);

}  // namespace bayes::pg

/// Defines an SQL-callable function; these are the only symbols that the module exports.
#define BAYES_FUNCTION(name)                                                            \
  static Datum name##_body(FunctionCallInfo fcinfo);                                    \
  _Pragma("GCC visibility push(default)") extern "C" { PG_FUNCTION_INFO_V1(name); }     \
  Datum name(FunctionCallInfo fcinfo) { return bayes::pg::entry<name##_body>(fcinfo); } \
  _Pragma("GCC visibility pop") static Datum name##_body([[maybe_unused]] FunctionCallInfo fcinfo)
