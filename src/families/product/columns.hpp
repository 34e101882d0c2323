// The columns of a row, each with its family, for code that does not loop over rows: what a family
// knows (column.hpp) behind virtual functions. Such code is compiled without the families, and a
// family's header is seen by few files. The list of families is in column_families.hpp.
#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "families/marginal.hpp"
#include "families/product/column_names.hpp"

namespace bayes {

/// Bounds that keep the likelihood of a point, and so the logarithms in it, finite (001 asks for
/// [MIN, 1 - MIN]). They bound what would make other allowed values impossible, and nothing else: a
/// mean may be as large as the data say.
struct ColumnBounds {
  /// of probabilities of values, of means of counts; of variances as shares of `variance`, of means
  /// of waiting times as shares of its root
  double minimum = 1e-6;
  /// of the column over all rows
  double variance = 1;
  /// a component with no more weight than this keeps its previous parameters
  double least_weight = 0;
};

/// How many numbers of every kind, or where they begin.
struct ColumnOffsets {
  int point = 0, posterior = 0, statistics = 0, terms = 0, sums = 0, forms = 0;
};

/// Which family: its position in the list.
enum class ColumnKind : char {};

/// What a column is, as models say it.
struct ColumnSpec {
  ColumnKind kind = {};
  /// of a categorical column, at least 1, or 0 while nobody has looked at the rows; else 0
  int categories = 0;
  /// the categories, rising whole numbers no further apart than CategoryCodes::widest; empty: 0 ..
  /// categories - 1
  std::vector<double> values = {};

  BAYES_API const char *name() const;
  /// Are its values whole numbers, 0 among them, that have an order: counts, and booleans?
  BAYES_API bool counts() const;
  /// Makes the values, increasing whole numbers, the categories of the column.
  BAYES_API void set_categories(std::vector<double> categorical);
  bool operator==(const ColumnSpec &) const = default;
};

/// What holds for all columns of a family, see the concept ColumnFamily (column.hpp).
struct ColumnTraits {
  const char *name, *mode_requirement;
  std::span<const char *const> parameters, prior_keys;
  bool ordered, by_value, probabilities, needs_variance;
};

/// A column's family. Members mean what those of the concept ColumnFamily mean (column.hpp).
class BAYES_API Column : public ColumnTraits {
 public:
  explicit Column(const ColumnTraits &traits) : ColumnTraits(traits) {}
  virtual ~Column() = default;

  virtual bool allowed(double x) const = 0;
  /// The first of n values that is neither allowed nor NaN; n if there is none.
  virtual int first_refused(const double *x, int n) const = 0;
  virtual std::string requirement() const = 0;
  virtual double element(double x) const = 0;
  virtual double value(double x) const = 0;
  virtual double stabilised(double x, double variance) const = 0;

  virtual int numbers_of_name() const = 0;
  /// all sizes
  virtual ColumnOffsets size() const = 0;
  virtual int free_parameters() const = 0;

  virtual void maximum_likelihood(const double *statistics, const double *previous,
                                  const ColumnBounds &bounds, double *point) const = 0;
  virtual bool at_bound(const double *point, const ColumnBounds &bounds) const = 0;
  virtual void maximum_posterior(const double *statistics, const double *prior,
                                 double *point) const = 0;
  virtual void default_prior(double mean, double variance, double share, double *prior) const = 0;
  virtual bool has_mode(const double *prior) const = 0;
  virtual double log_prior(const double *point, const double *prior) const = 0;
  virtual double mean(const double *point) const = 0;
  virtual double variance(const double *point) const = 0;
  virtual bool allowed_mean(double x) const = 0;
  virtual void set_mean(double mean, double variance, double *point) const = 0;
  virtual double sample(const double *point, Random &random) const = 0;
  virtual double log_overlap(const double *one, const double *other) const = 0;
  virtual void complete(double *point) const = 0;
  virtual bool valid_point(const double *point) const = 0;

