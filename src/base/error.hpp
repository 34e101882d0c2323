// The one exception that kernels throw.
//
// An Error tells the user what is wrong (message), where and why (detail) and what to do (hint).
// The server side maps its code to an SQLSTATE and raises it as an ordinary PostgreSQL ERROR.
#pragma once

#include <cmath>
#include <exception>
#include <string>
#include <string_view>

#include "base/api.hpp"

namespace bayes {

enum class Errc {
  invalid_argument,  // 22023: an invalid option or argument
  null_value,        // 22004: NULL inside a row
  array_shape,       // 2202E: rows of different length, arrays of a wrong shape
  numeric,           // 22003: numerically impossible: not positive definite, overflow
  wrong_family,      // 42804: a model of another model family
  too_large,         // 54000: beyond a stated limit
  invalid_text,      // 22P02: text that is not a bayes_model
  invalid_binary,    // 22P03: bytes that are not a bayes_model
  internal           // XX000: a bug of ours
};

class BAYES_API Error : public std::exception {
 public:
  // Out of line: many functions throw, and inlining would only make them larger.
  Error(Errc code, std::string_view message, std::string_view detail = {},
        std::string_view hint = {});
  ~Error() override;

  Errc code() const noexcept { return code_; }
  const char *what() const noexcept override { return message_.c_str(); }
  const std::string &detail() const noexcept { return detail_; }
  const std::string &hint() const noexcept { return hint_; }

 private:
  Errc code_;
  std::string message_, detail_, hint_;
};

}  // namespace bayes
