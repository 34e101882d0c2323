// Memory that begins on a cache line, so that no vector load straddles two.
#pragma once

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace bayes {

inline constexpr std::size_t cache_line = 64;

template <class T> struct CacheAligned {
  using value_type = T;
  CacheAligned() = default;
  template <class U> CacheAligned(const CacheAligned<U> &) {}
  T *allocate(std::size_t n) {
    return static_cast<T *>(::operator new(n * sizeof(T), std::align_val_t(cache_line)));
  }
  void deallocate(T *p, std::size_t) { ::operator delete(p, std::align_val_t(cache_line)); }
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
