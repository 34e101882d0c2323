// Memory that begins on a cache line, so that no vector load straddles two.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/api.hpp"

namespace bayes {

inline constexpr std::size_t cache_line = 64;

/// Memory of this many bytes that begins on a cache line; throws std::bad_alloc. A thread keeps a
/// few small blocks that it has freed: passes over few rows allocate the same workspaces again and
/// again, and the system's allocator takes longer for them than the passes.
BAYES_API void *allocate_aligned(std::size_t bytes);
/// Frees what allocate_aligned() has returned for this number of bytes.
BAYES_API void free_aligned(void *block, std::size_t bytes) noexcept;

template <class T> struct CacheAligned {
  using value_type = T;
  CacheAligned() = default;
  template <class U> CacheAligned(const CacheAligned<U> &) {}
  T *allocate(std::size_t n) { return static_cast<T *>(allocate_aligned(n * sizeof(T))); }
  void deallocate(T *p, std::size_t n) { free_aligned(p, n * sizeof(T)); }
  bool operator==(const CacheAligned &) const = default;
};

/// The same, but a vector leaves its elements uninitialized, so that its pages are first touched by
/// the threads that fill them. Every element must be written before it is read.
template <class T> struct Untouched : CacheAligned<T> {
  Untouched() = default;
  template <class U> Untouched(const Untouched<U> &) {}
  template <class U> void construct(U *p) { ::new (static_cast<void *>(p)) U; }
  template <class U, class... A> void construct(U *p, A &&...a) {
    ::new (static_cast<void *>(p)) U(std::forward<A>(a)...);
  }
};

using Buffer = std::vector<double, CacheAligned<double>>;

}  // namespace bayes
