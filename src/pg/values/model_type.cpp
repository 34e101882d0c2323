// The type bayes_model: text and binary forms, casts, and accessors common to all models.
#include <cstring>

#include "base/message.hpp"
#include "document/members.hpp"
#include "pg/server/encoding.hpp"
#include "pg/values/json.hpp"
#include "pg/values/model_value.hpp"
#include "pg/values/results.hpp"
#include "pg/values/varlena.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

Datum model_of_document(const Document &document) {
  return store_model(*Model::from_document(document));
}

/// Three-way comparison of two stored models by their content: -1, 0 or 1.
int compare(FunctionCallInfo fcinfo) {
  const int order =
      content_header_of(PG_GETARG_DATUM(0)).compare(content_header_of(PG_GETARG_DATUM(1)));
  return order < 0 ? -1 : order > 0;
}

/// Components as an int[], numbered from 1.
Datum numbers_of(const std::vector<int> &components) {
  return guarded([&components] {
    Datum *const numbers = static_cast<Datum *>(palloc(sizeof(Datum) * (components.size() + 1)));
    for (std::size_t i = 0; i < components.size(); ++i)
      numbers[i] = Int32GetDatum(components[i] + 1);
    return PointerGetDatum(
        construct_array(numbers, int(components.size()), INT4OID, 4, true, TYPALIGN_INT));
  });
}

}  // namespace

BAYES_FUNCTION(bayes_model_in) {
  const char *const text = PG_GETARG_CSTRING(0);
  if (text[std::strspn(text, " \t\r\n")] != '{')
    throw SqlError(ERRCODE_INVALID_TEXT_REPRESENTATION, "invalid input syntax for type bayes_model",
                   message("A model is written as a JSON object, but this text begins with {}.",
                           describe(Document(utf8_of_server(text)))),
                   "Take a model from the column that keeps it, or from a fit: (SELECT gmm_fit(x, "
                   "3) FROM t). A query text is no model.");
  return model_of_document(document_of_json(text));
}

BAYES_FUNCTION(bayes_model_out) {
  return text_datum(load_model(PG_GETARG_DATUM(0))->to_document().to_json());
}

BAYES_FUNCTION(bayes_model_recv) {
  auto *const message = reinterpret_cast<StringInfo>(PG_GETARG_POINTER(0));
  const int size = message->len - message->cursor;
  const std::string_view bytes(guarded([message, size] { return pq_getmsgbytes(message, size); }),
                               std::size_t(size));
  Model::from_bytes(bytes);  // throws if it is not a model
  return store_bytes(bytes);
}

/// The stored bytes, after they have been checked.
BAYES_FUNCTION(bayes_model_send) {
  bytea *const plain = guarded([fcinfo] { return DatumGetByteaPCopy(PG_GETARG_DATUM(0)); });
  load_model(PointerGetDatum(plain));
  PG_RETURN_BYTEA_P(plain);
}

BAYES_FUNCTION(bayes_model_to_jsonb) {
  return jsonb_of(load_model(PG_GETARG_DATUM(0))->to_document());
}

BAYES_FUNCTION(bayes_model_from_jsonb) {
  return model_of_document(document_of_jsonb(PG_GETARG_DATUM(0)));
}

// ---- equality and order, by the headers that identify the content ----

BAYES_FUNCTION(bayes_model_eq) { PG_RETURN_BOOL(compare(fcinfo) == 0); }
BAYES_FUNCTION(bayes_model_ne) { PG_RETURN_BOOL(compare(fcinfo) != 0); }
BAYES_FUNCTION(bayes_model_lt) { PG_RETURN_BOOL(compare(fcinfo) < 0); }
BAYES_FUNCTION(bayes_model_le) { PG_RETURN_BOOL(compare(fcinfo) <= 0); }
BAYES_FUNCTION(bayes_model_gt) { PG_RETURN_BOOL(compare(fcinfo) > 0); }
BAYES_FUNCTION(bayes_model_ge) { PG_RETURN_BOOL(compare(fcinfo) >= 0); }
BAYES_FUNCTION(bayes_model_cmp) { PG_RETURN_INT32(compare(fcinfo)); }

BAYES_FUNCTION(bayes_model_hash) {
  const Datum header = new_varlena(content_header_of(PG_GETARG_DATUM(0)));
  return guarded([header] { return DirectFunctionCall1(hashvarlena, header); });
}
BAYES_FUNCTION(bayes_model_hash_extended) {
  const Datum header = new_varlena(content_header_of(PG_GETARG_DATUM(0)));
  const Datum seed = PG_GETARG_DATUM(1);
  return guarded([header, seed] { return DirectFunctionCall2(hashvarlenaextended, header, seed); });
}

BAYES_FUNCTION(bayes_columns) {
  ResultRows result(fcinfo);
  const std::unique_ptr<Model> model = load_model(PG_GETARG_DATUM(0));
  int element = 0;
  for (const RowColumn &column : model->info.columns) {
    const Cell name = Cell::text(column.name), kind = Cell::text(name_of(column.kind));
    ++element;
    if (column.kind != ValueKind::label) result.row({element, name, kind, Cell(), Cell()});
    int code = 0;
    for (const std::string &label : column.labels)
      result.row({element, name, kind, code++, Cell::text(label)});
  }
  return Datum(0);
}

BAYES_FUNCTION(bayes_info) {
  ResultRows rows(fcinfo);
  const std::unique_ptr<Model> model = load_model(PG_GETARG_DATUM(0));
  const ModelInfo &info = model->info;
  const std::int64_t draws = std::int64_t(model->draws.chains) * model->draws.draws,
                     stored = model->stored_draws();
  const std::optional<std::string_view> stopped_by = stopped(info);
  rows.row({Cell::text(info.family),
            Cell::text(method_name(info.method)),
            info.rows,
            info.skipped,
            info.dimension,
            info.components,
            info.iterations,
            info.converged,
            Cell::datum(numbers_of(info.degenerate), INT4ARRAYOID),
            Cell::or_null(info.objective),
            Cell::or_null(info.log_likelihood),
            info.seed,
            info.seconds,
            Cell::text(info.version),
            Cell::datum(jsonb_of(info.options), JSONBOID),
            draws > 0 ? Cell(draws) : Cell(),
            stored > 0 ? Cell(stored) : Cell(),
            Cell::or_null(model->free_parameters()),
            Cell::or_null(model->bic()),
            Cell::or_null(model->observations()),
            info.incomplete ? Cell(*info.incomplete) : Cell(),
            Cell::or_null(model->relative_entropy()),
            stopped_by ? Cell::text(*stopped_by) : Cell()});
  return Datum(0);
}

BAYES_FUNCTION(bayes_trace) {
  ResultRows rows(fcinfo);
  const std::unique_ptr<Model> model = load_model(PG_GETARG_DATUM(0));
  for (std::size_t restart = 0; restart < model->trace.size(); ++restart)
    for (std::size_t iteration = 0; iteration < model->trace[restart].size(); ++iteration)
      rows.row({int(restart + 1), int(iteration), model->trace[restart][iteration]});
  return Datum(0);
}
