#include "charts/charts.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "base/message.hpp"
#include "charts/chart_kinds.hpp"
#include "classification/nb.hpp"
#include "document/members.hpp"
#include "document/option_table.hpp"
#include "questions/conditional_model.hpp"
#include "regression/regression_model.hpp"

namespace bayes {
namespace {

bool has_draws(const Model &model) { return model.draws.draws > 0; }
bool has_profiles(const Model &model) { return model.label_profiles().has_value(); }
bool has_many_profiles(const Model &model) {
  return has_profiles(model) && model.info.components > 1;
}
bool is_regression(const Model &model) { return model.words().response; }
bool has_answers(const Model &model) {
  const auto *const found = dynamic_cast<const RegressionModel *>(&model);
  return found && found->binary();
}
bool has_numbers(const Model &model) {
  const auto *const found = dynamic_cast<const RegressionModel *>(&model);
  return is_regression(model) && !has_answers(model) && !(found && found->labelled());
}

/// Whether a chart shows rows of the user.
enum class Rows : char { none, may, must };

struct Kind {
  std::string_view name;
  Rows rows;
  bool (*has)(const Model &model);
  void (*make)(const ChartRequest &request);
  /// of the chart: {parts} are how many components there are ("2 states"), {x} and {y} the titles
  /// of the axes of the first panel
  std::string_view title;
  /// the options that mean something in it; if it may show rows, rows and seed are added
  std::string_view options = {};
  /// the family of which it is the default; of others it is the first kind that they have
  std::string_view family = {};
};

/// A square of more rows might have more bytes than a chart may, if their numbers are long.
constexpr int similar_rows = 60, most_similar_rows = 64;

constexpr Kind kinds[] = {
    {"states", Rows::must, [](const Model &model) { return model.info.family == "hmm"; },
     states_chart, "{parts} over time", "rows"},
    {"forecast", Rows::must,
     [](const Model &model) {
       // Of names there is nothing that has an interval.
       if (model.info.family != "hmm") return false;
       for (int j = 0; j < model.info.dimension; ++j)
         if (model.categories(j).empty()) return true;
       return false;
     },
     forecast_chart, "Forecast of the steps that follow", "rows steps level"},
    {"predictions", Rows::must, has_numbers, predictions_chart, "Observed and predicted responses",
     "level rows seed"},
    {"residuals", Rows::must,
     [](const Model &model) { return has_numbers(model) || model.info.family == "pmf"; },
     residuals_chart, "What the predictions leave unexplained", "rows seed"},
    {"calibration", Rows::must, has_answers, calibration_chart,
     "Predicted probabilities and observed shares", "level rows seed"},
    {"rootogram", Rows::must, has_counts, rootogram_chart, "Observed and expected counts",
     "rows seed"},
    {"confusion", Rows::must,
     [](const Model &model) {
       return model.info.family == "nb" && !static_cast<const BayesClassifier &>(model).sparse();
     },
     confusion_chart, "Observed and predicted classes", "rows seed", "nb"},
    {"shares", Rows::must, [](const Model &model) { return model.info.family == "lda"; },
     shares_chart, "{parts} by {x}"},
    {"ellipses", Rows::may, [](const Model &model) { return numbers_of_rows(model) >= 2; },
     ellipses_chart, "{x} and {y} in {parts}", "columns"},
    {"columns", Rows::may, [](const Model &model) { return numbers_of_rows(model) >= 0; },
     columns_chart, "Columns in {parts}", "columns", "nb"},
    {"density", Rows::may, [](const Model &model) { return numbers_of_rows(model) >= 2; },
     density_chart, "Density of {x} and {y}", "columns"},
    {"similarity", Rows::must, has_similarity, similarity_chart, "Rows that belong together",
     "rows seed"},
    {"band", Rows::none,
     [](const Model &model) { return model.stored_draws() > 1 && numbers_of_rows(model) >= 1; },
     band_chart, "How sure densities are", "columns level seed"},
    {"transitions", Rows::none, [](const Model &model) { return model.info.family == "hmm"; },
     transitions_chart, "Transitions between {parts}", "", "hmm"},
    {"posterior", Rows::none, is_posterior, posterior_chart, "Posterior of the {x}"},
    {"terms", Rows::none, has_profiles, terms_chart, "Terms of {parts}", "terms", "lda"},
    {"parts", Rows::none, has_many_profiles, parts_chart, "What {parts} consist of", "", "nmf"},
    {"map", Rows::none, has_many_profiles, map_chart, "How alike {parts} are"},
    {"coefficients", Rows::none, is_regression, coefficients_chart, "What the response depends on",
     "level"},
    {"ratios", Rows::none,
     [](const Model &model) {
       const auto *const found = dynamic_cast<const RegressionModel *>(&model);
       return found && found->multiplies();
     },
     ratios_chart, "", "level"},
    {"parameters", Rows::none,
     [](const Model &model) {
       return !is_regression(model) && !has_profiles(model) && !first_parameter(model).empty();
     },
     parameters_chart, "Parameters of {parts}", "level", "bmm"},
    {"weights", Rows::none,
     [](const Model &model) {
       return model.info.components > 1 && first_parameter(model) == "weight";
     },
     weights_chart, "Weights of {parts}", "level"},
    {"clusters", Rows::none,
     [](const Model &model) {
       const auto &names = model.draws.quantities;
       return has_draws(model) && std::find(names.begin(), names.end(), "clusters") != names.end();
     },
     clusters_chart, "How many clusters there are"},
    {"trace", Rows::none,
     [](const Model &model) {
       return has_draws(model) || std::any_of(model.trace.begin(), model.trace.end(),
                                              [](const auto &run) { return run.size() > 1; });
     },
     trace_chart, "The course of the fit"},
    {"ranks", Rows::none, has_draws, ranks_chart, "Ranks of draws by chain"},
    {"ess", Rows::none, has_draws, ess_chart, "Effective sample sizes"},
};

bool shows(const Kind &kind, bool rows) { return kind.rows != (rows ? Rows::none : Rows::must); }

/// A kind that cannot even be asked for, as the model is too large, is none that it has.
bool has(const Model &model, const Kind &kind) {
  try {
    return kind.has(model);
  } catch (const Error &error) {
    if (error.code() != Errc::too_large) throw;
    return false;
  }
}

std::vector<const Kind *> kinds_of(const Model &model, bool rows) {
  std::vector<const Kind *> out;
  for (const Kind &kind : kinds) {
    if (!shows(kind, rows) || !has(model, kind)) continue;
    if (kind.family == model.info.family && (out.empty() || out[0]->family != kind.family))
      out.insert(out.begin(), &kind);
    else
      out.push_back(&kind);
  }
  return out;
}

}  // namespace

bool takes_option(std::string_view kind, std::string_view option) {
  return std::any_of(std::begin(kinds), std::end(kinds), [&](const Kind &each) {
    return each.name == kind && each.options.find(option) != each.options.npos;
  });
}

std::string name_of_model(const Model &model) {
  if (model.info.components <= 1 || model.words().response) return model.info.family;
  return message("{} of {} {}", model.info.family, model.info.components, model.words().parts);
}

bool is_posterior(const Model &model) {
  return model.words().takes && model.info.components <= 1 && !model.words().response &&
         model.info.method == Method::exact;
}

std::string name_of_column(const RowColumns &columns, int dimension, int element) {
  if (std::size_t(element) < columns.size() && !by_position(columns))
    return columns[std::size_t(element)].name;
  return dimension == 1 ? "x" : message("x[{}]", element + 1);
}

std::vector<std::string> names_of_components(const Model &model) {
  if (model.info.family == "nb") return static_cast<const BayesClassifier &>(model).labels();
  const auto *const conditional = dynamic_cast<const ConditionalModel *>(&model);
  if (conditional && !conditional->labels().empty()) return conditional->labels();
  std::vector<std::string> out;
  for (int k = 1; k <= model.info.components; ++k) out.push_back(std::to_string(k));
  return out;
}

std::string counted(std::int64_t number, std::string_view things) {
  return message("{} {}", number, number == 1 ? things.substr(0, things.size() - 1) : things);
}

std::string counted_data(const Model &model) {
  return counted(model.info.rows, model.words().takes ? model.words().takes : "rows");
}

std::vector<std::string_view> chart_kinds(const Model &model, bool rows) {
  std::vector<std::string_view> out;
  for (const Kind *const kind : kinds_of(model, rows)) out.push_back(kind->name);
  return out;
}

namespace {

/// Throws Error: the model has no such chart.
[[noreturn]] void refuse_kind(const Model &model, std::string_view kind, bool rows) {
  const auto listed = [](const std::vector<std::string_view> &names) {
    std::string out;
    for (const std::string_view name : names) out += (out.empty() ? "" : ", ") + std::string(name);
    return out;
  };
  const std::string others = listed(chart_kinds(model, rows));
  const std::string alone = listed(chart_kinds(model, false));
  if (others.empty())
    throw Error(
        Errc::wrong_family,
        message("this model of {} has no chart{}", model.info.family, rows ? " of rows" : ""), {},
        alone.empty() ? "" : message("Charts of the model alone are: {}.", alone));
  const bool known = std::any_of(std::begin(kinds), std::end(kinds),
                                 [kind](const Kind &each) { return each.name == kind; });
  const std::vector<std::string_view> other_way = chart_kinds(model, !rows);
  if (std::find(other_way.begin(), other_way.end(), kind) != other_way.end())
    throw rows
        ? Error(Errc::invalid_argument,
                message("chart \"{}\" is of a model alone, not of rows", kind), {},
                message("Leave out the query: bayes_chart(model, '{}').", kind))
        : Error(Errc::invalid_argument,
                message("chart \"{}\" is of rows, which a query must select", kind), {},
                message("Give the query first: bayes_chart('SELECT ...', model, '{}').", kind));
  throw Error(known ? Errc::wrong_family : Errc::invalid_argument,
              known ? message("a model of {} has no chart \"{}\"{}", model.info.family, kind,
                              rows ? " of rows" : "")
                    : message("there is no chart \"{}\"", shortened(std::string(kind), 80)),
              {}, message("Charts of this model{} are: {}.", rows ? " and rows" : "", others));
}

const Kind *find_kind(const Model &model, std::string_view kind, bool rows) {
  if (kind.empty()) {
    const std::vector<const Kind *> all = kinds_of(model, rows);
    if (!all.empty()) return all[0];
  }
  for (const Kind &each : kinds)
    if (each.name == kind && shows(each, rows) && each.has(model)) return &each;
  refuse_kind(model, kind, rows);
}

/// How many rows are shown, if the user does not say: as many as leave a chart its size.
int rows_of_chart(const Kind &kind, const Model &model) {
  if (kind.name == "similarity") return similar_rows;
  if (kind.name != "states") return ChartSample().rows;
  const int items = std::min(model.info.dimension, 4) + std::min(model.info.components, 8);
  return std::min(ChartSample().rows, 3000 / items);
}

ChartOptions options_of_chart(const Kind &kind, const Model &model, const Document &options,
                              bool rows) {
  std::string valid(kind.options);
  // Topics and factors have weights without intervals.
  if (kind.name == "weights" && has_profiles(model)) valid.clear();
  // Of sequences the first steps are shown, not a sample.
  if (rows && kind.rows == Rows::may) valid += model.info.family == "hmm" ? " rows" : " rows seed";
  return read_chart_options(options, message("chart \"{}\"{}", kind.name, rows ? " of rows" : ""),
                            valid, rows_of_chart(kind, model),
                            kind.name == "similarity" ? most_similar_rows : 5000);
}

/// The options that make a chart smaller; of groups there are none.
std::string what_makes_smaller(const Kind &kind, bool rows) {
  std::string valid(kind.options);
  if (rows && kind.rows == Rows::may) valid += " rows";
  std::vector<std::string> out;
  for (const char *const each : {"rows", "columns", "terms"})
    if (valid.find(each) != std::string::npos) out.push_back(each);
  if (out.empty()) return {};
  std::string all = out[0];
  for (std::size_t i = 1; i < out.size(); ++i)
    all += (i + 1 < out.size() ? ", " : " and ") + out[i];
  return message("Option{} {} make{} it smaller.", out.size() > 1 ? "s" : "", all,
                 out.size() > 1 ? "" : "s");
}

/// Throws Error: nothing of the rows, or of the model, can be shown.
[[noreturn]] void refuse_nothing(const Kind &kind, const ChartRows *rows) {
  const std::string what = message("chart \"{}\" of this model has nothing to show", kind.name);
  if (!rows) throw Error(Errc::invalid_argument, what);
  if (rows->read == 0) throw Error(Errc::invalid_argument, what, "The query returned no rows.");
  if (kind.make == shares_chart)
    throw Error(Errc::invalid_argument, what,
                message("Of {} all are left out: {}.", counted(rows->read, "documents"),
                        documents_left_out(*rows)),
                "A document needs a group, and a term that the model knows.");
  if (rows->seen > 0) throw Error(Errc::invalid_argument, what);
  throw Error(Errc::invalid_argument, what,
              message("All of {} are left out: they are NULL, or have a NULL as label, response, "
                      "key or number.",
                      counted(rows->read, "rows")),
              "Rows without a NULL can be shown.");
}

/// The title of a kind of charts, with the words of the model and of its first panel.
std::string title_of(const Kind &kind, const Model &model, const Figure &figure) {
  std::string out(kind.title);
  const auto fill = [&out](std::string_view place, const std::string &text) {
    if (const std::size_t at = out.find(place); at != out.npos)
      out.replace(at, place.size(), shortened(text, 30));
  };
  const Panel &first = figure.panels[0];
  fill("{parts}",
       model.words().response
           ? std::string(model.words().parts)
           : message("{} {}", model.info.components,
                     model.info.components == 1 ? model.words().part : model.words().parts));
  fill("{x}", first.x.title);
  fill("{y}", first.y.title);
  // A letter of ASCII: names of columns stand as they are.
  if (kind.title.starts_with("{parts}")) out[0] = char(std::toupper(out[0]));
  return out;
}

std::string source_of(const Model &model) {
  std::string out = name_of_model(model);
  if (model.info.method != Method::exact) out += message(", {}", method_name(model.info.method));
  return out + ", " + counted_data(model);
}

}  // namespace

ChartSample chart_sample(const Model &model, std::string_view kind, const Document &options) {
  return options_of_chart(*find_kind(model, kind, true), model, options, true).sample;
}

Figure chart(const Model &model, std::string_view kind, const Document &options, Control &control,
             const ChartRows *rows, int width) {
  const PollScope scope(control);
  const Kind *const chosen = find_kind(model, kind, rows);
  const ChartOptions read = options_of_chart(*chosen, model, options, rows);
  ChartRows fewer;
  if (rows && width > 0 && chosen->make == similarity_chart) {
    fewer = rows_of_plot(*rows, width, read.sample.seed);
    rows = &fewer;
  }
  Figure out;
  out.smaller = what_makes_smaller(*chosen, rows);
  const ModelWords &words = model.words();
  out.series_are = words.part;
  out.series = names_of_components(model);
  read.name(out.series, words.parts);
  out.source = source_of(model);
  chosen->make({model, read, out, control, rows, width});
  if (rows && rows->seen > std::ssize(rows->rows))
    out.subtitle +=
        message("{}{} of {} rows", out.subtitle.empty() ? "" : "; ", rows->rows.size(), rows->seen);
  std::erase_if(out.panels, [](const Panel &panel) {
    return std::all_of(panel.layers.begin(), panel.layers.end(),
                       [](const Layer &layer) { return layer.items.empty(); });
  });
  if (out.panels.empty()) refuse_nothing(*chosen, rows);
  if (out.title.empty()) out.title = title_of(*chosen, model, out);
  read.complete(out);
  return out;
}

namespace {

const std::vector<std::string_view> all_options = {"columns", "level", "terms", "rows",
                                                   "seed",    "steps", "title", "subtitle",
                                                   "names",   "x",     "y",     "width"};
constexpr int min_width = 100, max_width = 2000;

std::vector<std::string> columns_option(const Document &given) {
  std::vector<std::string> out;
  const auto add = [&out](const Document &each) {
    if (const auto *const name = each.as<std::string>())
      out.push_back(*name);
    else if (const auto number = to_integer(each))
      out.push_back(std::to_string(*number));
    else
      throw Error(Errc::invalid_argument,
                  message("option \"columns\" has {}, which names no column", describe(each)), {},
                  "Give names of columns, or their numbers from 1.");
  };
  if (const auto *const list = given.as<Document::List>())
    for (const Document &each : *list) add(each);
  else if (const auto *const tensor = given.as<Tensor>())
    for (const double each : tensor->values) add(Document(each));
  else
    add(given);
  return out;
}

}  // namespace

std::optional<std::string> text_option(OptionReader &reader, std::string_view key,
                                       const char *hint) {
  const Document *const given = reader.raw(key);
  if (!given || given->is_null()) return std::nullopt;
  const auto *const text = given->as<std::string>();
  if (!text)
    throw Error(Errc::invalid_argument, message("option \"{}\" must be a text", key), {}, hint);
  return *text;
}

std::vector<std::string> names_option(OptionReader &reader) {
  const Document *const given = reader.raw("names");
  if (!given || given->is_null()) return {};
  std::vector<std::string> out;
  const auto *const list = given->as<Document::List>();
  for (const Document &each : list ? *list : Document::List()) {
    const auto *const name = each.as<std::string>();
    if (!name) break;
    out.push_back(*name);
  }
  if (!list || out.size() != list->size())
    throw Error(Errc::invalid_argument, "option \"names\" must be an array of texts");
  return out;
}

double level_option(OptionReader &reader) {
  const double out = reader.number("level", 0.95);
  if (!(out > 0 && out < 1))
    throw Error(Errc::invalid_argument,
                message("option \"level\" is {}, but must be above 0 and below 1", out));
  return out;
}

void ChartOptions::name(std::vector<std::string> &series, std::string_view what) const {
  if (names.size() > series.size())
    throw Error(Errc::invalid_argument, message("option \"names\" has {} names for {} {}",
                                                names.size(), series.size(), what));
  std::copy(names.begin(), names.end(), series.begin());
}

void ChartOptions::complete(Figure &figure) const {
  if (title) figure.title = *title;
  if (subtitle) figure.subtitle = *subtitle;
  for (Panel &panel : figure.panels) {
    if (x) panel.x.title = *x;
    if (y) panel.y.title = *y;
  }
  figure.width = width;
}

ChartOptions read_chart_options(const Document &options, std::string_view chart,
                                std::string_view valid, int most_rows, int max_rows) {
  ChartOptions out;
  OptionReader reader(options);
  // Keys are words of the list; none of them is part of another.
  const auto applies = [valid](std::string_view key) {
    return valid.find(key) != std::string_view::npos;
  };
  if (applies("level")) out.level = level_option(reader);
  if (applies("rows")) out.sample.rows = int(reader.integer("rows", most_rows, 1, max_rows));
  if (applies("seed"))
    out.sample.seed = std::uint64_t(reader.integer("seed", std::int64_t(out.sample.seed), 0,
                                                   std::numeric_limits<std::int64_t>::max()));
  if (applies("steps")) out.sample.steps = int(reader.integer("steps", out.sample.steps, 1, 1000));
  out.sample.level = out.level;
  if (applies("terms")) out.terms = int(reader.integer("terms", out.terms, 1, 50));
  const Document *const columns = applies("columns") ? reader.raw("columns") : nullptr;
  if (columns && !columns->is_null()) out.columns = columns_option(*columns);
  out.names = names_option(reader);
  out.title = text_option(reader, "title");
  out.subtitle = text_option(reader, "subtitle");
  out.x = text_option(reader, "x");
  out.y = text_option(reader, "y");
  out.width = int(reader.integer("width", 0, min_width, max_width));
  reader.finish(chart, all_options);
  return out;
}

}  // namespace bayes
