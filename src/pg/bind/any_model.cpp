#include "pg/bind/any_model.hpp"

#include <cmath>
#include <vector>

#include "base/message.hpp"
#include "families/parameter.hpp"
#include "markov/hmm.hpp"
#include "pg/bind/questions.hpp"
#include "pg/bind/scalar.hpp"
#include "pg/input/resumable_fit.hpp"
#include "pg/server/argument_type.hpp"
#include "pg/server/context.hpp"
#include "pg/server/server_control.hpp"
#include "pg/values/model_value.hpp"
#include "pg/values/results.hpp"
#include "questions/conditional_model.hpp"

namespace bayes::pg {
namespace {

void emit_parameter(ResultRows &result, const ModelInfo &info, const Parameter &p) {
  poll_interrupts();
  const bool named = p.element >= 0 && !info.columns.empty();
  const RowColumn *const column = named ? &info.columns[std::size_t(p.element)] : nullptr;
  const bool category = !std::isnan(p.category);
  const std::string *label = p.label;
  if (!label && column && category) label = label_of(*column, p.category);
  result.row(
      {p.component < 0 ? Cell() : Cell(p.component + 1),
       p.element < 0 ? Cell() : Cell(p.element + 1), column ? Cell::text(column->name) : Cell(),
       p.likelihood ? Cell::text(p.likelihood) : Cell(), Cell::text(p.name),
       category ? Cell(std::int64_t(p.category)) : Cell(), label ? Cell::text(*label) : Cell(),
       Cell::or_null(p.value), Cell::or_null(p.deviation), Cell::or_null(p.lower),
       Cell::or_null(p.upper), p.known_by ? Cell::text(p.known_by) : Cell()});
}

/// Has the model no rows but steps of sequences, which questions take as rows?
bool has_steps(const Model &model) {
  return dynamic_cast<const HiddenMarkovModel *>(&model) != nullptr;
}

/// State of a set-returning function between its rows.
struct SampleGenerator {
  SampleGenerator(MemoryContext, Datum value, const char *family, std::int64_t seed)
      : model(load_model(value, family)),
        seed(std::uint64_t(seed)) {
    if (!has_steps(*model)) model->require_rows();
    rows = model->row_distribution();
    row.resize(std::size_t(rows->dimension()), std::nan(""));
    // As of bayes_sample given the same columns.
    if (dynamic_cast<const ConditionalModel *>(model.get())) this->seed ^= rows->stream(row);
  }
  int sample(std::int64_t index) {
    const int component = rows->sample(seed, index, row);
    x.assign(row.begin(), row.begin() + model->info.dimension);
    return component;
  }
  std::unique_ptr<Model> model;
  std::unique_ptr<RowDistribution> rows;
  std::uint64_t seed;
  /// a row, and the columns of the fit, which do not have the class of a classifier
  std::vector<double> row, x;
};

/// State of a call site of bayes_log_density.
struct DensityCallSite {
  DensityCallSite(MemoryContext context, FunctionCallInfo fcinfo)
      : models(nullptr),
        rows(context, argument_type(fcinfo, 1), AbsentColumns::as_missing, true),
        steps(context, fcinfo, 1, 1) {}
  ModelCache models;
  RowsOfModels rows;
  Questions steps;
};

/// Monte Carlo standard errors for the row of this call; nullopt if the row is to be skipped.
std::optional<PredictiveErrors> errors_of_row(FunctionCallInfo fcinfo, const char *family) {
  const auto row = model_and_row(fcinfo, family);
  if (!row) return std::nullopt;
  ServerControl control;
  return row->model.mcse(row->x, control);
}

}  // namespace

void report_overlap(const Model &model) {
  if (model.info.told_apart) return;
  const std::string_view parts = model.words().parts;
  report_once(NOTICE, message("the rows do not tell the {} of the model apart", parts),
              message("The {} overlap or have few rows, so other values of the parameters, far "
                      "away, are about as probable: sd, lower and upper are NULL.",
                      parts),
              message("Method gibbs draws from all of the posterior; or use fewer {}.", parts));
}

Datum parameter_rows(FunctionCallInfo fcinfo, const char *family) {
  const double level = level_argument(fcinfo);
  ResultRows result(fcinfo);
  const auto model = load_model(PG_GETARG_DATUM(0), family);
  report_overlap(*model);
  model->describe_parameters(
      level, [&](const Parameter &parameter) { emit_parameter(result, model->info, parameter); });
  return Datum(0);
}

Datum component_of_row(FunctionCallInfo fcinfo, const char *family) {
  const auto row = model_and_row(fcinfo, family);
  if (!row) PG_RETURN_NULL();
  PG_RETURN_INT32(row->model.predict(row->x) + 1);
}

Datum row_probabilities(FunctionCallInfo fcinfo, const char *family) {
  const auto row = model_and_row(fcinfo, family);
  if (!row) PG_RETURN_NULL();
  const int k = row->model.outcomes();
  double *out;
  ArrayType *const array = guarded([k, &out] { return new_float8_array(1, &k, &out); });
  row->model.probabilities(row->x, std::span(out, std::size_t(k)));
  PG_RETURN_ARRAYTYPE_P(array);
}

Datum row_log_density(FunctionCallInfo fcinfo, const char *family) {
  const auto row = model_and_row(fcinfo, family);
  if (!row) PG_RETURN_NULL();
  PG_RETURN_FLOAT8(row->model.log_density(row->x));
}

Datum row_log_density_mcse(FunctionCallInfo fcinfo, const char *family) {
  const auto errors = errors_of_row(fcinfo, family);
  if (!errors || std::isnan(errors->log_density)) PG_RETURN_NULL();
  PG_RETURN_FLOAT8(errors->log_density);
}

Datum row_probabilities_mcse(FunctionCallInfo fcinfo, const char *family) {
  const auto errors = errors_of_row(fcinfo, family);
  if (!errors) PG_RETURN_NULL();
  const Cell cell = Cell::vector_with_nulls(errors->probabilities);
  return guarded([&cell] { return cell.to_datum(); });
}

Datum sample_rows(FunctionCallInfo fcinfo, const char *family) {
  if (SRF_IS_FIRSTCALL()) {
    const int n = count_argument(fcinfo, 1);
    FuncCallContext *const context = SRF_FIRSTCALL_INIT();
    context->max_calls = std::uint64_t(n);
    context->user_fctx =
        make_in<SampleGenerator>(context->multi_call_memory_ctx, "pg_bayes sampler",
                                 PG_GETARG_DATUM(0), family, PG_GETARG_INT64(2));
    const MemoryContext before = MemoryContextSwitchTo(context->multi_call_memory_ctx);
    context->tuple_desc = result_row(fcinfo);
    MemoryContextSwitchTo(before);
  }
  FuncCallContext *const context = SRF_PERCALL_SETUP();
  if (context->call_cntr >= context->max_calls) SRF_RETURN_DONE(context);
  SampleGenerator &generator = *static_cast<SampleGenerator *>(context->user_fctx);
  const int component = generator.sample(std::int64_t(context->call_cntr));
  const Cell cells[] = {component < 0 ? Cell() : Cell(component + 1), Cell::vector(generator.x)};
  const Datum row = composite(context->tuple_desc, cells);
  SRF_RETURN_NEXT(context, row);
}

}  // namespace bayes::pg

