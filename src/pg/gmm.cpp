// Gaussian mixtures in SQL.
#include "models/gmm.hpp"

#include <cmath>

#include "pg/aggregate.hpp"
#include "pg/context.hpp"
#include "pg/model_value.hpp"
#include "pg/query.hpp"
#include "pg/results.hpp"
#include "pg/scalar.hpp"
#include "pg/server_control.hpp"
#include "pg/window.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

FitPolicy policy(GmmRowOptions options) { return {options.skip_missing, options.null_on_error}; }

const GaussianMixture *start_of(const FitRequest &request) { return static_cast<const GaussianMixture *>(request.start.get()); }

FitPolicy check_fit(const FitRequest &request) {
  return policy(gmm_check_options(request.k, request.options, start_of(request), request.update));
}
FitPolicy check_select(const FitRequest &request) { return policy(gmm_check_select_options(request.ks, request.options)); }

const GaussianMixture &mixture(const Model &model) { return static_cast<const GaussianMixture &>(model); }

constexpr Family gmm = {
    .name = "gmm",
    .max_dimension = gmm_max_dimension,
    .check = check_fit,
    .fit = [](const FitRequest &request, RowSource &rows, Control &control) -> std::unique_ptr<Model> {
      return gmm_fit(rows, request.k, request.options, start_of(request), request.update, control);
    },
    .label = [](const Model &model, std::span<const double> x) { return mixture(model).predict(x); },
};

constexpr Role by_k[] = {Role::k, Role::options, Role::weight};
constexpr Role by_start[] = {Role::start, Role::options, Role::weight};
constexpr Role by_prior[] = {Role::prior, Role::options, Role::weight};
constexpr Role by_ks[] = {Role::ks, Role::options};

void emit_components(ResultRows &result, const GaussianMixture &model) {
  for (int i = 0; i < model.size(); ++i) {
    const GmmComponent c = model.component(i);
    result.row({i + 1, c.weight, Cell::vector(c.mean), Cell::matrix(c.covariance, c.mean.size()), c.count});
  }
}

/// Fits all models that a selection asks for, one after another; `take` gets each one's row of type gmm_selection.
void select_models(const FitRequest &request, FitPolicy policy, RowIntake &rows, const std::function<void(Cells)> &take) {
  try {
    if (!has_rows(rows)) return;
    ServerControl control;
    gmm_select(rows.rows, request.ks, request.options, control, [&take](std::unique_ptr<GaussianMixture> model) {
      warn_if_not_converged(*model);
      const ModelInfo &info = model->info;
      const std::string covariance = model->covariance(), bytes = bytes_of(*model);
      const bool variational = info.method == "vi" || info.method == "svi";
      const Cell cells[] = {info.components,    Cell::text(covariance), Cell::text(info.method),
                            info.objective,     info.log_likelihood,    model->parameters(),
                            model->bic(),       model->icl(),           variational ? Cell(info.objective) : Cell(),
                            info.converged,     Cell::model(bytes)};
      take(cells);
    });
  } catch (const Error &error) {
    if (!policy.null_on_error) throw;
    warn_of_failure(error);
  }
}

std::unique_ptr<Model> gmm_model(FunctionCallInfo fcinfo) { return load_model(PG_GETARG_DATUM(0), gmm.name); }

struct Sampler {
  Sampler(MemoryContext, Datum value, std::int64_t seed) : model(load_model(value, gmm.name)), seed(std::uint64_t(seed)) {
    x.resize(std::size_t(model->info.dimension));
  }
  std::unique_ptr<Model> model;
  std::uint64_t seed;
  std::vector<double> x;
};

}  // namespace

// ---- fitting: aggregates, window, relations ----

BAYES_FUNCTION(gmm_fit_transition) { return fit_transition(fcinfo, gmm.name, gmm.max_dimension, gmm.check, by_k); }
BAYES_FUNCTION(gmm_start_transition) { return fit_transition(fcinfo, gmm.name, gmm.max_dimension, gmm.check, by_start); }
BAYES_FUNCTION(gmm_update_transition) { return fit_transition(fcinfo, gmm.name, gmm.max_dimension, gmm.check, by_prior); }
BAYES_FUNCTION(gmm_select_transition) { return fit_transition(fcinfo, gmm.name, gmm.max_dimension, check_select, by_ks); }
BAYES_FUNCTION(gmm_fit_final) { return fit_final(fcinfo, gmm); }

