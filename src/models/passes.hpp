// The passes over rows that a server makes for another one.
#pragma once

#include "base/control.hpp"
#include "counts/remote_corpus.hpp"
#include "data/remote_rows.hpp"
#include "data/sequences.hpp"
#include "document/document.hpp"

namespace bayes {

/// Makes the pass that a request asks for (data/remote_rows.hpp). Throws Error: invalid_binary for
/// a request that no server of this version makes, else as the pass itself.
BAYES_API Document answer_pass(PartOfRows &part, const Document &request, Control &control);
BAYES_API Document answer_pass(PartOfSequences &part, const Document &request, Control &control);
BAYES_API Document answer_pass(PartOfDocuments &part, const Document &request, Control &control);

}  // namespace bayes
