#include "pg/bind/any_model.hpp"

#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/message.hpp"
#include "base/random.hpp"
#include "base/unseen.hpp"
#include "families/parameter.hpp"
#include "markov/hmm.hpp"
#include "pg/bind/questions.hpp"
#include "pg/bind/scalar.hpp"
#include "pg/bind/score.hpp"
#include "pg/input/fit_request.hpp"
#include "pg/server/argument_type.hpp"
#include "pg/server/context.hpp"
#include "pg/server/server_control.hpp"
#include "pg/values/model_value.hpp"
#include "pg/values/results.hpp"
#include "questions/conditional_model.hpp"

namespace bayes::pg {
namespace {

void emit_parameter(ResultRows &result, const ModelInfo &info, const Parameter &p) {
  poll_interrupts();
  const bool named = p.element >= 0 && !info.columns.empty();
  const RowColumn *const column = named ? &info.columns[std::size_t(p.element)] : nullptr;
  const bool category = !std::isnan(p.category);
  const std::string *label = p.label;
  if (!label && column && category) label = label_of(*column, p.category);
  result.row(
      {p.component < 0 ? Cell() : Cell(p.component + 1),
       p.element < 0 ? Cell() : Cell(p.element + 1), column ? Cell::text(column->name) : Cell(),
       p.likelihood ? Cell::text(p.likelihood) : Cell(), Cell::text(p.name),
       category ? Cell(std::int64_t(p.category)) : Cell(), label ? Cell::text(*label) : Cell(),
       Cell::or_null(p.value), Cell::or_null(p.deviation), Cell::or_null(p.lower),
       Cell::or_null(p.upper), p.known_by.empty() ? Cell() : Cell::text(p.known_by)});
}

/// Are the model's rows steps of sequences, which questions take as rows?
bool has_steps(const Model &model) {
  return dynamic_cast<const HiddenMarkovModel *>(&model) != nullptr;
}

/// The types of the arguments x and given.
std::vector<Oid> types_of_density(FunctionCallInfo fcinfo) {
  return {argument_type(fcinfo, 1), argument_type(fcinfo, 2)};
}

/// A call site of bayes_log_density.
class DensityCallSite {
 public:
  DensityCallSite(MemoryContext context, FunctionCallInfo fcinfo)
      : context_(context),
        types_(types_of_density(fcinfo)),
        models_(nullptr),
        rows_(context, types_[0], AbsentColumns::as_missing, true),
        readers_(context, types_) {}

  /// nullopt for a missing value, or a density that does not exist
  std::optional<double> log_density(FunctionCallInfo fcinfo) {
    const std::shared_ptr<const Model> &model = models_.share(PG_GETARG_DATUM(0));
    if (model != model_) use(model);
    const bool given = !PG_ARGISNULL(2);
    if (reader_)
      return reader_->log_density(model, PG_GETARG_DATUM(1),
                                  given ? &fcinfo->args[2].value : nullptr);
    if (given || steps_) return of_question(fcinfo, given);
    const auto x = rows_.read(model, PG_GETARG_DATUM(1));
    return x ? std::optional(model->log_density(*x)) : std::nullopt;
  }

 private:
  void use(const std::shared_ptr<const Model> &model) {
    model_ = model;
    const ModelWords &words = model->words();
    reader_ = words.takes || words.response ? readers_.of(model->info.family) : nullptr;
    steps_ = has_steps(*model);
  }
  double of_question(FunctionCallInfo fcinfo, bool given) {
    // A NULL without a type has no rows to read.
    if (!questions_)
      questions_.emplace(context_, fcinfo, 1, types_[1] == UNKNOWNOID && !given ? 1 : 2);
    RowDistribution &rows = questions_->distribution(model_);
    const std::span<const double> x = questions_->row(fcinfo, 0);
    return given ? rows.log_density(x, questions_->row(fcinfo, 1)) : rows.log_density(x);
  }

  MemoryContext context_;
  std::vector<Oid> types_;
  ModelCache models_;
  RowsOfModels rows_;
  FamilyReaders<DensityReader> readers_;
  std::optional<Questions> questions_;
  /// the last model, and how its densities are read
  std::shared_ptr<const Model> model_;
  DensityReader *reader_ = nullptr;
  bool steps_ = false;
};

/// Monte Carlo standard errors for the row of this call; nullopt if the row is to be skipped.
std::optional<PredictiveErrors> errors_of_row(FunctionCallInfo fcinfo) {
  const auto row = model_and_row(fcinfo, nullptr);
  if (!row) return std::nullopt;
  ServerControl control;
  return row->model.mcse(row->x, control);
}

/// Draws rows without any condition; emit(component, x).
template <class Emit> void draw_rows(const Model &model, int n, std::uint64_t seed, Emit emit) {
  if (!has_steps(model)) model.require_rows();
  const std::unique_ptr<RowDistribution> rows = model.row_distribution();
  std::vector<double> row(std::size_t(rows->dimension()), std::nan("")), x;
  // The same draws as those of bayes_sample given the same columns.
  if (dynamic_cast<const ConditionalModel *>(&model)) seed ^= rows->stream(row);
  for (int i = 0; i < n; ++i) {
    const int component = rows->sample(seed, i, row);
    // without the class of a classifier
    x.assign(row.begin(), row.begin() + model.info.dimension);
    emit(component, x);
  }
}

/// Draws rows in which the columns that are not NaN in `given` are held.
template <class Emit>
void draw_rows_given(RowDistribution &rows, std::span<const double> given, int n,
                     std::uint64_t seed, Emit emit) {
  rows.condition(given);
  seed ^= rows.stream(given);
  std::vector<double> x;
  for (int i = 0; i < n; ++i) {
    Random random(seed, std::uint64_t(i));
    x.assign(given.begin(), given.end());
    const int component = rows.components()[std::size_t(rows.draw(random, x))].number;
    // A label that the model does not know is held too, and has no number.
    for (std::size_t j = 0; j < x.size(); ++j)
      if (is_unseen(given[j])) x[j] = std::nan("");
    emit(component, x);
  }
}

}  // namespace

void report_overlap(const Model &model) {
  if (model.info.told_apart) return;
  const std::string_view parts = model.words().parts;
  report_once(NOTICE, message("the rows do not tell the {} of the model apart", parts),
              message("The {} overlap or have few rows, so other values of the parameters, far "
                      "away, are about as probable: sd, lower and upper are NULL.",
                      parts),
              message("Method gibbs draws from all of the posterior; or use fewer {}.", parts));
}

Datum component_of_row(FunctionCallInfo fcinfo, const char *family) {
  const auto row = model_and_row(fcinfo, family);
  if (!row) PG_RETURN_NULL();
  PG_RETURN_INT32(row->model.predict(row->x) + 1);
}

}  // namespace bayes::pg

