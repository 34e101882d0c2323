#include "pg/values/model_value.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/message.hpp"
#include "document/members.hpp"
#include "pg/server/encoding.hpp"
#include "pg/values/convert.hpp"
#include "pg/values/json.hpp"
#include "pg/values/results.hpp"

namespace bayes::pg {
namespace {

/// bytes of the models cached for one call site; work_mem if that is more
constexpr std::size_t min_cache_bytes = 32 << 20;
/// number of models that are cached whatever their size, so that two may alternate; and maximum
/// number, as a lookup compares all fingerprints
constexpr std::size_t min_cached_models = 2, max_cached_models = 256;
/// rough ratio of a parsed model's bytes to its stored bytes, without and with draws, each of which
/// is prepared for scoring
constexpr std::size_t parsed_per_stored = 4, parsed_per_stored_draws = 16;
/// limit of the bytes of a model as text: a line of COPY, with all its columns, is limited to 1 GB
constexpr std::size_t max_text = 1'000'000'000;

/// A detoasted value, freed on destruction if it is a copy.
class Plain {
 public:
  explicit Plain(Datum value) : original_(DatumGetPointer(value)) {
    varlena_ = guarded([value] {
      return pg_detoast_datum_packed(reinterpret_cast<struct varlena *>(DatumGetPointer(value)));
    });
  }
  ~Plain() {
    if (varlena_ != original_) pfree(varlena_);
  }
  Plain(const Plain &) = delete;
  Plain &operator=(const Plain &) = delete;
  Datum datum() const { return PointerGetDatum(varlena_); }
  std::string_view bytes() const {
    return {VARDATA_ANY(varlena_), std::size_t(VARSIZE_ANY_EXHDR(varlena_))};
  }

