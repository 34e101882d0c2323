// Gaussian mixtures in SQL.
#include "mixture/gmm.hpp"

#include "pg/bind/any_model.hpp"
#include "pg/bind/choice.hpp"
#include "pg/bind/window.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

RowPolicy policy(const RowOptions &options) { return row_policy(options, gmm_max_dimension); }

const GaussianMixture *start_of(const FitRequest &request) {
  return static_cast<const GaussianMixture *>(request.start.get());
}

RowPolicy fit_policy(const FitRequest &request) {
  return policy(gmm_check_options(request.k, request.options, start_of(request), request.update));
}
RowPolicy select_policy(const FitRequest &request) {
  return policy(gmm_check_select_options(request.ks, request.options));
}

const GaussianMixture &mixture(const Model &model) {
  return static_cast<const GaussianMixture &>(model);
}

void emit_components(ResultRows &result, const GaussianMixture &model) {
  for (int i = 0; i < model.size(); ++i) {
    const GmmComponent c = model.component(i);
    result.row({i + 1, c.weight, Cell::vector(c.mean), Cell::matrix(c.covariance, c.mean.size()),
                c.count});
  }
}

/// Fits all models of a selection and emits one row of type gmm_selection for each.
void select_models(const FitRequest &request, RowCollector &data, Control &control,
                   const TakeCells &take) {
  Choice choice(request, take);
  choice.run([&] {
    gmm_select(
        data.source(), request.ks, request.options, control,
        [&](std::unique_ptr<GaussianMixture> model) {
          const std::string covariance = model->covariance();
          choice.add(*model, data, control, {Cell::text(covariance)},
                     {Cell::or_null(model->icl())});
        },
        choice.failed());
  });
}

constexpr Binding<RowCollector> gmm = {
    .family = "gmm",
    .check = {fit_policy},
    .fit = [](const FitRequest &request, RowCollector &data,
              Control &control) -> std::unique_ptr<Model> {
      return gmm_fit(data.source(), request.k, request.options, start_of(request), request.update,
                     control);
    },
    .check_selection = {select_policy},
    .fit_selection = select_models,
};

constexpr Method pushed_methods[] = {Method::vi, Method::svi, Method::em, Method::map,
                                     Method::kmeans};

std::unique_ptr<Model> fit_query_rows(FunctionCallInfo fcinfo, std::string *bytes) {
  QueryRows query(fcinfo, gmm.family, gmm.check, by_k, nullptr, pushed_methods);
  auto model = fit_model(gmm, query.request, query.data(), bytes);
  query.end();
  return model;
}

std::unique_ptr<Model> gmm_model(FunctionCallInfo fcinfo) {
  return load_model(PG_GETARG_DATUM(0), gmm.family);
}

}  // namespace

// ---- fitting: aggregates, window, relations ----

BAYES_FUNCTION(gmm_fit_transition) { return fit_transition(fcinfo, gmm); }
BAYES_FUNCTION(gmm_update_transition) {
  return fit_transition(fcinfo, gmm, 1, {.model = Role::prior});
}
BAYES_FUNCTION(gmm_fit_final) { return fit_final(fcinfo, gmm); }

BAYES_FUNCTION(gmm_select_transition) { return selection_transition(fcinfo, gmm); }
BAYES_FUNCTION(gmm_select_final) { return selection_final(fcinfo, gmm); }
BAYES_FUNCTION(gmm_select_query) { return selection_query(fcinfo, gmm, pushed_methods); }

BAYES_FUNCTION(gmm_cluster) { return cluster_window(fcinfo, gmm, by_k); }

BAYES_FUNCTION(gmm_fit_query) {
  return show_query_fit(fcinfo, fit_query_rows, [](ResultRows &result, const Model &model) {
    emit_components(result, mixture(model));
  });
}
BAYES_FUNCTION(gmm_model_query) { return query_model(fcinfo, fit_query_rows); }

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
    result.row({i + 1, q.alpha, Cell::vector(q.m), Cell::or_null(q.c),
                q.S.empty() ? Cell() : Cell::matrix(q.S, d), q.a, Cell::matrix(q.B, d)});
  }
  return Datum(0);
}

// ---- a model and a row ----

BAYES_FUNCTION(gmm_predict) { return component_of_row(fcinfo, gmm.family); }
