#include <limits>

#include "base/error.hpp"
#include "base/message.hpp"
#include "charts/chart_kinds.hpp"
#include "document/members.hpp"
#include "document/option_table.hpp"

namespace bayes {
namespace {

const std::vector<std::string_view> all_options = {"columns", "level", "terms", "names",
                                                   "rows",    "seed",  "steps"};

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

std::vector<std::string> names_option(const Document &given) {
  std::vector<std::string> out;
  const auto *const list = given.as<Document::List>();
  for (const Document &each : list ? *list : Document::List()) {
    const auto *const name = each.as<std::string>();
    if (!name) break;
    out.push_back(*name);
  }
  if (!list || out.size() != list->size())
    throw Error(Errc::invalid_argument, "option \"names\" must be an array of texts");
  return out;
}

}  // namespace

ChartOptions read_chart_options(const Document &options, std::string_view chart,
                                std::string_view valid, int most_rows, int max_rows) {
  ChartOptions out;
  OptionReader reader(options);
  // Keys are words of the list; none of them is part of another.
  const auto applies = [valid](std::string_view key) {
    return valid.find(key) != std::string_view::npos;
  };
  if (applies("level")) {
    out.level = reader.number("level", out.level);
    if (!(out.level > 0 && out.level < 1))
      throw Error(Errc::invalid_argument,
                  message("option \"level\" is {}, but must be above 0 and below 1", out.level));
  }
  if (applies("rows")) out.sample.rows = int(reader.integer("rows", most_rows, 1, max_rows));
  if (applies("seed"))
    out.sample.seed = std::uint64_t(reader.integer("seed", std::int64_t(out.sample.seed), 0,
                                                   std::numeric_limits<std::int64_t>::max()));
  if (applies("steps")) out.sample.steps = int(reader.integer("steps", out.sample.steps, 1, 1000));
  out.sample.level = out.level;
  if (applies("terms")) out.terms = int(reader.integer("terms", out.terms, 1, 50));
  const auto given = [&](std::string_view key) {
    const Document *const found = applies(key) ? reader.raw(key) : nullptr;
    return found && !found->is_null() ? found : nullptr;
  };
  if (const Document *const columns = given("columns")) out.columns = columns_option(*columns);
  if (const Document *const names = given("names")) out.names = names_option(*names);
  reader.finish(chart, all_options);
  return out;
}

}  // namespace bayes
