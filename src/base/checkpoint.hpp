// The course of a fit so far, with which the same fit can go on later and end with the same bits.
//
// A resumed fit is the same fit from its beginning, except that its loops do not repeat what they
// have done: they take over their state from the checkpoint. Work between loops is done again, with
// the same result, as fits are deterministic. The first decision that depends on the clock ends the
// record, since a fit that had more time would go another way from there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/api.hpp"
#include "base/error.hpp"

namespace bayes {

/// Throws Error(invalid_argument): a checkpoint contradicts the fit that it is to continue.
[[noreturn]] BAYES_API void refuse_checkpoint();

/// Writes the numbers of a loop's state to a list, or reads them back into a state of the same
/// form. Reading never trusts the list, which may come from a user: throws Error(invalid_argument)
/// where the list and the state differ in form.
class BAYES_API StateNumbers {
 public:
  static StateNumbers writing(std::vector<double> &to) { return StateNumbers(&to, {}); }
  static StateNumbers reading(std::span<const double> from) { return StateNumbers(nullptr, from); }
  bool reads() const { return to_ == nullptr; }

  /// These numbers, whose count does not change.
  void numbers(std::span<double> x);
  void numbers(std::span<float> x);
  void number(double &x) { numbers(std::span(&x, 1)); }
  void flag(bool &x);
  /// a whole number in this range
  void whole(std::int64_t &x, std::int64_t low, std::int64_t high);
  template <class Integer> void whole(Integer &x, std::int64_t low, std::int64_t high) {
    auto wide = std::int64_t(x);
    whole(wide, low, high);
    x = Integer(wide);
  }
  /// A list whose length is part of the state, of at most this many numbers.
  template <class List> void list(List &x, std::size_t most) {
    auto size = std::int64_t(x.size());
    whole(size, 0, std::int64_t(most));
    if (reads()) {
      require(std::size_t(size));
      x.resize(std::size_t(size));
    }
    numbers(x);
  }
  /// A list that either is empty or has this many numbers.
  template <class List> void optional_list(List &x, std::size_t size) {
    bool is_set = !x.empty();
    flag(is_set);
    if (reads()) {
      if (is_set) require(size);
      x.resize(is_set ? size : 0);
    }
    numbers(x);
  }
  /// Whole numbers from 0 to `high`, whose count does not change.
  template <class List> void labels(List &x, std::int64_t high) {
    const std::int64_t base = high + 1;
    const std::size_t in_each = base <= 65536 ? 3 : 1;  // packed into one number
    for (std::size_t i = 0; i < x.size(); i += in_each) {
      const std::size_t end = std::min(i + in_each, x.size());
      std::int64_t packed = 0, most = 1;
      for (std::size_t j = end; j-- > i; most *= base) packed = packed * base + std::int64_t(x[j]);
      whole(packed, 0, most - 1);
      if (!reads()) continue;
      for (std::size_t j = i; j < end; ++j, packed /= base)
        x[j] = typename List::value_type(packed % base);
    }
  }
  /// A matrix or a vector, of the size that it has.
  template <class Dense>
  requires requires(Dense &x) { x.derived().data(); }
  void dense(Dense &x) { numbers({x.data(), std::size_t(x.size())}); }
  /// Throws, when reading, if fewer numbers than these are left.
  void require(std::size_t count) const;
  bool at_end() const { return from_.empty(); }
  /// After reading: throws unless all numbers were read.
  void end() const;

 private:
  StateNumbers(std::vector<double> *to, std::span<const double> from) : to_(to), from_(from) {}
  std::vector<double> *to_;
  std::span<const double> from_;
};

/// A loop that has stopped: the objective at its start and after every iteration, and its state.
struct LoopRecord {
  std::vector<double> trace, state;
};

/// One run of a learner, such as a restart.
struct RunRecord {
  std::vector<LoopRecord> loops;
  /// A run from another start had failed, and this one took its place.
  bool begun_afresh = false;
  /// The following members are known once the run has ended; then only the best run keeps its
  /// loops.
  bool ended = false, converged = false;
  int iterations = 0;
  /// Did a loop of it make as many iterations as it was allowed?
  bool limited = false;
  /// the number of iterations that the run was allowed
  int limit = 0;
  std::vector<double> trace;
  std::vector<int> degenerate;
};

class BAYES_API Checkpoint {
 public:
  std::vector<RunRecord> runs;
  /// of each chain of a sampler that has begun: its draws, and its state after the last one
  std::vector<std::vector<double>> chains;

  /// Goes to the beginning of the record: a fit follows that is to continue this one.
  void rewind();
  /// Does the fit still repeat what is recorded? Until it has gone further, it does not stop for
  /// lack of time, so that every slice of time brings it forward.
  bool repeats() const { return repeats_; }
  void go_further() { repeats_ = false; }

  /// The record of this run, from 0, whose loops come next; null if nothing is recorded any more.
  RunRecord *begin_run(std::size_t index);
  /// The record of the next loop of the run, empty if it has not run yet; null if nothing is
  /// recorded any more.
  LoopRecord *next_loop();
  /// The current run would go another way if it were allowed more iterations.
  void limit_run();

  /// Ends the record.
  void freeze() { frozen_ = true; }
  bool frozen() const { return frozen_; }

 private:
  bool frozen_ = false, repeats_ = false;
  std::size_t run_ = 0, loop_ = 0;
};

}  // namespace bayes
