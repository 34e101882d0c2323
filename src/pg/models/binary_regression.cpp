// Logistic and probit regression in SQL. They differ only in their link function.
#include "regression/binary_regression.hpp"

#include <array>

#include "base/message.hpp"
#include "pg/bind/aggregate.hpp"
#include "pg/bind/query_rows.hpp"
#include "pg/input/column_checks.hpp"
#include "pg/input/response_query.hpp"
#include "pg/input/row_collector.hpp"
#include "pg/models/regression.hpp"
#include "pg/parts/responses.hpp"
#include "regression/terms.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

template <Link link> ResponsePolicy binary_policy(const FitRequest &request) {
  if (request.start)
    throw Error(Errc::invalid_argument,
                message("a fit of {} does not start from a model", request.family),
                "The posterior has one mode, which is found from anywhere.",
                "Option {\"resume\": true} goes on with the fit that a model comes from.");
  const RowOptions options = binary_check_options(link, request.options);
  return {.skip_missing = options.skip_missing, .max_dimension = max_predictors};
}

template <Link link>
std::unique_ptr<Model> fit_binary(const FitRequest &request, ResponseCollector &data,
                                  Control &control) {
  if (!data.remote) check_predictors(response_facts(data.rows), data.rows.rows(), data.columns());
  BinaryWarnings warnings;
  auto model = binary_fit(link, data.source(), data.columns(), request.options, control, warnings);
  warn_constant_predictors(warnings.constant, false);
  warn_dependent_predictors(warnings.dependent, false);
  if (!warnings.undetermined.empty())
    report_once(
        WARNING,
        message("the rows hardly determine {} {}",
                warnings.undetermined.size() == 1 ? "the coefficient of" : "the coefficients of",
                list_of_terms(warnings.undetermined)),
        "Predictors separate true responses from false ones, or nearly do, or are nearly "
        "collinear, and the prior is nearly flat: it alone limits these coefficients.",
        "Use the default prior or a smaller prior.c, or leave out predictors.");
  return model;
}

constexpr Binding<ResponseCollector> logreg = {
    .family = "logreg", .check = binary_policy<Link::logit>, .fit = fit_binary<Link::logit>};
constexpr Binding<ResponseCollector> probit = {
    .family = "probit", .check = binary_policy<Link::probit>, .fit = fit_binary<Link::probit>};

constexpr auto make_binary_scorer = make_scorer<ResponseScorer<BinaryRegression, true>>;
const ScoredFamily scored_logreg(logreg.family, "response, row", 2, ErrorMeasure::share, false,
                                 make_binary_scorer);
const ScoredFamily scored_probit(probit.family, "response, row", 2, ErrorMeasure::share, false,
                                 make_binary_scorer);
constexpr auto make_binary_density = make_density<ResponseDensity<BinaryRegression, true>>;
const DensityFamily densities_of_logreg(logreg.family, make_binary_density);
const DensityFamily densities_of_probit(probit.family, make_binary_density);

/// Warns that there is no model because no row was complete.
void warn_rows_incomplete(const char *family) {
  warn_no_complete_row(family, "In each row the response, the weight or a predictor is NULL.");
}

Datum binary_final(FunctionCallInfo fcinfo, const Binding<ResponseCollector> &binding) {
  const auto *const state = final_state<ResponseCollector>(fcinfo);
  if (state && state->data && state->data->no_row_complete()) warn_rows_incomplete(binding.family);
  return fit_final(fcinfo, binding);
}

std::unique_ptr<Model> fit_query_rows(FunctionCallInfo fcinfo,
                                      const Binding<ResponseCollector> &binding,
                                      const PushedMethods &pushed, std::string *bytes) {
  const char *const text = query_text(fcinfo, response_hint);
  FitRequest request = query_request(fcinfo, binding.family, by_options);
  const QueryColumns given = QueryColumns::of(request.options);
  const ScopedContext context(CurrentMemoryContext, "pg_bayes query");
  PushDown push;
  std::optional<FitData<ResponseCollector>> data;
  PushedResponses elsewhere(context, data, request, binding.check, given, response_hint);
  if (!push.collect(fcinfo, text, request, pushed, response_hint, elsewhere))
    read_responses(
        text, response_hint, given, false,
        [&](const ItemForm &form) {
          data.emplace(context, form);
          data->begin(request, binding.check);
        },
        [&](const bayes::pg::Item &item) { data->add(item); });
  if (*data && (*data)->no_row_complete()) warn_rows_incomplete(binding.family);
  auto model = fit_model(binding, request, *data, bytes);
  push.end();
  if (model) note_rows_left_out(*model);
  return model;
}
std::unique_ptr<Model> logreg_of_query(FunctionCallInfo fcinfo, std::string *bytes) {
  static constexpr Method pushed[] = {Method::laplace};
  return fit_query_rows(fcinfo, logreg, pushed, bytes);
}
std::unique_ptr<Model> probit_of_query(FunctionCallInfo fcinfo, std::string *bytes) {
  static constexpr Method pushed[] = {Method::laplace, Method::em, Method::vi};
  return fit_query_rows(fcinfo, probit, pushed, bytes);
}

Datum binary_prediction(FunctionCallInfo fcinfo, const char *family) {
  return prediction<BinaryRegression>(fcinfo, family, [](const BinaryPrediction &found) {
    return std::array{Cell(found.mean), Cell::or_null(found.sd), Cell::or_null(found.lower),
                      Cell::or_null(found.upper)};
  });
}

}  // namespace

// ---- aggregates ----

/// (internal, y "any", x [, options jsonb [, weight float8]]) -> internal
BAYES_FUNCTION(logreg_fit_transition) { return fit_transition(fcinfo, logreg, 2); }
BAYES_FUNCTION(logreg_fit_final) { return binary_final(fcinfo, logreg); }
BAYES_FUNCTION(probit_fit_transition) { return fit_transition(fcinfo, probit, 2); }
BAYES_FUNCTION(probit_fit_final) { return binary_final(fcinfo, probit); }

// ---- functions of a query ----

BAYES_FUNCTION(logreg_fit_query) {
  return show_query_fit(fcinfo, logreg_of_query, emit_coefficients);
}
BAYES_FUNCTION(logreg_model_query) { return query_model(fcinfo, logreg_of_query); }
BAYES_FUNCTION(probit_fit_query) {
  return show_query_fit(fcinfo, probit_of_query, emit_coefficients);
}
BAYES_FUNCTION(probit_model_query) { return query_model(fcinfo, probit_of_query); }

// ---- a model and a row ----

BAYES_FUNCTION(logreg_predict) { return binary_prediction(fcinfo, logreg.family); }
BAYES_FUNCTION(probit_predict) { return binary_prediction(fcinfo, probit.family); }