BAYES_FUNCTION(gmm_select_final) {
  FitState *const state = final_state(fcinfo);
  if (!state) PG_RETURN_NULL();
  const FitState::Asked &asked = state->asked(gmm.name, check_select);
  CompositeArray result(fcinfo);
  select_models(asked.request, asked.policy, state->intake, [&result](Cells cells) { result.add(cells); });
  if (result.empty()) PG_RETURN_NULL();
  return result.finish();
}

BAYES_FUNCTION(gmm_cluster) { return cluster_window(fcinfo, gmm, by_k); }

BAYES_FUNCTION(gmm_fit_query) {
  ResultRows result(fcinfo);
  QueryRows query(fcinfo, gmm.name, gmm.max_dimension, gmm.check, by_k);
  if (const auto model = fit_rows(gmm, query.request, query.policy, query.rows())) emit_components(result, mixture(*model));
  return Datum(0);
}

BAYES_FUNCTION(gmm_select_query) {
  ResultRows result(fcinfo);
  QueryRows query(fcinfo, gmm.name, gmm.max_dimension, check_select, by_ks);
  select_models(query.request, query.policy, query.rows(), [&result](Cells cells) { result.row(cells); });
  return Datum(0);
}

// ---- a model as relations ----

BAYES_FUNCTION(gmm_components) {
  ResultRows result(fcinfo);
  emit_components(result, mixture(*gmm_model(fcinfo)));
  return Datum(0);
}

BAYES_FUNCTION(gmm_posterior) {
  ResultRows result(fcinfo);
  const std::unique_ptr<Model> model = gmm_model(fcinfo);
  for (int i = 0; i < mixture(*model).size(); ++i) {
    const GmmPosterior q = mixture(*model).posterior(i);
    const std::size_t d = q.m.size();
    result.row({i + 1, q.alpha, Cell::vector(q.m), std::isnan(q.c) ? Cell() : Cell(q.c),
                  q.S.empty() ? Cell() : Cell::matrix(q.S, d), q.a, Cell::matrix(q.B, d)});
  }
  return Datum(0);
}

/// One row for each call, so that any number of draws takes no memory.
BAYES_FUNCTION(gmm_sample) {
  if (SRF_IS_FIRSTCALL()) {
    const int n = PG_GETARG_INT32(1);
    if (n < 0) throw Error(Errc::invalid_argument, "n is " + std::to_string(n) + ", the number of draws cannot be negative");
    FuncCallContext *const context = SRF_FIRSTCALL_INIT();
    context->max_calls = std::uint64_t(n);
    context->user_fctx = make_in<Sampler>(context->multi_call_memory_ctx, "pg_bayes sampler", PG_GETARG_DATUM(0), PG_GETARG_INT64(2));
    const MemoryContext before = MemoryContextSwitchTo(context->multi_call_memory_ctx);
    context->tuple_desc = result_row(fcinfo);
    MemoryContextSwitchTo(before);
  }
  FuncCallContext *const context = SRF_PERCALL_SETUP();
  if (context->call_cntr >= context->max_calls) SRF_RETURN_DONE(context);
  Sampler &sampler = *static_cast<Sampler *>(context->user_fctx);
  const int component = mixture(*sampler.model).sample(sampler.seed, std::int64_t(context->call_cntr), sampler.x);
  const Cell cells[] = {component + 1, Cell::vector(sampler.x)};
  const Datum row = composite(context->tuple_desc, cells);
  SRF_RETURN_NEXT(context, row);
}

// ---- a model and a row ----

BAYES_FUNCTION(gmm_predict) {
  const auto [model, x] = model_and_row(fcinfo, gmm.name);
  PG_RETURN_INT32(mixture(model).predict(x) + 1);
}

BAYES_FUNCTION(gmm_probabilities) {
  const auto [model, x] = model_and_row(fcinfo, gmm.name);
  const int k = mixture(model).size();
  double *out;
  ArrayType *const array = guarded([k, &out] { return new_float8_array(1, &k, &out); });
  mixture(model).probabilities(x, std::span(out, std::size_t(k)));
  PG_RETURN_ARRAYTYPE_P(array);
}

BAYES_FUNCTION(gmm_log_density) {
  const auto [model, x] = model_and_row(fcinfo, gmm.name);
  PG_RETURN_FLOAT8(mixture(model).log_density(x));
}
