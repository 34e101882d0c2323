// The type bayes_pass: messages between the servers of one fit.
#pragma once

#include "document/document.hpp"
#include "pg/server/boundary.hpp"

namespace bayes::pg {

/// The message as a value in CurrentMemoryContext. Throws Error(too_large) for one that is larger
/// than a value can be.
Datum pass_value(const Document &given);
/// The elements of one list followed by those of another, in CurrentMemoryContext. Throws
/// Error(invalid_binary) unless both are lists, and Error(too_large) as above. `state`: the first
/// list is the state of an aggregate, and the result is the next state, with room for further
/// elements; if the first value has enough room, it is the result itself.
Datum joined_pass_value(Datum first, Datum second, bool state);
/// Throws Error(invalid_binary) for bytes that are no message.
Document document_of_pass(Datum value);

}  // namespace bayes::pg
