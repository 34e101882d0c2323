// The list of column families, for loops over rows, which are compiled for each family. Other code
// uses them as Column (columns.hpp).
#pragma once

#include <memory>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "families/product/bernoulli.hpp"
#include "families/product/binomial.hpp"
#include "families/product/categorical.hpp"
#include "families/product/columns.hpp"
#include "families/product/exponential.hpp"
#include "families/product/gamma.hpp"
#include "families/product/geometric.hpp"
#include "families/product/log_normal.hpp"
#include "families/product/negative_binomial.hpp"
#include "families/product/poisson.hpp"
#include "families/product/univariate_normal.hpp"

namespace bayes {

/// Stored models refer to families by name, so the order may change. It determines the order of a
/// component's numbers, and the order in which samplers draw them.
using AnyColumnFamily = std::variant<Bernoulli, Categorical, Poisson, Exponential, UnivariateNormal,
                                     Geometric, NegativeBinomial, Binomial, LogNormal, Gamma>;

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

/// f(F{}) for every family F in the list; the categorical one then has no categories.
template <class Function> void for_each_column_family(Function f) {
  detail::for_each_type(std::type_identity<AnyColumnFamily>{}, f);
}

/// The family object of a column whose family is F.
template <ColumnFamily F> F family_as(const ColumnSpec &spec) {
  if constexpr (std::is_same_v<F, Categorical>)
    return Categorical{spec.categories, spec.values.empty()
                                            ? nullptr
                                            : std::make_shared<const CategoryCodes>(spec.values)};
  else
    return [&]<std::size_t... I>(std::index_sequence<I...>) { return F{spec.known[I]...}; }
  (std::make_index_sequence<F::known_parameters.size()>{});
}
inline AnyColumnFamily family_of(const ColumnSpec &spec) {
  AnyColumnFamily out;
  for_each_column_family([&]<class F>(const F &) {
    if (kind_of<F> == spec.kind) out = family_as<F>(spec);
  });
  return out;
}

/// The columns of one family, and where their numbers begin among those of a component; they follow
/// one another.
template <ColumnFamily F> struct ColumnGroup {
  std::vector<F> families;
  std::vector<int> columns;  // their indices, increasing
  int first = 0;             // number of columns in the preceding groups
  int point = 0, posterior = 0, statistics = 0, terms = 0, sums = 0, forms = 0;
};

namespace detail {
template <class> struct GroupsOf;
template <class... F> struct GroupsOf<std::variant<F...>> {
  using Type = std::tuple<ColumnGroup<F>...>;
};
}  // namespace detail

struct ColumnGroups {
  detail::GroupsOf<AnyColumnFamily>::Type all;
};

/// f(group) for every family that has columns here, in order.
template <class Function> void for_each_group(const Columns &columns, Function f) {
  std::apply([&](const auto &...group) { ((group.columns.empty() ? void() : f(group)), ...); },
             columns.groups().all);
}
/// f(column's index, family, offsets) for every column, group by group, like Columns::for_each.
template <class Function> void for_each_family(const Columns &columns, Function f) {
  for_each_group(columns, [&](const auto &group) {
    for (std::size_t c = 0; c < group.columns.size(); ++c)
      f(group.columns[c], group.families[c], columns.offsets(group.columns[c]));
  });
}

}  // namespace bayes
