// The passes over rows that a server makes for another one.
#pragma once

#include "base/control.hpp"
#include "data/rows.hpp"
#include "document/document.hpp"

namespace bayes {

/// Makes the pass that a request asks for (data/remote_rows.hpp) over these rows, which are part
/// number `part` of all rows, from 0. Throws Error: invalid_binary for a request that no server of
/// this version makes, else as the pass itself.
BAYES_API Document answer_pass(RowSource &rows, const Document &request, std::size_t part,
                               Control &control);

}  // namespace bayes
