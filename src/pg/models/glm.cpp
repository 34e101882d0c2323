// Generalized linear models in SQL: glm, whose response is an option, logreg and probit.
#include "regression/glm.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "base/message.hpp"
#include "pg/bind/aggregate.hpp"
#include "pg/bind/query_rows.hpp"
#include "pg/input/column_checks.hpp"
#include "pg/input/response_query.hpp"
#include "pg/input/row_collector.hpp"
#include "pg/models/regression.hpp"
#include "pg/parts/responses.hpp"
#include "pg/values/array_elements.hpp"
#include "regression/level_responses.hpp"
#include "regression/terms.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

template <GlmFamily family> ResponsePolicy glm_policy(const FitRequest &request) {
  if (request.start)
    throw Error(Errc::invalid_argument,
                message("a fit of {} does not start from a model", request.family),
                "Its first numbers are computed from the rows.",
                "Option {\"resume\": true} goes on with the fit that a model comes from.");
  const GlmCheck check = glm_check_options(family, request.options);
  return {.skip_missing = check.rows.skip_missing,
          .max_dimension = max_predictors,
          .response = check.response,
          .levels = check.levels};
}

/// The options of a fit with the labels of the response, if it has some.
Document options_with_levels(const Document &options, const ResponseCollector &data) {
  std::vector<std::string> levels = data.levels();
  // One label alone is refused for what it is.
  if (levels.size() < 2) return options;
  if (levels.size() > std::size_t(max_levels))
    throw Error(Errc::too_large,
                message("the response has {} different labels, but the limit is {}", levels.size(),
                        max_levels),
                {},
                "Combine rare labels into one, or choose another distribution of the response.");
  Document out = options.is_null() ? Document::object() : options;
  return out.set("levels", Document::List(levels.begin(), levels.end()));
}

/// NOTICEs of responses that contradict their distribution.
void report_responses(const GlmWarnings &warnings) {
  if (!warnings.empty_levels.empty())
    report_once(
        NOTICE,
        message("no row has {} {}", warnings.empty_levels.size() == 1 ? "the label" : "the labels",
                list_of_terms(warnings.empty_levels)),
        "What is said of such a label comes from the prior, and its probability is exaggerated by "
        "the normal approximation.",
        "Method slice has the exact posterior; option levels lists the labels that can occur.");
  if (warnings.overdispersion > 0)
    report_once(NOTICE,
                message("the responses vary {} times as much as a Poisson distribution lets them",
                        format_number(std::round(10 * warnings.overdispersion) / 10)),
                "Standard deviations of coefficients are too small by the root of that, and "
                "intervals of new responses are too narrow.",
                "Use {\"response\": \"negative_binomial\"}, which learns the dispersion.");
  if (warnings.zeros > 0)
    report_once(
        NOTICE,
        message("{} responses are 0, but the model expects {}",
                format_number(std::round(warnings.zeros)),
                format_number(std::round(warnings.zeros_expected))),
        "Some rows seem to be 0 for another reason than chance: means of the others are too small, "
        "and intervals of new responses are wrong.",
        "Add predictors that tell which rows must be 0, or leave such rows out.");
}

/// What a fit has to say of its rows.
void report(const GlmWarnings &warnings, const Glm &model) {
  report_responses(warnings);
  warn_constant_predictors(warnings.constant, false);
  warn_dependent_predictors(warnings.dependent, false);
  if (warnings.few_rows > 0)
    report_once(WARNING,
                message("{} {} few for {} {} and a dispersion", warnings.few_rows,
                        warnings.few_rows == 1 ? "row is" : "rows are",
                        format_number(model.free_parameters() - 1),
                        model.free_parameters() == 2 ? "coefficient" : "coefficients"),
                "Coefficients follow the rows so closely that the dispersion, and with it every "
                "interval, is too small.",
                "Leave out predictors, or fit more rows.");
  const Link link = model.response().link;
  if (!warnings.undetermined.empty())
    report_once(
        WARNING,
        message("the rows hardly determine {} {}",
                warnings.undetermined.size() == 1 ? "the coefficient of" : "the coefficients of",
                list_of_terms(warnings.undetermined)),
        link == Link::log
            ? "Hardly anything was counted where these predictors matter, or rows are few or "
              "nearly collinear: means there are not known to a factor of e, and the normal "
              "approximation exaggerates them."
        : link == Link::identity
            ? "Rows are few or predictors nearly collinear, and the prior is nearly flat: it alone "
              "limits these coefficients."
            : message(
                  "Predictors separate {}, or nearly do, or are nearly collinear, and the prior "
                  "is nearly flat: it alone limits these coefficients.",
                  model.labelled() ? "levels of the response from others"
                                   : "true responses from false ones"),
        link == Link::log
            ? "Use a smaller prior.c and prior.c_intercept, combine rare labels, or leave out "
              "predictors."
            : "Use the default prior or a smaller prior.c, or leave out predictors.");
}

