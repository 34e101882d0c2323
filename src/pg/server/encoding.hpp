// Texts of the kernel are UTF-8; those of the server are in the database's encoding. They are
// converted at the boundary.
//
// A database with encoding SQL_ASCII converts nothing: its texts must be valid UTF-8 (22021 if
// not).
#pragma once

#include <string>
#include <string_view>

#include "pg/server/boundary.hpp"

namespace bayes::pg {

inline bool server_is_utf8() { return GetDatabaseEncoding() == PG_UTF8; }

/// A text of the server as UTF-8. May throw Pending.
std::string utf8_of_server(std::string_view text);

/// The same without a copy if nothing has to be converted: a view of `text` itself, else of the
/// converted text in `buffer`.
std::string_view utf8_view(std::string_view text, std::string &buffer);

/// The reverse: `text` itself if nothing has to be converted, else a copy in CurrentMemoryContext
/// that ends in a zero byte. Raises 22P05 for a character that the database's encoding does not
/// have, so call it under guarded().
const char *server_of_utf8(const char *text, std::size_t size);

/// A text as the cstring that an output function returns, in CurrentMemoryContext.
Datum text_datum(const std::string &text);

/// Converts a message from UTF-8 to the database's encoding, in its buffer of `size` bytes. It ends
/// before the first character that cannot be converted; a text that is not valid UTF-8 is left
/// unchanged. Raises.
void message_for_server(char *text, std::size_t size);

}  // namespace bayes::pg
