// Matches and compares the components of two models.
#include "models/comparison.hpp"

#include "pg/bind/any_model.hpp"
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

BAYES_FUNCTION(bayes_compare) {
  ResultRows result(fcinfo);
  const std::unique_ptr<Model> before = load_model(PG_GETARG_DATUM(0)),
                               after = load_model(PG_GETARG_DATUM(1));
  report_overlap(*before);
  report_overlap(*after);
  compare_components(*before, *after, [&](const ComparedParameter &p) {
    poll_interrupts();
    const auto text = [](const std::string &name) {
      return name.empty() ? Cell() : Cell::text(name);
    };
    result.row({number_of(p.before), number_of(p.after), number_of(p.element), text(p.column),
                p.label ? Cell::text(*p.label) : Cell(), Cell::text(p.parameter),
                Cell::or_null(p.value_before), Cell::or_null(p.value_after),
                Cell::or_null(p.difference()), Cell::or_null(p.deviation),
                p.deviation > 0 ? Cell(p.difference() / p.deviation) : Cell(),
                Cell::or_null(p.distance)});
  });
  return Datum(0);
}
