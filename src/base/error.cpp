#include "base/error.hpp"

namespace bayes {

Error::Error(Errc code, std::string_view message, std::string_view detail, std::string_view hint)
    : code_(code),
      message_(message),
      detail_(detail),
      hint_(hint) {}

Error::~Error() = default;

}  // namespace bayes
