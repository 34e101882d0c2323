// Probabilistic matrix factorization in SQL.
#include "factor/pmf.hpp"

#include "base/message.hpp"
#include "pg/bind/aggregate.hpp"
#include "pg/bind/factor.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

constexpr const char *pmf_family = "pmf";

constexpr Binding<TripleCollector> pmf = {
    .family = pmf_family,
    .check =
        [](const FitRequest &request) { return pmf_check_options(request.k, request.options); },
    .fit = [](const FitRequest &request, TripleCollector &data,
              Control &control) -> std::unique_ptr<Model> {
      FactorTable table = data.table();  // of which the model takes the keys
      return pmf_fit(table, request.k, request.options, control);
    },
};

/// The first arguments of functions of a model and keys.
struct ModelAndKeys {
  explicit ModelAndKeys(FunctionCallInfo fcinfo)
      : fcinfo(fcinfo),
        site(call_site<FactorCallSite>(fcinfo, pmf_family)),
        model(static_cast<const PmfModel &>(site.models.get(PG_GETARG_DATUM(0)))) {}
  /// of the key in an argument; -1 for one that the model does not know
  std::int32_t code(Side side, int argument) {
    const auto key = site.key(fcinfo, argument, argument - 1);
    return key ? model.code(side, *key) : -1;
  }

  FunctionCallInfo fcinfo;
  FactorCallSite &site;
  const PmfModel &model;
};

/// How many rows are asked for.
std::int32_t count_argument(FunctionCallInfo fcinfo, int argument) {
  const std::int32_t n = PG_GETARG_INT32(argument);
  if (n < 1) throw Error(Errc::invalid_argument, message("n is {}, but must be at least 1", n));
  return n;
}

}  // namespace

// ---- aggregates ----

/// (internal, row_key "any", column_key "any", value float8, rank int [, options jsonb]) ->
/// internal
BAYES_FUNCTION(pmf_fit_transition) { return fit_transition(fcinfo, pmf, by_rank, 3); }
BAYES_FUNCTION(pmf_fit_final) { return fit_final(fcinfo, pmf); }

// ---- a model and keys ----

/// pmf_predict(model, row_key "any", column_key "any")
BAYES_FUNCTION(pmf_predict) {
  ResultRows result(fcinfo);
  ModelAndKeys given(fcinfo);
  const std::int32_t row = given.code(Side::row, 1), column = given.code(Side::column, 2);
  const PmfPrediction found = given.model.predict(row, column);
  result.row({found.mean, found.sd});
  return Datum(0);
}

/// pmf_recommend(model, row_key "any", n int [, rated boolean])
BAYES_FUNCTION(pmf_recommend) {
  ResultRows result(fcinfo);
  const std::int32_t n = count_argument(fcinfo, 2);
  const bool rated = PG_NARGS() > 3 && PG_GETARG_BOOL(3);
  ModelAndKeys given(fcinfo);
  for (const PmfRecommendation &found : given.model.recommend(given.code(Side::row, 1), n, rated))
    result.row({Cell::text(given.model.keys(Side::column)[std::size_t(found.column)]),
                found.prediction.mean, found.prediction.sd});
  return Datum(0);
}

/// pmf_similar(model, key "any", n int [, side text])
BAYES_FUNCTION(pmf_similar) {
  ResultRows result(fcinfo);
  const std::int32_t n = count_argument(fcinfo, 2);
  const Side side = side_argument(fcinfo, 3, Side::column);
  ModelAndKeys given(fcinfo);
  const std::int32_t index = given.code(side, 1);
  if (index < 0) return Datum(0);
  for (const PmfSimilarity &found : given.model.similar(side, index, n))
    result.row(
        {Cell::text(given.model.keys(side)[std::size_t(found.key)]), found.similarity, found.sd});
  return Datum(0);
}
