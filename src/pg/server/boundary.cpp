#include "pg/server/boundary.hpp"

#include <exception>
#include <new>
#include <set>

#include "pg/server/encoding.hpp"

namespace bayes::pg {

Interrupts interrupts;

namespace {

/// A saved exception. One is enough, as nothing else runs between saving and raising. Static, so
/// that no SQL function has these buffers in its stack frame.
struct SavedError {
  bool pending;
  int sqlstate;
  char message[8192], detail[8192], hint[4096];
} saved;

void copy(char *to, std::size_t size, const char *text) noexcept {
  std::snprintf(to, size, "%s", text);
}

void save(int sqlstate, const char *message, const char *detail = "",
          const char *hint = "") noexcept {
  saved.pending = false;
  saved.sqlstate = sqlstate;
  copy(saved.message, sizeof saved.message, message);
  copy(saved.detail, sizeof saved.detail, detail);
  copy(saved.hint, sizeof saved.hint, hint);
}

/// Removes an incomplete character from the end of a text, which save() may have truncated.
const char *clipped(char *text) {
  const int length = int(std::strlen(text));
  text[pg_mbcliplen(text, length, length)] = '\0';
  return text;
}

}  // namespace

int sqlstate(Errc code) noexcept {
  switch (code) {
    case Errc::invalid_argument: return ERRCODE_INVALID_PARAMETER_VALUE;
    case Errc::null_value: return ERRCODE_NULL_VALUE_NOT_ALLOWED;
    case Errc::array_shape: return ERRCODE_ARRAY_SUBSCRIPT_ERROR;
    case Errc::numeric: return ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE;
    case Errc::wrong_family: return ERRCODE_DATATYPE_MISMATCH;
    case Errc::too_large: return ERRCODE_PROGRAM_LIMIT_EXCEEDED;
    case Errc::invalid_text: return ERRCODE_INVALID_TEXT_REPRESENTATION;
    case Errc::invalid_binary: return ERRCODE_INVALID_BINARY_REPRESENTATION;
    case Errc::internal: break;
  }
  return ERRCODE_INTERNAL_ERROR;
}

namespace {

/// The error on PostgreSQL's error stack, in CurrentMemoryContext.
ErrorData *pending_error() {
  return guarded([] { return CopyErrorData(); });
}

std::string text_of(const char *text) { return text ? utf8_of_server(text) : std::string(); }

}  // namespace

int sqlstate_of_pending() { return pending_error()->sqlerrcode; }

std::string context_of_pending() { return text_of(pending_error()->context); }

SqlError error_of_pending(const std::string &sentence) {
  const ErrorData *const error = pending_error();
  guarded([] { FlushErrorState(); });
  const std::string detail = text_of(error->detail);
  return {error->sqlerrcode, text_of(error->message),
          detail.empty() ? sentence : detail + (detail.ends_with('.') ? " " : ". ") + sentence,
          text_of(error->hint)};
}

void save_current_exception() noexcept {
  try {
    throw;
  } catch (const Pending &) {
    saved.pending = true;
  } catch (const SqlError &x) {
    save(x.sqlstate(), x.what(), x.detail().c_str(), x.hint().c_str());
  } catch (const Error &x) {
    save(sqlstate(x.code()), x.what(), x.detail().c_str(), x.hint().c_str());
  } catch (const std::bad_alloc &) {
    save(ERRCODE_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception &x) {
    save(ERRCODE_INTERNAL_ERROR, x.what(), "pg_bayes encountered an unexpected error.");
  } catch (...) {
    save(ERRCODE_INTERNAL_ERROR, "unknown C++ exception",
         "pg_bayes encountered an unexpected error.");
  }
}

void raise_saved() {
  if (saved.pending) PG_RE_THROW();
  message_for_server(saved.message, sizeof saved.message);
  message_for_server(saved.detail, sizeof saved.detail);
  message_for_server(saved.hint, sizeof saved.hint);
  ereport(ERROR, (errcode(saved.sqlstate), errmsg_internal("%s", clipped(saved.message)),
                  saved.detail[0] ? errdetail_internal("%s", clipped(saved.detail)) : 0,
                  saved.hint[0] ? errhint("%s", clipped(saved.hint)) : 0));
  pg_unreachable();
}

void report(int level, const std::string &message, const std::string &detail,
            const std::string &hint) {
  const char *texts[] = {message.c_str(), detail.c_str(), hint.c_str()};
  guarded([level, &texts] {
    if (!server_is_utf8())
      for (const char *&text : texts) {
        // PostgreSQL's own bound (MAX_CONVERSION_GROWTH): every byte, and the terminating zero, may
        // become four bytes.
        const std::size_t size = 4 * (std::strlen(text) + 1);
        char *const copy = static_cast<char *>(palloc(size));
        std::strcpy(copy, text);
        message_for_server(copy, size);
        text = copy;
      }
    ereport(level,
            (errmsg_internal("%s", texts[0]), texts[1][0] ? errdetail_internal("%s", texts[1]) : 0,
             texts[2][0] ? errhint("%s", texts[2]) : 0));
  });
}

bool first_in_statement(const std::string &key) {
  static TimestampTz statement = 0;
  static std::set<std::string> said;
  const TimestampTz now = GetCurrentStatementStartTimestamp();
  if (now != statement) said.clear();
  statement = now;
  return said.insert(key).second;
}

void report_once(int level, const std::string &message, const std::string &detail,
                 const std::string &hint) {
  if (first_in_statement(message)) report(level, message, detail, hint);
}

}  // namespace bayes::pg
