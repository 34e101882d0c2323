#include "families/product/column_families.hpp"

#include <algorithm>

#include "families/product/product_options.hpp"

namespace bayes {

static_assert(std::string_view(Bernoulli::name) == bernoulli_family &&
              std::string_view(Categorical::name) == categorical_family &&
              std::string_view(UnivariateNormal::name) == normal_family);

const std::vector<std::string_view> &column_family_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> out;
    for_each_column_family([&](const auto &family) { out.push_back(family.name); });
    return out;
  }();
  return names;
}

std::span<const char *const> column_prior_keys(std::string_view family) {
  std::span<const char *const> out;
  for_each_column_family([&]<class F>(const F &) {
    if (family == F::name) out = F::prior_keys;
  });
  return out;
}

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

AnyColumnFamily ColumnSpec::family() const {
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

Columns::Columns(std::vector<ColumnSpec> specs) : specs_(std::move(specs)), places_(specs_.size()) {
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
      places_[j] = size_;
      size_.advance(*family);
      ++columns;
    }
  };
  std::apply([&](auto &...group) { (fill(group), ...); }, groups_);
}

std::vector<std::string> names_of(const Columns &columns) {
  std::vector<std::string> out;
  for (const ColumnSpec &spec : columns.specs()) out.emplace_back(spec.name());
  return out;
}

}  // namespace bayes
