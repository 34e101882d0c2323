// What Eigen is told before it is included: here as linalg.hpp does, and in dense.cpp, which has it
// under another name. Included before any header of Eigen.
//
// Eigen's assertions abort the process, and a server backend that aborts takes every session down
// with it; here they throw.
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
