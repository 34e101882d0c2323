// Keys of a table in a document.
#pragma once

#include <string>
#include <vector>

#include "document/members.hpp"

namespace bayes {

Document written_keys(const std::vector<std::string> &keys);

/// Member "keys" of a side: 1 to factor_max_keys texts, `rising` in the order of their bytes.
std::vector<std::string> read_keys(const MemberReader &side, bool rising);

}  // namespace bayes
