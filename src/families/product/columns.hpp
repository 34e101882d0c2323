// The columns of a row, each with its family, for code that does not loop over rows. Such code uses
// families through their interface (column.hpp), so that few files include a family's header. The
// list of families is in column_families.hpp.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "families/product/column.hpp"

namespace bayes {

/// A family, by its position in the list.
enum class ColumnKind : char {};

/// The description of a column in models: its likelihood and its categories.
struct ColumnSpec {
  ColumnKind kind = {};
  /// number of categories: at least 1 for a categorical column, or 0 before the rows are read; 0
  /// for others
  int categories = 0;
  /// the categories: whole numbers in ascending order, within CategoryCodes::widest of each other;
  /// empty: 0 .. categories - 1
  std::vector<double> values = {};
  /// the values of the family's known parameters
  std::vector<double> known = {};

  BAYES_API const char *name() const;
  bool is(std::string_view family) const { return name() == family; }
  /// Is the likelihood the same, known parameters included?
  bool same_likelihood(const ColumnSpec &other) const {
    return kind == other.kind && known == other.known;
  }
  /// Are its values counts or booleans: ordered whole numbers that include 0?
  BAYES_API bool counts() const;
  /// Sets the categories of the column: whole numbers in ascending order.
  BAYES_API void set_categories(std::vector<double> categorical);
  bool operator==(const ColumnSpec &) const = default;
};

/// Every family of the list, in its order; the categorical one without categories.
BAYES_API std::span<const Column *const> every_column_family();
/// Their names.
BAYES_API const std::vector<std::string_view> &column_family_names();
/// The family of this name.
BAYES_API std::optional<ColumnKind> likelihood_named(std::string_view name);

inline const Column &column_family(ColumnKind kind) {
  return *every_column_family()[std::size_t(kind)];
}

/// Is it a column of categories?
inline bool is_categorical(const ColumnSpec &spec) { return column_family(spec.kind).by_value; }

struct ColumnGroups;  // column_families.hpp

/// The columns of a row. A component's numbers are grouped by family, so that a loop over the
/// columns of a group knows their family.
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
  /// For every family that has columns here, the indices of these columns in ascending order.
  const std::vector<std::vector<int>> &by_family() const { return by_family_; }

  /// f(column's index, column, offsets) for every column, group by group.
  template <class Function> void for_each(Function f) const {
    for (const std::vector<int> &group : by_family_)
      for (const int j : group) f(j, column(j), offsets(j));
  }

  /// For loops over rows, which know the families.
  const ColumnGroups &groups() const { return *groups_; }

 private:
  std::vector<ColumnSpec> specs_;
  std::vector<const Column *> columns_;  // of groups_
  std::vector<ColumnOffsets> offsets_;
  ColumnOffsets size_;
  std::vector<std::vector<int>> by_family_;
  std::unique_ptr<const ColumnGroups> groups_;
};

/// The categories of a categorical column in ascending order; empty for other columns.
BAYES_API std::vector<double> categories_of(const Column &column);
/// The likelihoods of the columns, without categories.
BAYES_API std::vector<ColumnSpec> likelihoods_of(const Columns &columns);

}  // namespace bayes
