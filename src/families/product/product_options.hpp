// Options of models whose rows are independent columns, before there are rows: names of families,
// categories and priors.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "document/option_table.hpp"
#include "document/row_columns.hpp"
#include "families/product/columns.hpp"

namespace bayes {

/// of one column
inline constexpr int max_categories = 10000;

/// Families that models choose by themselves.
inline constexpr const char *bernoulli_family = "bernoulli", *categorical_family = "categorical",
                            *normal_family = "normal";

// A likelihood is a ColumnSpec without categories. As an option it is the name of a column family,
// or an object with the name and the family's known parameters: {"family": "binomial", "trials":
// 10}.

/// The likelihood of this family, which exists and has no known parameters.
BAYES_API ColumnSpec likelihood_of(std::string_view family);

/// What option likelihood, or `key`, gives: a likelihood, or an array of them. Throws
/// Error(invalid_argument).
BAYES_API std::vector<ColumnSpec> read_likelihood(const Document &given,
                                                  const char *key = "likelihood");
/// Is an option that is an object one likelihood, and not an object by column? A column may be
/// called family; `has_column`: one is, or may be.
BAYES_API bool is_one_likelihood(const Document &given, bool has_column = false);
/// The likelihood as an option.
BAYES_API Document likelihood_document(const ColumnSpec &likelihood);
/// The likelihood in messages: "poisson", "binomial with trials 10".
BAYES_API std::string describe_likelihood(const ColumnSpec &likelihood);
/// The likelihoods as an option: one by itself if there is one, and if not `as_array`.
BAYES_API Document likelihood_document(const std::vector<ColumnSpec> &likelihood,
                                       bool as_array = false);
/// A likelihood of a model's document; nullopt if it is none.
BAYES_API std::optional<ColumnSpec> stored_likelihood(const Document &stored);
/// Are all the same?
BAYES_API bool all_equal(const std::vector<ColumnSpec> &likelihood);
/// Throws Error(invalid_argument) unless there is one likelihood, or there are d.
BAYES_API void check_likelihood_count(const std::vector<ColumnSpec> &likelihood, int d,
                                      const char *key = "likelihood");
/// Throws Error(invalid_argument) if the method does not apply to a family; `key` names the option
/// of the likelihood.
BAYES_API void check_method(Method method, const ColumnTraits &family,
                            const char *key = "likelihood");
BAYES_API void check_method(Method method, const std::vector<ColumnSpec> &likelihood,
                            const char *key = "likelihood");

/// Option likelihood of rows with these columns: numbers are normal, booleans bernoulli and labels
/// categorical, unless the option as it was given says otherwise: one likelihood is of all numbers,
/// an array has one for each column, an object one for each column that it names. One likelihood if
/// it is of all columns. `key`: of the option. Throws Error(invalid_argument).
BAYES_API Document likelihood_of_columns(const Document *given, const RowColumns &columns,
                                         const char *key = "likelihood");

/// Option categories, kept as it was given, null if it was not; `key` names the likelihood.
void categories_line(OptionTable &t, Document &categories,
                     const std::vector<ColumnSpec> &likelihood, const char *key = "likelihood",
                     bool applies = true);
/// What option categories can be checked for before there are rows: throws Error(invalid_argument)
/// unless it is a number of categories or an array of such numbers.
BAYES_API Tensor read_categories(const Document &given);

/// Keys of the priors of column families, as far as they were given.
struct BAYES_API ProductPriorKeys {
  /// of each family the numbers of its keys (prior_keys, column.hpp)
  std::vector<std::pair<std::string, std::vector<std::optional<Tensor>>>> families;

  /// With one likelihood its keys stand for themselves, else below the family's name.
  void lines(OptionTable &t, const std::vector<ColumnSpec> &likelihood);
};

}  // namespace bayes
