// Options of models whose rows are independent columns, as far as they can be read before the rows:
// likelihoods, categories and priors.
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

/// Families that models choose by default.
inline constexpr const char *bernoulli_family = "bernoulli", *categorical_family = "categorical",
                            *normal_family = "normal";

// A likelihood is a ColumnSpec without categories. As an option it is the name of a column family,
// or an object with the name and the family's known parameters: {"family": "binomial", "trials":
// 10}.

/// The likelihood with this family, which must exist and have no known parameters.
BAYES_API ColumnSpec likelihood_of(std::string_view family);

/// Reads option `key`, a likelihood or an array of them. Throws Error(invalid_argument).
BAYES_API std::vector<ColumnSpec> read_likelihood(const Document &given,
                                                  const char *key = "likelihood");
/// Is the option one likelihood, and not an object with a likelihood for each of some columns?
/// `has_column`: there is, or may be, a column called family.
BAYES_API bool is_one_likelihood(const Document &given, bool has_column = false);
/// The likelihood as an option.
BAYES_API Document likelihood_document(const ColumnSpec &likelihood);
/// The likelihood in messages: "poisson", "binomial with trials 10".
BAYES_API std::string describe_likelihood(const ColumnSpec &likelihood);
/// The likelihoods as an option: an array, or, if there is only one and not `as_array`, the
/// likelihood by itself.
BAYES_API Document likelihood_document(const std::vector<ColumnSpec> &likelihood,
                                       bool as_array = false);
/// Reads a likelihood of a model's document; nullopt if it is not valid.
BAYES_API std::optional<ColumnSpec> stored_likelihood(const Document &stored);
/// The likelihoods of `size` columns as a member of a pass (data/pass.hpp).
template <class F>
void likelihood_fields(F &f, const char *key, std::vector<ColumnSpec> &likelihoods,
                       std::size_t size) {
  f.list(
      key, likelihoods, size, [](const ColumnSpec &each) { return likelihood_document(each); },
      [&f](const Document &from) {
        const std::optional<ColumnSpec> out = stored_likelihood(from);
        f.require(out.has_value());
        return *out;
      });
}
/// Are all the same?
BAYES_API bool all_equal(const std::vector<ColumnSpec> &likelihood);
/// Throws Error(invalid_argument) unless there are one or d likelihoods.
BAYES_API void check_likelihood_count(const std::vector<ColumnSpec> &likelihood, int d,
                                      const char *key = "likelihood");
/// For a fit that starts from a model with likelihood `known` and d columns: throws
/// Error(invalid_argument) unless `given`, option likelihood, is the same.
BAYES_API void require_likelihood_of_start(const std::vector<ColumnSpec> &given,
                                           const std::vector<ColumnSpec> &known, int d);
/// Throws Error(invalid_argument) if the method does not apply to a family; `key` names the option
/// of the likelihood.
BAYES_API void check_method(Method method, const ColumnTraits &family,
                            const char *key = "likelihood");
BAYES_API void check_method(Method method, const std::vector<ColumnSpec> &likelihood,
                            const char *key = "likelihood");

/// The value of option likelihood for rows with these columns. By default numbers are normal,
/// booleans bernoulli and labels categorical. The given option has precedence: one likelihood is
/// for all columns of numbers, an array has one for each column, an object one for each column that
/// it names. Returns a single likelihood if all columns have the same, unless an array or an object
/// was given. `key`: the name of the option. Throws Error(invalid_argument).
BAYES_API Document likelihood_of_columns(const Document *given, const RowColumns &columns,
                                         const char *key = "likelihood");

/// Declares option categories, which is kept as given (null if it was not given). `key`: the name
/// of the likelihood option.
void categories_line(OptionTable &t, Document &categories,
                     const std::vector<ColumnSpec> &likelihood, const char *key = "likelihood",
                     bool applies = true);
/// Checks option categories as far as that is possible before rows are read: throws
/// Error(invalid_argument) unless it is a number of categories or an array of such numbers.
BAYES_API Tensor read_categories(const Document &given);

/// Keys of the priors of column families, as far as they were given.
struct BAYES_API ProductPriorKeys {
  /// for each family the values of its keys (prior_keys, column.hpp)
  std::vector<std::pair<std::string, std::vector<std::optional<Tensor>>>> families;

  /// Declares the keys: with one likelihood directly in the prior (or below the family's name),
  /// with several always below the family's name.
  void lines(OptionTable &t, const std::vector<ColumnSpec> &likelihood);
};

}  // namespace bayes
