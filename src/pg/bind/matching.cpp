// Components of two models side by side.
#include "models/matching.hpp"

#include "pg/server/server_control.hpp"
#include "pg/values/model_value.hpp"
#include "pg/values/results.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

Cell number_of(int component) { return component < 0 ? Cell() : Cell(component + 1); }

}  // namespace

BAYES_FUNCTION(bayes_match) {
  ResultRows result(fcinfo);
  const std::unique_ptr<Model> before = load_model(PG_GETARG_DATUM(0)),
                               after = load_model(PG_GETARG_DATUM(1));
  for (const MatchedComponents &pair : match_components(*before, *after))
    result.row({number_of(pair.before), number_of(pair.after), Cell::or_null(pair.overlap)});
  return Datum(0);
}
