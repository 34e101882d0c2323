// Aggregates whose state is sufficient statistics (sums) instead of rows. The templates implement
// the transition and the inverse transition function for any accumulator; the SQL functions
// bayes_sums_* (sums.cpp) serialize and combine the partial states of parallel workers.
//
// An accumulator A is a class with these members:
//
//   A(context, fcinfo)       is constructed from the arguments of the first row
//   add(fcinfo)              adds the row in the arguments
//   remove(fcinfo) -> bool   optional: removes the row in the arguments; false if rounding errors
//                            forbid it, and PostgreSQL is to compute the frame again
//   check_same(fcinfo)       optional: throws Error if a parameter differs from the first row's
//
// A row that add() refuses with an Error must leave the sums as they were. Under on_error = null it
// is then counted; where rows leave a moving frame, remove() must refuse the same rows.
//
// A trivially destructible accumulator is allocated in the aggregate's memory context; any other
// gets a context of its own, which destroys it. An accumulator for parallel aggregates derives from
// Sums.
#pragma once

#include <cstring>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "pg/bind/aggregate.hpp"

namespace bayes::pg {

class Sums;

/// Describes one class of accumulators; a static object, which registers itself.
struct SumsKind {
  SumsKind(char tag, const char *contents, const char *remedy,
           Sums *(*make)(MemoryContext context));
  /// The first byte of a serialized state, 1 to 127; unique.
  char tag;
  /// For the error message of a serialized state above 1 GB: what it contains, and the hint how to
  /// make it smaller.
  const char *contents, *remedy;
  /// Makes an accumulator without rows.
  Sums *(*make)(MemoryContext context);
};

/// The rows that were refused under on_error = null, and the error of the first of them. Plain
/// data, which lies in the memory context of the aggregate.
class Refusals {
 public:
  explicit operator bool() const { return count_ > 0; }
  std::int64_t count() const { return count_; }
  Error first() const;
  void add(MemoryContext context, const Error &error);
  /// A refused row has left the frame.
  void remove();
  /// True once: a window has a WARNING for the frames with refused rows, not one for each of them.
  bool is_news() { return !std::exchange(warned_, true); }

 private:
  std::int64_t count_ = 0;
  /// as put_error() writes it
  char *error_ = nullptr;
  std::size_t size_ = 0;
  bool warned_ = false;
};

/// The interface of accumulators for parallel aggregates.
class Sums {
 public:
  /// The result is NULL while there are any.
  Refusals refusals;
  /// Option on_error = null.
  bool null_on_error() const { return null_on_error_; }
  /// Frees the sums: a row was refused, and none will be added or removed.
  virtual void clear() {}
  /// Whether a row may be removed while others are refused; otherwise the sums must be recomputed.
  virtual bool may_remove() const { return true; }

  virtual const SumsKind &kind() const = 0;
  /// Appends the sums and their parameters, as combine() reads them.
  virtual void serialize(std::string &out) = 0;
  /// Adds the serialized sums of another process. Throws Error if their parameters differ.
  virtual void combine(const char *at, const char *end) = 0;

 protected:
  ~Sums() = default;
  bool null_on_error_ = false;
};

/// Calls f(), which adds a row or sums to the state. Under on_error = null an Error is counted.
template <class F> void add_or_refuse(Sums &state, MemoryContext context, F f) {
  try {
    f();
  } catch (const StatementError &) {
    throw;
  } catch (const Error &error) {
    if (!state.null_on_error()) throw;
    state.refusals.add(context, error);
  }
}
/// True if a row was refused; issues a WARNING about it, once.
bool warn_of_refusal(Sums &state, const char *result = "model");

/// Sums from which a model is fitted.
class ModelSums : public Sums {
 public:
  /// Fits the model and returns its bytes; empty if there were no rows, or if the fit failed under
  /// on_error = null. More rows may follow.
  virtual std::string model_bytes() = 0;

