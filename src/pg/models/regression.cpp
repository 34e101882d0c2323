#include "pg/models/regression.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/message.hpp"
#include "families/parameter.hpp"
#include "pg/input/record_fields.hpp"
#include "pg/values/convert.hpp"
#include "pg/values/json.hpp"

namespace bayes::pg {

namespace {

/// The model in argument 0, which must be a regression.
const RegressionModel &regression_argument(FunctionCallInfo fcinfo, std::unique_ptr<Model> &owner) {
  owner = load_model(PG_GETARG_DATUM(0));
  if (const auto *const model = dynamic_cast<const RegressionModel *>(owner.get())) return *model;
  throw Error(Errc::wrong_family,
              message("a model of family {} has no coefficients", owner->info.family),
              "Regressions have: linreg, glm, logreg and probit.",
              "bayes_parameters(model) lists the parameters of any model.");
}

/// `effects`: with exp of mean, lower and upper besides, NULL where they multiply nothing.
void emit(ResultRows &result, const RegressionModel &model, double level, bool effects) {
  const bool multiplies = model.multiplies();
  model.coefficients(level, [&](const Coefficient &of) {
    poll_interrupts();
    const auto effect = [multiplies](double x) {
      return multiplies ? Cell::or_null(std::exp(x)) : Cell();
    };
    const Cell known[] = {Cell::or_null(of.mean), Cell::or_null(of.sd), Cell::or_null(of.lower),
                          Cell::or_null(of.upper)};
    if (!effects) return result.row({Cell::text(*of.term), known[0], known[1], known[2], known[3]});
    result.row({Cell::text(of.own_term ? *of.own_term : *of.term),
                of.of_class ? Cell::text(*of.of_class) : Cell(), known[0], known[1], known[2],
                known[3], effect(of.mean), effect(of.lower), effect(of.upper)});
  });
}

/// (model [, level])
Datum coefficients(FunctionCallInfo fcinfo, bool effects) {
  const double level = level_argument(fcinfo);
  ResultRows result(fcinfo);
  std::unique_ptr<Model> owner;
  emit(result, regression_argument(fcinfo, owner), level, effects);
  return Datum(0);
}

/// `one`, `many`: the reason, as the predicate for a single predictor and for several.
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

void emit_effects(ResultRows &result, const Model &model) {
  emit(result, static_cast<const RegressionModel &>(model), default_level, true);
}

void emit_coefficients(ResultRows &result, const Model &model) {
  emit(result, static_cast<const RegressionModel &>(model), default_level, false);
}

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

using namespace bayes;
using namespace bayes::pg;

BAYES_FUNCTION(bayes_coefficients) { return coefficients(fcinfo, false); }
BAYES_FUNCTION(glm_coefficients) { return coefficients(fcinfo, true); }

/// bayes_contrast(model, weights jsonb [, level]): (mean, sd, lower, upper), one row
BAYES_FUNCTION(bayes_contrast) {
  const double level = level_argument(fcinfo, 2);
  ResultRows result(fcinfo);
  std::unique_ptr<Model> owner;
  const RegressionModel &model = regression_argument(fcinfo, owner);
  std::vector<std::string> prefixes;
  for (int k = 0; k < model.predictors(); ++k) prefixes.push_back(model.prefix(k));
  std::vector<double> weights = contrast_weights(document_of_jsonb(PG_GETARG_DATUM(1)),
                                                 model.terms(), prefixes, model.reference_prefix());
  // Scales the weights to at most 1: their squares may overflow where the contrast does not.
  double size = 0;
  for (const double w : weights) size = std::max(size, std::fabs(w));
  if (size > 0)
    for (double &w : weights) w /= size;
  const Coefficient found = model.contrast(weights, level);
  double numbers[] = {found.mean, found.sd, found.lower, found.upper};
  if (size > 0)
    for (double &x : numbers) x *= size;
  for (const double x : numbers)
    if (std::isinf(x))
      throw Error(Errc::numeric, "a contrast overflows", "Its weights are too large.");
  result.row({Cell::or_null(numbers[0]), Cell::or_null(numbers[1]), Cell::or_null(numbers[2]),
              Cell::or_null(numbers[3])});
  return Datum(0);
}

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

int level_of(const std::vector<std::string> &levels, ElementType &type, Datum value) {
  const auto label = type.text(value);
  if (!label)
    throw Error(Errc::invalid_argument, "the response of a row is NaN", {},
                "Leave such rows out with WHERE.");
  const auto at = std::find(levels.begin(), levels.end(), *label);
  if (at == levels.end()) {
    report_unknown_label("the response", *label, [&levels] { return levels; });
    return -1;
  }
  return int(at - levels.begin());
}

}  // namespace bayes::pg
