#include "families/product/product_options.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/message.hpp"
#include "document/members.hpp"
#include "families/product/column_names.hpp"

namespace bayes {
namespace {

bool among(const std::vector<std::string> &names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The keys of one family's prior.
std::vector<std::optional<Tensor>> family_lines(OptionTable &t, const std::string &path,
                                                const std::string &family) {
  std::vector<std::optional<Tensor>> out;
  for (const char *key : column_prior_keys(family)) {
    std::optional<Tensor> &numbers = out.emplace_back();
    t.number_or_tensor(key, numbers);
    if (!numbers || std::string_view(key) == "m") continue;
    for (const double value : numbers->values)
      if (!(value > 0))
        throw Error(Errc::invalid_argument,
                    message("option \"{}{}\" contains {}, but must be greater than 0", path, key,
                            describe(value)));
  }
  return out;
}

}  // namespace

std::vector<std::string> read_likelihood(const Document &given, const char *key) {
  const auto read = [key](const Document &one) {
    const Document options(Document::Object{{key, one}});
    return OptionReader(options).choice(key, "", column_family_names());
  };
  const auto *list = given.as<Document::List>();
  if (!list) return {read(given)};
  if (list->empty())
    throw Error(Errc::invalid_argument, message("option \"{}\" is an empty array", key),
                "It has one name for each element of a row.");
  std::vector<std::string> out;
  for (const Document &each : *list) out.push_back(read(each.is_null() ? Document("null") : each));
  return out;
}

Document likelihood_document(const std::vector<std::string> &names, bool as_array) {
  if (names.size() == 1 && !as_array) return names[0];
  return Document::List(names.begin(), names.end());
}

void check_likelihood_count(const std::vector<std::string> &likelihood, int d, const char *key) {
  if (likelihood.size() != 1 && likelihood.size() != std::size_t(d))
    throw Error(Errc::invalid_argument,
                message("option \"{}\" names {} elements, but {} have {}", key, likelihood.size(),
                        std::string_view(key) == "emission" ? "observations" : "the rows", d));
}

Document likelihood_of_columns(const Document *given, const RowColumns &columns, const char *key) {
  const auto own = [](const RowColumn &column) {
    return column.kind == ValueKind::label     ? categorical_family
           : column.kind == ValueKind::boolean ? bernoulli_family
                                               : normal_family;
  };
  const auto *const by_name = given ? given->as<Document::Object>() : nullptr;
  std::vector<std::string> names;
  if (given && given->as<Document::List>()) {
    names = read_likelihood(*given, key);
    check_likelihood_count(names, int(columns.size()), key);
    names.resize(columns.size(), names[0]);
  } else {
    for (const RowColumn &column : columns) names.emplace_back(own(column));
  }
  if (by_name) {
    for (const auto &[name, value] : *by_name) {
      const int column = find_column(columns, name);
      if (column < 0)
        throw Error(Errc::invalid_argument,
                    message("option \"{}\" names a column {}, which the rows do not have", key,
                            describe(Document(name))),
                    {}, message("They begin with {}.", describe(Document(columns[0].name))));
      names[std::size_t(column)] =
          read_likelihood(value, message("{}.{}", key, name).c_str()).front();
    }
  } else if (given && !given->as<Document::List>()) {
    const std::string name = read_likelihood(*given, key).front();
    for (std::size_t j = 0; j < columns.size(); ++j)
      if (columns[j].kind == ValueKind::number) names[j] = name;
  }
  for (std::size_t j = 0; j < columns.size(); ++j)
    if (columns[j].kind == ValueKind::label && names[j] != categorical_family)
      throw Error(Errc::invalid_argument,
                  message("option \"{}\" is {} for column {}, which has labels", key,
                          describe(Document(names[j])), describe(Document(columns[j].name))),
                  "A column of labels is categorical.",
                  "If its labels are numbers, cast the column to a type of numbers.");
  const bool as_array = given && !given->is_null() && !given->as<std::string>();
  if (!as_array && std::count(names.begin(), names.end(), names[0]) == std::ssize(names))
    names.resize(1);
  return likelihood_document(names, as_array);
}

void categories_line(OptionTable &t, Document &categories,
                     const std::vector<std::string> &likelihood, const char *key, bool applies) {
  const bool categorical = among(likelihood, categorical_family);
  const auto read = [&](const Document &given) {
    if (!categorical)
      throw Error(
          Errc::invalid_argument, message("option \"categories\" does not apply to this {}", key),
          "No element is categorical.", message("Leave it out, or give option \"{}\".", key));
    read_categories(given);
    categories = given;
  };
  t.other(
      "categories", read, [&] { return categories; },
      applies && (categorical || t.given("categories") || !t.reads()));
}

Tensor read_categories(const Document &given) {
  std::optional<Tensor> out;
  if (const auto number = to_number(given, false))
    out = Tensor{{}, {*number}};
  else
    out = to_tensor(given, false);
  if (!out || out->shape.size() > 1)
    throw Error(Errc::invalid_argument,
                message("option \"categories\" is {}, but must be a number or an array of numbers: "
                        "how many categories elements have",
                        describe(given)));
  for (const double n : out->values)
    if (!(n >= 0 && n <= most_categories && n == std::floor(n)))
      throw Error(Errc::invalid_argument,
                  message("option \"categories\" contains {}, but must hold whole numbers from 1 "
                          "to {} (0 for an element that is not categorical)",
                          describe_number(n), most_categories));
  return *out;
}

void ProductPriorKeys::lines(OptionTable &t, const std::vector<std::string> &likelihood) {
  std::vector<std::string> names;
  for (const std::string &name : likelihood)
    if (!among(names, name)) names.push_back(name);
  for (const std::string &family : names) {
    if (likelihood.size() == 1 && !t.given(family)) {
      families.emplace_back(family, family_lines(t, "prior.", family));
      continue;
    }
    t.other(family, [&](const Document &given) {
      const std::string path = "prior." + family + ".";
      OptionTable own = OptionTable::reading(given, path);
      families.emplace_back(family, family_lines(own, path, family));
      own.finish();
    });
  }
}

}  // namespace bayes
