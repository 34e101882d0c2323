// Pictures of any model: bayes_chart and what goes with it. Bound to charts/charts.hpp.
#include "charts/charts.hpp"

#include "base/message.hpp"
#include "charts/figure.hpp"
#include "document/option_table.hpp"
#include "pg/bind/query_rows.hpp"
#include "pg/bind/scalar.hpp"
#include "pg/models/chart_rows.hpp"
#include "pg/server/argument_type.hpp"
#include "pg/server/encoding.hpp"
#include "pg/server/server_control.hpp"
#include "pg/values/json.hpp"
#include "pg/values/model_value.hpp"
#include "pg/values/results.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

std::string text_argument(FunctionCallInfo fcinfo, int at) {
  if (PG_ARGISNULL(at)) return {};
  return utf8_of_server(guarded([fcinfo, at] { return TextDatumGetCString(PG_GETARG_DATUM(at)); }));
}

/// What the first arguments are.
enum class ChartOf : char { model, models, rows };
int arguments_of(ChartOf of) { return of == ChartOf::rows ? 2 : 1; }

/// The models of an array, but for NULLs.
std::vector<std::unique_ptr<Model>> models_of(Datum array) {
  std::vector<std::unique_ptr<Model>> out;
  for (const NullableDatum &each : elements_of(array))
    if (!each.isnull) out.push_back(load_model(each.value));
  return out;
}

/// The chart of the arguments (model or models, or query and model, ..., kind, options), of which
/// the last two begin at `first`; nullopt if the model is NULL. `width`: of a plot, else 0.
std::optional<Figure> chart_of_arguments(FunctionCallInfo fcinfo, int first, ChartOf of,
                                         int width = 0) {
  const int at = arguments_of(of) - 1;
  if (PG_ARGISNULL(at)) return std::nullopt;
  const Document options =
      PG_ARGISNULL(first + 1) ? Document() : document_of_jsonb(PG_GETARG_DATUM(first + 1));
  const std::string kind = text_argument(fcinfo, first);
  ServerControl control;
  if (of == ChartOf::models) {
    const auto models = models_of(PG_GETARG_DATUM(at));
    return models.empty() ? std::nullopt : std::optional(chart(models, kind, options, control));
  }
  const std::shared_ptr<const Model> model = load_model(PG_GETARG_DATUM(at));
  if (of == ChartOf::model) return chart(*model, kind, options, control);
  const ChartSample sample = chart_sample(*model, kind, options);
  const ChartRows rows =
      read_chart_rows(model, query_text(fcinfo, "The query gives the rows: SELECT x FROM t."),
                      sample, kind == "forecast");
  return chart(*model, kind, options, control, &rows, width);
}

Datum text_of(const std::string &utf8) {
  return guarded([text = utf8.c_str(), size = utf8.size()] {
    return CStringGetTextDatum(server_of_utf8(text, size));
  });
}

/// A position on an axis: a number, or the name of a category.
struct Place {
  Cell number, name;
  Place(const Axis &axis, double x) {
    if (std::isnan(x)) return;
    if (axis.categories.empty())
      number = x;
    else
      name = Cell::text(axis.categories[std::size_t(x)]);
  }
};

Datum show_chart(FunctionCallInfo fcinfo, ChartOf of) {
  const std::optional<Figure> figure = chart_of_arguments(fcinfo, arguments_of(of), of);
  if (!figure) PG_RETURN_NULL();
  return jsonb_of(vega_lite(*figure));
}

Datum show_chart_data(FunctionCallInfo fcinfo, ChartOf of) {
  ResultRows result(fcinfo);
  const std::optional<Figure> figure = chart_of_arguments(fcinfo, arguments_of(of), of);
  if (!figure) return Datum(0);
  int number = 0;
  for (const Panel &panel : figure->panels) {
    ++number;
    for (const Layer &layer : panel.layers)
      for (const ChartItem &item : layer.items) {
        poll_interrupts();
        const Place x(panel.x, item.x), y(panel.y, item.y);
        result.row({number, panel.title.empty() ? Cell() : Cell::text(panel.title),
                    Cell::text(name_of(layer.mark)),
                    item.series < 0 ? Cell() : Cell::text(figure->series[std::size_t(item.series)]),
                    item.path, x.number, x.name, y.number, y.name, Cell::or_null(item.low),
                    Cell::or_null(item.high), Cell::or_null(item.value)});
      }
  }
  return Datum(0);
}

[[noreturn]] void refuse_encoding() {
  guarded([] {
    ereport(ERROR, errcode(ERRCODE_UNTRANSLATABLE_CHARACTER),
            errmsg("a plot cannot be written in encoding %s", GetDatabaseEncodingName()),
            errdetail("Its blocks and dots are characters of Unicode."),
            errhint("bayes_chart() and bayes_chart_data() work in every encoding."));
  });
  pg_unreachable();
}

