#include "pg/bind/coefficients.hpp"

#include "families/parameter.hpp"

namespace bayes::pg {

void emit_coefficient(ResultRows &result, const Coefficient &coefficient) {
  poll_interrupts();
  result.row({Cell::text(*coefficient.term), Cell::or_null(coefficient.mean),
              Cell::or_null(coefficient.sd), Cell::or_null(coefficient.lower),
              Cell::or_null(coefficient.upper)});
}

double prediction_level(FunctionCallInfo fcinfo) {
  const double level = PG_NARGS() > 2 ? PG_GETARG_FLOAT8(2) : 0.95;
  require_level(level);
  return level;
}

}  // namespace bayes::pg
