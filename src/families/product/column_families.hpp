// The list of column families, and the layout of a row of such columns.
#pragma once

#include <memory>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "families/product/bernoulli.hpp"
#include "families/product/categorical.hpp"
#include "families/product/exponential.hpp"
#include "families/product/geometric.hpp"
#include "families/product/poisson.hpp"
#include "families/product/univariate_normal.hpp"

namespace bayes {

/// Stored models refer to families by name, so the order may change; but it is the order of a
/// component's numbers, and in which samplers draw them.
using AnyColumnFamily =
    std::variant<Bernoulli, Categorical, Poisson, Exponential, UnivariateNormal, Geometric>;

/// A family, as its index in the list.
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

/// f(family) for every family in the list; the categorical one has no categories.
template <class Function> void for_each_column_family(Function f) {
  detail::for_each_type(std::type_identity<AnyColumnFamily>{}, f);
}

/// Their names, in the order of the list.
inline const std::vector<std::string_view> &column_family_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> out;
    for_each_column_family([&](const auto &family) { out.push_back(family.name); });
    return out;
  }();
  return names;
}

/// The description of a column in models.
struct ColumnSpec {
  ColumnKind kind = kind_of<Bernoulli>;
  /// of a categorical column at least 1, or 0 before the rows have been read; else 0
  int categories = 0;
  /// the categories, increasing whole numbers that span at most CategoryCodes::widest; empty: 0 ..
  /// categories - 1
  std::vector<double> values = {};

  AnyColumnFamily family() const {
    if (kind == kind_of<Categorical>)
      return Categorical{categories,
                         values.empty() ? nullptr : std::make_shared<const CategoryCodes>(values)};
    AnyColumnFamily out;
    int at = 0;
    for_each_column_family([&](const auto &each) {
      if (ColumnKind(at++) == kind) out = each;
    });
    return out;
  }
  const char *name() const { return column_family_names()[std::size_t(kind)].data(); }
  bool operator==(const ColumnSpec &) const = default;
};

/// The columns of one family, and the offsets of their numbers, which are contiguous, in a
/// component's.
template <ColumnFamily F> struct ColumnGroup {
  std::vector<F> families;
  std::vector<int> columns;  // their indices, increasing
  int first = 0;             // number of columns in the preceding groups
  int point = 0, posterior = 0, statistics = 0, terms = 0, sums = 0, forms = 0;
};

/// Sizes, or offsets, of a column's numbers of every kind.
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

/// The columns of a row. A component's numbers are stored group by group, columns of one family
/// together, so that loops over a group know the family statically.
class Columns {
 public:
  explicit Columns(std::vector<ColumnSpec> specs)
      : specs_(std::move(specs)),
        offsets_(specs_.size()) {
    for (const ColumnSpec &spec : specs_) families_.push_back(spec.family());
    int columns = 0;
    const auto fill = [&]<class F>(ColumnGroup<F> &group) {
      group.first = columns;
      group.point = size_.point, group.posterior = size_.posterior,
      group.statistics = size_.statistics;
      group.terms = size_.terms, group.sums = size_.sums, group.forms = size_.forms;
      for (std::size_t j = 0; j < specs_.size(); ++j) {
        const F *family = std::get_if<F>(&families_[j]);
        if (!family) continue;
        group.families.push_back(*family);
        group.columns.push_back(int(j));
        offsets_[j] = size_;
        size_.advance(*family);
        ++columns;
      }
    };
    std::apply([&](auto &...group) { (fill(group), ...); }, groups_);
  }

  int count() const { return int(specs_.size()); }
  const std::vector<ColumnSpec> &specs() const { return specs_; }
  const AnyColumnFamily &family(int column) const { return families_[std::size_t(column)]; }
  /// of a whole component
  const ColumnPlaces &size() const { return size_; }
  /// of a column's numbers
  const ColumnPlaces &offsets(int column) const { return offsets_[std::size_t(column)]; }

  /// f(group) for every family that has columns here, in order.
  template <class Function> void for_each_group(Function f) const {
    std::apply([&](const auto &...group) { ((group.columns.empty() ? void() : f(group)), ...); },
               groups_);
  }
  /// f(column, family, offsets) for every column, group by group.
  template <class Function> void for_each(Function f) const {
    for_each_group([&](const auto &group) {
      for (std::size_t c = 0; c < group.columns.size(); ++c)
        f(group.columns[c], group.families[c], offsets_[std::size_t(group.columns[c])]);
    });
  }

 private:
  std::vector<ColumnSpec> specs_;
  std::vector<AnyColumnFamily> families_;
  std::vector<ColumnPlaces> offsets_;
  ColumnPlaces size_;
  detail::GroupsOf<AnyColumnFamily>::Type groups_;
};

}  // namespace bayes
