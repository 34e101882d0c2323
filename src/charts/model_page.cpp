// A page about one model: what it is of, how its fit went, charts and parameters.

#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/message.hpp"
#include "charts/chart_kinds.hpp"
#include "document/members.hpp"
#include "document/option_table.hpp"

namespace bayes {
namespace {

/// Charts and parameters of one page; the others have functions of their own.
constexpr std::size_t most_charts = 8, most_parameters = 200;

std::string shown_number(double x) {
  // Six digits: what follows is not known, and hides what is.
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", x);
  return std::isnan(x) ? std::string() : text;
}

std::string columns_of(const ModelInfo &info) {
  if (info.columns.empty() || by_position(info.columns)) return std::to_string(info.dimension);
  std::string out;
  for (const RowColumn &column : info.columns) out += (out.empty() ? "" : ", ") + column.name;
  return shortened(out, 400);
}

/// How the fit ended, in words.
std::string outcome_of(const ModelInfo &info) {
  const std::optional<std::string_view> by = stopped(info);
  if (!by) return "exact: no iterations were needed";
  const std::string after = message(" after {} iterations", info.iterations);
  if (*by == "converged") return "converged" + after;
  if (*by == "draws") return "all draws were made";
  return message("did not converge: stopped by {}", *by) + after;
}

PageTable facts_of(const Model &model) {
  const ModelInfo &info = model.info;
  const ModelWords &words = model.words();
  PageTable out{"The fit", {}};
  const auto add = [&out](const char *name, std::string value) {
    if (!value.empty()) out.rows.push_back({name, std::move(value)});
  };
  add("family", info.family);
  add("method", std::string(method_name(info.method)));
  add(words.takes ? words.takes : "rows",
      std::to_string(info.rows) +
          (info.skipped > 0 ? message(", {} more left out", info.skipped) : std::string()));
  if (info.dimension > 0 && !words.takes) add("columns", columns_of(info));
  if (info.components > 1 && !words.response) add(words.parts, std::to_string(info.components));
  add("outcome", outcome_of(info));
  if (!info.degenerate.empty())
    add("degenerate", counted(std::ssize(info.degenerate), words.parts) +
                          " held at a bound: the likelihood depends on it");
  if (!info.told_apart)
    add("uncertainty", message("the rows do not tell the {} apart", words.parts));
  if (model.draws.draws > 0)
    add("draws", message("{} of each of {} chains", model.draws.draws, model.draws.chains));
  add("objective", shown_number(info.objective));
  add("log likelihood", shown_number(info.log_likelihood));
  add("BIC", shown_number(model.bic()));
  add("options", shortened(info.options.to_json(), 2000));
  add("made by", message("pg_bayes {}", info.version));
  return out;
}

/// nullopt for families whose parameters are too many, or have no list.
std::optional<PageTable> parameters_of(const Model &model, double level,
                                       const std::vector<std::string> &names) {
  PageTable out{"Parameters", {"parameter", "of", "value", "sd", "lower", "upper"}};
  std::size_t all = 0;
  try {
    model.describe_parameters(level, [&](const Parameter &p) {
      poll_here();
      if (++all > most_parameters) return;
      std::string of;
      const auto add = [&of](const std::string &text) {
        if (!text.empty()) of += (of.empty() ? "" : ", ") + text;
      };
      if (p.component >= 0 && std::size_t(p.component) < names.size() && names.size() > 1)
        add(names[std::size_t(p.component)]);
      if (p.element >= 0) add(name_of_column(model.info.columns, model.info.dimension, p.element));
      add(p.label ? *p.label : name_of_category(model, p));
      out.rows.push_back({p.name, of, shown_number(p.value), shown_number(p.deviation),
                          shown_number(p.lower), shown_number(p.upper)});
    });
  } catch (const Error &error) {
    if (error.code() != Errc::wrong_family && error.code() != Errc::too_large) throw;
  }
  if (out.rows.empty()) return std::nullopt;
  out.note = message("sd and {} % intervals of the posterior", describe_number(100 * level));
  if (all > most_parameters) out.note += message("; the first {} of {}", most_parameters, all);
  return out;
}

/// The charts of the model alone, the default one first. Those that are too large, or have nothing
/// to show, are left out.
std::vector<std::string> charts_of(const Model &model, const Document &names, double level,
                                   Control &control) {
  std::vector<std::string> out;
  for (const std::string_view kind : chart_kinds(model)) {
    if (out.size() == most_charts) break;
    Document options = Document::object();
    options.set("names", names);
    if (takes_option(kind, "level")) options.set("level", level);
    try {
      out.push_back(vega_lite(chart(model, kind, options, control)).to_json());
    } catch (const Error &error) {
      if (error.code() != Errc::too_large && error.code() != Errc::invalid_argument) throw;
    }
  }
  return out;
}

}  // namespace

std::string scripts_option(OptionReader &reader) {
  return text_option(reader, "scripts",
                     "It is the directory or the address of vega.min.js, vega-lite.min.js and "
                     "vega-embed.min.js.")
      .value_or("");
}

std::string model_page(const Model &model, const Document &options, std::string date,
                       Control &control) {
  const PollScope scope(control);
  OptionReader reader(options);
  ChartPage page{text_option(reader, "title").value_or(name_of_model(model)),
                 text_option(reader, "subtitle").value_or(""), scripts_option(reader),
                 std::move(date)};
  ChartOptions read;
  read.names = names_option(reader);
  read.level = level_option(reader);
  reader.finish();
  std::vector<std::string> names = names_of_components(model);
  read.name(names, model.words().parts);
  page.tables_before = {facts_of(model)};
  if (auto parameters = parameters_of(model, read.level, names))
    page.tables_after = {std::move(*parameters)};
  Document::List given;
  for (const std::string &name : read.names) given.emplace_back(name);
  const std::vector<std::string> charts =
      charts_of(model, Document(std::move(given)), read.level, control);
  return chart_page(page, charts.size(), [&charts](std::size_t i) { return charts[i]; });
}

}  // namespace bayes
