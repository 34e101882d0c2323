// The terms of a regression: the numbers to which the columns of a row are expanded, and the names
// of the coefficients.
//
// A column of numbers is one term with the column's name; so is one of booleans, with 1 for true. A
// column of labels has an indicator, "column=label", for every label but one, the reference, with
// which the coefficients compare the others. A product of columns has the products of their terms,
// "age:type=van". The first term is the intercept, a 1 in every row.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/api.hpp"
#include "document/document.hpp"
#include "document/row_columns.hpp"

namespace bayes {

/// The largest number of terms of a regression: its matrices have the square of it.
inline constexpr int max_terms = 5000;
/// The largest number of columns of a regression's rows.
inline constexpr int max_predictors = max_terms;
/// The largest number of factors of a term.
inline constexpr int max_factors = 8;

/// The name of the term that is 1 in every row.
inline constexpr const char *intercept_name = "(intercept)";

/// Throws Error(too_large) for more terms than max_terms; it names the one of `columns` with most
/// labels.
BAYES_API void require_terms(std::int64_t terms, const RowColumns &columns);

/// The names of columns; without any, for arrays of `dimension` numbers, x1, x2, ....
BAYES_API std::vector<std::string> column_names(const RowColumns &columns, int dimension);

/// A factor of a term.
struct TermFactor {
  int column = 0;
  /// the code of the label that it indicates; -1: the factor is the column's number itself
  int label = -1;
};

class BAYES_API RegressionTerms {
 public:
  RegressionTerms() = default;
  /// `columns`: of the rows, or empty if they are arrays of `dimension` numbers, whose terms are
  /// x1, x2, .... `reference`: option reference, an object with a label for any column of labels;
  /// null for none. `apart`: indices of columns that are no terms; negative ones are ignored.
  /// `listed`: option terms, which names columns and products of columns; if it is empty, each
  /// column but those apart is one. Throws Error(invalid_argument) for an invalid reference or
  /// list, Error(too_large) for more than max_terms.
  RegressionTerms(const RowColumns &columns, int dimension, bool intercept,
                  const Document &reference = {}, std::span<const int> apart = {},
                  std::span<const std::string> listed = {});

  /// As arguments of a pass (data/pass.hpp) over rows of this dimension, of which the response is
  /// the first element; read without names.
  template <class F> void fields(F &f, int dimension) {
    std::vector<double> columns, labels, ends(ends_.begin(), ends_.end());
    for (const TermFactor &factor : factors_) {
      columns.push_back(factor.column);
      labels.push_back(factor.label);
    }
    f.numbers("columns", columns);
    f.numbers("labels", labels, columns.size());
    f.numbers("ends", ends);
    if constexpr (F::reading) f.require(take(columns, labels, ends, dimension - 1));
  }

  /// A copy without names, for expanding rows only.
  RegressionTerms unnamed() const;

  int size() const { return int(ends_.size()); }
  bool intercept() const { return is_intercept(0); }
  /// The factors of a term, whose product it is; none for the intercept.
  std::span<const TermFactor> operator[](int term) const {
    const std::size_t begin = term > 0 ? std::size_t(ends_[std::size_t(term) - 1]) : 0;
    return {factors_.data() + begin, std::size_t(ends_[std::size_t(term)]) - begin};
  }
  bool is_intercept(int term) const { return term == 0 && !ends_.empty() && ends_[0] == 0; }
  /// UTF-8; for the intercept intercept_name
  const std::string &name(int term) const { return names_[std::size_t(term)]; }
  const std::vector<std::string> &names() const { return names_; }
  /// Option reference with all defaults filled in: the reference label of every column of labels
  /// that has any, by the column's name.
  const Document &reference() const { return reference_; }
  /// The names that products with reference labels would have; their coefficients are 0.
  const std::vector<std::string> &reference_products() const { return reference_products_; }

  /// The terms of one row, size() numbers. False if an element is missing (NaN): then the terms are
  /// unknown, and so is any prediction from them.
  bool expand(std::span<const double> row, double *out) const;

  /// The terms of the first `rows` rows of a packed block (data/rows.hpp), whose feature `first` is
  /// the first column: term t of row b at out[t * block_rows + b]. Terms of rows past `rows` are
  /// set to 0. No element may be missing.
  void expand_block(const double *block, int first, int rows, double *out) const;

 private:
  void add(std::string name, std::span<const TermFactor> factors);
  /// Adds the terms of a product of columns, of which that of number j has the reference label
  /// references[j].
  void add_product(const RowColumns &columns, std::span<const int> product,
                   std::span<const int> references);
  /// Takes numbers that another server claims to be those of terms of this many columns; false if
  /// they cannot be.
  bool take(std::span<const double> columns, std::span<const double> labels,
            std::span<const double> ends, int dimension);

  std::vector<TermFactor> factors_;
  /// for each term the index past its last factor
  std::vector<int> ends_;
  std::vector<std::string> names_, reference_products_;
  Document reference_ = Document::object();
};

/// The weights of a contrast, one for each term, and for each of the prefixes that names of terms
/// have in turn. `given`: an object with numbers by these names; terms that it does not name have
/// weight 0, and the reference label of a column may be named like a term, also in products. Throws
/// Error(invalid_argument) for anything else, for an unknown name, and for an object without
/// members.
BAYES_API std::vector<double> contrast_weights(const Document &given, const RegressionTerms &terms,
                                               std::span<const std::string> prefixes,
                                               const std::optional<std::string> &reference_prefix);

/// "x", "y" and 3 more
BAYES_API std::string list_of_terms(const std::vector<std::string> &names);

/// The option reference before the columns are known: null, or an object whose members are texts.
/// Throws Error(invalid_argument).
BAYES_API void check_reference(const Document &reference);

/// The entries of option terms before the columns are known. Throws Error(invalid_argument) unless
/// it is a list of texts, Error(too_large) for more than max_terms.
BAYES_API std::vector<std::string> listed_terms(const Document &given);

// The standardisation of a regression's terms, which makes them of comparable size.

/// Learners see a term x of a row as z = (x - centre) / scale, so that nothing depends on units or
/// the origin, and no digits cancel. The intercept's z is 1.
///
/// Centre: with an intercept the mean, else 0. Scale: 1 for a term that is 0 or 1 in every row; for
/// others the weighted standard deviation over all rows, or without an intercept the root mean
/// square; 1 if that is 0.
struct TermScales {
  std::vector<double> centre, scale;
};

}  // namespace bayes
