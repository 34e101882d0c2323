#include "families/product/columns.hpp"

#include <algorithm>

#include "families/product/column_families.hpp"
#include "families/product/product_options.hpp"

namespace bayes {

static_assert(std::string_view(Bernoulli::name) == bernoulli_family &&
              std::string_view(Categorical::name) == categorical_family &&
              std::string_view(UnivariateNormal::name) == normal_family);

namespace {

/// sum += each
void advance(ColumnOffsets &sum, const ColumnOffsets &each) {
  sum.point += each.point;
  sum.posterior += each.posterior;
  sum.statistics += each.statistics;
  sum.terms += each.terms;
  sum.sums += each.sums;
  sum.forms += each.forms;
}

template <class... F> std::tuple<F...> every_family_of(std::type_identity<std::variant<F...>>) {
  return {F{}...};
}

}  // namespace

std::span<const Column *const> every_column_family() {
  static const auto owned = every_family_of(std::type_identity<AnyColumnFamily>{});
  static const std::vector<const Column *> all = std::apply(
      [](const auto &...family) { return std::vector<const Column *>{&family...}; }, owned);
  return all;
}

const char *ColumnSpec::name() const { return column_family(kind).name; }

bool ColumnSpec::counts() const {
  const Column &column = column_family(kind);
  return !column.by_value && column.allowed(0) && !column.allowed(0.5);
}

const std::vector<std::string_view> &column_family_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> out;
    for (const Column *each : every_column_family()) out.emplace_back(each->name);
    return out;
  }();
  return names;
}

Columns::Columns(std::vector<ColumnSpec> specs)
    : specs_(std::move(specs)),
      columns_(specs_.size()),
      offsets_(specs_.size()) {
  auto groups = std::make_unique<ColumnGroups>();
  int columns = 0;
  const auto fill = [&]<class F>(ColumnGroup<F> &group) {
    group.first = columns;
    group.point = size_.point, group.posterior = size_.posterior,
    group.statistics = size_.statistics;
    group.terms = size_.terms, group.sums = size_.sums, group.forms = size_.forms;
    for (std::size_t j = 0; j < specs_.size(); ++j) {
      if (specs_[j].kind != kind_of<F>) continue;
      group.families.push_back(family_as<F>(specs_[j]));
      group.columns.push_back(int(j));
      offsets_[j] = size_;
      advance(size_, group.families.back().size());
      ++columns;
    }
    for (std::size_t c = 0; c < group.columns.size(); ++c)
      columns_[std::size_t(group.columns[c])] = &group.families[c];
    if (!group.columns.empty()) by_family_.push_back(group.columns);
  };
  std::apply([&](auto &...group) { (fill(group), ...); }, groups->all);
  groups_ = std::move(groups);
}
Columns::~Columns() = default;

std::optional<ColumnKind> likelihood_named(std::string_view name) {
  const auto &names = column_family_names();
  const auto at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? std::nullopt : std::optional(ColumnKind(at - names.begin()));
}

void ColumnSpec::set_categories(std::vector<double> categorical) {
  categories = int(categorical.size());
  const bool plain =
      categorical.front() == 0 && categorical.back() == double(categorical.size()) - 1;
  values = plain ? std::vector<double>() : std::move(categorical);
}

std::vector<double> categories_of(const Column &column) {
  std::vector<double> out;
  if (column.by_value)
    for (int i = 0; i < column.numbers_per_name(); ++i) out.push_back(column.value(i));
  return out;
}

std::vector<ColumnSpec> likelihoods_of(const Columns &columns) {
  std::vector<ColumnSpec> out;
  for (const ColumnSpec &spec : columns.specs())
    out.push_back({.kind = spec.kind, .known = spec.known});
  return out;
}

}  // namespace bayes
