// Linear regression in SQL.
#include "regression/linreg.hpp"

#include <array>

#include "base/message.hpp"
#include "pg/bind/coefficients.hpp"
#include "pg/bind/linreg_data.hpp"
#include "pg/bind/query_rows.hpp"
#include "pg/input/column_checks.hpp"
#include "pg/input/response_query.hpp"
#include "pg/input/unlikely_numbers.hpp"
#include "pg/server/server_control.hpp"
#include "pg/values/json.hpp"
#include "pg/values/linreg_value.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

constexpr const char *linreg_family = "linreg";
constexpr Role by_weight[] = {Role::weight};

LinregData *state_of(FunctionCallInfo fcinfo, int argument = 0) {
  return fcinfo->args[argument].isnull
             ? nullptr
             : reinterpret_cast<LinregData *>(PG_GETARG_POINTER(argument));
}

/// (state, y, x, roles) -> state
Datum add_row(FunctionCallInfo fcinfo, std::span<const Role> roles) {
  const TransitionArguments arguments(fcinfo, roles, 2);
  LinregData *state = state_of(fcinfo);
  if (!state)
    state = make_in<LinregData>(aggregate_context(fcinfo), "pg_bayes sums", arguments.roles,
                                arguments.parameters);
  else
    state->check_same(arguments.parameters);
  state->take(arguments.item, fcinfo, true);
  PG_RETURN_POINTER(state);
}

void warn_of_terms(const LinregWarnings &warnings) {
  warn_of_constant(warnings.constant, warnings.constant_left_out);
  warn_of_predictors(warnings.dependent, "is a linear combination of earlier ones",
                     "are linear combinations of earlier ones", warnings.dependent_left_out);
}

/// The model of some statistics, and its bytes if they are wanted; nullptr if the fit failed under
/// on_error = null. `timed`: it says how long the fit took.
std::unique_ptr<Model> fit_sums(const Collector &data, const LinregSums &sums,
                                const Document &options, std::string *bytes, bool timed = true) {
  std::unique_ptr<LinregModel> model;
  LinregWarnings warnings;
  note_positions(sums.columns);
  report_names_of_rows(sums.columns);
  if (!attempt(data, [&](Control &control) {
        model = linreg_fit(sums, options, control, warnings);
        if (!timed) model->info.seconds = 0;
        if (bytes) *bytes = bytes_of(*model);
      }))
    return nullptr;
  warn_of_terms(warnings);
  if (!few_to_tell(model->info.rows))
    for (const int j : warnings.response)
      warn_of_response(model->info.columns, std::size_t(j), "response");
  warn_of(*model);
  return model;
}

Datum fitted(FunctionCallInfo fcinfo, const Collector &data, const LinregSums &sums,
             const Document &options, bool timed = true) {
  std::string bytes;
  if (!fit_sums(data, sums, options, &bytes, timed)) PG_RETURN_NULL();
  return store_bytes(bytes);
}

void warn_of_incomplete(const LinregData &data) {
  if (data.nothing_complete())
    warn_of_no_row(linreg_family,
                   "In each row the response, the weight or a predictor is NULL, or the weight is "
                   "0.");
}

std::unique_ptr<Model> fit_to_query(FunctionCallInfo fcinfo, std::string *bytes) {
  const char *const text = query_text(fcinfo, response_hint);
  FitRequest request = query_request(fcinfo, linreg_family, by_options);
  const QueryColumns given = QueryColumns::of(request.options);
  const ScopedContext context(CurrentMemoryContext, "pg_bayes query");
  std::optional<LinregData> data;
  Oid response = InvalidOid;
  read_responses(
      text, response_hint, given, false,
      [&](const ItemForm &form) {
        response = guarded([&form] { return getBaseType(form.type); });
        if (!is_number_type(response))
          throw SqlError(ERRCODE_DATATYPE_MISMATCH,
                         message("the response is of type {}", name_of_type(form.type)),
                         "It is the first column of the query, and a number.", response_hint);
        data.emplace(context, request.options, form.second_type);
      },
      [&](const bayes::pg::Item &item) {
        NullableDatum values[] = {item.values[0], item.values[1]};
        if (!values[0].isnull)
          values[0].value = Float8GetDatum(number_of(values[0].value, response));
        data->take({values, item.weight}, true);
      });
  const std::optional<LinregSums> sums = data->sums();
  if (sums) return fit_sums(*data, *sums, request.options, bytes);
  warn_of_incomplete(*data);
  return nullptr;
}

/// Statistics that are there.
class GivenStatistics final : public Collector {
 public:
  explicit GivenStatistics(bool null_on_error) : Collector("row") {
    null_on_error_ = null_on_error;
  }
  bool empty() const override { return false; }
};

std::array<Cell, 7> prediction_cells(const LinregPrediction &p) {
  return {Cell::or_null(p.mean),      Cell::or_null(p.sd),      Cell::or_null(p.lower),
          Cell::or_null(p.upper),     Cell::or_null(p.mean_sd), Cell::or_null(p.mean_lower),
          Cell::or_null(p.mean_upper)};
}

}  // namespace

// ---- aggregates ----

/// (internal, y float8, x [, weight float8]) -> internal
BAYES_FUNCTION(linreg_stats_transition) { return add_row(fcinfo, by_weight); }

/// (internal, y float8, x, options jsonb [, weight float8]) -> internal
BAYES_FUNCTION(linreg_fit_transition) { return add_row(fcinfo, by_options_and_weight); }

