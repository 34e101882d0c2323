#include "base/aligned.hpp"

#include <bit>
#include <new>

namespace bayes {
namespace {

/// Blocks are kept by powers of two, from 1 kB to 64 kB, at most four of each: half a megabyte per
/// thread. Larger ones take longer to fill than to allocate.
constexpr int smallest = 10, largest = 16, kept_of_each = 4;

std::size_t rounded(std::size_t bytes) { return std::bit_ceil(bytes); }

/// The index of this size among the sizes that are kept; -1 if it is not kept.
int size_class(std::size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  static_cast<void>(bytes);  // a use after free must be seen
  return -1;
#else
  if (bytes <= std::size_t(1) << (smallest - 1) || bytes > std::size_t(1) << largest) return -1;
  return std::bit_width(bytes - 1) - smallest;
#endif
}

void *from_system(std::size_t bytes) { return ::operator new(bytes, std::align_val_t(cache_line)); }
void to_system(void *block) noexcept { ::operator delete(block, std::align_val_t(cache_line)); }

/// The blocks that a thread keeps. They are freed when it ends; what it frees after that goes back
/// to the system.
struct Kept {
  Kept() = default;
  Kept(const Kept &) = delete;
  ~Kept() {
    ended = true;
    for (int i = 0; i <= largest - smallest; ++i)
      for (int j = 0; j < count[i]; ++j) to_system(blocks[i][j]);
  }
  void *blocks[largest - smallest + 1][kept_of_each] = {};
  int count[largest - smallest + 1] = {};
  static thread_local bool ended;
};
thread_local bool Kept::ended = false;
thread_local Kept kept;

}  // namespace

void *allocate_aligned(std::size_t bytes) {
  const int of = size_class(bytes);
  if (of < 0) return from_system(bytes);
  if (!Kept::ended && kept.count[of] > 0) return kept.blocks[of][--kept.count[of]];
  return from_system(rounded(bytes));
}

void free_aligned(void *block, std::size_t bytes) noexcept {
  const int of = size_class(bytes);
  if (of < 0 || Kept::ended || kept.count[of] == kept_of_each) return to_system(block);
  kept.blocks[of][kept.count[of]++] = block;
}

}  // namespace bayes
