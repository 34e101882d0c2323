// Linear regression in SQL.

#include <array>

#include "base/message.hpp"
#include "data/row_reference.hpp"
#include "pg/bind/query_rows.hpp"
#include "pg/bind/scalar.hpp"
#include "pg/input/column_checks.hpp"
#include "pg/input/response_query.hpp"
#include "pg/models/linreg_data.hpp"
#include "pg/models/regression.hpp"
#include "pg/models/sums_parts.hpp"
#include "pg/server/context.hpp"
#include "pg/server/encoding.hpp"
#include "pg/server/server_control.hpp"
#include "pg/values/convert.hpp"
#include "pg/values/json.hpp"
#include "regression/linreg.hpp"

using namespace bayes;
using namespace bayes::pg;

// The type linreg_stats: text and binary forms, casts.

namespace {

/// Reads a stored value. Throws XX001 (data corrupted) if its bytes are invalid.
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

/// A new value in CurrentMemoryContext.
Datum store_stats(const LinregSums &sums) {
  const std::string bytes = sums.to_bytes();
  if (bytes.size() > max_varlena_bytes)
    throw Error(
        Errc::too_large,
        message("linreg_stats of {} bytes is larger than a PostgreSQL value can be", bytes.size()),
        "The limit is 1 GB.", "Combine rare labels into one.");
  return new_varlena(bytes);
}

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

namespace {

const SumsKind linreg_sums('r', "sums", "combine rare labels into one.", make_sums<LinregData>);

const ScoredFamily scored_responses(linreg_family, "response, row", 2, ErrorMeasure::root, false,
                                    make_scorer<ResponseScorer<LinregModel, false>>);
const DensityFamily densities_of_responses(linreg_family,
                                           make_density<ResponseDensity<LinregModel, false>>);

void warn_of_terms(const LinregWarnings &warnings) {
  warn_constant_predictors(warnings.constant, warnings.constant_left_out);
  warn_dependent_predictors(warnings.dependent, warnings.dependent_left_out);
}

/// WARNING that the response has no variance, from which a default prior takes its unit.
void warn_of_no_noise(bool no_model) {
  report_once(WARNING,
              no_model ? "linreg_fit gives no model: nothing tells the variance of the noise"
                       : "the variance of the noise is taken to be 0",
              message("The response has the same value in every row, or there is only one row{}.",
                      no_model ? "" : "; all intervals have width 0"),
              "Give what is known of the noise, as prior.a and prior.b or as noise_variance.");
}

/// Fits a model to sufficient statistics, with a sample of their rows if there is one, and stores
/// its bytes in `bytes` unless that is nullptr. Returns nullptr if there is no model, or if the fit
/// failed under on_error = null.
std::unique_ptr<Model> fit_sums(FitProgress &progress, bool null_on_error, const LinregSums &sums,
                                const RowSample *sample, const Document &options,
                                std::string *bytes) {
  std::unique_ptr<LinregModel> model;
  LinregWarnings warnings;
  progress.has_read(sums.rows + sums.skipped);
  note_positions(sums.columns);
  report_names_of_rows(sums.columns);
  if (!attempt(progress, null_on_error, [&](Control &control) {
        model = linreg_fit(sums, options, control, warnings);
        if (!model) return true;
        if (sample && bytes) model->info.reference = reference_of(*model, *sample, control);
        progress.writing();
        if (bytes) *bytes = bytes_of(*model);
        return true;
      }))
    return nullptr;
  if (warnings.no_noise) warn_of_no_noise(!model);
  if (!model) return nullptr;
  warn_of_terms(warnings);
  if (!too_few_to_warn(model->info.rows))
    for (const int j : warnings.response)
      warn_of_response(model->info.columns, std::size_t(j), "response");
  warn_of(*model);
  return model;
}

void warn_rows_incomplete(const LinregData &data) {
  if (data.no_row_complete())
    warn_no_complete_row(
        linreg_family,
        "In each row the response, the weight or a predictor is NULL, or the weight is "
        "0.");
}

std::unique_ptr<Model> fit_query_rows(FunctionCallInfo fcinfo, std::string *bytes) {
  const char *const text = query_text(fcinfo, response_hint);
  FitRequest request = query_request(fcinfo, linreg_family, by_options);
  const QueryColumns given = QueryColumns::of(request.options);
  const ScopedContext context(CurrentMemoryContext, "pg_bayes query");
  std::optional<LinregData> data;
  Oid response = InvalidOid;
  const auto begin = [&](const ItemForm &form) -> Sums * {
    response = guarded([&form] { return getBaseType(form.type); });
    if (!is_number_type(response))
      throw SqlError(ERRCODE_DATATYPE_MISMATCH,
                     message("the response is of type {}", name_of_type(form.type)),
                     "The first column of the query is the response, a number.", response_hint);
    const CurrentContext current(context);
    return &data.emplace(context, request.options, form.second_type);
  };
  PushDown push;
  PushedSums<LinregSumsPart> elsewhere(request.options, given, false, response_hint, begin);
  if (!push.collect(fcinfo, text, request, linreg_methods, response_hint, elsewhere))
    read_responses(text, response_hint, given, false, begin, [&](const bayes::pg::Item &item) {
      NullableDatum values[] = {item.values[0], item.values[1]};
      if (!values[0].isnull) values[0].value = Float8GetDatum(number_of(values[0].value, response));
      if (!data->refusals)
        add_or_refuse(*data, context, [&] { data->take({values, item.weight}, true); });
    });
  push.end();
  if (warn_of_refusal(*data)) return nullptr;
  const std::optional<LinregSums> sums = data->sums();
  if (sums) {
    const RowSample sample = data->sample();
    auto model =
        fit_sums(data->progress, data->null_on_error(), *sums, &sample, request.options, bytes);
    if (model) note_rows_left_out(*model);
    return model;
  }
  warn_rows_incomplete(*data);
  return nullptr;
}

std::array<Cell, 7> prediction_cells(const LinregPrediction &p) {
  return {Cell::or_null(p.mean),      Cell::or_null(p.sd),      Cell::or_null(p.lower),
          Cell::or_null(p.upper),     Cell::or_null(p.mean_sd), Cell::or_null(p.mean_lower),
          Cell::or_null(p.mean_upper)};
}

}  // namespace

const SumsKind &LinregData::kind() const { return linreg_sums; }

std::string LinregData::model_bytes() {
  std::string bytes;
  if (const std::optional<LinregSums> all = sums()) {
    const RowSample rows = sample();
    fit_sums(progress, null_on_error(), *all, &rows, parameters_.request(linreg_family).options,
             &bytes);
  } else {
    progress.end();
    warn_rows_incomplete(*this);
  }
  return bytes;
}

// ---- aggregates ----

/// (internal, y float8, x "any" [, options jsonb] [, weight float8]) -> internal
BAYES_FUNCTION(linreg_transition) { return add_row<LinregData>(fcinfo); }
/// The same for linreg_stats.
BAYES_FUNCTION(linreg_stats_transition) { return add_row<LinregStatsData>(fcinfo); }
BAYES_FUNCTION(linreg_stats_inverse_transition) { return remove_row<LinregStatsData>(fcinfo); }

/// (internal, linreg_stats [, options jsonb]) -> internal
BAYES_FUNCTION(linreg_rollup_transition) {
  LinregData *state = state_argument<LinregData>(fcinfo);
  if (state) {
    state->check_same(fcinfo);
  } else {
    state = make_state<LinregData>(aggregate_context(fcinfo));
    state->read_rollup_options(fcinfo);
  }
  if (!PG_ARGISNULL(1) && !state->refusals)
    add_or_refuse(*state, aggregate_context(fcinfo),
                  [&] { state->add(load_stats(PG_GETARG_DATUM(1))); });
  return state_datum(state);
}

/// (internal) -> linreg_stats
BAYES_FUNCTION(linreg_stats_final) {
  aggregate_context(fcinfo);
  LinregData *const state = state_argument<LinregData>(fcinfo);
  if (state) state->progress.end();
  if (!state || warn_of_refusal(*state, "statistics")) PG_RETURN_NULL();
  const std::optional<LinregSums> sums = state->sums();
  if (!sums) PG_RETURN_NULL();
  return store_stats(*sums);
}

// ---- statistics ----

/// linreg_fit(stats, options)
BAYES_FUNCTION(linreg_fit_stats) {
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  Document options;
  if (!PG_ARGISNULL(1)) options = document_of_jsonb(options_of(fcinfo, 1));
  std::string bytes;
  FitProgress progress;
  progress.begin(linreg_family);
  linreg_check_options(options);
  if (!fit_sums(progress, null_on_error(options), load_stats(PG_GETARG_DATUM(0)), nullptr, options,
                &bytes))
    PG_RETURN_NULL();
  return store_bytes(bytes);
}

/// linreg_stats_info(stats)
BAYES_FUNCTION(linreg_stats_info) {
  ResultRows result(fcinfo);
  const LinregSums sums = load_stats(PG_GETARG_DATUM(0));
  result.row({sums.rows, sums.skipped, sums.weight(), sums.dimension,
              sums.cells() - first_predictor_cell});
  return Datum(0);
}

// ---- functions of a query ----

BAYES_FUNCTION(linreg_fit_query) {
  return show_query_fit(fcinfo, fit_query_rows, emit_coefficients);
}
BAYES_FUNCTION(linreg_model_query) { return query_model(fcinfo, fit_query_rows); }

// ---- a model ----

/// linreg_predict(model, x "any" [, level])
BAYES_FUNCTION(linreg_predict) {
  return prediction<LinregModel>(fcinfo, linreg_family, predicted_mean<LinregModel>,
                                 prediction_cells);
}
