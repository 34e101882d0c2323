// Bernoulli mixtures in SQL.

#include "mixture/bmm.hpp"

#include "base/message.hpp"
#include "mixture/bmm_bootstrap.hpp"
#include "mixture/bmm_fit_statistics.hpp"
#include "pg/bind/any_model.hpp"
#include "pg/bind/choice.hpp"
#include "pg/bind/query_rows.hpp"
#include "pg/bind/sums.hpp"
#include "pg/bind/window.hpp"
#include "pg/server/argument_type.hpp"
#include "pg/server/server_control.hpp"

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

// How well a latent class model fits rows: an aggregate, and a function of a query.

namespace {

constexpr const char *bmm_family = "bmm";
constexpr Role of_statistics[] = {Role::model};

/// Rows have the columns of the model. Missing values and unknown labels are allowed.
constexpr RowCheck check = {[](const FitRequest &) {
                              return RowPolicy{.missing = Missing::keep,
                                               .max_dimension = bmm_max_dimension};
                            },
                            ColumnUse::likelihoods, UnknownLabels::missing};

/// The transition state: the model (first argument) and the rows that are compared with it.
struct ModelledRows : FitState<RowCollector> {
  ModelledRows(MemoryContext context, FunctionCallInfo fcinfo)
      : FitState(context, form_of(fcinfo)) {
    parameters.read(of_statistics, &fcinfo->args[1]);
    request(bmm_family, check);
  }
  void check_same(FunctionCallInfo fcinfo) { parameters.check_same(&fcinfo->args[1]); }
  void add(FunctionCallInfo fcinfo) {
    data.add({&fcinfo->args[2], PG_NARGS() > 3 ? &fcinfo->args[3] : nullptr});
  }

 private:
  static ItemForm form_of(FunctionCallInfo fcinfo) {
    return {.weighted = PG_NARGS() > 3, .type = argument_type(fcinfo, 2)};
  }
};

/// The row of type bmm_statistics; sets `none`, for a NULL result, if there are no rows.
Datum statistics_of(const FitRequest &request, FitData<RowCollector> &data, TupleDesc description,
                    bool &none) {
  Datum row = Datum(0);
  none = !attempt_fit(data, [&](Control &control) {
    const BmmFitStatistics s = bmm_fit_statistics(
        static_cast<const BernoulliMixture &>(*request.start), data->rows, control);
    if (s.sparse)
      report_once(
          NOTICE,
          message("g2_p is NULL: the table has {} rows for {} possible patterns", s.complete,
                  s.possible),
          message("The distribution of g2 is close to chi-squared only with {} or more rows "
                  "per pattern, that of x2 with {} or more.",
                  min_expected_g2, min_expected_x2),
          "bmm_bootstrap simulates the distribution.");
    const Cell cells[] = {s.observations,
                          s.log_likelihood,
                          request.start->free_parameters(),
                          s.bic,
                          s.aic,
                          Cell::or_null(s.entropy),
                          Cell::or_null(s.complete),
                          s.patterns ? Cell(*s.patterns) : Cell(),
                          Cell::or_null(s.possible),
                          Cell::or_null(s.df),
                          Cell::or_null(s.g2),
                          Cell::or_null(s.g2_p),
                          Cell::or_null(s.x2),
                          Cell::or_null(s.x2_p)};
    row = composite(description, cells);
  });
  return row;
}

}  // namespace

/// (internal, model bayes_model, x "any" [, weight float8]) -> internal
BAYES_FUNCTION(bmm_fit_statistics_transition) { return add_row<ModelledRows>(fcinfo); }

BAYES_FUNCTION(bmm_fit_statistics_final) {
  FitState<RowCollector> *const state = final_state<RowCollector>(fcinfo);
  if (!state) PG_RETURN_NULL();
  bool none = false;
  const Datum row =
      statistics_of(state->request(bmm_family, check), state->data, result_row(fcinfo), none);
  if (none) PG_RETURN_NULL();
  return row;
}

/// (query, model [, options])
BAYES_FUNCTION(bmm_bootstrap_query) {
  constexpr Role of_bootstrap[] = {Role::model, Role::options};
  constexpr RowCheck check_bootstrap = {[](const FitRequest &request) {
                                          read_bmm_bootstrap_options(request.options);
                                          return check.policy(request);
                                        },
                                        ColumnUse::likelihoods, UnknownLabels::missing};
  QueryRows query(fcinfo, bmm_family, check_bootstrap, of_bootstrap);
  Datum row = Datum(0);
  const TupleDesc description = result_row(fcinfo);
  const bool done = attempt_fit(query.data(), [&](Control &control) {
    const BmmBootstrap found = bmm_bootstrap(
        static_cast<const BernoulliMixture &>(*query.request.start), query.data()->rows,
        read_bmm_bootstrap_options(query.request.options), control);
    const Cell cells[] = {found.draws, found.rows, found.g2, found.g2_p, found.x2, found.x2_p};
    row = composite(description, cells);
  });
  if (!done) PG_RETURN_NULL();
  return row;
}