  virtual void posterior(const double *statistics, const double *prior, double *q) const = 0;
  virtual double divergence(const double *q, const double *prior) const = 0;
  virtual void natural_gradient_step(const double *q, const double *target, double rho,
                                     double *out) const = 0;
  virtual void point_estimate(const double *q, double *point) const = 0;
  virtual double predictive_mean(const double *q) const = 0;
  virtual double predictive_variance(const double *q) const = 0;
  virtual double log_marginal_likelihood(const double *statistics, const double *prior) const = 0;
  virtual void draw(const double *q, Random &random, double *point) const = 0;
  virtual void deviations(const double *q, double *out) const = 0;
  virtual void marginals(const double *q, Marginal *out) const = 0;
  virtual void natural_parameters(const double *q, const double *about, double *out) const = 0;
  virtual void from_natural_parameters(const double *natural, const double *about,
                                       double *q) const = 0;
  virtual void covariances(const double *q, double *phi, double *named) const = 0;
  virtual bool valid_posterior(const double *q) const = 0;

  virtual void scale(double factor, double *statistics) const = 0;
  virtual void add(double x, double *statistics) const = 0;
  virtual void add(double x, double weight, double *statistics) const = 0;
  virtual void merge(const double *other, double *statistics) const = 0;
  virtual double log_carrier(double x) const = 0;
  virtual double log_likelihood(const double *point, const double *statistics) const = 0;

  virtual double point_terms(const double *point, double *terms) const = 0;
  virtual double expected_terms(const double *q, double *terms) const = 0;
  virtual void statistics(double weight, const double *sums, const double *terms,
                          double *out) const = 0;
};

/// Every family of the list, in its order; a categorical one without categories.
BAYES_API std::span<const Column *const> every_column_family();
/// The family that users call so.
BAYES_API std::optional<ColumnKind> likelihood_named(std::string_view name);

inline const Column &column_family(ColumnKind kind) {
  return *every_column_family()[std::size_t(kind)];
}

/// Is it a column of categories?
inline bool is_categorical(const ColumnSpec &spec) { return column_family(spec.kind).by_value; }

struct ColumnGroups;  // column_families.hpp

/// The columns of a row. A component's numbers stand group by group, columns of one family
/// together, so that loops over columns know theirs.
class BAYES_API Columns {
 public:
  explicit Columns(std::vector<ColumnSpec> specs);
  ~Columns();
  Columns(const Columns &) = delete;
  Columns &operator=(const Columns &) = delete;

  int count() const { return int(specs_.size()); }
  const std::vector<ColumnSpec> &specs() const { return specs_; }
  const Column &column(int j) const { return *columns_[std::size_t(j)]; }
  /// of a whole component
  const ColumnOffsets &size() const { return size_; }
  /// where a column's numbers begin
  const ColumnOffsets &offsets(int column) const { return offsets_[std::size_t(column)]; }
  /// The numbers of the columns with one family, rising, for every family that has columns here.
  const std::vector<std::vector<int>> &by_family() const { return by_family_; }

  /// f(column's number, column, offsets) for every column, group by group.
  template <class Function> void for_each(Function f) const {
    for (const std::vector<int> &group : by_family_)
      for (const int j : group) f(j, column(j), offsets(j));
  }

  /// For loops over rows, which know the families.
  const ColumnGroups &groups() const { return *groups_; }

 private:
  std::vector<ColumnSpec> specs_;
  std::vector<std::unique_ptr<const Column>> columns_;
  std::vector<ColumnOffsets> offsets_;
  ColumnOffsets size_;
  std::vector<std::vector<int>> by_family_;
  std::unique_ptr<const ColumnGroups> groups_;
};

/// The values of a categorical column, rising; none of others.
BAYES_API std::vector<double> categories_of(const Column &column);
/// The names of the columns' families.
BAYES_API std::vector<std::string> names_of(const Columns &columns);

}  // namespace bayes
