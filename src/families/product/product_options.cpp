#include "families/product/product_options.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/message.hpp"
#include "document/members.hpp"

namespace bayes {
namespace {

bool has_family(const std::vector<ColumnSpec> &likelihood, std::string_view family) {
  return std::any_of(likelihood.begin(), likelihood.end(),
                     [family](const ColumnSpec &each) { return each.is(family); });
}

/// A likelihood with example numbers, for hints.
std::string example_of(const Column &family) {
  std::string out = std::string("{\"family\": \"") + family.name + '"';
  for (const KnownParameter &each : family.known_parameters)
    out += message(", \"{}\": {}", each.key, each.whole ? 10 : 2);
  return out + "}";
}

[[noreturn]] void reject_missing_known(const Column &family, const KnownParameter &known,
                                       const std::string &place) {
  throw Error(Errc::invalid_argument,
              message("option \"{}\" is {}, which needs \"{}\"", place, family.name, known.key),
              message("This parameter is not estimated and must be given."),
              message("Write {}.", example_of(family)));
}

/// The keys of the known parameters of all families.
std::vector<std::string_view> known_keys() {
  std::vector<std::string_view> out;
  for (const Column *family : every_column_family())
    for (const KnownParameter &each : family->known_parameters) out.push_back(each.key);
  return out;
}

/// `place`: of the likelihood among the options; `key`: of the option that contains it
ColumnSpec read_one(const Document &given, const std::string &place, const char *key) {
  ColumnSpec out;
  if (given.find("family")) {
    OptionReader in(given, place + ".");
    const std::string name = in.choice("family", "", column_family_names());
    if (name.empty())
      throw Error(Errc::invalid_argument,
                  message("option \"{}.family\" is null, but must be the name of a family", place));
    out.kind = *likelihood_named(name);
    const Column &family = column_family(out.kind);
    for (const KnownParameter &each : family.known_parameters) {
      if (!in.given(each.key)) reject_missing_known(family, each, place);
      out.known.push_back(each.whole ? double(in.integer(each.key, 0, std::int64_t(each.low),
                                                         std::int64_t(each.high)))
                                     : in.number(each.key, 0, each.low, each.high, each.low_open));
    }
    in.finish(message("family {}", name), known_keys());
    return out;
  }
  const Document options(Document::Object{{key, given}});
  out.kind = *likelihood_named(OptionReader(options).choice(key, "", column_family_names()));
  const Column &family = column_family(out.kind);
  if (!family.known_parameters.empty())
    reject_missing_known(family, family.known_parameters[0], place);
  return out;
}

/// The keys of one family's prior.
std::vector<std::optional<Tensor>> family_lines(OptionTable &t, const std::string &path,
                                                const Column &family) {
  std::vector<std::optional<Tensor>> out;
  for (const char *key : family.prior_keys) {
    std::optional<Tensor> &numbers = out.emplace_back();
    t.number_or_tensor({key, "a parameter of the prior of the columns",
                        "a number, or one for each column", "see its page"},
                       numbers);
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

ColumnSpec likelihood_of(std::string_view family) { return {.kind = *likelihood_named(family)}; }

std::vector<ColumnSpec> read_likelihood(const Document &given, const char *key) {
  const auto *list = given.as<Document::List>();
  if (!list) return {read_one(given, key, key)};
  if (list->empty())
    throw Error(Errc::invalid_argument, message("option \"{}\" is an empty array", key),
                "It must have one likelihood for each element of a row.");
  std::vector<ColumnSpec> out;
  for (const Document &each : *list)
    out.push_back(read_one(each.is_null() ? Document("null") : each,
                           message("{}[{}]", key, out.size() + 1), key));
  return out;
}

bool is_one_likelihood(const Document &given, bool has_column) {
  const auto *const members = given.as<Document::Object>();
  if (!members) return !given.is_null() && !given.as<Document::List>();
  return given.find("family") &&
         !(has_column && std::all_of(members->begin(), members->end(), [](const auto &member) {
             const Document &value = member.second;
             return value.is_null() || value.template as<std::string>() ||
                    value.template as<Document::Object>();
           }));
}

Document likelihood_document(const ColumnSpec &likelihood) {
  const Column &family = column_family(likelihood.kind);
  if (likelihood.known.empty()) return family.name;
  Document out = Document::object().set("family", family.name);
  for (std::size_t i = 0; i < likelihood.known.size(); ++i)
    out.set(family.known_parameters[i].key, family.known_parameters[i].whole
                                                ? Document(std::int64_t(likelihood.known[i]))
                                                : Document(likelihood.known[i]));
  return out;
}

std::string describe_likelihood(const ColumnSpec &likelihood) {
  const Column &family = column_family(likelihood.kind);
  std::string out = family.name;
  for (std::size_t i = 0; i < likelihood.known.size(); ++i)
    out += message("{} {} {}", i ? "," : " with", family.known_parameters[i].key,
                   describe_number(likelihood.known[i]));
  return out;
}

Document likelihood_document(const std::vector<ColumnSpec> &likelihood, bool as_array) {
  if (likelihood.size() == 1 && !as_array) return likelihood_document(likelihood[0]);
  Document::List out;
  for (const ColumnSpec &each : likelihood) out.push_back(likelihood_document(each));
  return out;
}

std::optional<ColumnSpec> stored_likelihood(const Document &stored) {
  if (!stored.as<std::string>() && !stored.as<Document::Object>()) return std::nullopt;
  try {
    return read_one(stored, "", "columns");
  } catch (const Error &) {
    return std::nullopt;
  }
}

bool all_equal(const std::vector<ColumnSpec> &likelihood) {
  return std::all_of(likelihood.begin(), likelihood.end(),
                     [&](const ColumnSpec &each) { return each.same_likelihood(likelihood[0]); });
}

void check_likelihood_count(const std::vector<ColumnSpec> &likelihood, int d, const char *key) {
  if (likelihood.size() != 1 && likelihood.size() != std::size_t(d))
    throw Error(
        Errc::invalid_argument,
        message("option \"{}\" has {} entries, but {} have {} elements", key, likelihood.size(),
                std::string_view(key) == "emission" ? "observations" : "the rows", d));
}

void require_likelihood_of_start(const std::vector<ColumnSpec> &given,
                                 const std::vector<ColumnSpec> &known, int d) {
  const bool repeated =
      known.size() == 1 && int(given.size()) == d && given[0] == known[0] && all_equal(given);
  if (given != known && !repeated)
    throw Error(Errc::invalid_argument,
                "option \"likelihood\" differs from the likelihood of the start model", {},
                "Leave it out.");
}

void check_method(Method method, const ColumnTraits &family, const char *key) {
  if (std::find(family.unsupported_methods.begin(), family.unsupported_methods.end(), method) !=
      family.unsupported_methods.end())
    throw Error(Errc::invalid_argument,
                message("method {} does not apply to {} \"{}\"", method, key, family.name));
}

void check_method(Method method, const std::vector<ColumnSpec> &likelihood, const char *key) {
  for (const ColumnSpec &each : likelihood) check_method(method, column_family(each.kind), key);
}

Document likelihood_of_columns(const Document *given, const RowColumns &columns, const char *key) {
  const auto own = [](const RowColumn &column) {
    return likelihood_of(column.kind == ValueKind::label     ? categorical_family
                         : column.kind == ValueKind::boolean ? bernoulli_family
                                                             : normal_family);
  };
  const bool one = given && is_one_likelihood(*given, find_column(columns, "family") >= 0);
  const auto *const by_name = given && !one ? given->as<Document::Object>() : nullptr;
  std::vector<ColumnSpec> likelihood;
  if (given && given->as<Document::List>()) {
    likelihood = read_likelihood(*given, key);
    check_likelihood_count(likelihood, int(columns.size()), key);
    likelihood.resize(columns.size(), ColumnSpec(likelihood[0]));
  } else {
    for (const RowColumn &column : columns) likelihood.push_back(own(column));
  }
  if (by_name) {
    for (const auto &[name, value] : *by_name) {
      const int column = find_column(columns, name);
      if (column < 0)
        throw Error(
            Errc::invalid_argument,
            message("option \"{}\" names a column {}, which the rows do not have", key,
                    describe(Document(name))),
            {},
            message("The first column of the rows is {}.", describe(Document(columns[0].name))));
      likelihood[std::size_t(column)] =
          read_likelihood(value, message("{}.{}", key, name).c_str()).front();
    }
  } else if (given && !given->as<Document::List>()) {
    const ColumnSpec of_numbers = read_likelihood(*given, key).front();
    for (std::size_t j = 0; j < columns.size(); ++j)
      if (columns[j].kind == ValueKind::number) likelihood[j] = of_numbers;
  }
  for (std::size_t j = 0; j < columns.size(); ++j)
    if (columns[j].kind == ValueKind::label && !likelihood[j].is(categorical_family))
      throw Error(
          Errc::invalid_argument,
          message("option \"{}\" is {} for column {}, which has labels", key,
                  describe(Document(likelihood[j].name())), describe(Document(columns[j].name))),
          "A column of labels can only be categorical.",
          "If its labels are numbers, cast the column to a numeric type.");
  const bool as_array = given && !given->is_null() && !one;
  if (!as_array && all_equal(likelihood)) likelihood.resize(1);
  return likelihood_document(likelihood, as_array);
}

void categories_line(OptionTable &t, Document &categories,
                     const std::vector<ColumnSpec> &likelihood, const char *key, bool applies) {
  const bool categorical = has_family(likelihood, categorical_family);
  const auto read = [&](const Document &given) {
    if (!categorical)
      throw Error(Errc::invalid_argument,
                  message("option \"categories\" does not apply to this {}", key),
                  "No element is categorical.",
                  message("Leave it out, or make elements categorical by option \"{}\".", key));
    read_categories(given);
    categories = given;
  };
  t.other(
      {"categories", "numbers of categories of columns", "a number, or an array", "as seen"}, read,
      [&] { return categories; }, applies && (categorical || t.given("categories") || !t.reads()));
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
    if (!(n >= 0 && n <= max_categories && n == std::floor(n)))
      throw Error(Errc::invalid_argument,
                  message("option \"categories\" contains {}, but must hold whole numbers from 1 "
                          "to {} (0 for an element that is not categorical)",
                          describe_number(n), max_categories));
  return *out;
}

void ProductPriorKeys::lines(OptionTable &t, const std::vector<ColumnSpec> &likelihood) {
  std::vector<ColumnKind> kinds;
  for (const ColumnSpec &each : likelihood)
    if (std::find(kinds.begin(), kinds.end(), each.kind) == kinds.end()) kinds.push_back(each.kind);
  for (const ColumnKind kind : kinds) {
    const Column &family = column_family(kind);
    if (likelihood.size() == 1 && !t.given(family.name)) {
      families.emplace_back(family.name, family_lines(t, "prior.", family));
      continue;
    }
    t.other({family.name, "parameters of the prior of its columns", "an object"},
            [&](const Document &given) {
              const std::string path = message("prior.{}.", family.name);
              OptionTable own = OptionTable::reading(given, path);
              families.emplace_back(family.name, family_lines(own, path, family));
              own.finish();
            });
  }
}

}  // namespace bayes
