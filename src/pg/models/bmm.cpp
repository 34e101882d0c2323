// Bernoulli mixtures in SQL.
#include "mixture/bmm.hpp"

#include "pg/bind/any_model.hpp"
#include "pg/bind/choice.hpp"
#include "pg/bind/window.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

RowPolicy policy(const RowOptions &options) { return row_policy(options, bmm_max_dimension); }

const BernoulliMixture *start_of(const FitRequest &request) {
  return static_cast<const BernoulliMixture *>(request.start.get());
}

RowPolicy fit_policy(const FitRequest &request) {
  return policy(bmm_check_options(request.k, request.options, start_of(request), request.update));
}
RowPolicy select_policy(const FitRequest &request) {
  return policy(bmm_check_select_options(request.ks, request.options));
}

const BernoulliMixture &mixture(const Model &model) {
  return static_cast<const BernoulliMixture &>(model);
}

void emit_components(ResultRows &result, const BernoulliMixture &model) {
  for (int i = 0; i < model.size(); ++i) {
    const BmmComponent c = model.component(i);
    result.row({i + 1, c.weight, Cell::vector_with_nulls(c.mean), c.count});
  }
}

/// Fits all models of a selection and emits one row of type bmm_selection for each.
void select_models(const FitRequest &request, RowCollector &data, Control &control,
                   const TakeCells &take) {
  Choice choice(request, take);
  choice.run([&] {
    bmm_select(
        data.source(), request.ks, request.options, control,
        [&](std::unique_ptr<BernoulliMixture> model) {
          choice.add(*model, data, control, {}, {Cell::or_null(model->icl())});
        },
        choice.failed());
  });
}

constexpr Binding<RowCollector> bmm = {
    .family = "bmm",
    .check = {fit_policy, ColumnUse::likelihoods},
    .fit = [](const FitRequest &request, RowCollector &data,
              Control &control) -> std::unique_ptr<Model> {
      const BernoulliMixture *start = start_of(request);
      std::unique_ptr<BernoulliMixture> renumbered;
      if (start && !start->info.columns.empty()) {
        renumbered = start->with_labels_of(data.columns());
        start = renumbered.get();
      }
      return bmm_fit(data.source(), request.k, request.options, start, request.update, control);
    },
    .check_selection = {select_policy, ColumnUse::likelihoods},
    .fit_selection = select_models,
};

constexpr Method pushed_methods[] = {Method::vi, Method::svi, Method::em, Method::map};

std::unique_ptr<Model> fit_query_rows(FunctionCallInfo fcinfo, std::string *bytes) {
  QueryRows query(fcinfo, bmm.family, bmm.check, by_k, nullptr, pushed_methods);
  auto model = fit_model(bmm, query.request, query.data(), bytes);
  query.end();
  return model;
}

std::unique_ptr<Model> bmm_model(FunctionCallInfo fcinfo) {
  return load_model(PG_GETARG_DATUM(0), bmm.family);
}

}  // namespace

// ---- fitting: aggregates, window, relations ----

BAYES_FUNCTION(bmm_fit_transition) { return fit_transition(fcinfo, bmm); }
BAYES_FUNCTION(bmm_update_transition) {
  return fit_transition(fcinfo, bmm, 1, {.model = Role::prior});
}
BAYES_FUNCTION(bmm_fit_final) { return fit_final(fcinfo, bmm); }

BAYES_FUNCTION(bmm_select_transition) { return selection_transition(fcinfo, bmm); }
BAYES_FUNCTION(bmm_select_final) { return selection_final(fcinfo, bmm); }
BAYES_FUNCTION(bmm_select_query) { return selection_query(fcinfo, bmm, pushed_methods); }

BAYES_FUNCTION(bmm_cluster) { return cluster_window(fcinfo, bmm, by_k); }

BAYES_FUNCTION(bmm_fit_query) {
  return show_query_fit(fcinfo, fit_query_rows, [](ResultRows &result, const Model &model) {
    emit_components(result, mixture(model));
  });
}
BAYES_FUNCTION(bmm_model_query) { return query_model(fcinfo, fit_query_rows); }

// ---- a model as relations ----

BAYES_FUNCTION(bmm_components) {
  ResultRows result(fcinfo);
  emit_components(result, mixture(*bmm_model(fcinfo)));
  return Datum(0);
}

BAYES_FUNCTION(bmm_posterior) {
  ResultRows result(fcinfo);
  const std::unique_ptr<Model> model = bmm_model(fcinfo);
  for (int i = 0; i < mixture(*model).size(); ++i) {
    const BmmPosterior q = mixture(*model).posterior(i);
    result.row({i + 1, q.alpha, Cell::vector_with_nulls(q.a), Cell::vector_with_nulls(q.b)});
  }
  return Datum(0);
}

BAYES_FUNCTION(bmm_moments) {
  ResultRows result(fcinfo);
  std::vector<double> mean, covariance;
  mixture(*bmm_model(fcinfo)).moments(mean, covariance);
  bool whole = true;
  for (const double m : mean) whole &= !std::isnan(m);
  result.row(
      {Cell::vector_with_nulls(mean), whole ? Cell::matrix(covariance, mean.size()) : Cell()});
  return Datum(0);
}

// ---- a model and a row ----

BAYES_FUNCTION(bmm_predict) { return component_of_row(fcinfo, bmm.family); }
