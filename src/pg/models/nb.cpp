// Bayes classifiers in SQL.
#include "classification/nb.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/message.hpp"
#include "base/special.hpp"
#include "base/unseen.hpp"
#include "document/members.hpp"
#include "pg/bind/query_rows.hpp"
#include "pg/bind/scalar.hpp"
#include "pg/bind/score.hpp"
#include "pg/input/model_readers.hpp"
#include "pg/input/record_fields.hpp"
#include "pg/input/response_query.hpp"
#include "pg/models/nb_rows.hpp"
#include "pg/models/sums_parts.hpp"
#include "pg/server/argument_type.hpp"
#include "pg/server/encoding.hpp"
#include "questions/row_distribution.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

/// Appends a feature of a sparse row to `row`, unless the model does not know its name. Clears
/// `usable` if option missing = skip leaves the row out. `report_unknown`: NOTICE of unknown
/// labels.
void take_word(const BayesClassifier &model, const NamedFeature &given, Missing missing,
               bool report_unknown, std::vector<NbWord> &row, bool &usable) {
  const std::int32_t feature = model.find_feature(given.name);
  if (feature < 0) return;
  if (!given.kind) {
    if (missing == Missing::error) refuse_value(std::nullopt, name_of_feature(given.name, 0), 0);
    usable &= missing == Missing::keep;
    row.push_back({feature, missing_value});
    return;
  }
  const RowColumn &column = model.info.columns[std::size_t(feature)];
  if ((*given.kind == ValueKind::label) != (column.kind == ValueKind::label))
    throw Error(Errc::invalid_argument,
                message("{} is a {}, but was a {} when the model was fitted",
                        name_of_feature(given.name, 0),
                        given.kind == ValueKind::label ? "string" : name_of(*given.kind),
                        column.kind == ValueKind::label ? "string" : name_of(column.kind)));
  double x = given.number;
  if (column.kind == ValueKind::label) {
    const auto at = std::lower_bound(column.labels.begin(), column.labels.end(), given.label);
    const bool known = at != column.labels.end() && *at == given.label;
    x = known ? double(at - column.labels.begin()) : unseen_category;
    if (!known && missing == Missing::error)
      throw Error(Errc::invalid_argument, message("{} has label {}, which the model does not know",
                                                  name_of_feature(given.name, 0),
                                                  describe(Document(abbreviated(given.label)))));
    usable &= known || missing == Missing::keep;
    if (!known && report_unknown)
      report_unknown_label(name_of_feature(given.name, 0), given.label,
                           [&column] { return column.labels; });
  }
  row.push_back({feature, x});
}

/// The scores of a row.
struct Scored {
  const BayesClassifier &model;
  /// log p(row, label) for every class
  std::span<const double> log_joint;

  int best() const {
    return int(std::max_element(log_joint.begin(), log_joint.end()) - log_joint.begin());
  }
};

/// Scores rows of one SQL type.
class NbReader {
 public:
  /// `report_unknown`: a NOTICE tells of labels that the model does not know.
  NbReader(MemoryContext context, Oid features, bool report_unknown)
      : report_unknown_(report_unknown) {
    const Oid base = guarded([features] { return getBaseType(features); });
    FeatureReader::require_type(base);
    if (FeatureReader::reads(base))
      words_ = std::make_unique<FeatureReader>(features);
    else
      readers_ = std::make_unique<ModelReaders>(context, features, nullptr,
                                                AbsentColumns::as_missing, report_unknown);
  }

  /// The scores of a row, valid until the next call; nullopt if option missing = skip leaves it
  /// out.
  std::optional<Scored> score(const std::shared_ptr<const Model> &shared, Datum row) {
    const BayesClassifier &model = classifier(*shared);
    const Missing missing = missing_of(shared);
    if (model.sparse() != bool(words_))
      throw Error(
          Errc::invalid_argument,
          model.sparse() ? "the row has columns, but the model was fitted to objects of names"
                         : "the row is an object of names, but the model was fitted to rows with "
                           "columns",
          "Rows must have the form that they had when the model was fitted.",
          model.sparse() ? "A literal has no type of its own: '{\"word\": 1}'::jsonb." : "");
    if (words_) {
      row_.clear();
      bool usable = true;
      words_->read(row, 0, [&](const NamedFeature &given) {
        take_word(model, given, missing, report_unknown_, row_, usable);
      });
      if (!usable) return std::nullopt;
      return Scored{model, model.log_joint(std::span<const NbWord>(row_))};
    }
    RowReader &reader = readers_->of(shared);
    reader.open(row);
    const auto x = reader.read(row, 0, missing);
    if (!x) return std::nullopt;
    if (x->size() != std::size_t(model.info.dimension))
      wrong_length(x->size(), std::size_t(model.info.dimension), "the model", 0);
    return Scored{model, model.log_joint(*x)};
  }

