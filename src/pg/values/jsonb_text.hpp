// The text of a jsonb.
#pragma once

#include <string>

#include "pg/server/boundary.hpp"

namespace bayes::pg {

/// The text of a jsonb in the server's encoding, as jsonb_out writes it, which does not poll.
std::string text_of_jsonb(JsonbContainer *root);

}  // namespace bayes::pg
