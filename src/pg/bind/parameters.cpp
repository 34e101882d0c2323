#include "pg/bind/parameters.hpp"

#include <cmath>

#include "document/model.hpp"
#include "families/parameter.hpp"

namespace bayes::pg {

void emit_parameter(ResultRows &result, const ModelInfo &info, const Parameter &p) {
  poll_interrupts();
  const bool named = p.element >= 0 && !info.columns.empty();
  const RowColumn *const column = named ? &info.columns[std::size_t(p.element)] : nullptr;
  const bool category = !std::isnan(p.category);
  const std::string *label = p.label;
  if (!label && column && category) label = label_of(*column, p.category);
  result.row({p.component + 1, p.element < 0 ? Cell() : Cell(p.element + 1),
              column ? Cell::text(column->name) : Cell(),
              p.likelihood ? Cell::text(p.likelihood) : Cell(), Cell::text(p.name),
              category ? Cell(std::int64_t(p.category)) : Cell(),
              label ? Cell::text(*label) : Cell(), Cell::or_null(p.value),
              Cell::or_null(p.deviation), Cell::or_null(p.lower), Cell::or_null(p.upper),
              p.known_by ? Cell::text(p.known_by) : Cell()});
}

double level_argument(FunctionCallInfo fcinfo, int at) {
  const double level = PG_NARGS() > at ? PG_GETARG_FLOAT8(at) : default_level;
  require_level(level);
  return level;
}

}  // namespace bayes::pg
