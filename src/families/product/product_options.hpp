// Options of models whose rows are independent columns, before there are rows: names of families,
// categories and priors.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "document/option_table.hpp"
#include "document/row_columns.hpp"

namespace bayes {

/// of one column
inline constexpr int most_categories = 10000;

/// Families that models name by themselves.
inline constexpr const char *bernoulli_family = "bernoulli", *categorical_family = "categorical",
                            *normal_family = "normal";

/// What option likelihood, or `key`, gives: the name of a column family, or an array of names.
/// Throws Error(invalid_argument).
BAYES_API std::vector<std::string> read_likelihood(const Document &given,
                                                   const char *key = "likelihood");
/// The names as an option: a name if there is one, and if not `as_array`.
BAYES_API Document likelihood_document(const std::vector<std::string> &names,
                                       bool as_array = false);
/// Throws Error(invalid_argument) unless `likelihood` is one name or has d.
BAYES_API void check_likelihood_count(const std::vector<std::string> &likelihood, int d,
                                      const char *key = "likelihood");

/// Option likelihood of rows with these columns: numbers are normal, booleans bernoulli and labels
/// categorical, unless the option as it was given says otherwise: a name is of all numbers, an
/// array has one for each column, an object one for each column that it names. One name if it is of
/// all columns. `key`: of the option. Throws Error(invalid_argument).
BAYES_API Document likelihood_of_columns(const Document *given, const RowColumns &columns,
                                         const char *key = "likelihood");

/// Option categories, kept as it was given, null if it was not; `key` names the likelihood.
void categories_line(OptionTable &t, Document &categories,
                     const std::vector<std::string> &likelihood, const char *key = "likelihood",
                     bool applies = true);
/// What option categories can be checked for before there are rows: throws Error(invalid_argument)
/// unless it is a number of categories or an array of such numbers.
BAYES_API Tensor read_categories(const Document &given);

/// Keys of the priors of column families, as far as they were given.
struct BAYES_API ProductPriorKeys {
  /// of each family the numbers of its keys (prior_keys, column.hpp)
  std::vector<std::pair<std::string, std::vector<std::optional<Tensor>>>> families;

  /// With one name in `likelihood` its keys stand for themselves, else below the family's name.
  void lines(OptionTable &t, const std::vector<std::string> &likelihood);
};

}  // namespace bayes
