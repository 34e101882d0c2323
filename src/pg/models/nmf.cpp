// Non-negative matrix factorization in SQL.
#include <algorithm>
#include <cmath>
#include <limits>

#include "factor/nmf.hpp"

#include "base/message.hpp"
#include "fit/fit_run.hpp"
#include "pg/bind/aggregate.hpp"
#include "pg/bind/choice.hpp"
#include "pg/bind/query_rows.hpp"
#include "pg/models/factor.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

constexpr const char *nmf_family = "nmf";

const NmfModel &nmf_model(const Model &model) { return static_cast<const NmfModel &>(model); }

const NmfModel *start_of(const FitRequest &request) {
  return static_cast<const NmfModel *>(request.start.get());
}

constexpr Binding<TripleCollector> nmf = {
    .family = nmf_family,
    .check =
        [](const FitRequest &request) {
          return nmf_check_options(request.k, request.options, start_of(request));
        },
    .fit = [](const FitRequest &request, TripleCollector &data,
              Control &control) -> std::unique_ptr<Model> {
      return nmf_fit(data.table(), request.k, request.options, start_of(request), control);
    },
};

const ScoredFamily scored_cells(nmf_family, "row key, column key, value", 3, ErrorMeasure::root,
                                false, make_scorer<CellScorer<NmfModel, true>>);

constexpr Method pushed_methods[] = {Method::vi, Method::em};

std::unique_ptr<Model> fit_query_rows(FunctionCallInfo fcinfo, std::string *bytes) {
  return fit_table(fcinfo, nmf, by_k, bytes, pushed_methods);
}

/// Emits rows (side, key, factor, value, shape, rate).
void emit_factors(ResultRows &result, const NmfModel &model) {
  for (const Side side : {Side::row, Side::column}) {
    const std::vector<std::string> &keys = model.keys(side);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      poll_interrupts();
      const NmfWeights weights = model.weights(side, std::int32_t(i));
      const bool posterior = !weights.shape.empty();
      for (std::size_t k = 0; k < weights.value.size(); ++k)
        result.row({Cell::text(side == Side::row ? "row" : "column"), Cell::text(keys[i]),
                    int(k) + 1, weights.value[k], posterior ? Cell(weights.shape[k]) : Cell(),
                    posterior ? Cell(weights.rate[k]) : Cell()});
    }
  }
}

/// The factor weights of a new row or column: arguments (model, cells [, side]) of a strict
/// function.
NmfWeights transformed(FunctionCallInfo fcinfo, Method *method = nullptr) {
  auto &site = call_site<FactorCallSite>(fcinfo, nmf_family);
  const NmfModel &model = nmf_model(site.models.get(PG_GETARG_DATUM(0)));
  if (method) *method = model.info.method;
  const Side side = side_argument(fcinfo, 2), keys = other(side);
  const CellReading how{.keys = keys, .non_negative = true, .keep_zeros = model.missing()};
  return model.transform(
      side, site.cells(fcinfo, 1, how, model.keys(keys),
                       [&model, keys](std::string_view key) { return model.code(keys, key); }));
}

Datum array_of(const std::vector<double> &values) {
  return guarded([&values] { return Cell::vector(values).to_datum(); });
}

}  // namespace

// ---- aggregates ----

/// (internal, x float8[], k or model [, options]) -> internal, or with arguments row_key,
/// column_key and value instead of x
BAYES_FUNCTION(nmf_fit_transition) { return fit_transition(fcinfo, nmf, PG_NARGS() > 4 ? 3 : 1); }

BAYES_FUNCTION(nmf_fit_final) { return fit_final(fcinfo, nmf); }

// ---- functions of a query: factorize its table ----

/// nmf_fit(query, k int [, options]), nmf_factorize(query, k int [, options])
BAYES_FUNCTION(nmf_factorize) {
  return show_query_fit(fcinfo, fit_query_rows, [](ResultRows &result, const Model &model) {
    emit_factors(result, nmf_model(model));
  });
}
BAYES_FUNCTION(nmf_model_query) { return query_model(fcinfo, fit_query_rows); }

namespace {

/// Checks a request for several numbers of factors.
FactorTableOptions check_all_ks(const FitRequest &given) {
  FactorTableOptions options;
  double most = 0;
  for (const int k : given.ks) {
    options = nmf_check_options(k, given.options, nullptr);
    options.bytes_of_key = most = std::max(most, options.bytes_of_key);
  }
  return options;
}

}  // namespace

