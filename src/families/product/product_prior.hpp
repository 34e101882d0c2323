// What a model of product rows takes from the options and the rows before it begins: the columns,
// and their conjugate prior.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/control.hpp"
#include "data/rows.hpp"
#include "document/document.hpp"
#include "document/options.hpp"
#include "families/product/product_components.hpp"

namespace bayes {

/// of one column
inline constexpr int most_categories = 10000;

/// The family that users call so.
inline std::optional<ColumnKind> likelihood_named(std::string_view name) {
  const auto names = column_family_names();
  const auto at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? std::nullopt : std::optional(ColumnKind(at - names.begin()));
}

/// Option likelihood, or `key`: a name, or an array of names. Throws Error(invalid_argument).
BAYES_API std::vector<std::string> read_likelihood(OptionReader &in,
                                                   const std::vector<std::string> &fallback,
                                                   const char *key = "likelihood");
/// Option categories, null if it is not given, checked as far as that can be before there are rows.
/// Throws Error(invalid_argument).
BAYES_API Document read_categories(OptionReader &in, const std::vector<std::string> &likelihood,
                                   const char *key = "likelihood");
/// What option categories can be checked for before there are rows. Throws Error(invalid_argument).
BAYES_API void check_categories_option(const Document &categories);

/// Makes the values, rising whole numbers, the categories of a column.
inline void set_categories(ColumnSpec &spec, std::vector<double> values) {
  spec.categories = int(values.size());
  const bool plain = values.front() == 0 && values.back() == double(values.size()) - 1;
  spec.values = plain ? std::vector<double>() : std::move(values);
}

/// The columns of the rows, every value checked against its likelihood, and what the default prior
/// is made of.
struct ProductSurvey {
  SharedColumns columns;
  /// of all rows
  double weight = 0;
  /// d, of the values that are not missing; maximum likelihood; the variance where the family needs
  /// it, else and for a constant column 1
  Vector mean, variance;
};

/// `likelihood`: one name of a column family for all elements, or one for each. The categories of
/// an element are the whole numbers that it takes in the rows, and those that `categories` adds:
/// null, or a number n or an array of d numbers (0 for other elements): 0 .. n - 1, or 1 .. n if no
/// categorical element is 0 or negative. Throws Error: invalid_argument naming row and element for
/// a value that the likelihood does not know, or for names that are not as many as elements;
/// too_large for too many categories.
BAYES_API ProductSurvey survey_product(RowSource &rows, const std::vector<std::string> &likelihood,
                                       const Document &categories, Control &control);
/// The same with columns that are known, for instance those of a fitted model.
BAYES_API ProductSurvey survey_product(RowSource &rows, const SharedColumns &columns,
                                       Control &control);

/// Throws Error(invalid_argument) unless `likelihood` is one name or has d.
BAYES_API void check_likelihood_count(const std::vector<std::string> &likelihood, int d,
                                      const char *key = "likelihood");

/// Throws Error(invalid_argument) for an element of a row that its column does not know; with `row`
/// from 1, or 0 for the row of a scalar function. NaN is missing.
BAYES_API void check_product_row(const Columns &columns, std::span<const double> x,
                                 std::int64_t row = 0);

/// Checks the keys of a prior for these likelihoods before there are rows; see make_product_prior.
BAYES_API void check_product_prior(const std::vector<std::string> &likelihood,
                                   const Document &prior,
                                   const std::vector<std::string_view> &others = {});

/// The prior of one component. `prior`, null or an object, has the keys of the column family if
/// there is one `likelihood`, else an object of them for each family: numbers, or arrays with one
/// for each element of that family. `others`: keys that are read elsewhere. What is not given is
/// the family's default_prior.
BAYES_API ProductPosterior make_product_prior(const ProductSurvey &survey,
                                              const std::vector<std::string> &likelihood,
                                              const Document &prior, double k,
                                              const std::vector<std::string_view> &others = {});

/// The prior in force, as options can give it.
BAYES_API Document product_prior_options(const ProductPosterior &prior,
                                         const std::vector<std::string> &likelihood);

}  // namespace bayes
