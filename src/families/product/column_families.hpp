// The families that a column of a row can have, listed once, and what a row of such columns is.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "families/product/bernoulli.hpp"
#include "families/product/categorical.hpp"
#include "families/product/column_names.hpp"
#include "families/product/exponential.hpp"
#include "families/product/geometric.hpp"
#include "families/product/poisson.hpp"
#include "families/product/univariate_normal.hpp"

namespace bayes {

/// The list. Models know families by name, so its order may change; but components hold their
/// numbers, and samplers draw them, in this order.
using AnyColumnFamily =
    std::variant<Bernoulli, Categorical, Poisson, Exponential, UnivariateNormal, Geometric>;

/// Which of them: the place in the list.
enum class ColumnKind : char {};

namespace detail {
template <class Function, class... F>
void for_each_type(std::type_identity<std::variant<F...>>, Function f) {
  (f(F{}), ...);
}
template <class Wanted, class... F>
constexpr ColumnKind position(std::type_identity<std::variant<F...>>) {
  char at = 0;
  static_cast<void>(((std::is_same_v<Wanted, F> || (++at, false)) || ...));
  return ColumnKind(at);
}
}  // namespace detail

template <ColumnFamily F>
inline constexpr ColumnKind kind_of = detail::position<F>(std::type_identity<AnyColumnFamily>{});

/// f(family) for every family of the list, a categorical one without categories.
template <class Function> void for_each_column_family(Function f) {
  detail::for_each_type(std::type_identity<AnyColumnFamily>{}, f);
}

/// The family that users call so.
std::optional<ColumnKind> likelihood_named(std::string_view name);

/// What a column is, as models say it.
struct ColumnSpec {
  ColumnKind kind = kind_of<Bernoulli>;
  /// of a categorical column, at least 1, or 0 while nobody has looked at the rows; else 0
  int categories = 0;
  /// the categories, rising whole numbers no further apart than CategoryCodes::widest; empty: 0 ..
  /// categories - 1
  std::vector<double> values = {};

  AnyColumnFamily family() const;
  /// Makes the values, rising whole numbers, the categories of a column.
  void set_categories(std::vector<double> categorical);
  const char *name() const { return column_family_names()[std::size_t(kind)].data(); }
  bool operator==(const ColumnSpec &) const = default;
};

/// The columns with one family, and where their numbers begin in those of a component: one column's
/// after the other's.
template <ColumnFamily F> struct ColumnGroup {
  std::vector<F> families;
  std::vector<int> columns;  // their numbers, rising
  int first = 0;             // how many columns the groups before have
  int point = 0, posterior = 0, statistics = 0, terms = 0, sums = 0, forms = 0;
};

/// How many numbers of every kind, or where they begin.
struct ColumnPlaces {
  int point = 0, posterior = 0, statistics = 0, terms = 0, sums = 0, forms = 0;

  template <class F> void advance(const F &family) {
    point += family.point_size();
    posterior += family.posterior_size();
    statistics += family.statistics_size();
    terms += family.term_size();
    sums += family.sum_size();
    forms += family.form_size();
  }
};

namespace detail {
template <class> struct GroupsOf;
template <class... F> struct GroupsOf<std::variant<F...>> {
  using Type = std::tuple<ColumnGroup<F>...>;
};
}  // namespace detail

/// The columns of a row. A component's numbers stand group by group, columns of one family
/// together, so that loops over columns know theirs.
class Columns {
 public:
  explicit Columns(std::vector<ColumnSpec> specs);

  int count() const { return int(specs_.size()); }
  const std::vector<ColumnSpec> &specs() const { return specs_; }
  const AnyColumnFamily &family(int column) const { return families_[std::size_t(column)]; }
  /// of a whole component
  const ColumnPlaces &size() const { return size_; }
  /// where a column's numbers begin
  const ColumnPlaces &place(int column) const { return places_[std::size_t(column)]; }

  /// f(group) for every family that has columns here, in order.
  template <class Function> void for_each_group(Function f) const {
    std::apply([&](const auto &...group) { ((group.columns.empty() ? void() : f(group)), ...); },
               groups_);
  }
  /// f(column, family, place) for every column, group by group.
  template <class Function> void for_each(Function f) const {
    for_each_group([&](const auto &group) {
      for (std::size_t c = 0; c < group.columns.size(); ++c)
        f(group.columns[c], group.families[c], places_[std::size_t(group.columns[c])]);
    });
  }

 private:
  std::vector<ColumnSpec> specs_;
  std::vector<AnyColumnFamily> families_;
  std::vector<ColumnPlaces> places_;
  ColumnPlaces size_;
  detail::GroupsOf<AnyColumnFamily>::Type groups_;
};

/// The name of every column's family.
std::vector<std::string> names_of(const Columns &columns);

}  // namespace bayes
