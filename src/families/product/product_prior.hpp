// The columns of a model of product rows and their conjugate prior, from the options and the rows.
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

/// The column family of this name in options.
inline std::optional<ColumnKind> likelihood_named(std::string_view name) {
  const auto names = column_family_names();
  const auto at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? std::nullopt : std::optional(ColumnKind(at - names.begin()));
}

/// Option likelihood, or `key`: a name or an array of names. Throws Error(invalid_argument).
BAYES_API std::vector<std::string> read_likelihood(OptionReader &in,
                                                   const std::vector<std::string> &fallback,
                                                   const char *key = "likelihood");
/// Option categories, null if it is not given, checked as far as is possible before there are rows.
/// Throws Error(invalid_argument).
BAYES_API Document read_categories(OptionReader &in, const std::vector<std::string> &likelihood,
                                   const char *key = "likelihood");
/// Checks option categories as far as is possible before there are rows. Throws
/// Error(invalid_argument).
BAYES_API void check_categories_option(const Document &categories);

/// Makes the values, increasing whole numbers, the categories of a column.
inline void set_categories(ColumnSpec &spec, std::vector<double> values) {
  spec.categories = int(values.size());
  const bool plain = values.front() == 0 && values.back() == double(values.size()) - 1;
  spec.values = plain ? std::vector<double>() : std::move(values);
}

/// The columns of the rows, every value checked against its likelihood, and the moments for the
/// default prior.
struct ProductSurvey {
  SharedColumns columns;
  /// of all rows
  double weight = 0;
  /// d, maximum likelihood estimates from the values that are not missing; the variance is 1 if the
  /// family does not need it or the column is constant
  Vector mean, variance;
};

/// `likelihood`: one name of a column family for all elements, or one for each. The categories of
/// an element are the whole numbers that it takes in the rows, and those that `categories` adds:
/// null, or a number n or an array of d numbers (0 for other elements): 0 .. n - 1, or 1 .. n if no
/// categorical element is 0 or negative. Throws Error: invalid_argument naming row and element for
/// a value that the likelihood does not allow, or if there are not as many names as elements;
/// too_large for too many categories.
BAYES_API ProductSurvey survey_product(RowSource &rows, const std::vector<std::string> &likelihood,
                                       const Document &categories, Control &control);
/// The same with given columns, for instance those of a fitted model.
BAYES_API ProductSurvey survey_product(RowSource &rows, const SharedColumns &columns,
                                       Control &control);

/// Throws Error(invalid_argument) unless `likelihood` is one name or has d.
BAYES_API void check_likelihood_count(const std::vector<std::string> &likelihood, int d,
                                      const char *key = "likelihood");

/// Throws Error(invalid_argument) for a value that its column does not allow; `row` counts from 1,
/// or is 0 for the row of a scalar function. NaN is missing.
BAYES_API void check_product_row(const Columns &columns, std::span<const double> x,
                                 std::int64_t row = 0);

/// Checks the keys of a prior for these likelihoods before there are rows; see make_product_prior.
BAYES_API void check_product_prior(const std::vector<std::string> &likelihood,
                                   const Document &prior,
                                   const std::vector<std::string_view> &others = {});

/// The prior of one component. `prior`, null or an object, has the keys of the column family if
/// there is one `likelihood`, else an object of them for each family: numbers, or arrays with one
/// for each element of that family. `others`: keys that are read elsewhere. Keys that are not given
/// default to the family's default_prior.
BAYES_API ProductPosterior make_product_prior(const ProductSurvey &survey,
                                              const std::vector<std::string> &likelihood,
                                              const Document &prior, double k,
                                              const std::vector<std::string_view> &others = {});

/// The prior in force, in the form of options.
BAYES_API Document product_prior_options(const ProductPosterior &prior,
                                         const std::vector<std::string> &likelihood);

}  // namespace bayes