template <GlmFamily family>
std::unique_ptr<Model> fit_glm(const FitRequest &request, ResponseCollector &data,
                               Control &control) {
  if (!data.remote) check_predictors(response_facts(data.rows), data.rows.rows(), data.columns());
  GlmWarnings warnings;
  auto model = glm_fit(family, data.source(), data.columns(),
                       options_with_levels(request.options, data), control, warnings);
  report(warnings, *model);
  return model;
}

constexpr Binding<ResponseCollector> glm = {
    .family = "glm", .check = glm_policy<GlmFamily::glm>, .fit = fit_glm<GlmFamily::glm>};
constexpr Binding<ResponseCollector> logreg = {
    .family = "logreg", .check = glm_policy<GlmFamily::logreg>, .fit = fit_glm<GlmFamily::logreg>};
constexpr Binding<ResponseCollector> probit = {
    .family = "probit", .check = glm_policy<GlmFamily::probit>, .fit = fit_glm<GlmFamily::probit>};

/// Scores numbers or labels. A label that the model does not know has the probability 0.
class GlmScorer final : public RowScorer {
 public:
  GlmScorer(MemoryContext context, const Oid *types, bool report_unknown = false)
      : context_(context),
        types_{types[0], types[1]},
        report_unknown_(report_unknown),
        rows_(context, types[1], AbsentColumns::as_missing, report_unknown),
        label_(context) {
    label_.use(types[0]);
  }
  std::optional<Score> score(const std::shared_ptr<const Model> &model,
                             const NullableDatum *row) override {
    const auto &glm = static_cast<const Glm &>(*model);
    if (!glm.labelled()) {
      if (!numbers_) numbers_.emplace(context_, types_, report_unknown_);
      return numbers_->score(model, row);
    }
    if (!checked_) require_label_type(types_[0]);
    checked_ = true;
    const int level = level_of(glm.levels(), label_, row[0].value);
    const auto x = rows_.read(model, row[1].value);
    if (!x) return std::nullopt;
    if (level >= 0) return glm.score(*x, level);
    return Score{1, -std::numeric_limits<double>::infinity(), 1};
  }

 private:
  MemoryContext context_;
  Oid types_[2];
  bool report_unknown_, checked_ = false;
  std::optional<ResponseScorer<Glm, false>> numbers_;
  RowsOfModels rows_;
  ElementType label_;
};

/// bayes_log_density(model, response, row) of numbers or labels.
class GlmDensity final : public DensityReader {
 public:
  GlmDensity(MemoryContext context, const Oid *types)
      : context_(context),
        types_{types[0], types[1]},
        numbers_(context, types) {}
  std::optional<double> log_density(const std::shared_ptr<const Model> &model, Datum response,
                                    const Datum *row) override {
    if (!static_cast<const Glm &>(*model).labelled() || !row)
      return numbers_.log_density(model, response, row);
    if (!labels_) labels_.emplace(context_, types_, true);
    const NullableDatum arguments[] = {{response, false}, {*row, false}};
    const auto found = labels_->score(model, arguments);
    return found ? std::optional(found->log_density) : std::nullopt;
  }

 private:
  MemoryContext context_;
  Oid types_[2];
  ResponseDensity<Glm, false> numbers_;
  std::optional<GlmScorer> labels_;
};

constexpr auto make_binary_scorer = make_scorer<ResponseScorer<Glm, true>>;
const ScoredFamily scored_glm(glm.family, "response, row", 2, ErrorMeasure::root, false,
                              make_scorer<GlmScorer>);
const ScoredFamily scored_logreg(logreg.family, "response, row", 2, ErrorMeasure::share, false,
                                 make_binary_scorer);
const ScoredFamily scored_probit(probit.family, "response, row", 2, ErrorMeasure::share, false,
                                 make_binary_scorer);
constexpr auto make_binary_density = make_density<ResponseDensity<Glm, true>>;
const DensityFamily densities_of_glm(glm.family, make_density<GlmDensity>);
const DensityFamily densities_of_logreg(logreg.family, make_binary_density);
const DensityFamily densities_of_probit(probit.family, make_binary_density);

/// Warns that there is no model because no row was complete.
void warn_rows_incomplete(const char *family) {
  warn_no_complete_row(family, "In each row the response, the weight or a predictor is NULL.");
}

Datum glm_final(FunctionCallInfo fcinfo, const Binding<ResponseCollector> &binding) {
  const auto *const state = final_state<ResponseCollector>(fcinfo);
  if (state && state->data && state->data->no_row_complete()) warn_rows_incomplete(binding.family);
  return fit_final(fcinfo, binding);
}

