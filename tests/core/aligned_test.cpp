// Memory on cache lines: what a thread keeps is given out once, and is large enough.
#include "base/aligned.hpp"

#include <malloc.h>

#include <cstring>
#include <set>
#include <thread>

#include "support.hpp"

using namespace bayes;

namespace {

struct Block {
  unsigned char *at;
  std::size_t bytes;
  unsigned char mark;
};

/// Allocates and frees blocks in a disorder, each marked in all its bytes while it lives.
void churn(std::uint64_t seed) {
  Random random(seed);
  std::vector<Block> live;
  std::set<void *> places;
  const auto end = [&](std::size_t i) {
    const Block gone = live[i];
    BOOST_TEST(std::all_of(gone.at, gone.at + gone.bytes,
                           [&](unsigned char each) { return each == gone.mark; }));
    places.erase(gone.at);
    live.erase(live.begin() + std::ptrdiff_t(i));
    free_aligned(gone.at, gone.bytes);
  };
  for (int i = 0; i < 3000; ++i) {
    if (live.size() > 12 || (!live.empty() && random.below(2)))
      end(std::size_t(random.below(live.size())));
    // around the powers of two from 256 bytes to 128 kB
    const std::size_t bytes = (std::size_t(256) << random.below(10)) + random.below(3) - 1;
    auto *const at = static_cast<unsigned char *>(allocate_aligned(bytes));
    BOOST_TEST(reinterpret_cast<std::uintptr_t>(at) % cache_line == 0);
    BOOST_TEST(malloc_usable_size(at) >= bytes);
    BOOST_TEST(places.insert(at).second);
    live.push_back({at, bytes, static_cast<unsigned char>(i)});
    std::memset(at, live.back().mark, bytes);
  }
  while (!live.empty()) end(0);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(aligned)

// Caught: a size class too small for its largest blocks, a block given out twice.
BOOST_AUTO_TEST_CASE(blocks_are_whole_and_belong_to_one) {
  churn(1);
  std::thread other([] { churn(2); });
  other.join();
}

// A buffer may outlive the thread that made it, and what ends after a thread's blocks is freed.
BOOST_AUTO_TEST_CASE(blocks_go_from_thread_to_thread) {
  Buffer made;
  std::thread maker([&made] { made.assign(1000, 3.0); });
  maker.join();
  BOOST_TEST(made[999] == 3);
  made = {};
  BOOST_TEST(Buffer(1000, 1.0)[999] == 1);
}

BOOST_AUTO_TEST_SUITE_END()
