// The columns of a model of product rows and their conjugate prior, from the options and the rows.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/control.hpp"
#include "data/rows.hpp"
#include "document/document.hpp"
#include "families/product/product_components.hpp"
#include "families/product/product_options.hpp"

namespace bayes {

/// The columns of the rows, every value checked against its likelihood, and what the default prior
/// is made of.
struct ProductSurvey {
  SharedColumns columns;
  /// of all rows
  double weight = 0;
  /// d, of the elements (column.hpp) that are not missing, maximum likelihood estimates; the
  /// variance is 1 if the family does not need it or the column is constant
  Vector mean, variance;
  /// d: the family needs the variance, and the column has one value only
  std::vector<bool> constant;
  /// weight of the rows that have no value at all
  double unobserved = 0;
};

/// `likelihood`: one for all elements, or one for each. The categories of
/// an element are the whole numbers that it takes in the rows, and those that `categories` adds:
/// null, or a number n or an array of d numbers (0 for other elements): 0 .. n - 1, or 1 .. n if no
/// categorical element is 0 or negative. Throws Error: invalid_argument naming row and element for
/// a value that the likelihood does not allow, or if there are not as many likelihoods as elements;
/// too_large for too many categories.
BAYES_API ProductSurvey survey_product(RowSource &rows, const std::vector<ColumnSpec> &likelihood,
                                       const Document &categories, Control &control);
/// The same with given columns, for instance those of a fitted model.
BAYES_API ProductSurvey survey_product(RowSource &rows, const SharedColumns &columns,
                                       Control &control);

/// Columns with the categories that these have, and those that the rows add; the same ones if they
/// add none. Throws Error as survey_product() does.
BAYES_API SharedColumns with_categories_of(RowSource &rows, const SharedColumns &columns,
                                           Control &control);

/// The same columns with the codes of labels changed from those that they have `before` to those
/// `now`, where all of them are.
BAYES_API SharedColumns with_labels_of(const Columns &columns, const RowColumns &before,
                                       const RowColumns &now);

// Components of some columns as ones of columns with more categories (with_categories_of).

/// A new category has the number that it has in `prior`, of those columns.
BAYES_API ProductPosterior widened(const ProductPosterior &q, const ProductPosterior &prior);
/// A new category has the probability that its number in `prior` gives it beside the component's
/// `counts` rows.
BAYES_API ProductPoint widened(const ProductPoint &point, const Vector &counts,
                               const ProductPosterior &prior);

/// Throws Error(invalid_argument) for an element of the row of a scalar function that its column
/// does not know; `names` are those of the model's rows, or empty. NaN is missing.
BAYES_API void check_product_row(const Columns &columns, const RowColumns &names,
                                 std::span<const double> x);

/// The prior of one component. Given keys are numbers, or arrays with one for each element of that
/// family; what is not given is the family's default_prior. Throws Error(invalid_argument) for
/// arrays of another length.
BAYES_API ProductPosterior make_product_prior(const ProductSurvey &survey,
                                              const std::vector<ColumnSpec> &likelihood,
                                              const ProductPriorKeys &given, double k);

/// Throws Error(invalid_argument) naming the first element whose prior has no mode.
void require_mode(const ProductPosterior &prior);

/// The prior in force, in the form of options.
BAYES_API Document product_prior_options(const ProductPosterior &prior,
                                         const std::vector<ColumnSpec> &likelihood);

}  // namespace bayes