/// nmf_select(query, ks int[] [, options]): for every k a model fitted to nine tenths of the lines
/// (the rows, or the columns if there are more of them), and its score on the held-out lines.
BAYES_FUNCTION(nmf_select) {
  ResultRows result(fcinfo);
  FitRequest request = query_request(fcinfo, nmf.family, by_ks);
  const ScopedContext context(CurrentMemoryContext, "pg_bayes query");
  PushDown push;
  std::optional<FitData<TripleCollector>> data;
  const PushedFit pushed{push, request, pushed_methods};
  const auto begin = [&request](FitData<TripleCollector> &table) {
    table.begin(request, check_all_ks);
    table->hold_out(10);
  };
  collect_table(fcinfo, context, data, begin, &pushed);
  attempt_fit(*data, [&](Control &control) {
    TripleCollector &table = **data;
    const Side lines = table.table().document_side;
    if (table.held_out().totals().documents == 0)
      throw Error(
          Errc::invalid_argument,
          message("there are {} {}, too few to choose k",
                  table.table().documents.totals().documents,
                  lines == Side::row ? "rows" : "columns"),
          "Every tenth row, or column if there are more columns, is held out, to measure how "
          "well a model predicts it.");
    const TakeCells take = [&result](Cells cells) { result.row(cells); };
    Choice choice(request, take);
    SharedTime time(request.options, request.ks.size(), control);
    choice.run([&] {
      for (const int k : request.ks)
        time.select(
            k, [&] { return nmf_fit(table.table(), k, request.options, nullptr, control); },
            [&](const std::unique_ptr<NmfModel> model) {
              warn_of(*model);
              const NmfHeldOut found = nmf_held_out(*model, table.held_out(), lines, control);
              const ModelInfo &info = model->info;
              // The evidence lower bound finds the number of factors even where the held-out
              // likelihood is too noisy.
              const bool variational = is_variational(info.method);
              // A column that the fitted rows lack has probability 0 under every fit.
              const double score = std::isfinite(found.log_likelihood)
                                       ? found.log_likelihood
                                       : std::numeric_limits<double>::quiet_NaN();
              choice.add(k,
                         variational
                             ? Criterion{"objective", info.objective, 1, "1 nat"}
                             : Criterion{"log_likelihood", score, 1,
                                         "one standard error of the difference", found.scores},
                         {k, found.log_likelihood, found.cells, Cell::or_null(info.objective),
                          info.iterations, info.converged, choice.model(*model),
                          Cell::or_null(found.error)});
            },
            choice.failed());
    });
  });
  push.end();
  return Datum(0);
}

// ---- a model as relations ----

BAYES_FUNCTION(nmf_factors) {
  ResultRows result(fcinfo);
  const std::unique_ptr<Model> model = load_model(PG_GETARG_DATUM(0), nmf_family);
  emit_factors(result, nmf_model(*model));
  return Datum(0);
}

/// nmf_error(model): the errors of the expected numbers of all cells of the table of the fit.
BAYES_FUNCTION(nmf_error) {
  ResultRows result(fcinfo);
  const std::unique_ptr<Model> model = load_model(PG_GETARG_DATUM(0), nmf_family);
  const NmfError &error = nmf_model(*model).error();
  result.row({error.squared, Cell::or_null(error.divergence), Cell::or_null(error.explained)});
  return Datum(0);
}

// ---- a model and a cell, or a row ----

/// nmf_predict(model, row_key "any", column_key "any")
BAYES_FUNCTION(nmf_predict) {
  ResultRows result(fcinfo);
  auto &site = call_site<FactorCallSite>(fcinfo, nmf_family);
  const NmfModel &model = nmf_model(site.models.get(PG_GETARG_DATUM(0)));
  const auto code = [&](Side side, int argument) {
    const auto key = site.key(fcinfo, argument, argument - 1);
    return key ? model.code(side, *key) : std::int32_t(-1);
  };
  const std::int32_t row = code(Side::row, 1), column = code(Side::column, 2);
  const CellPrediction found = model.predict(row, column);
  result.row({found.mean, Cell::or_null(found.variance)});
  return Datum(0);
}

/// nmf_transform(model, cells [, side]) -> float8[]
BAYES_FUNCTION(nmf_transform) { return array_of(transformed(fcinfo).value); }

BAYES_FUNCTION(nmf_transform_sd) {
  Method method;
  NmfWeights weights = transformed(fcinfo, &method);
  if (weights.shape.empty())
    throw Error(Errc::invalid_argument, message("model fitted by {} has no posterior", method),
                "Weights have a gamma posterior after methods vi and svi.",
                "nmf_transform(model, cells) gives the estimate.");
  for (std::size_t k = 0; k < weights.value.size(); ++k)
    weights.value[k] = std::sqrt(weights.shape[k]) / weights.rate[k];
  return array_of(weights.value);
}