 private:
  /// Option missing of the model; cached for the last model.
  Missing missing_of(const std::shared_ptr<const Model> &model) {
    if (model != last_) missing_ = bayes::pg::missing_of(missing_option(model->info));
    last_ = model;
    return missing_;
  }
  std::shared_ptr<const Model> last_;
  Missing missing_ = Missing::keep;
  bool report_unknown_;
  std::unique_ptr<ModelReaders> readers_;
  std::unique_ptr<FeatureReader> words_;
  std::vector<NbWord> row_;
};

/// State kept between calls of a function of a model and a row.
struct NbSite {
  NbSite(MemoryContext context, Oid features)
      : models(nb_family),
        rows(context, features, true),
        label(context) {}
  ModelCache models;
  NbReader rows;
  /// reads the label argument of nb_probability
  ElementType label;
};

NbSite &site_of(FunctionCallInfo fcinfo) {
  if (!fcinfo->flinfo->fn_extra) {
    const Oid type = argument_type(fcinfo, 1);
    call_site<NbSite>(fcinfo, type);
  }
  return *static_cast<NbSite *>(fcinfo->flinfo->fn_extra);
}

/// Reads the arguments (model, features) of a strict function and scores the row; nullopt if option
/// missing = skip leaves the row out.
std::optional<Scored> scored_row(FunctionCallInfo fcinfo) {
  NbSite &site = site_of(fcinfo);
  return site.rows.score(site.models.share(PG_GETARG_DATUM(0)), PG_GETARG_DATUM(1));
}

/// bayes_log_density(model, row) of models of objects of names.
class WordsDensity final : public DensityReader {
 public:
  WordsDensity(MemoryContext context, const Oid *types) : rows_(context, types[0], true) {}
  std::optional<double> log_density(const std::shared_ptr<const Model> &model, Datum row,
                                    const Datum *given) override {
    if (given) model->row_distribution();  // there is none
    const std::optional<Scored> scored = rows_.score(model, row);
    return scored ? std::optional(scored->model.log_density()) : std::nullopt;
  }

 private:
  NbReader rows_;
};

const DensityFamily densities_of_words(nb_family, make_density<WordsDensity>);

/// Scores labels of rows. A label that the model does not know has the probability 0.
class LabelScorer final : public RowScorer {
 public:
  LabelScorer(MemoryContext context, const Oid *types)
      : rows_(context, types[1], false),
        label_(context) {
    label_.use(types[0]);
  }
  std::optional<Score> score(const std::shared_ptr<const Model> &model,
                             const NullableDatum *row) override {
    const auto label = label_.text(row[0].value);
    if (!label)
      throw Error(Errc::invalid_argument, "the label of a row is NaN", {},
                  "Leave such rows out with WHERE.");
    const int k = classifier(*model).find_label(*label);
    const std::optional<Scored> scored = rows_.score(model, row[1].value);
    if (!scored) return std::nullopt;
    if (k < 0) return Score{1, -std::numeric_limits<double>::infinity(), 1};
    return Score{1, scored->log_joint[std::size_t(k)] - log_sum_exp(scored->log_joint),
                 double(scored->best() != k)};
  }

 private:
  NbReader rows_;
  ElementType label_;
};

const ScoredFamily scored_classifiers(nb_family, "label, row", 2, ErrorMeasure::share, false,
                                      make_scorer<LabelScorer>);

/// The first classes of a model, for messages.
std::string some_classes(const std::vector<std::string> &labels) {
  constexpr std::size_t most = 10;
  std::string out = labels.size() == 1 ? "Its class is " : "Its classes are ";
  for (std::size_t k = 0; k < std::min(labels.size(), most); ++k)
    out += message("{}\"{}\"", k ? ", " : "", abbreviated(labels[k]));
  return out + (labels.size() > most ? message(", and {} others.", labels.size() - most) : ".");
}

Datum text_of(const std::string &label) {
  return guarded([&label] {
    const char *const text = server_of_utf8(label.c_str(), label.size());
    return PointerGetDatum(text == label.c_str() ? cstring_to_text_with_len(text, int(label.size()))
                                                 : cstring_to_text(text));
  });
}

constexpr const char *query_form =
    "Select the label and then the features, as columns (SELECT label, a, b FROM ...), or as an "
    "array, a record, jsonb or tsvector (SELECT label, x FROM ...).";

