// Settings that must precede any header of Boost.
//
// Boost's assertions abort the process, and a server backend that aborts takes every session down
// with it; with these settings they throw, as Eigen's do. tests/lib/house checks that this header
// is included before any of Boost's.
#pragma once

#define BOOST_ENABLE_ASSERT_HANDLER

#include "base/api.hpp"

namespace bayes {
[[noreturn]] BAYES_API void boost_assertion_failed(const char *condition);
}  // namespace bayes

namespace boost {
[[gnu::used]] inline void assertion_failed(const char *condition, const char *, const char *,
                                           long) {
  ::bayes::boost_assertion_failed(condition);
}
[[gnu::used]] inline void assertion_failed_msg(const char *condition, const char *, const char *,
                                               const char *, long) {
  ::bayes::boost_assertion_failed(condition);
}
}  // namespace boost
