// What Boost is told before it is included.
//
// Its assertions abort the process, and a server backend that aborts takes every session down with
// it; here they throw, as Eigen's do. Included before any header of Boost, which tests/lib/house
// checks.
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
