// The type linreg_stats: text and binary forms, casts.
#include "pg/values/linreg_value.hpp"

#include "base/message.hpp"
#include "pg/server/context.hpp"
#include "pg/server/encoding.hpp"
#include "pg/values/json.hpp"
#include "pg/values/varlena.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace bayes::pg {

LinregSums load_stats(Datum value) {
  const Detoasted plain(value);
  try {
    return LinregSums::from_bytes(
        {VARDATA_ANY(plain.get()), std::size_t(VARSIZE_ANY_EXHDR(plain.get()))});
  } catch (const Error &error) {
    if (error.code() != Errc::invalid_binary) throw;
    throw SqlError(ERRCODE_DATA_CORRUPTED,
                   message("stored linreg_stats is corrupted: {}", error.what()), error.detail(),
                   "Collect the statistics again, or restore them from a backup.");
  }
}

Datum store_stats(const LinregSums &sums) {
  const std::string bytes = sums.to_bytes();
  if (bytes.size() > max_varlena_bytes)
    throw Error(
        Errc::too_large,
        message("linreg_stats of {} bytes is larger than a PostgreSQL value can be", bytes.size()),
        "The limit is 1 GB.", "Combine rare labels into one.");
  return new_varlena(bytes);
}

}  // namespace bayes::pg

namespace {

/// The value for a document that was read from text or jsonb.
Datum value_of(const Document &document) {
  const LinregSums sums = LinregSums::from_document(document);
  sums.require_semidefinite();
  return store_stats(sums);
}

}  // namespace

BAYES_FUNCTION(linreg_stats_in) { return value_of(document_of_json(PG_GETARG_CSTRING(0))); }

BAYES_FUNCTION(linreg_stats_out) {
  return text_datum(load_stats(PG_GETARG_DATUM(0)).to_document().to_json());
}

BAYES_FUNCTION(linreg_stats_recv) {
  auto *const message = reinterpret_cast<StringInfo>(PG_GETARG_POINTER(0));
  const int size = message->len - message->cursor;
  const std::string_view bytes(guarded([message, size] { return pq_getmsgbytes(message, size); }),
                               std::size_t(size));
  const LinregSums sums = LinregSums::from_bytes(bytes);
  try {
    sums.require_semidefinite();
  } catch (const Error &error) {
    throw Error(Errc::invalid_binary, error.what(), error.detail(), error.hint());
  }
  return store_stats(sums);
}

BAYES_FUNCTION(linreg_stats_send) {
  bytea *const plain = guarded([fcinfo] { return DatumGetByteaPCopy(PG_GETARG_DATUM(0)); });
  load_stats(PointerGetDatum(plain));
  PG_RETURN_BYTEA_P(plain);
}

BAYES_FUNCTION(linreg_stats_to_jsonb) {
  return jsonb_of(load_stats(PG_GETARG_DATUM(0)).to_document());
}

BAYES_FUNCTION(linreg_stats_from_jsonb) { return value_of(document_of_jsonb(PG_GETARG_DATUM(0))); }
