// Settings that must precede any header of Eigen. linalg.hpp includes Eigen, and so does dense.cpp,
// in another namespace.
//
// Eigen's assertions abort the process, and a server backend that aborts takes every session down
// with it; with these settings they throw.
#pragma once

#include "base/api.hpp"

namespace bayes {
[[noreturn]] BAYES_API void eigen_assertion_failed(const char *condition);
}  // namespace bayes

#define eigen_assert(x)                            \
  do {                                             \
    if (!(x)) ::bayes::eigen_assertion_failed(#x); \
  } while (false)
#define EIGEN_DONT_PARALLELIZE