using namespace bayes;
using namespace bayes::pg;

/// bayes_parameters(model [, level])
BAYES_FUNCTION(bayes_parameters) { return parameter_rows(fcinfo, nullptr); }

/// bayes_predict(model, row [, level]) -> bayes_prediction
BAYES_FUNCTION(bayes_predict) {
  const double level = level_argument(fcinfo, 2);
  const auto row = model_and_row(fcinfo, nullptr);
  if (!row) PG_RETURN_NULL();
  const auto found = row->model.predict_row(row->x, level);
  if (!found) PG_RETURN_NULL();
  const Cell cells[] = {found->component < 0 ? Cell() : Cell(found->component + 1),
                        found->label ? Cell::text(*found->label) : Cell(),
                        Cell::or_null(found->mean),
                        Cell::or_null(found->sd),
                        Cell::or_null(found->lower),
                        Cell::or_null(found->upper)};
  return composite(scalar_result_row(fcinfo), cells);
}

BAYES_FUNCTION(bayes_probabilities) { return row_probabilities(fcinfo, nullptr); }
/// bayes_log_density(model, row); for the rows of a model with rows as row_log_density
BAYES_FUNCTION(bayes_log_density) {
  auto &site = call_site<DensityCallSite>(fcinfo, fcinfo);
  const std::shared_ptr<const Model> &model = site.models.share(PG_GETARG_DATUM(0));
  if (has_steps(*model)) {
    RowDistribution &steps = site.steps.distribution(fcinfo);
    PG_RETURN_FLOAT8(steps.log_density(site.steps.row(fcinfo, 0)));
  }
  const auto x = site.rows.read(model, PG_GETARG_DATUM(1));
  if (!x) PG_RETURN_NULL();
  PG_RETURN_FLOAT8(model->log_density(*x));
}
BAYES_FUNCTION(bayes_sample) { return sample_rows(fcinfo, nullptr); }
/// (bayes_model) -> bayes_model
BAYES_FUNCTION(bayes_compact) {
  const std::unique_ptr<Model> model = load_model(PG_GETARG_DATUM(0));
  compact(*model);
  return store_model(*model);
}
