// Probabilistic matrix factorization in SQL.
#include "factor/pmf.hpp"

#include "base/message.hpp"
#include "pg/bind/aggregate.hpp"
#include "pg/bind/query_rows.hpp"
#include "pg/models/factor.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

constexpr const char *pmf_family = "pmf";

const PmfModel *start_of(const FitRequest &request) {
  return static_cast<const PmfModel *>(request.start.get());
}

constexpr Binding<TripleCollector> pmf = {
    .family = pmf_family,
    .check =
        [](const FitRequest &request) {
          return pmf_check_options(request.k, request.options, start_of(request));
        },
    .fit = [](const FitRequest &request, TripleCollector &data,
              Control &control) -> std::unique_ptr<Model> {
      return pmf_fit(data.table(), request.k, request.options, control, start_of(request));
    },
};

const ScoredFamily scored_cells(pmf_family, "row key, column key, value", 3, ErrorMeasure::root,
                                false, make_scorer<CellScorer<PmfModel, false>>);

std::unique_ptr<Model> fit_query_rows(FunctionCallInfo fcinfo, std::string *bytes) {
  return fit_table(fcinfo, pmf, by_rank, bytes);
}

/// Emits rows (side, key, mean, sd): for each key the expected number of a cell whose other key is
/// unknown.
void emit_keys(ResultRows &result, const PmfModel &model) {
  for (const Side side : {Side::row, Side::column}) {
    const std::vector<std::string> &keys = model.keys(side);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      poll_interrupts();
      const bool row = side == Side::row;
      const PmfPrediction found =
          model.predict(row ? std::int32_t(i) : -1, row ? -1 : std::int32_t(i));
      result.row({Cell::text(row ? "row" : "column"), Cell::text(keys[i]), found.mean, found.sd});
    }
  }
}

/// The first arguments of functions of a model and keys.
struct ModelAndKeys {
  explicit ModelAndKeys(FunctionCallInfo fcinfo)
      : fcinfo(fcinfo),
        site(call_site<FactorCallSite>(fcinfo, pmf_family)),
        model(static_cast<const PmfModel &>(site.models.get(PG_GETARG_DATUM(0)))) {}
  /// The code of the key in an argument; -1 for a key that the model does not know.
  std::int32_t code(Side side, int argument) {
    const auto key = site.key(fcinfo, argument, argument - 1);
    return key ? model.code(side, *key) : -1;
  }
  /// The cells of a new row or column (`side`), in argument 1.
  DocumentTerms cells(Side side) {
    const Side keys = other(side);
    return site.cells(fcinfo, 1, {.keys = keys, .non_negative = false, .keep_zeros = true},
                      model.keys(keys),
                      [this, keys](std::string_view key) { return model.code(keys, key); });
  }

  FunctionCallInfo fcinfo;
  FactorCallSite &site;
  const PmfModel &model;
};

void emit_prediction(ResultRows &result, const PmfPrediction &found) {
  result.row({found.mean, found.sd, Cell::or_null(found.mcse)});
}

/// The argument n, the number of rows to return; throws Error unless it is at least 1.
std::int32_t count_argument(FunctionCallInfo fcinfo, int argument) {
  const std::int32_t n = PG_GETARG_INT32(argument);
  if (n < 1) throw Error(Errc::invalid_argument, message("n is {}, but must be at least 1", n));
  return n;
}

}  // namespace

// ---- aggregates ----

/// (internal, row_key "any", column_key "any", value float8, rank int or model [, options jsonb])
/// -> internal
BAYES_FUNCTION(pmf_fit_transition) {
  return fit_transition(fcinfo, pmf, 3, {.integer = Role::rank});
}
BAYES_FUNCTION(pmf_fit_final) { return fit_final(fcinfo, pmf); }

// ---- relations ----

BAYES_FUNCTION(pmf_fit_query) {
  return show_query_fit(fcinfo, fit_query_rows, [](ResultRows &result, const Model &model) {
    emit_keys(result, static_cast<const PmfModel &>(model));
  });
}
BAYES_FUNCTION(pmf_model_query) { return query_model(fcinfo, fit_query_rows); }

/// pmf_keys(model)
BAYES_FUNCTION(pmf_keys) {
  ResultRows result(fcinfo);
  const auto model = load_model(PG_GETARG_DATUM(0), pmf_family);
  emit_keys(result, static_cast<const PmfModel &>(*model));
  return Datum(0);
}

// ---- a model and keys ----

/// pmf_predict(model, row_key "any", column_key "any")
BAYES_FUNCTION(pmf_predict) {
  ResultRows result(fcinfo);
  ModelAndKeys given(fcinfo);
  const std::int32_t row = given.code(Side::row, 1), column = given.code(Side::column, 2);
  const PmfPrediction found = given.model.predict(row, column);
  emit_prediction(result, found);
  return Datum(0);
}

/// pmf_predict_new(model, cells jsonb, key "any" [, side text])
BAYES_FUNCTION(pmf_predict_new) {
  ResultRows result(fcinfo);
  const Side side = side_argument(fcinfo, 3);
  ModelAndKeys given(fcinfo);
  const std::int32_t key = given.code(other(side), 2);
  emit_prediction(result, given.model.predict_new(side, given.cells(side), key));
  return Datum(0);
}

/// pmf_recommend(model, row_key "any", n int [, rated boolean])
BAYES_FUNCTION(pmf_recommend) {
  ResultRows result(fcinfo);
  const std::int32_t n = count_argument(fcinfo, 2);
  const bool rated = PG_GETARG_BOOL(3);
  ModelAndKeys given(fcinfo);
  for (const PmfRecommendation &found : given.model.recommend(given.code(Side::row, 1), n, rated))
    result.row({Cell::text(given.model.keys(Side::column)[std::size_t(found.column)]),
                found.prediction.mean, found.prediction.sd});
  return Datum(0);
}

/// pmf_recommend_new(model, cells jsonb, n int [, side text])
BAYES_FUNCTION(pmf_recommend_new) {
  ResultRows result(fcinfo);
  const std::int32_t n = count_argument(fcinfo, 2);
  const Side side = side_argument(fcinfo, 3);
  ModelAndKeys given(fcinfo);
  for (const PmfRecommendation &found : given.model.recommend_new(side, given.cells(side), n))
    result.row({Cell::text(given.model.keys(other(side))[std::size_t(found.column)]),
                found.prediction.mean, found.prediction.sd});
  return Datum(0);
}

/// pmf_similar(model, key "any", n int [, side text])
BAYES_FUNCTION(pmf_similar) {
  ResultRows result(fcinfo);
  const std::int32_t n = count_argument(fcinfo, 2);
  const Side side = side_argument(fcinfo, 3);
  ModelAndKeys given(fcinfo);
  const std::int32_t index = given.code(side, 1);
  if (index < 0) return Datum(0);
  for (const PmfSimilarity &found : given.model.similar(side, index, n))
    result.row(
        {Cell::text(given.model.keys(side)[std::size_t(found.key)]), found.similarity, found.sd});
  return Datum(0);
}
