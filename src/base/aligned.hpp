// Memory that begins on a cache line, so that no vector load straddles two.
#pragma once

#include <cstddef>
#include <new>
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

using Buffer = std::vector<double, CacheAligned<double>>;

}  // namespace bayes