using namespace bayes;
using namespace bayes::pg;

/// bayes_parameters(model [, level])
BAYES_FUNCTION(bayes_parameters) {
  const double level = level_argument(fcinfo);
  ResultRows result(fcinfo);
  const auto model = load_model(PG_GETARG_DATUM(0));
  report_overlap(*model);
  model->describe_parameters(
      level, [&](const Parameter &parameter) { emit_parameter(result, model->info, parameter); });
  return Datum(0);
}

/// bayes_predict(model, row [, level]) -> bayes_prediction
BAYES_FUNCTION(bayes_predict) {
  const double level = level_argument(fcinfo, 2);
  const auto row = model_and_row(fcinfo, nullptr);
  if (!row) PG_RETURN_NULL();
  const auto found = row->model.predict_row(row->x, level);
  if (!found) PG_RETURN_NULL();
  const Cell cells[] = {found->component < 0 ? Cell() : Cell(found->component + 1),
                        found->label ? Cell::text(*found->label) : Cell(),
                        Cell::or_null(found->mean),
                        Cell::or_null(found->sd),
                        Cell::or_null(found->lower),
                        Cell::or_null(found->upper)};
  return composite(scalar_result_row(fcinfo), cells);
}

/// bayes_probabilities(model, row) -> float8[]
BAYES_FUNCTION(bayes_probabilities) {
  const auto row = model_and_row(fcinfo, nullptr);
  if (!row) PG_RETURN_NULL();
  const int k = row->model.outcomes();
  double *out;
  ArrayType *const array = guarded([k, &out] { return new_float8_array(1, &k, &out); });
  row->model.probabilities(row->x, std::span(out, std::size_t(k)));
  PG_RETURN_ARRAYTYPE_P(array);
}

/// bayes_log_density(model, row [, given])
BAYES_FUNCTION(bayes_log_density) {
  if (PG_ARGISNULL(0) || PG_ARGISNULL(1)) PG_RETURN_NULL();
  const auto found = call_site<DensityCallSite>(fcinfo, fcinfo).log_density(fcinfo);
  if (!found) PG_RETURN_NULL();
  PG_RETURN_FLOAT8(*found);
}

/// bayes_probabilities_mcse(model, row): Monte Carlo standard errors of bayes_probabilities; NULL
/// where they are undefined.
BAYES_FUNCTION(bayes_probabilities_mcse) {
  const auto errors = errors_of_row(fcinfo);
  if (!errors) PG_RETURN_NULL();
  const Cell cell = Cell::vector_with_nulls(errors->probabilities);
  return guarded([&cell] { return cell.to_datum(); });
}
BAYES_FUNCTION(bayes_log_density_mcse) {
  const auto errors = errors_of_row(fcinfo);
  if (!errors || std::isnan(errors->log_density)) PG_RETURN_NULL();
  PG_RETURN_FLOAT8(errors->log_density);
}

/// bayes_sample(model, n, seed [, given]): component and row
BAYES_FUNCTION(bayes_sample) {
  ResultRows result(fcinfo);
  if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2)) return Datum(0);
  const int n = count_argument(fcinfo, 1);
  const auto seed = std::uint64_t(PG_GETARG_INT64(2));
  const auto emit = [&result](int component, const std::vector<double> &x) {
    poll_interrupts();
    result.row({component < 0 ? Cell() : Cell(component + 1), Cell::vector_with_nulls(x)});
  };
  if (PG_ARGISNULL(3)) {
    draw_rows(*load_model(PG_GETARG_DATUM(0)), n, seed, emit);
  } else {
    auto &site = call_site<Questions>(fcinfo, fcinfo, 3, 1);
    RowDistribution &rows = site.distribution(fcinfo);
    draw_rows_given(rows, site.row(fcinfo, 0), n, seed, emit);
  }
  return Datum(0);
}

/// (bayes_model) -> bayes_model
BAYES_FUNCTION(bayes_compact) {
  const std::unique_ptr<Model> model = load_model(PG_GETARG_DATUM(0));
  compact(*model);
  return store_model(*model);
}