std::unique_ptr<Model> fit_query_rows(FunctionCallInfo fcinfo,
                                      const Binding<ResponseCollector> &binding,
                                      const PushedMethods &pushed, std::string *bytes) {
  const char *const text = query_text(fcinfo, response_hint);
  FitRequest request = query_request(fcinfo, binding.family, by_options);
  const QueryColumns given = QueryColumns::of(request.options);
  const ScopedContext context(CurrentMemoryContext, "pg_bayes query");
  PushDown push;
  std::optional<FitData<ResponseCollector>> data;
  PushedResponses elsewhere(context, data, request, binding.check, given, response_hint);
  if (!push.collect(fcinfo, text, request, pushed, response_hint, elsewhere))
    read_responses(
        text, response_hint, given, false,
        [&](const ItemForm &form) {
          data.emplace(context, form);
          data->begin(request, binding.check);
        },
        [&](const bayes::pg::Item &item) { data->add(item); });
  if (*data && (*data)->no_row_complete()) warn_rows_incomplete(binding.family);
  auto model = fit_model(binding, request, *data, bytes);
  push.end();
  if (model) note_rows_left_out(*model);
  return model;
}
std::unique_ptr<Model> glm_of_query(FunctionCallInfo fcinfo, std::string *bytes) {
  return fit_query_rows(fcinfo, glm, glm_methods, bytes);
}
std::unique_ptr<Model> logreg_of_query(FunctionCallInfo fcinfo, std::string *bytes) {
  static constexpr Method pushed[] = {Method::laplace, Method::slice};
  return fit_query_rows(fcinfo, logreg, pushed, bytes);
}
std::unique_ptr<Model> probit_of_query(FunctionCallInfo fcinfo, std::string *bytes) {
  static constexpr Method pushed[] = {Method::laplace, Method::em, Method::vi, Method::slice};
  return fit_query_rows(fcinfo, probit, pushed, bytes);
}

Datum binary_prediction(FunctionCallInfo fcinfo, const char *family) {
  return prediction<Glm>(fcinfo, family, predicted_mean<Glm>, [](const MeanPrediction &found) {
    return std::array{Cell(found.mean), Cell::or_null(found.sd), Cell::or_null(found.lower),
                      Cell::or_null(found.upper)};
  });
}

}  // namespace

// ---- aggregates ----

/// (internal, y "any", x [, options jsonb [, weight float8]]) -> internal
BAYES_FUNCTION(glm_fit_transition) { return fit_transition(fcinfo, glm, 2); }
BAYES_FUNCTION(glm_fit_final) { return glm_final(fcinfo, glm); }
BAYES_FUNCTION(logreg_fit_transition) { return fit_transition(fcinfo, logreg, 2); }
BAYES_FUNCTION(logreg_fit_final) { return glm_final(fcinfo, logreg); }
BAYES_FUNCTION(probit_fit_transition) { return fit_transition(fcinfo, probit, 2); }
BAYES_FUNCTION(probit_fit_final) { return glm_final(fcinfo, probit); }

// ---- functions of a query ----

BAYES_FUNCTION(glm_fit_query) { return show_query_fit(fcinfo, glm_of_query, emit_effects); }
BAYES_FUNCTION(glm_model_query) { return query_model(fcinfo, glm_of_query); }
BAYES_FUNCTION(logreg_fit_query) {
  return show_query_fit(fcinfo, logreg_of_query, emit_coefficients);
}
BAYES_FUNCTION(logreg_model_query) { return query_model(fcinfo, logreg_of_query); }
BAYES_FUNCTION(probit_fit_query) {
  return show_query_fit(fcinfo, probit_of_query, emit_coefficients);
}
BAYES_FUNCTION(probit_model_query) { return query_model(fcinfo, probit_of_query); }

// ---- a model and a row ----

BAYES_FUNCTION(glm_predict) {
  return prediction<Glm>(
      fcinfo, glm.family,
      [](const Glm &model, std::span<const double> x, double level) {
        return model.predict_response(x, level);
      },
      [](const ResponsePrediction &found) {
        const MeanPrediction &mean = found.mean;
        return std::array{Cell(mean.mean),          Cell::or_null(found.sd),
                          Cell(found.lower),        Cell(found.upper),
                          Cell::or_null(mean.sd),   Cell::or_null(mean.lower),
                          Cell::or_null(mean.upper)};
      });
}
/// (model, row [, level]): (level, probability, sd, lower, upper), one row for each level
BAYES_FUNCTION(glm_probabilities) {
  const double level = level_argument(fcinfo, 2);
  ResultRows result(fcinfo);
  const auto row = model_and_row(fcinfo, glm.family);
  if (!row) return Datum(0);
  const auto &model = static_cast<const Glm &>(row->model);
  const auto emit = [&](const std::string &name, const LevelPrediction &of) {
    result.row({Cell::text(name), of.mean, Cell::or_null(of.sd), Cell::or_null(of.lower),
                Cell::or_null(of.upper)});
  };
  if (model.labelled()) {
    const auto found = model.predict_levels(row->x, level);
    for (std::size_t k = 0; found && k < found->size(); ++k) emit(model.levels()[k], (*found)[k]);
  } else if (!model.binary()) {
    throw Error(Errc::wrong_family,
                message("a response of distribution {} has no levels", model.response().name),
                "It is a number.", "glm_predict(model, x) has its mean and its interval.");
  } else if (const auto yes = model.predict(row->x, level)) {
    emit("false", {1 - yes->mean, yes->sd, 1 - yes->upper, 1 - yes->lower});
    emit("true", {yes->mean, yes->sd, yes->lower, yes->upper});
  }
  return Datum(0);
}
BAYES_FUNCTION(logreg_predict) { return binary_prediction(fcinfo, logreg.family); }
BAYES_FUNCTION(probit_predict) { return binary_prediction(fcinfo, probit.family); }