std::unique_ptr<Model> fit_query_rows(FunctionCallInfo fcinfo, std::string *bytes) {
  const char *const text = query_text(fcinfo, query_form);
  FitRequest request = query_request(fcinfo, nb_family, by_options);
  const QueryColumns given = QueryColumns::of(request.options);
  const ScopedContext context(CurrentMemoryContext, "pg_bayes query");
  std::optional<NbRows> rows;
  const auto begin = [&](const ItemForm &form) -> Sums * {
    const CurrentContext current(context);
    FitRequest own;
    own.family = request.family;
    own.options = request.options;
    own.null_on_error = request.null_on_error;
    return &rows.emplace(context, form.type, form.second_type, std::move(own));
  };
  static constexpr Method exact[] = {Method::exact};
  PushDown push;
  PushedSums<NbSumsPart> elsewhere(request.options, given, true, query_form, begin);
  if (!push.collect(fcinfo, text, request, exact, query_form, elsewhere))
    read_responses(text, query_form, given, true, begin, [&](const bayes::pg::Item &item) {
      if (!rows->refusals) add_or_refuse(*rows, context, [&] { rows->take(item); });
    });
  push.end();
  auto model = rows->fit(bytes);
  if (model) note_rows_left_out(*model);
  return model;
}

/// Emits the rows of nb_classes.
void emit_classes(ResultRows &result, const Model &loaded) {
  const BayesClassifier &model = classifier(loaded);
  for (int k = 0; k < model.classes(); ++k) {
    const NbClass c = model.class_of(k);
    result.row(
        {Cell::text(model.labels()[std::size_t(k)]), c.rows, c.weight, c.prior, c.mean, c.sd});
  }
}

}  // namespace

// ---- aggregates ----

/// (internal, label "any", features "any" [, prior bayes_model] [, options jsonb [, weight
/// float8]])
/// -> internal
BAYES_FUNCTION(nb_transition) { return add_row<NbRows>(fcinfo); }

// ---- functions of a query ----

BAYES_FUNCTION(nb_fit_query) { return show_query_fit(fcinfo, fit_query_rows, emit_classes); }
BAYES_FUNCTION(nb_model_query) { return query_model(fcinfo, fit_query_rows); }

// ---- a model as relations ----

/// nb_classes(model)
BAYES_FUNCTION(nb_classes) {
  ResultRows result(fcinfo);
  emit_classes(result, *load_model(PG_GETARG_DATUM(0), nb_family));
  return Datum(0);
}

/// nb_features(model [, level])
BAYES_FUNCTION(nb_features) {
  const double level = level_argument(fcinfo);
  ResultRows result(fcinfo);
  const auto loaded = load_model(PG_GETARG_DATUM(0), nb_family);
  const BayesClassifier &model = classifier(*loaded);
  const RowColumns &columns = model.info.columns;
  model.describe_parameters(level, [&](const Parameter &p) {
    poll_interrupts();
    const RowColumn *const column = columns.empty() ? nullptr : &columns[std::size_t(p.element)];
    const bool category = !std::isnan(p.category);
    const std::string *const label = column && category && column->kind == ValueKind::label
                                         ? label_of(*column, p.category)
                                         : nullptr;
    result.row({Cell::text(model.labels()[std::size_t(p.component)]), p.element + 1,
                column ? Cell::text(column->name) : Cell(), Cell::text(p.likelihood),
                Cell::text(p.name), category ? Cell(std::int64_t(p.category)) : Cell(),
                label ? Cell::text(*label) : Cell(), p.value, Cell::or_null(p.deviation),
                Cell::or_null(p.lower), Cell::or_null(p.upper)});
  });
  return Datum(0);
}

// ---- a model and a row ----

/// nb_predict(model, features) -> text
BAYES_FUNCTION(nb_predict) {
  const std::optional<Scored> scored = scored_row(fcinfo);
  if (!scored) PG_RETURN_NULL();
  return text_of(scored->model.labels()[std::size_t(scored->best())]);
}

/// nb_probability(model, features, label) -> float8
BAYES_FUNCTION(nb_probability) {
  const std::optional<Scored> scored = scored_row(fcinfo);
  if (!scored) PG_RETURN_NULL();
  ElementType &type = site_of(fcinfo).label;
  type.use(argument_type(fcinfo, 2));
  const auto label = type.text(PG_GETARG_DATUM(2));
  const int k = label ? scored->model.find_label(*label) : -1;
  if (k < 0)
    throw Error(Errc::invalid_argument,
                message("the model has no class \"{}\"", label ? abbreviated(*label) : "NaN"),
                some_classes(scored->model.labels()),
                "Classes are the labels as text, booleans t and f; nb_classes(model) lists them.");
  PG_RETURN_FLOAT8(std::exp(scored->log_joint[std::size_t(k)] - log_sum_exp(scored->log_joint)));
}

/// nb_probabilities(model, features) -> rows (class, probability)
BAYES_FUNCTION(nb_probabilities) {
  ResultRows result(fcinfo);
  const std::optional<Scored> scored = scored_row(fcinfo);
  if (!scored) return Datum(0);
  std::vector<double> p(scored->log_joint.size());
  softmax(scored->log_joint, p);
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::stable_sort(order.begin(), order.end(),
                   [&p](std::size_t a, std::size_t b) { return p[a] > p[b]; });
  for (const std::size_t k : order) result.row({Cell::text(scored->model.labels()[k]), p[k]});
  return Datum(0);
}