Datum show_plot(FunctionCallInfo fcinfo, ChartOf of) {
  // after the model, the kind and the options
  const int at = arguments_of(of), last = at + 2;
  const int width = PG_ARGISNULL(last) ? 72 : PG_GETARG_INT32(last);
  if (width < min_plot_width || width > max_plot_width)
    throw Error(Errc::invalid_argument, message("width is {}, but must be from {} to {}", width,
                                                min_plot_width, max_plot_width));
  if (PG_ARGISNULL(at - 1)) PG_RETURN_NULL();
  // Encodings without a conversion have the bytes.
  if (!server_is_utf8() && GetDatabaseEncoding() != PG_SQL_ASCII) refuse_encoding();
  const std::optional<Figure> figure = chart_of_arguments(fcinfo, at, of, width);
  if (!figure) PG_RETURN_NULL();
  return text_of(text_plot(*figure, width));
}

}  // namespace

/// bayes_chart(model [, kind [, options]]) -> jsonb
BAYES_FUNCTION(bayes_chart) { return show_chart(fcinfo, ChartOf::model); }
/// bayes_chart(models [, ...])
BAYES_FUNCTION(bayes_chart_models) { return show_chart(fcinfo, ChartOf::models); }
/// bayes_chart(query, model [, kind [, options]]) -> jsonb
BAYES_FUNCTION(bayes_chart_rows) { return show_chart(fcinfo, ChartOf::rows); }

/// bayes_chart_data(model [, kind [, options]]): the items of a chart
BAYES_FUNCTION(bayes_chart_data) { return show_chart_data(fcinfo, ChartOf::model); }
/// bayes_chart_data(models [, ...])
BAYES_FUNCTION(bayes_chart_data_models) { return show_chart_data(fcinfo, ChartOf::models); }
/// bayes_chart_data(query, model [, kind [, options]])
BAYES_FUNCTION(bayes_chart_data_rows) { return show_chart_data(fcinfo, ChartOf::rows); }

/// bayes_plot(model [, kind [, options [, width]]]) -> text
BAYES_FUNCTION(bayes_plot) { return show_plot(fcinfo, ChartOf::model); }
/// bayes_plot(models [, ...])
BAYES_FUNCTION(bayes_plot_models) { return show_plot(fcinfo, ChartOf::models); }
/// bayes_plot(query, model [, kind [, options [, width]]]) -> text
BAYES_FUNCTION(bayes_plot_rows) { return show_plot(fcinfo, ChartOf::rows); }

/// bayes_page(title, charts [, options]) -> text
BAYES_FUNCTION(bayes_page) {
  if (PG_ARGISNULL(1)) PG_RETURN_NULL();
  const Document options = PG_ARGISNULL(2) ? Document() : document_of_jsonb(PG_GETARG_DATUM(2));
  if (options.find("$schema"))
    throw Error(Errc::invalid_argument, "the third argument is a chart, but must be options", {},
                "Give several charts as an array: bayes_page(title, ARRAY[chart, chart]).");
  OptionReader reader(options);
  std::string scripts;
  if (const Document *const given = reader.raw("scripts"); given && !given->is_null()) {
    const auto *const text = given->as<std::string>();
    if (!text)
      throw Error(Errc::invalid_argument, "option \"scripts\" must be a text", {},
                  "It is the directory or the address of vega.min.js, vega-lite.min.js and "
                  "vega-embed.min.js.");
    scripts = *text;
  }
  reader.finish();
  const Oid given = argument_type(fcinfo, 1),
            type = guarded([given] { return getBaseType(given); });
  std::vector<Datum> charts;
  if (type == JSONBOID) {
    charts.push_back(PG_GETARG_DATUM(1));
  } else if (type == UNKNOWNOID) {  // a literal
    charts.push_back(
        guarded([fcinfo] { return DirectFunctionCall1(jsonb_in, PG_GETARG_DATUM(1)); }));
  } else if (type != JSONBARRAYOID) {
    throw SqlError(ERRCODE_DATATYPE_MISMATCH, message("charts are of type {}", name_of_type(type)),
                   "A chart is a jsonb, and several are an array of them.",
                   "Charts are what bayes_chart() returns.");
  } else {
    for (const NullableDatum &each : elements_of(PG_GETARG_DATUM(1)))
      if (!each.isnull) charts.push_back(each.value);
  }
  const auto json = [&charts](std::size_t i) {
    const JsonbObject chart(charts[i]);
    if (!chart.is_object())
      throw Error(Errc::invalid_argument,
                  message("chart {} is {}, but must be an object", i + 1, chart.form()), {},
                  "Charts are what bayes_chart() returns.");
    return chart.json();
  };
  return text_of(chart_page(text_argument(fcinfo, 0), charts.size(), json, scripts));
}