 private:
  const void *original_;
  struct varlena *varlena_;
};

/// Throws Error(too_large) for a model that could be stored, but not be dumped.
void require_text(const Model &model) {
  const std::size_t size = model.to_document().copied_json_size();
  if (size > max_text)
    throw Error(Errc::too_large,
                message("model takes {} MB as text, but the limit is {} MB", size / 1'000'000,
                        max_text / 1'000'000),
                "Models are dumped and copied as text, which is limited to 1 GB. A number takes "
                "about 20 bytes.",
                "Use fewer components, or store fewer draws.");
}

/// Calls `read`, which parses stored bytes. Reports bytes that are not a model as corrupted data.
template <class Read> auto read_stored(Read read) {
  try {
    return read();
  } catch (const Error &error) {
    if (error.code() != Errc::invalid_binary) throw;
    throw SqlError(
        ERRCODE_DATA_CORRUPTED, message("stored bayes_model is corrupted: {}", error.what()),
        error.detail(),
        error.hint().empty() ? "Fit the model again, or restore it from a backup." : error.hint());
  }
}

std::unique_ptr<Model> parse(std::string_view bytes, const char *family) {
  std::unique_ptr<Model> model = read_stored([bytes] { return Model::from_bytes(bytes); });
  if (family && model->info.family != family)
    throw Error(Errc::wrong_family,
                message("model is of family {}, expected {}", model->info.family, family),
                "bayes_info(model) shows the family of a model.");
  return model;
}

/// Parses bytes that are about to be stored: a model that cannot be read back would be lost, and
/// dumps of its table could not be restored. Throws Error(numeric).
void require_readable(std::string_view bytes) {
  try {
    Model::from_bytes(bytes);
  } catch (const Error &error) {
    if (error.code() != Errc::invalid_binary) throw;
    std::string_view what = error.what();
    constexpr std::string_view beginning = "invalid bayes_model: ";
    if (what.starts_with(beginning)) what.remove_prefix(beginning.size());
    throw Error(Errc::numeric, "a number of the model is out of range",
                message("The model could not be read back: {}", what),
                "Rescale the columns and weights, so that their numbers are closer to 1, and check "
                "the options for extreme priors.");
  }
}

}  // namespace

std::unique_ptr<Model> load_model(Datum value, const char *family) {
  return parse(Plain(value).bytes(), family);
}

std::vector<NullableDatum> elements_of(Datum array) {
  Datum *values = nullptr;
  bool *nulls = nullptr;
  int count = 0;
  guarded([&] {
    ArrayType *const given = DatumGetArrayTypeP(array);
    int16 length;
    bool by_value;
    char alignment;
    get_typlenbyvalalign(ARR_ELEMTYPE(given), &length, &by_value, &alignment);
    deconstruct_array(given, ARR_ELEMTYPE(given), length, by_value, alignment, &values, &nulls,
                      &count);
  });
  std::vector<NullableDatum> out;
  for (int i = 0; i < count; ++i) out.push_back({values[i], nulls[i]});
  pfree(values);
  pfree(nulls);
  return out;
}

std::string content_header_of(Datum value) {
  auto *const stored = reinterpret_cast<struct varlena *>(DatumGetPointer(value));
  char header[model_header_bytes];
  std::size_t size = 0;
  guarded([&] {
    struct varlena *const slice = pg_detoast_datum_slice(stored, 0, model_header_bytes);
    size = std::min<std::size_t>(VARSIZE_ANY_EXHDR(slice), model_header_bytes);
    std::memcpy(header, VARDATA_ANY(slice), size);
    if (slice != stored) pfree(slice);
  });
  if (identifies_content({header, size})) return {header, size};
  const Plain plain(value);
  return read_stored([&plain] { return content_header(plain.bytes()); });
}

std::string bytes_of(Model &model) {
  if (std::isinf(model.info.objective) || std::isinf(model.info.log_likelihood))
    throw Error(Errc::numeric, "the log-likelihood of the rows overflows",
                "The sum over all rows, with their weights, is too large.",
                "Rescale the columns or the weights.");
  model.info.options = in_order_of_jsonb(model.info.options);
  model.info.given_prior = in_order_of_jsonb(model.info.given_prior);
  std::string bytes = model.to_bytes();
  require_readable(bytes);
  // As text, a number takes up to 26 bytes instead of 8, and a character of a key up to 7 instead
  // of 1: smaller models stay below the limit.
  if (bytes.size() > max_text / 7) require_text(model);
  return bytes;
}

Datum store_bytes(std::string_view bytes) {
  if (bytes.size() > max_varlena_bytes)
    throw Error(Errc::too_large,
                message("model of {} bytes is larger than a PostgreSQL value can be", bytes.size()),
                "The limit is 1 GB.", "Use fewer components or a diagonal covariance.");
  return new_varlena(bytes);
}

ModelIdentity ModelIdentity::of(Datum value) {
  const auto *const datum = static_cast<const char *>(DatumGetPointer(value));
  if (VARATT_IS_EXTERNAL_ONDISK(datum))
    return {'e', VARSIZE_EXTERNAL(datum), {datum, std::size_t(VARSIZE_EXTERNAL(datum))}};
  // expanded or indirect: identified by its contents
  if (VARATT_IS_EXTERNAL(datum)) return {'x', 0, {}};
  if (VARATT_IS_4B_C(datum))
    return {'c', VARSIZE_4B(datum), {datum, std::size_t(VARSIZE_4B(datum))}};
  const std::size_t size = std::size_t(VARSIZE_ANY_EXHDR(datum));
  return {'p', size, {VARDATA_ANY(datum), std::min<std::size_t>(size, model_header_bytes)}};
}

const std::shared_ptr<const Model> &ModelCache::share(Datum value) {
  const ModelIdentity identity = ModelIdentity::of(value);
  if (identity.form == 'x') return parse_and_cache(value, identity);
  if (!entries_.empty() && entries_.front().is(identity)) return entries_.front().model;
  const auto found = by_bytes_.find(identity.bytes);
  if (found == by_bytes_.end() || !found->second->is(identity))
    return parse_and_cache(value, identity);
  entries_.splice(entries_.begin(), entries_, found->second);
  return entries_.front().model;
}

const std::shared_ptr<const Model> &ModelCache::parse_and_cache(Datum value,
                                                                const ModelIdentity &identity) {
  const Plain plain(value);
  const ModelIdentity contents = ModelIdentity::of(plain.datum());
  Entry entry{identity.form,
              identity.size,
              std::string(identity.bytes),
              message("{}:{}", contents.size, contents.bytes),
              0,
              nullptr};
  for (const Entry &other : entries_)  // the same model, stored in another form
    if (other.fingerprint == entry.fingerprint) entry.model = other.model;
  if (!entry.model) {
    entry.model = parse(plain.bytes(), family_);
    guarded([] { elog(DEBUG1, "pg_bayes: model parsed"); });
  }
  entry.memory = contents.size *
                 (entry.model->stored_draws() > 0 ? parsed_per_stored_draws : parsed_per_stored);

  const std::size_t most = std::max(min_cache_bytes, std::size_t(work_mem) * 1024);
  while (entries_.size() >= max_cached_models ||
         (entries_.size() >= min_cached_models && memory_ + entry.memory > most)) {
    by_bytes_.erase(entries_.back().bytes);
    memory_ -= entries_.back().memory;
    entries_.pop_back();
  }
  memory_ += entry.memory;
  by_bytes_.erase(entry.bytes);  // an entry with the same bytes but another plain form
  entries_.push_front(std::move(entry));
  by_bytes_.emplace(entries_.front().bytes, entries_.begin());
  return entries_.front().model;
}

}  // namespace bayes::pg

// The type bayes_model: text and binary forms, casts, and accessors common to all models.

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
