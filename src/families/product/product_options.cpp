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
