#include "pg/server/boundary.hpp"

#include <exception>
#include <new>

namespace bayes::pg {
namespace {

/// What an exception said. One is enough: between keeping and raising nothing else runs. Static, so
/// that no SQL function carries these buffers in its stack frame.
struct Kept {
  bool pending;
  int sqlstate;
  char message[8192], detail[8192], hint[4096];
} kept;

void copy(char *to, std::size_t size, const char *text) noexcept {
  std::snprintf(to, size, "%s", text);
}

void keep(int sqlstate, const char *message, const char *detail = "",
          const char *hint = "") noexcept {
  kept.pending = false;
  kept.sqlstate = sqlstate;
  copy(kept.message, sizeof kept.message, message);
  copy(kept.detail, sizeof kept.detail, detail);
  copy(kept.hint, sizeof kept.hint, hint);
}

/// A text cut by keep() must not end inside a character.
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

void keep_current_exception() noexcept {
  try {
    throw;
  } catch (const Pending &) {
    kept.pending = true;
  } catch (const SqlError &x) {
    keep(x.sqlstate(), x.what(), x.detail().c_str(), x.hint().c_str());
  } catch (const Error &x) {
    keep(sqlstate(x.code()), x.what(), x.detail().c_str(), x.hint().c_str());
  } catch (const std::bad_alloc &) {
    keep(ERRCODE_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception &x) {
    keep(ERRCODE_INTERNAL_ERROR, x.what(), "pg_bayes met an error that it did not foresee.");
  } catch (...) {
    keep(ERRCODE_INTERNAL_ERROR, "unknown C++ exception",
         "pg_bayes met an error that it did not foresee.");
  }
}

void raise_kept() {
  if (kept.pending) PG_RE_THROW();
  ereport(ERROR, (errcode(kept.sqlstate), errmsg_internal("%s", clipped(kept.message)),
                  kept.detail[0] ? errdetail_internal("%s", clipped(kept.detail)) : 0,
                  kept.hint[0] ? errhint("%s", clipped(kept.hint)) : 0));
  pg_unreachable();
}

void report(int level, const std::string &message, const std::string &detail,
            const std::string &hint) {
  const char *const texts[] = {message.c_str(), detail.c_str(), hint.c_str()};
  guarded([level, &texts] {
    ereport(level,
            (errmsg_internal("%s", texts[0]), texts[1][0] ? errdetail_internal("%s", texts[1]) : 0,
             texts[2][0] ? errhint("%s", texts[2]) : 0));
  });
}

}  // namespace bayes::pg
