// The pass over all rows: every piece once and in order, for any scheduling of threads; and its
// exit on every error and interrupt.
#include "data/sweep.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include "support.hpp"

using namespace bayes;

namespace {

struct Interrupt : std::runtime_error {
  Interrupt() : std::runtime_error("interrupt") {}
};

/// Becomes pending after a number of checks, repeatedly; poll throws, or returns and withdraws the
/// request.
class Nervous : public Control {
 public:
  Nervous(int looks, bool fatal) : fatal_(fatal), every_(looks), left_(looks) {}
  bool pending() const noexcept override {
    if (std::this_thread::get_id() != main_) elsewhere = true;
    if (left_ > 0) --left_;
    return left_ == 0;
  }
  void poll() override {
    BOOST_TEST(alive == 0);
    if (left_ > 0) return;
    ++polls;
    if (fatal_) throw Interrupt();
    left_ = every_ = every_ + 1;  // ever later, so that every segment is finished eventually
  }
  mutable std::atomic<bool> elsewhere{false};
  int polls = 0;
  std::atomic<int> alive{0};  // workers inside process or merge

 private:
  bool fatal_;
  int every_;
  mutable std::atomic<int> left_;
  std::thread::id main_ = std::this_thread::get_id();
};

Matrix counted(std::int64_t n, int d = 4) {
  Matrix x(n, d);
  for (std::int64_t i = 0; i < n; ++i)
    for (int j = 0; j < d; ++j) x(i, j) = double(i) + 0.25 * j;
  return x;
}

/// The first feature of every row, in the order in which segments are merged.
std::vector<double> read(RowSource &rows, Control &control, int threads,
                         std::atomic<int> *alive = nullptr, int spare = 1) {
  Sweep sweep(rows, control);
  const SweepPlan plan{threads, threads + spare};
  std::vector<std::vector<double>> part(static_cast<std::size_t>(plan.slots));
  std::vector<double> out;
  sweep.run(
      plan,
      [&](int, int slot, const Segment &segment, const Stop &stop) {
        if (alive) ++*alive;
        auto &mine = part[std::size_t(slot)];
        mine.clear();
        for (std::int64_t i = 0; i < segment.rows; ++i) {
          if (i % block_rows == 0 && stop()) break;
          mine.push_back(segment.blocks[std::size_t(i / block_rows) * rows.shape().block_doubles() +
                                        std::size_t(i % block_rows)]);
        }
        if (alive) --*alive;
      },
      [&](int slot) {
        out.insert(out.end(), part[std::size_t(slot)].begin(), part[std::size_t(slot)].end());
      });
  return out;
}

std::vector<double> expected(std::int64_t n) {
  std::vector<double> out;
  for (std::int64_t i = 0; i < n; ++i) out.push_back(double(i));
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sweep)

BOOST_AUTO_TEST_CASE(every_row_once_and_in_order) {
  const std::int64_t piece = RowShape{4, false}.piece_rows();
  for (const std::int64_t n :
       {std::int64_t(1), std::int64_t(127), std::int64_t(129), piece, piece + 1, 5 * piece - 3}) {
    const Matrix x = counted(n);
    for (const int threads : {1, 2, 3, 7}) {
      Control control;
      MemoryRows memory = support::rows_of(x);
      for (const int spare : {0, 1, 9})
        BOOST_TEST((read(memory, control, threads, nullptr, spare) == expected(n)));
      for (const std::size_t pieces : {1u, 2u}) {
        support::StretchedRows stretched(x, {}, pieces);
        BOOST_TEST((read(stretched, control, threads) == expected(n)));
      }
    }
  }
  MemoryRows none({3, false});
  Control control;
  BOOST_TEST(read(none, control, 3).empty());
}

// Caught: parts merged as they come.
BOOST_AUTO_TEST_CASE(slow_segments_are_merged_in_order) {
  const std::int64_t piece = RowShape{4, false}.piece_rows();
  const Matrix x = counted(6 * piece);
  for (const int slow : {0, 3}) {
    MemoryRows rows = support::rows_of(x);
    Control control;
    Sweep sweep(rows, control);
    std::vector<int> part(5), order;
    std::atomic<int> finished{0};
    sweep.run(
        {2, 5},
        [&](int, int slot, const Segment &segment, const Stop &) {
          part[std::size_t(slot)] = int(std::int64_t(segment.blocks[0]) / piece);
          // Wait until all segments that may overtake it have: those before it, and one or more
          // after it.
          for (int i = 0; i < 1000 && part[std::size_t(slot)] == slow && finished < slow + 2; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          ++finished;
        },
        [&](int slot) { order.push_back(part[std::size_t(slot)]); });
    BOOST_TEST((order == std::vector<int>{0, 1, 2, 3, 4, 5}));
  }
}

BOOST_AUTO_TEST_CASE(ignored_interrupts_change_nothing) {
  const std::int64_t n = 6 * RowShape{4, false}.piece_rows() - 11;
  const Matrix x = counted(n);
  Random random(4);
  int polls = 0;
  for (int trial = 0; trial < 40; ++trial) {
    Nervous control(1 + int(random.below(150)), false);
    support::StretchedRows rows(x, {}, 1 + std::size_t(random.below(3)));
    BOOST_TEST((read(rows, control, 1 + int(random.below(4)), &control.alive,
                     int(random.below(4))) == expected(n)));
    BOOST_TEST(!control.elsewhere);
    polls += control.polls;
  }
  BOOST_TEST(polls > 20);  // interrupts did happen
}

BOOST_AUTO_TEST_CASE(an_interrupt_that_throws_ends_the_pass_with_threads_joined) {
  const std::int64_t n = 6 * RowShape{4, false}.piece_rows();
  const Matrix x = counted(n);
  Random random(5);
  int thrown = 0;
  for (int trial = 0; trial < 40; ++trial) {
    Nervous control(1 + int(random.below(150)), true);
    support::StretchedRows rows(x, {}, 2);
    try {
      BOOST_TEST((read(rows, control, 1 + int(random.below(4)), &control.alive) == expected(n)));
    } catch (const Interrupt &) {
      ++thrown;
    }
    BOOST_TEST(control.alive == 0);
  }
  BOOST_TEST(thrown > 10);
}

// The main thread, having finished its own part, must keep checking for interrupts while others
// work.
BOOST_AUTO_TEST_CASE(interrupts_are_seen_while_the_main_thread_waits) {
  class Late : public Control {
   public:
    std::atomic<bool> wanted{false};
    bool pending() const noexcept override { return wanted; }
    void poll() override {
      if (wanted) throw Interrupt();
    }
  };
  const Matrix x = counted(4 * RowShape{4, false}.piece_rows());
  for (const int slots : {2, 3}) {  // with 2 it waits for a slot, with 3 for the end
    Late control;
    MemoryRows rows = support::rows_of(x);
    Sweep sweep(rows, control);
    const auto main = std::this_thread::get_id();
    std::atomic<bool> begun{false}, stopped{false};
    BOOST_CHECK_THROW(sweep.run(
                          {2, slots},
                          [&](int, int, const Segment &, const Stop &stop) {
                            if (std::this_thread::get_id() == main) {
                              while (!begun && !stop()) std::this_thread::yield();
                              return;
                            }
                            if (begun.exchange(true)) return;
                            // now the main thread has nothing left to do
                            std::this_thread::sleep_for(std::chrono::milliseconds(50));
                            control.wanted = true;
                            // does not end by itself for seconds
                            for (int i = 0; i < 2000 && !stopped; ++i) {
                              stopped = stop();
                              std::this_thread::sleep_for(std::chrono::milliseconds(1));
                            }
                          },
                          [](int) {}),
                      Interrupt);
    BOOST_TEST(stopped);
  }
}

// What is called in a task polls without knowing of it.
BOOST_AUTO_TEST_CASE(polls_inside_a_task_abandon_it) {
  for (const int threads : {1, 2}) {
    Nervous control(20, false);
    std::atomic<int> unfinished{0};
    std::vector<int> part(std::size_t(threads), -1), merged;
    // Only the main thread looks at the control, so the other leaves a task to it.
    const auto main = std::this_thread::get_id();
    std::atomic<bool> done{false};
    run_in_order(
        5, {threads, threads}, control,
        [&](int, int slot, std::size_t task, const Stop &) {
          const bool on_main = std::this_thread::get_id() == main;
          for (; !on_main && !done; std::this_thread::yield()) poll_here();
          ++unfinished;
          for (int i = 0; i < 100; ++i) poll_here();
          --unfinished;
          if (on_main) done = true;
          part[std::size_t(slot)] = int(task);
        },
        [&](int slot) { merged.push_back(part[std::size_t(slot)]); });
    BOOST_TEST((merged == std::vector<int>{0, 1, 2, 3, 4}));
    BOOST_TEST(control.polls > 20);
    BOOST_TEST(unfinished > 20);
  }
}

BOOST_AUTO_TEST_CASE(requests_that_poll_ignores_do_not_block) {
  class Deaf : public Control {
   public:
    bool pending() const noexcept override { return true; }
  } control;
  const Matrix x = counted(20000);
  MemoryRows rows = support::rows_of(x);
  BOOST_TEST((read(rows, control, 2) == expected(20000)));
}

BOOST_AUTO_TEST_CASE(exceptions_are_rethrown_with_threads_joined) {
  const std::int64_t piece = RowShape{4, false}.piece_rows(), n = 8 * piece;
  const Matrix x = counted(n);
  for (const int threads : {1, 2, 4})
    for (int at = 0; at < 8; ++at)
      for (const bool in_merge : {false, true}) {
        MemoryRows rows = support::rows_of(x);
        Control control;
        Sweep sweep(rows, control);
        std::atomic<int> alive{0};
        int merged = 0;
        const SweepPlan plan{threads, 2 * threads};
        std::vector<int> index(static_cast<std::size_t>(plan.slots), -1);
        const auto number = [&](const Segment &segment) {
          return int(std::int64_t(segment.blocks[0]) / piece);
        };
        BOOST_CHECK_THROW(
            sweep.run(
                plan,
                [&](int worker, int slot, const Segment &segment, const Stop &stop) {
                  ++alive;
                  index[std::size_t(slot)] = number(segment);
                  --alive;
                  if (!in_merge && number(segment) == at) throw Interrupt();
                  // Later ones continue until they are stopped: none may be waited for
                  // indefinitely.
                  while (!in_merge && number(segment) > at && threads > 1 && worker > 0 && !stop())
                    std::this_thread::yield();
                },
                [&](int slot) {
                  BOOST_REQUIRE(index[std::size_t(slot)] == merged);
                  if (in_merge && merged == at) throw Interrupt();
                  ++merged;
                }),
            Interrupt);
        BOOST_TEST(alive == 0);
        BOOST_TEST(merged <= at);
        if (in_merge) BOOST_TEST(merged == at);
      }
}

BOOST_AUTO_TEST_CASE(a_source_that_fails_while_threads_compute) {
  class Failing final : public RowSource {
   public:
    explicit Failing(const Matrix &x) : inside_(x, {}, 2) {
      shape_ = inside_.shape();
      rows_ = inside_.rows();
    }
    std::int64_t stretches() const override { return inside_.stretches(); }
    std::span<const Piece> stretch(std::int64_t index) override {
      if (index == fail_at) throw Interrupt();
      return inside_.stretch(index);
    }
    void read_block(std::int64_t, double *) override {}
    std::int64_t fail_at = 0;

   private:
    support::StretchedRows inside_;
  };
  const std::int64_t n = 8 * RowShape{4, false}.piece_rows();
  Failing rows(counted(n));
  for (const int threads : {1, 2, 4})
    for (rows.fail_at = 0; rows.fail_at < 4; ++rows.fail_at) {
      Control control;
      BOOST_CHECK_THROW(read(rows, control, threads), Interrupt);
    }
  Control control;
  BOOST_TEST((read(rows, control, 2) == expected(n)));  // and it can be used again
}

BOOST_AUTO_TEST_CASE(pieces_are_as_rows_hpp_says) {
  for (const int d : {1, 2, 16, 63, 64, 255, 256, 257, 1600})
    for (const bool weighted : {false, true}) {
      const RowShape shape{d, weighted};
      const std::int64_t rows = shape.piece_rows();
      BOOST_TEST((rows & (rows - 1)) == 0);
      BOOST_TEST(rows >= block_rows);
      BOOST_TEST((rows == block_rows || shape.piece_doubles() * 8 <= 256 * 1024));
      BOOST_TEST(shape.piece_doubles() * 16 > 256 * 1024);
    }
}

BOOST_AUTO_TEST_SUITE_END()
