// The type bayes_pass: what servers that work on one fit send each other.
#pragma once

#include "document/document.hpp"
#include "pg/server/boundary.hpp"

namespace bayes::pg {

/// The message as a value in CurrentMemoryContext. Throws Error(too_large) for one that is larger
/// than a value can be.
Datum pass_value(const Document &given);
/// Throws Error(invalid_binary) for bytes that are no message.
Document document_of_pass(Datum value);

}  // namespace bayes::pg