/// The inverse of linreg_stats_transition. NULL: the aggregate is to be computed anew.
BAYES_FUNCTION(linreg_inverse_transition) {
  const TransitionArguments arguments(fcinfo, by_weight, 2);
  LinregData *const state = state_of(fcinfo);
  if (!state) throw Error(Errc::internal, "a row is removed from an aggregate without rows");
  if (!state->take(arguments.item, fcinfo, false)) PG_RETURN_NULL();
  PG_RETURN_POINTER(state);
}

/// (internal, linreg_stats) -> internal
BAYES_FUNCTION(linreg_rollup_transition) {
  LinregData *state = state_of(fcinfo);
  if (!state)
    state = make_in<LinregData>(aggregate_context(fcinfo), "pg_bayes sums", std::span<const Role>(),
                                &fcinfo->args[1]);
  if (!PG_ARGISNULL(1)) state->absorb(load_stats(PG_GETARG_DATUM(1)));
  PG_RETURN_POINTER(state);
}

/// (internal, internal) -> internal
BAYES_FUNCTION(linreg_combine) {
  const MemoryContext context = aggregate_context(fcinfo);
  LinregData *state = state_of(fcinfo), *const other = state_of(fcinfo, 1);
  if (!other) {
    if (!state) PG_RETURN_NULL();
    PG_RETURN_POINTER(state);
  }
  if (!state) {
    // The other one lives in a short context.
    const std::string bytes = other->to_bytes();
    state =
        make_in<LinregData>(context, "pg_bayes sums", bytes.data(), bytes.data() + bytes.size());
  } else {
    state->absorb(*other);
  }
  PG_RETURN_POINTER(state);
}

/// (internal) -> bytea
BAYES_FUNCTION(linreg_serialize) {
  aggregate_context(fcinfo);
  return partial_state(state_of(fcinfo)->to_bytes(), "sums", "combine rare labels into one.");
}

/// (bytea, internal) -> internal
BAYES_FUNCTION(linreg_deserialize) {
  aggregate_context(fcinfo);
  const Detoasted plain(PG_GETARG_DATUM(0));
  const char *const at = VARDATA(plain.get());
  PG_RETURN_POINTER(make_in<LinregData>(CurrentMemoryContext, "pg_bayes sums", at,
                                        at + VARSIZE(plain.get()) - VARHDRSZ));
}

BAYES_FUNCTION(linreg_stats_final) {
  aggregate_context(fcinfo);
  LinregData *const state = state_of(fcinfo);
  const std::optional<LinregSums> sums = state ? state->sums() : std::nullopt;
  if (!sums) PG_RETURN_NULL();
  return store_stats(*sums);
}

BAYES_FUNCTION(linreg_fit_final) {
  aggregate_context(fcinfo);
  LinregData *const state = state_of(fcinfo);
  const std::optional<LinregSums> sums = state ? state->sums() : std::nullopt;
  if (!sums) {
    if (state) warn_of_incomplete(*state);
    PG_RETURN_NULL();
  }
  return fitted(fcinfo, *state, *sums, state->options());
}

// ---- statistics ----

/// linreg_fit(stats [, options])
BAYES_FUNCTION(linreg_fit_stats) {
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  Document options;
  if (PG_NARGS() > 1 && !PG_ARGISNULL(1)) options = document_of_jsonb(PG_GETARG_DATUM(1));
  const GivenStatistics data(linreg_check_options(options).null_on_error);
  // The function is immutable: of equal statistics it makes equal models.
  return fitted(fcinfo, data, load_stats(PG_GETARG_DATUM(0)), options, false);
}

/// linreg_stats_info(stats)
BAYES_FUNCTION(linreg_stats_info) {
  ResultRows result(fcinfo);
  const LinregSums sums = load_stats(PG_GETARG_DATUM(0));
  result.row({sums.rows, sums.skipped, sums.weight(), sums.dimension,
              sums.cells() - first_predictor_cell});
  return Datum(0);
}

// ---- relations: a query in ----

BAYES_FUNCTION(linreg_fit_query) {
  return show_query_fit(fcinfo, fit_to_query, show_coefficients<LinregModel>);
}
BAYES_FUNCTION(linreg_model_query) { return query_model(fcinfo, fit_to_query); }

// ---- a model ----

BAYES_FUNCTION(linreg_coefficients) { return coefficient_rows<LinregModel>(fcinfo, linreg_family); }

BAYES_FUNCTION(linreg_noise) {
  const double level = level_argument(fcinfo);
  ResultRows result(fcinfo);
  const auto model = load_model(PG_GETARG_DATUM(0), linreg_family);
  const Coefficient noise = static_cast<const LinregModel &>(*model).noise_variance(level);
  result.row({Cell::or_null(noise.mean), Cell::or_null(noise.sd), Cell::or_null(noise.lower),
              Cell::or_null(noise.upper)});
  return Datum(0);
}

BAYES_FUNCTION(linreg_contrast) { return contrast_row<LinregModel>(fcinfo, linreg_family); }

/// linreg_predict(model, x "any" [, level])
BAYES_FUNCTION(linreg_predict) {
  return prediction<LinregModel>(fcinfo, linreg_family, prediction_cells);
}

/// linreg_log_density(model, x "any", y float8)
BAYES_FUNCTION(linreg_log_density) {
  const double response = PG_GETARG_FLOAT8(2);
  if (!(std::fabs(response) <= largest_element)) refuse_value(response, "y", 0);
  const auto given = model_and_row(fcinfo, linreg_family, Missing::skip_null);
  if (!given) PG_RETURN_NULL();
  const auto found = static_cast<const LinregModel &>(given->model).log_density(given->x, response);
  if (!found) PG_RETURN_NULL();
  return guarded([&] { return Float8GetDatum(*found); });
}
