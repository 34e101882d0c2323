// Dirichlet process mixtures in SQL.
#include "mixture/dpmm.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/message.hpp"
#include "pg/bind/aggregate.hpp"
#include "pg/bind/any_model.hpp"
#include "pg/bind/query_rows.hpp"
#include "pg/bind/window.hpp"
#include "pg/server/encoding.hpp"
#include "pg/server/server_control.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

const DirichletProcessMixture *start_of(const FitRequest &request) {
  return static_cast<const DirichletProcessMixture *>(request.start.get());
}

RowPolicy fit_policy(const FitRequest &request) {
  return row_policy(dpmm_check_options(request.options, start_of(request)), dpmm_max_dimension);
}

const DirichletProcessMixture &mixture(const Model &model) {
  return static_cast<const DirichletProcessMixture &>(model);
}

/// NOTICE that the estimate is based on only a part of the draws, since memory did not hold them
/// all.
void report_few_draws(const DirichletProcessMixture &model) {
  const int used = model.estimate().draws, all = model.draws.chains * model.draws.draws;
  if (used >= 50 || used >= all) return;
  report(NOTICE, message("the estimate of the partition is based on {} of {} draws", used, all),
         message("The labels of {} rows in all draws do not fit into maintenance_work_mem.",
                 model.info.rows),
         "Raise maintenance_work_mem.");
}

constexpr Binding<RowCollector> dpmm = {
    .family = "dpmm",
    .check = {fit_policy, ColumnUse::normal_or_likelihoods},
    .fit = [](const FitRequest &request, RowCollector &data,
              Control &control) -> std::unique_ptr<Model> {
      const DirichletProcessMixture *start = start_of(request);
      std::unique_ptr<DirichletProcessMixture> renumbered;
      if (start && !start->info.columns.empty()) {
        renumbered = start->with_labels_of(data.columns());
        start = renumbered.get();
      }
      DpmmFit fitted = dpmm_fit(data.source(), request.options, control, start);
      report_few_draws(*fitted.model);
      return std::move(fitted.model);
    },
    .fit_labels =
        [](const FitRequest &request, RowCollector &data, Control &control) {
          DpmmFit fitted = dpmm_fit(data.rows, request.options, control);
          warn_if_not_converged(*fitted.model);
          report_few_draws(*fitted.model);
          data.restore_order(fitted.labels);
          return std::move(fitted.labels);
        },
};

constexpr Method methods_elsewhere[] = {Method::vi};

std::unique_ptr<Model> fit_query_rows(FunctionCallInfo fcinfo, std::string *bytes) {
  QueryRows query(fcinfo, dpmm.family, dpmm.check, by_options, nullptr,
                  {methods_elsewhere, Method::collapsed});
  auto model = fit_model(dpmm, query.request, query.data(), bytes);
  query.end();
  return model;
}

void emit_clusters(ResultRows &result, const DirichletProcessMixture &model) {
  for (int i = 0; i < model.size(); ++i) {
    const DpmmCluster c = model.cluster(i);
    result.row({i + 1, c.weight, Cell::vector_with_nulls(c.mean),
                c.covariance.empty() ? Cell() : Cell::matrix(c.covariance, c.mean.size()),
                c.count});
  }
}

std::unique_ptr<Model> dpmm_model(FunctionCallInfo fcinfo) {
  return load_model(PG_GETARG_DATUM(0), dpmm.family);
}

}  // namespace

// ---- fitting: aggregate, window, relations ----

BAYES_FUNCTION(dpmm_fit_transition) { return fit_transition(fcinfo, dpmm); }
BAYES_FUNCTION(dpmm_fit_final) { return fit_final(fcinfo, dpmm); }
BAYES_FUNCTION(dpmm_cluster) { return cluster_window(fcinfo, dpmm, by_options); }

BAYES_FUNCTION(dpmm_fit_query) {
  return show_query_fit(fcinfo, fit_query_rows, [](ResultRows &result, const Model &model) {
    emit_clusters(result, mixture(model));
  });
}
BAYES_FUNCTION(dpmm_model_query) { return query_model(fcinfo, fit_query_rows); }

