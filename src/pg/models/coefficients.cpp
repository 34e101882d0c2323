#include "pg/models/coefficients.hpp"

#include "base/message.hpp"
#include "families/parameter.hpp"

namespace bayes::pg {

void emit_coefficient(ResultRows &result, const Coefficient &coefficient) {
  poll_interrupts();
  result.row({Cell::text(*coefficient.term), Cell::or_null(coefficient.mean),
              Cell::or_null(coefficient.sd), Cell::or_null(coefficient.lower),
              Cell::or_null(coefficient.upper)});
}

void emit_contrast(ResultRows &result, const Coefficient &coefficient) {
  for (const double x : {coefficient.mean, coefficient.sd, coefficient.lower, coefficient.upper})
    if (std::isinf(x))
      throw Error(Errc::numeric, "a contrast overflows", "Its weights are too large.");
  result.row({Cell::or_null(coefficient.mean), Cell::or_null(coefficient.sd),
              Cell::or_null(coefficient.lower), Cell::or_null(coefficient.upper)});
}

namespace {

/// The reason is the predicate `one` for a single predictor and `many` for several.
void warn_undetermined_predictors(const std::vector<std::string> &names, const char *one,
                                  const char *many, bool left_out) {
  if (names.empty()) return;
  const bool single = names.size() == 1;
  report_once(WARNING,
              message("{} {} {}", single ? "predictor" : "predictors", list_of_terms(names),
                      single ? one : many),
              message("The rows do not determine {}; {}.",
                      single ? "its coefficient" : "these coefficients",
                      left_out ? single ? "it is NULL" : "they are NULL"
                      : single ? "its value comes from the prior"
                               : "their values come from the prior"),
              single ? "Leave it out." : "Leave them out.");
}

}  // namespace

void warn_constant_predictors(const std::vector<std::string> &names, bool left_out) {
  warn_undetermined_predictors(names, "is constant", "are constant", left_out);
}

void warn_dependent_predictors(const std::vector<std::string> &names, bool left_out) {
  warn_undetermined_predictors(names, "is a linear combination of earlier ones",
                               "are linear combinations of earlier ones", left_out);
}

void warn_no_complete_row(const char *family, const char *detail) {
  report_once(
      WARNING, message("{}_fit gives no model: no row is complete", family), detail,
      "Leave out predictors that are mostly NULL, or fill in their values with coalesce().");
}

}  // namespace bayes::pg
