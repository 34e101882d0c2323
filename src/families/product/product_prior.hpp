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

/// The columns of the rows, with every value checked against its likelihood, and the moments from
/// which default priors are made.
struct ProductSurvey {
  SharedColumns columns;
  /// total weight of all rows
  double weight = 0;
  /// d, of the elements (column.hpp) that are not missing, maximum likelihood estimates; the
  /// variance is 1 if the family does not need it or the column is constant
  Vector mean, variance;
  /// d: the family needs the variance, and the column has one value only
  std::vector<bool> constant;
  /// total weight of the rows without observed elements
  double unobserved = 0;
};

/// Surveys the rows. `likelihood`: one for all elements, or one for each. The categories of an
/// element are the whole numbers that occur in the rows, and those that `categories` adds: null, a
/// number n, or an array of d numbers (0 for elements that are not categorical) adds 0 .. n - 1, or
/// 1 .. n if no categorical element is 0 or negative. Throws Error: invalid_argument naming row and
/// element for a value that the likelihood does not allow, or if there are not as many likelihoods
/// as elements; too_large for too many categories.
BAYES_API ProductSurvey survey_product(RowSource &rows, const std::vector<ColumnSpec> &likelihood,
                                       const Document &categories, Control &control);
/// The same with given columns, for instance those of a fitted model.
BAYES_API ProductSurvey survey_product(RowSource &rows, const SharedColumns &columns,
                                       Control &control);

/// These columns with the categories that the rows add; `columns` itself if the rows add none.
/// Throws Error as survey_product() does.
BAYES_API SharedColumns with_categories_of(RowSource &rows, const SharedColumns &columns,
                                           Control &control);

/// The passes of a survey that other servers make for it.
extern const PassOver<PartOfRows> categories_pass, product_survey_pass;

/// Throws Error(invalid_argument) if a value is not allowed by its column, and Error(invalid_text)
/// unless write_columns() has made `columns`, for rows of this dimension.
BAYES_API void require_allowed_values(RowSource &rows, const Document &columns, Control &control);

/// Kernels trust their rows, so a sample that other servers have sent is checked before it is used:
/// throws Error(invalid_binary) if a value is not allowed by its column.
BAYES_API void require_allowed_sample(RowSource &sample, const Columns &columns, Control &control);

/// The same columns with categories renumbered from the label codes of `before` to those of `now`,
/// which has all labels of `before`.
BAYES_API SharedColumns with_labels_of(const Columns &columns, const RowColumns &before,
                                       const RowColumns &now);

// Components of some columns, widened to columns with more categories (with_categories_of).

/// A new category has its Dirichlet parameter in `prior`, which has the wider columns.
BAYES_API ProductPosterior widened(const ProductPosterior &q, const ProductPosterior &prior);
/// New categories are counted as often as their Dirichlet parameters in `prior`, known ones as
/// often as they are expected in the component's `counts` rows; the counts are normalised to
/// probabilities.
BAYES_API ProductPoint widened(const ProductPoint &point, const Vector &counts,
                               const ProductPosterior &prior);

/// Checks a row x given to a scalar function: throws Error(invalid_argument) for an element that
/// its column does not allow. NaN is a missing element. `names`: the columns of the model's rows,
/// or empty.
BAYES_API void check_product_row(const Columns &columns, const RowColumns &names,
                                 std::span<const double> x);

/// The prior of one component. Each key that is given is a number, or an array with a number for
/// each element of its family; the others have the family's default_prior for k components. Throws
/// Error(invalid_argument) for arrays of another length.
BAYES_API ProductPosterior make_product_prior(const ProductSurvey &survey,
                                              const std::vector<ColumnSpec> &likelihood,
                                              const ProductPriorKeys &given, double k);

/// Throws Error(invalid_argument) naming the first element whose prior has no mode.
void require_mode(const ProductPosterior &prior);

/// The prior in force, in the form of options.
BAYES_API Document product_prior_options(const ProductPosterior &prior,
                                         const std::vector<ColumnSpec> &likelihood);

}  // namespace bayes
