#include "families/product/product_prior.hpp"

#include <algorithm>
#include <cmath>

#include "document/members.hpp"
#include "document/options.hpp"
#include "families/product/category_codes.hpp"

namespace bayes {
namespace {

std::optional<Tensor> to_tensor_or_number(const Document &value) {
  if (const auto number = to_number(value, false)) return Tensor{{}, {*number}};
  return to_tensor(value, false);
}

/// A value in a message: 2, not 2.0.
std::string shown(double x) {
  return x == std::floor(x) && std::abs(x) < 9e18 ? std::to_string(std::int64_t(x)) : describe(x);
}

bool is_categorical_name(std::string_view likelihood) {
  return column_family(*likelihood_named(likelihood)).by_value;
}

/// The names of the families that `choose` takes, as messages list them.
template <class Choose> std::string families_of(Choose choose) {
  std::string out;
  for (const Column *family : every_column_family())
    if (choose(*family)) out += (out.empty() ? "\"" : ", \"") + std::string(family->name) + '"';
  return out;
}

/// Rejects a value that its column does not allow; `fitted`: the columns are those of a fitted
/// model, so options cannot help.
[[noreturn]] void unsuitable(double x, std::string_view likelihood, const std::string &requirement,
                             int element, std::int64_t row, bool fitted = false) {
  const std::string where =
      "element " + std::to_string(element + 1) + (row ? " of row " + std::to_string(row) : "");
  const std::string message = where + " is " + shown(x) + ", but must be " + requirement,
                    detail = "Its likelihood is " + std::string(likelihood) + ".";
  if (fitted)
    throw Error(Errc::invalid_argument, message, detail,
                is_categorical_name(likelihood)
                    ? "A fit knows categories that are not among its rows if its option "
                      "\"categories\" says how many there are."
                    : "");
  throw Error(
      Errc::invalid_argument, message, detail,
      "One name is for all elements, an array has one for each; such a value may stand under " +
          families_of([&](const Column &family) {
            return family.allowed(x) && family.name != likelihood;
          }) +
          ".");
}

/// The number of categories that the options give every element; 0 if they leave it open.
std::vector<int> given_categories(const Document &categories, std::size_t d) {
  std::vector<int> out(d, 0);
  if (categories.is_null()) return out;
  const Tensor given = *to_tensor_or_number(categories);
  if (!given.shape.empty() && given.values.size() != d)
    throw Error(Errc::invalid_argument,
                "option \"categories\" has " + std::to_string(given.values.size()) +
                    " numbers, but the rows have " + std::to_string(d) + " elements");
  for (std::size_t j = 0; j < d; ++j) out[j] = int(given.values[given.shape.empty() ? 0 : j]);
  return out;
}

/// A column with a smaller variance counts as constant: the reciprocal would leave the range of a
/// double.
constexpr double least_variance = 1e-280;

/// f(block, index of its first row, number of rows) for all blocks, in order.
template <class F> void for_each_block(RowSource &rows, Control &control, F f) {
  Buffer block(rows.shape().block_doubles());
  for (std::int64_t first = 0; first < rows.rows(); first += block_rows) {
    if (control.pending()) control.poll();
    rows.read_block(first / block_rows, block.data());
    f(block.data(), first, int(std::min<std::int64_t>(block_rows, rows.rows() - first)));
  }
}

void check_categories(const std::vector<double> &values, int element) {
  const std::string where = "element " + std::to_string(element + 1);
  const std::string hint =
      "Measurements and counts have likelihoods of their own, " +
      families_of([&](const Column &family) {
        return !family.by_value && family.allowed(values.front()) && family.allowed(values.back());
      }) +
      "; number categories from 1.";
  if (values.size() > std::size_t(most_categories))
    throw Error(Errc::too_large,
                where + " has more than " + std::to_string(most_categories) + " categories", {},
                hint);
  if (values.back() - values.front() > CategoryCodes::widest)
    throw Error(Errc::too_large,
                "the categories of " + where + " reach from " + shown(values.front()) + " to " +
                    shown(values.back()) + ", which is too far apart",
                "The limit is " + shown(CategoryCodes::widest) + ".", hint);
}

/// The values of the categorical columns, increasing; empty for the others.
std::vector<std::vector<double>> categories_seen(RowSource &rows,
                                                 const std::vector<ColumnSpec> &specs,
                                                 Control &control) {
  std::vector<std::vector<double>> seen(specs.size());
  for_each_block(rows, control, [&](const double *block, std::int64_t first, int size) {
    for (std::size_t j = 0; j < specs.size(); ++j) {
      if (!is_categorical(specs[j])) continue;
      std::vector<double> &values = seen[j];
      double last = std::numeric_limits<double>::quiet_NaN();
      for (int b = 0; b < size; ++b) {
        const double x = block[j * block_rows + std::size_t(b)];
        if (x == last || std::isnan(x)) continue;
        last = x;
        const auto at = std::lower_bound(values.begin(), values.end(), x);
        if (at != values.end() && *at == x) continue;
        if (x != std::floor(x) || std::abs(x) > CategoryCodes::farthest)
          unsuitable(x, column_family(specs[j].kind).name, "a whole number", int(j), first + b + 1);
        values.insert(at, x + 0.0);  // 0, not -0
        check_categories(values, int(j));
      }
    }
  });
  return seen;
}

/// Reads a family's keys: for each the given tensor, if any, its numbers checked.
std::vector<std::optional<Tensor>> read_keys(OptionReader &in, const std::string &path,
                                             const std::string &family) {
  std::vector<std::optional<Tensor>> out;
  for (const char *key : column_family(*likelihood_named(family)).prior_keys) {
    out.push_back(in.number_or_tensor(key));
    if (!out.back() || std::string_view(key) == "m") continue;
    for (const double value : out.back()->values)
      if (!(value > 0))
        throw Error(Errc::invalid_argument, "option \"" + path + key + "\" contains " +
                                                describe(value) + ", but must be greater than 0");
  }
  return out;
}

/// f(family, its keys' tensors) for every family.
template <class F>
void read_prior(const std::vector<std::string> &likelihood, const Document &prior,
                const std::vector<std::string_view> &others, F f) {
  OptionReader in(prior, "prior.");
  for (const std::string_view other : others) in.raw(other);
  std::vector<std::string> families;
  for (const std::string &name : likelihood)
    if (std::find(families.begin(), families.end(), name) == families.end())
      families.push_back(name);
  static const Document nothing;
  for (const std::string &family : families) {
    // with one family its keys may be given without its name
    if (likelihood.size() == 1 && !in.given(family)) {
      f(family, read_keys(in, "prior.", family));
      continue;
    }
    const Document *own = in.raw(family);
    const std::string path = "prior." + family + ".";
    if (own && !own->is_null() && !own->as<Document::Object>())
      throw Error(Errc::invalid_argument, "option \"prior." + family + "\" is " + describe(*own) +
                                              ", but must be an object");
    OptionReader reader(own ? *own : nothing, path);
    f(family, read_keys(reader, path, family));
    reader.finish();
  }
  in.finish();
}

}  // namespace

void check_product_row(const Columns &columns, std::span<const double> x, std::int64_t row) {
  columns.for_each([&](int j, const Column &column, const ColumnPlaces &) {
    const double value = x[std::size_t(j)];
    if (!column.allowed(value) && !std::isnan(value))
      unsuitable(value, column.name, column.requirement(), j, row, true);
  });
}

std::vector<std::string> read_likelihood(OptionReader &in, const std::vector<std::string> &fallback,
                                         const char *key) {
  static const std::vector<std::string_view> names = column_family_names();
  const Document *value = in.raw(key);
  if (!value || value->is_null()) return fallback;
  const auto *list = value->as<Document::List>();
  if (!list) return {in.choice(key, "", names)};
  if (list->empty())
    throw Error(Errc::invalid_argument, std::string("option \"") + key + "\" is an empty array",
                "It has one name for each element of a row.");
  std::vector<std::string> out;
  for (const Document &each : *list) {
    const Document one(Document::Object{{key, each.is_null() ? Document("null") : each}});
    OptionReader reader(one);  // each is checked on its own
    out.push_back(reader.choice(key, "", names));
  }
  return out;
}

Document read_categories(OptionReader &in, const std::vector<std::string> &likelihood,
                         const char *key) {
  if (!in.given("categories")) return {};
  if (std::none_of(likelihood.begin(), likelihood.end(), is_categorical_name))
    throw Error(
        Errc::invalid_argument, std::string("option \"categories\" does not apply to this ") + key,
        "No element is categorical.", std::string("Leave it out, or give option \"") + key + "\".");
  const Document &categories = *in.raw("categories");
  check_categories_option(categories);
  return categories;
}

void check_categories_option(const Document &categories) {
  const auto given = to_tensor_or_number(categories);
  if (!given || given->shape.size() > 1)
    throw Error(
        Errc::invalid_argument,
        "option \"categories\" is " + describe(categories) +
            ", but must be a number or an array of numbers: how many categories elements have");
  for (const double n : given->values)
    if (!(n >= 0 && n <= most_categories && n == std::floor(n)))
      throw Error(Errc::invalid_argument, "option \"categories\" contains " + shown(n) +
                                              ", but must hold whole numbers from 1 to " +
                                              std::to_string(most_categories) +
                                              " (0 for an element that is not categorical)");
}

void check_likelihood_count(const std::vector<std::string> &likelihood, int d, const char *key) {
  if (likelihood.size() != 1 && likelihood.size() != std::size_t(d))
    throw Error(Errc::invalid_argument,
                std::string("option \"") + key + "\" names " + std::to_string(likelihood.size()) +
                    " elements, but " +
                    (std::string_view(key) == "emission" ? "observations" : "the rows") + " have " +
                    std::to_string(d));
}

ProductSurvey survey_product(RowSource &rows, const std::vector<std::string> &likelihood,
                             const Document &categories, Control &control) {
  const int d = rows.shape().dimension;
  check_likelihood_count(likelihood, d);
  std::vector<ColumnSpec> specs;
  bool any = false;
  for (int j = 0; j < d; ++j) {
    specs.push_back({*likelihood_named(likelihood[likelihood.size() == 1 ? 0 : std::size_t(j)])});
    any |= is_categorical(specs.back());
  }
  if (!categories.is_null()) check_categories_option(categories);
  if (any) {
    std::vector<std::vector<double>> seen = categories_seen(rows, specs, control);
    const std::vector<int> given = given_categories(categories, std::size_t(d));
    double lowest = 1;
    for (const auto &values : seen)
      if (!values.empty()) lowest = std::min(lowest, values.front());
    for (std::size_t j = 0; j < specs.size(); ++j) {
      if (!is_categorical(specs[j])) continue;
      std::vector<double> &values = seen[j];
      for (int v = 0; v < given[j]; ++v) values.push_back(v + (lowest > 0 ? 1 : 0));
      std::sort(values.begin(), values.end());
      values.erase(std::unique(values.begin(), values.end()), values.end());
      if (values.empty()) values = {0};  // a column that is missing in every row
      check_categories(values, int(j));
      set_categories(specs[j], std::move(values));
    }
  }
  return survey_product(rows, std::make_shared<const Columns>(std::move(specs)), control);
}

ProductSurvey survey_product(RowSource &rows, const SharedColumns &columns, Control &control) {
  const int d = rows.shape().dimension;
  const bool weighted = rows.shape().weighted;
  ProductSurvey out{columns, 0, Vector::Zero(d), Vector::Zero(d)};
  Vector count = Vector::Zero(d);
  for_each_block(rows, control, [&](const double *block, std::int64_t first, int size) {
    const double *const weight = block + std::size_t(d) * block_rows;
    for (int b = 0; b < size; ++b) out.weight += weighted ? weight[b] : 1;
    columns->for_each([&](int j, const Column &column, const ColumnPlaces &) {
      const double *const at = block + std::size_t(j) * block_rows;
      if (const int b = column.first_refused(at, size); b < size)
        unsuitable(at[b], column.name, column.requirement(), j, first + b + 1);
      double n = 0, sum = 0;
      for (int b = 0; b < size; ++b) {
        const double x = at[b];
        if (std::isnan(x)) continue;
        const double w = weighted ? weight[b] : 1;
        n += w;
        if (column.needs_variance) {
          const double away = x - out.mean(j);
          count(j) += w;
          out.mean(j) += w / count(j) * away;
          out.variance(j) += w * away * (x - out.mean(j));
        } else {
          sum += w * x;
        }
      }
      if (!column.needs_variance) {
        count(j) += n;
        if (count(j) > 0) out.mean(j) += (sum - n * out.mean(j)) / count(j);
      }
    });
  });
  for (int j = 0; j < d; ++j) {
    if (count(j) > 0) out.variance(j) /= count(j);
    if (!(out.variance(j) > least_variance)) out.variance(j) = 1;
  }
  if (!out.mean.allFinite() || !out.variance.allFinite())
    throw Error(Errc::numeric, "the variance of the rows overflows",
                "Values or weights are too large for double precision.",
                "Rescale the columns or the weights.");
  return out;
}

void check_product_prior(const std::vector<std::string> &likelihood, const Document &prior,
                         const std::vector<std::string_view> &others) {
  if (!prior.is_null())
    read_prior(likelihood, prior, others, [](const std::string &, const auto &) {});
}

ProductPosterior make_product_prior(const ProductSurvey &survey,
                                    const std::vector<std::string> &likelihood,
                                    const Document &prior, double k,
                                    const std::vector<std::string_view> &others) {
  const Columns &columns = *survey.columns;
  ProductPosterior out{survey.columns, Matrix(columns.size().posterior, 1)};
  std::vector<std::pair<std::string, std::vector<std::optional<Tensor>>>> given;
  if (!prior.is_null())
    read_prior(likelihood, prior, others, [&](const std::string &family, auto keys) {
      given.emplace_back(family, std::move(keys));
    });
  for (const std::vector<int> &group : columns.by_family()) {
    const char *const family = columns.column(group[0]).name;
    const auto own = std::find_if(given.begin(), given.end(),
                                  [&](const auto &each) { return each.first == family; });
    const std::size_t members = group.size();
    const double share = std::pow(k, -2.0 / double(members));
    for (std::size_t c = 0; c < members; ++c) {
      const int j = group[c];
      const Column &column = columns.column(j);
      const int each = column.numbers_of_name();
      double *const at = out.column(0, j);
      column.default_prior(survey.mean(j), survey.variance(j), share, at);
      if (own == given.end()) continue;
      for (std::size_t key = 0; key < own->second.size(); ++key) {
        const auto &tensor = own->second[key];
        if (!tensor) continue;
        if (tensor->shape.size() > 1 ||
            (tensor->shape.size() == 1 && tensor->values.size() != members))
          throw Error(Errc::invalid_argument,
                      std::string("option \"prior.") +
                          (likelihood.size() == 1 ? "" : family + std::string(".")) +
                          column.prior_keys[key] + "\" is " + describe_shape(tensor->shape) +
                          ", but must be a number or an array of " + std::to_string(members) +
                          " numbers, one for each " + family + " element");
        std::fill_n(at + int(key) * each, each, tensor->values[tensor->shape.empty() ? 0 : c]);
      }
    }
  }
  return out;
}

Document product_prior_options(const ProductPosterior &prior,
                               const std::vector<std::string> &likelihood) {
  Document out = Document::object();
  for (const std::vector<int> &group : prior.columns->by_family()) {
    const Column &family = prior.columns->column(group[0]);
    Document own = Document::object();
    for (std::size_t key = 0; key < family.prior_keys.size(); ++key) {
      Tensor values{{std::int64_t(group.size())}, {}};
      for (const int j : group)
        values.values.push_back(
            prior.column(0, j)[int(key) * prior.columns->column(j).numbers_of_name()]);
      const bool same = std::all_of(values.values.begin(), values.values.end(),
                                    [&](double v) { return v == values.values[0]; });
      if (same)
        own.set(family.prior_keys[key], values.values[0]);
      else
        own.set(family.prior_keys[key], std::move(values));
    }
    if (likelihood.size() == 1)
      out = std::move(own);
    else
      out.set(family.name, std::move(own));
  }
  return out;
}

}  // namespace bayes
