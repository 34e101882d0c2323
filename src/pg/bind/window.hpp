// Window functions that fit a model to a partition and return every row's component.
#pragma once

#include <span>

#include "pg/bind/binding.hpp"
#include "pg/server/context.hpp"

namespace bayes::pg {

/// F_cluster(row, roles...) OVER (...): the row's component, from 1. The whole partition is fitted,
/// whatever the frame.
Datum cluster_window(FunctionCallInfo fcinfo, const Binding<RowCollector> &binding,
                     std::span<const Role> roles);

// Helpers of window functions: access to the current partition.

/// The window of a call; throws if there is none.
inline WindowObject window_of(FunctionCallInfo fcinfo) {
  const WindowObject window = PG_WINDOW_OBJECT();
  if (!WindowObjectIsValid(window))
    throw Error(Errc::internal, "window function called without a window");
  return window;
}

/// The P of the current partition, which lives as long as the partition. `first` is called once,
/// with a new P and the partition's memory context; `args` are passed to its constructor.
template <class P, class F, class... A> P &partition_of(WindowObject window, F first, A &&...args) {
  auto **const local = static_cast<P **>(
      guarded([window] { return WinGetPartitionLocalMemory(window, sizeof(P *)); }));
  if (!*local) {
    const MemoryContext context = GetMemoryChunkContext(local);
    P *const partition = make_in<P>(context, "pg_bayes partition", std::forward<A>(args)...);
    first(*partition, context);
    *local = partition;
  }
  return **local;
}

/// An argument in the current row.
inline NullableDatum current_argument(WindowObject window, int argument) {
  return guarded([=] {
    NullableDatum value;
    value.value = WinGetFuncArgCurrent(window, argument, &value.isnull);
    return value;
  });
}

/// Reads arguments of any row of a partition. Evaluating them allocates memory in this reader's
/// context, which next_row() resets.
class PartitionReader {
 public:
  PartitionReader(WindowObject window, MemoryContext parent)
      : window_(window),
        scratch_(parent, "pg_bayes window row") {}

  /// An argument of row `row`, from 0. False if there is no such row.
  bool get(std::int64_t row, int argument, NullableDatum &value) {
    bool outside = false;
    const WindowObject window = window_;
    const MemoryContext scratch = scratch_;
    guarded([=, &value, &outside] {
      const MemoryContext before = MemoryContextSwitchTo(scratch);
      value.value = WinGetFuncArgInPartition(window, argument, int(row), WINDOW_SEEK_HEAD, false,
                                             &value.isnull, &outside);
      MemoryContextSwitchTo(before);
    });
    return !outside;
  }
  void next_row() { MemoryContextReset(scratch_); }
  /// For memory that is needed for one row only.
  MemoryContext scratch() const { return scratch_; }

 private:
  WindowObject window_;
  ScopedContext scratch_;
};

/// Throws if a partition has more rows than a window function can address.
inline void check_rows(std::int64_t rows) {
  if (rows > INT_MAX) throw Error(Errc::too_large, "a partition has more than 2147483647 rows");
}

}  // namespace bayes::pg
