#include "pg/models/response_score.hpp"

#include <cmath>

#include "pg/values/convert.hpp"

namespace bayes::pg {

void require_response_type(Oid base, Oid type, bool binary) {
  if (is_number_type(base) || base == BOOLOID) return;
  throw SqlError(
      ERRCODE_DATATYPE_MISMATCH, message("the response is of type {}", name_of_type(type)),
      binary ? "It must be a boolean, or a number that is 0 or 1." : "It must be a number.",
      "The response comes before the row, as in bayes_score(model, response, row).");
}

double response_of(Datum value, Oid base, bool binary) {
  const double response = number_of(value, base);
  if (!binary) {
    if (!(std::fabs(response) <= max_abs_element)) refuse_value(response, "the response", 0);
  } else if (response != 0 && response != 1) {
    throw Error(Errc::invalid_argument, message("the response is {}", format_number(response)),
                "It must be true or false, or one of the numbers 1 and 0.");
  }
  return response;
}

}  // namespace bayes::pg