BAYES_FUNCTION(dpmm_cluster_query) {
  ResultRows result(fcinfo);
  NamedValues names(BOOLOID);
  QueryRows query(fcinfo, dpmm.family, dpmm.check, by_options, &names);
  std::optional<DpmmFit> fitted;
  std::vector<double> mcse;
  attempt_fit(query.data(), [&](Control &control) {
    DpmmFit made = dpmm_fit(query.data()->rows, query.request.options, control);
    mcse = made.draws.size() > 0
               ? membership_mcse(made.draws, made.labels, made.chains, control)
               : std::vector<double>(made.labels.size(), std::numeric_limits<double>::quiet_NaN());
    query.data()->restore_order(made.labels);
    query.data()->restore_order(made.probability);
    query.data()->restore_order(mcse);
    fitted.emplace(std::move(made));
  });
  if (fitted) {
    warn_if_not_converged(*fitted->model);
    report_few_draws(*fitted->model);
  }
  std::size_t row = 0;
  names.each([&](Cell name, const NullableDatum &included) {
    if (!DatumGetBool(included.value) || !fitted) return result.row({name, Cell(), Cell(), Cell()});
    result.row({name, fitted->labels[row] + 1, fitted->probability[row], Cell::or_null(mcse[row])});
    ++row;
  });
  return Datum(0);
}

BAYES_FUNCTION(dpmm_similarity_query) {
  ResultRows result(fcinfo);
  NamedValues names(BOOLOID);
  QueryRows query(fcinfo, dpmm.family, dpmm.check, by_options, &names);
  // Names are read after the fit, when the number of rows is known to be within limits.
  std::vector<std::optional<std::string>> fitted;
  const auto read_names = [&] {
    names.each([&](Cell name, const NullableDatum &included) {
      if (!DatumGetBool(included.value)) return;
      if (name.is_null())
        fitted.emplace_back();
      else
        fitted.emplace_back(
            utf8_of_server(guarded([&name] { return TextDatumGetCString(name.to_datum()); })));
    });
  };
  const auto cell = [&](std::int64_t row) {
    return fitted[std::size_t(row)] ? Cell::text(*fitted[std::size_t(row)]) : Cell();
  };
  attempt_fit(query.data(), [&](Control &control) {
    dpmm_similarity(
        query.data()->rows, query.request.options, control,
        [&](std::int64_t row, std::span<const double> probabilities, std::span<const double> mcse) {
          if (fitted.empty()) read_names();
          for (std::size_t other = 0; other < probabilities.size(); ++other)
            result.row({cell(std::int64_t(other)), cell(row), probabilities[other],
                        Cell::or_null(mcse[other])});
        },
        query.data()->rows.order());
  });
  names.close();
  return Datum(0);
}

BAYES_FUNCTION(dpmm_credible_bounds_query) {
  ResultRows result(fcinfo);
  NamedValues names(BOOLOID);
  QueryRows query(fcinfo, dpmm.family, dpmm.check, by_options, &names);
  std::optional<DpmmBounds> bounds;
  attempt_fit(query.data(), [&](Control &control) {
    bounds.emplace(dpmm_credible_bounds(query.data()->rows, query.request.options, control));
    for (auto *const labels :
         {&bounds->estimate, &bounds->upper, &bounds->lower, &bounds->horizontal})
      query.data()->restore_order(*labels);
  });
  if (bounds) {
    warn_if_not_converged(*bounds->model);
    report_few_draws(*bounds->model);
  }
  std::size_t row = 0;
  names.each([&](Cell name, const NullableDatum &included) {
    if (!DatumGetBool(included.value) || !bounds)
      return result.row({name, Cell(), Cell(), Cell(), Cell()});
    result.row({name, bounds->estimate[row] + 1, bounds->upper[row] + 1, bounds->lower[row] + 1,
                bounds->horizontal[row] + 1});
    ++row;
  });
  return Datum(0);
}

// ---- a model as relations ----

BAYES_FUNCTION(dpmm_clusters) {
  ResultRows result(fcinfo);
  emit_clusters(result, mixture(*dpmm_model(fcinfo)));
  return Datum(0);
}

BAYES_FUNCTION(dpmm_estimate) {
  ResultRows result(fcinfo);
  const auto model = dpmm_model(fcinfo);
  const DpmmEstimate &e = mixture(*model).estimate();
  const bool sampled = !std::isnan(e.radius);
  result.row({Cell::text(e.loss), e.clusters, Cell::or_null(e.expected_loss),
              sampled ? Cell(e.optimal) : Cell(), Cell::or_null(e.level), Cell::or_null(e.radius),
              sampled ? Cell(e.fewest_clusters) : Cell(), sampled ? Cell(e.most_clusters) : Cell(),
              e.draws, Cell::or_null(e.mcse)});
  return Datum(0);
}

// ---- a model and a row ----

BAYES_FUNCTION(dpmm_predict) { return component_of_row(fcinfo, dpmm.family); }