 protected:
  ~ModelSums() = default;
};

/// Sums with parameters, which are the same for all rows: options, or a prior model.
class SumsWithParameters : public ModelSums {
 public:
  void check_same(FunctionCallInfo fcinfo) { parameters_.check_same(&fcinfo->args[1 + values_]); }

 protected:
  /// `values`: the number of arguments that hold a row
  explicit SumsWithParameters(int values) : values_(values) {}
  /// Reads the parameters of the first row; false if it has none. Their types determine their
  /// roles: jsonb is options, a model is a prior, double precision is the weight, which comes last.
  bool read_parameters(FunctionCallInfo fcinfo);
  /// For the rows of a query, whose parameters are no arguments: sums of other servers have none.
  void without_parameters() { read_ = true; }
  /// The same for bayes_rollup(value [, options]), which has no option but on_error.
  void read_rollup_options(FunctionCallInfo fcinfo);
  Item row(FunctionCallInfo fcinfo) const {
    return {&fcinfo->args[1], weighted_ ? &fcinfo->args[PG_NARGS() - 1] : nullptr};
  }
  /// Reads the parameters of another process, and advances `at`. True if there were none before,
  /// else they must be the same.
  bool combine_parameters(const char *&at, const char *end);

  Parameters parameters_;

 private:
  int values_;
  bool weighted_ = false, read_ = false;
};

/// The type to which the state's pointer in a Datum points.
template <class A> using StateOf = std::conditional_t<std::is_base_of_v<Sums, A>, Sums, A>;

template <class A> Datum state_datum(A *state) {
  return PointerGetDatum(static_cast<StateOf<A> *>(state));
}

/// The state in the first argument; nullptr if there was no row.
template <class A> A *state_argument(FunctionCallInfo fcinfo) {
  if (PG_ARGISNULL(0)) return nullptr;
  return static_cast<A *>(reinterpret_cast<StateOf<A> *>(PG_GETARG_POINTER(0)));
}

template <class A, class... Arguments>
A *make_state(MemoryContext context, Arguments &&...arguments) {
  if constexpr (std::is_trivially_destructible_v<A>)
    return new (guarded([context] { return MemoryContextAlloc(context, sizeof(A)); }))
        A(context, std::forward<Arguments>(arguments)...);
  else
    return make_in<A>(context, "pg_bayes sums", std::forward<Arguments>(arguments)...);
}
template <class A> Sums *make_sums(MemoryContext context) { return make_state<A>(context); }

/// Adds the row in the arguments. After a refused row, a row matters only where rows leave a moving
/// frame.
template <class A> void add_checked(A &state, FunctionCallInfo fcinfo) {
  MemoryContext context;
  const bool moves = AggCheckCallContext(fcinfo, &context) == AGG_CONTEXT_WINDOW;
  if (state.refusals && !moves) return;
  add_or_refuse(state, context, [&] { state.add(fcinfo); });
  if (state.refusals && !moves) state.clear();
}

/// (state, row, parameters) -> state
template <class A> Datum add_row(FunctionCallInfo fcinfo) {
  A *state = state_argument<A>(fcinfo);
  if (!state)
    state = make_state<A>(aggregate_context(fcinfo), fcinfo);
  else if constexpr (requires { state->check_same(fcinfo); })
    state->check_same(fcinfo);
  if constexpr (std::is_base_of_v<Sums, A>)
    add_checked(*state, fcinfo);
  else
    state->add(fcinfo);
  return state_datum(state);
}

/// The inverse of add_row. NULL has PostgreSQL compute the frame again.
template <class A> Datum remove_row(FunctionCallInfo fcinfo) {
  A *const state = state_argument<A>(fcinfo);
  if (!state) throw Error(Errc::internal, "a row is removed from an aggregate without rows");
  state->check_same(fcinfo);
  if (state->refusals && !state->may_remove()) PG_RETURN_NULL();
  try {
    if (!state->remove(fcinfo)) PG_RETURN_NULL();
  } catch (const Error &) {
    if (!state->refusals) throw;
    state->refusals.remove();
  }
  return state_datum(state);
}

}  // namespace bayes::pg
