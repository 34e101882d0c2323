// bayes_anomaly and bayes_surprise of several models.

#include <algorithm>
#include <map>

#include "models/comparison.hpp"
#include "pg/bind/any_model.hpp"
#include "pg/bind/questions.hpp"
#include "pg/server/context.hpp"
#include "pg/server/server_control.hpp"
#include "pg/values/model_value.hpp"
#include "pg/values/results.hpp"
#include "questions/several_anomalies.hpp"

namespace bayes::pg {
namespace {

/// The state of a call site, whose arguments are an array of models and a row. Samples drawn from
/// some models are drawn once for all its calls.
class SeveralModels {
 public:
  SeveralModels(MemoryContext context, FunctionCallInfo fcinfo)
      : questions_(context, fcinfo, 1, 1),
        models_(nullptr) {}

  /// The models together, and the row in the columns of the first model; nullptr if one of the
  /// models is NULL. Valid until the next call.
  std::pair<SeveralAnomalies *, std::span<const double>> read(FunctionCallInfo fcinfo) {
    std::vector<std::shared_ptr<const Model>> models = models_of(PG_GETARG_DATUM(0));
    if (models.empty()) return {nullptr, {}};
    questions_.distribution(models[0]);
    const std::span<const double> x = questions_.row(fcinfo, 0);
    std::vector<const Model *> key;
    for (const auto &model : models) key.push_back(model.get());
    auto found = entries_.find(key);
    if (found == entries_.end()) {
      if (entries_.size() >= max_entries) entries_.clear();
      SeveralAnomalies::Models rows;
      for (const auto &model : models) rows.push_back(model->row_distribution());
      auto anomalies = std::make_unique<SeveralAnomalies>(std::move(rows));
      found = entries_.emplace(key, Entry{std::move(models), std::move(anomalies)}).first;
    }
    return {found->second.anomalies.get(), x};
  }

 private:
  struct Entry {
    /// keep the models alive, so that no others get their addresses
    std::vector<std::shared_ptr<const Model>> models;
    std::unique_ptr<SeveralAnomalies> anomalies;
  };
  /// Samples of the models take megabytes.
  static constexpr std::size_t max_entries = 8;

  /// Empty if an element is NULL. Throws Error if there are none.
  std::vector<std::shared_ptr<const Model>> models_of(Datum array) {
    const Detoasted plain(array);
    const std::vector<NullableDatum> elements = elements_of(PointerGetDatum(plain.get()));
    if (elements.empty())
      throw Error(Errc::invalid_argument, "an array of models without a model", {},
                  "Give at least one: the first model says what rows are like.");
    std::vector<std::shared_ptr<const Model>> out;
    if (std::ranges::none_of(elements, &NullableDatum::isnull))
      for (const NullableDatum &each : elements) out.push_back(models_.share(each.value));
    return out;
  }

  Questions questions_;
  ModelCache models_;
  std::map<std::vector<const Model *>, Entry> entries_;
};

}  // namespace
}  // namespace bayes::pg

using namespace bayes;
using namespace bayes::pg;

/// bayes_anomaly(models, row)
BAYES_FUNCTION(bayes_anomaly_of_models) {
  const auto [anomalies, x] = call_site<SeveralModels>(fcinfo, fcinfo).read(fcinfo);
  if (!anomalies) PG_RETURN_NULL();
  PG_RETURN_FLOAT8(anomalies->probability(x));
}

/// bayes_surprise(models, row)
BAYES_FUNCTION(bayes_surprise_of_models) {
  ResultRows result(fcinfo);
  const auto [anomalies, x] = call_site<SeveralModels>(fcinfo, fcinfo).read(fcinfo);
  if (!anomalies) return Datum(0);
  anomalies->probability(x);
  for (std::size_t i = 0; i < anomalies->models(); ++i)
    emit_surprise(result, std::vector{Cell(int(i) + 1), Cell(anomalies->of_models()[i])},
                  anomalies->model(i), x);
  return Datum(0);
}

// Matches and compares the components of two models.

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
