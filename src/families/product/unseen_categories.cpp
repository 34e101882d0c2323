#include "families/product/unseen_categories.hpp"

#include <cmath>

#include "base/unseen.hpp"
#include "document/members.hpp"
#include "families/product/product_options.hpp"

namespace bayes {
namespace {

/// The prior in force, or, if the model was updated, the given prior, which new categories have.
const Document *prior_of(const ModelInfo &info) {
  if (const Document *const prior = info.options.find("prior")) return prior;
  return info.given_prior.is_null() ? nullptr : &info.given_prior;
}

}  // namespace

Vector category_alphas(const ProductPosterior &prior) {
  Vector out = Vector::Zero(prior.columns->count());
  prior.columns->for_each([&](int j, const Column &column, const ColumnOffsets &) {
    if (!column.by_value) return;
    const double *const q = prior.column(0, j);
    double sum = 0;
    for (int v = 0; v < column.numbers_per_name(); ++v) sum += q[v];
    out(j) = sum / column.numbers_per_name();
  });
  return out;
}

Vector category_alphas(const Columns &columns, const ModelInfo &info) {
  const Document *const prior = prior_of(info);
  const Document *const family = prior ? prior->find(categorical_family) : nullptr,
                        *const of = family ? family : prior,
                        *const given = of ? of->find("category_alpha") : nullptr;
  const std::optional<double> number = given ? to_number(*given, false) : std::nullopt;
  const std::optional<Tensor> numbers = given && !number ? to_tensor(*given, false) : std::nullopt;
  Vector out = Vector::Zero(columns.count());
  std::size_t place = 0;  // among the columns with categories
  columns.for_each([&](int j, const Column &column, const ColumnOffsets &) {
    if (!column.by_value) return;
    out(j) = number                                      ? *number
             : numbers && place < numbers->values.size() ? numbers->values[place]
                                                         : 1;
    ++place;
  });
  return out;
}

template <class Sum>
void UnseenCategories::fill(const Columns &columns, int components, const Vector &alphas, Sum sum) {
  columns.for_each([&](int j, const Column &column, const ColumnOffsets &) {
    if (column.by_value) columns_.push_back(j);
  });
  logs_.resize(components, Eigen::Index(columns_.size()));
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    poll_here();
    const int j = columns_[c];
    for (int k = 0; k < components; ++k)
      logs_(k, Eigen::Index(c)) = -std::log1p(sum(k, j) / alphas(j));
  }
}

UnseenCategories::UnseenCategories(const ProductPosterior &q, const Vector &alphas) {
  fill(*q.columns, q.components(), alphas, [&q](int k, int j) {
    const double *const at = q.column(k, j);
    double sum = 0;
    for (int v = 0; v < q.columns->column(j).numbers_per_name(); ++v) sum += at[v];
    return sum;
  });
}

UnseenCategories::UnseenCategories(const ProductPoint &point, const Vector &counts,
                                   const Vector &alphas) {
  fill(*point.columns, point.components(), alphas, [&](int k, int j) {
    return counts(k) + alphas(j) * point.columns->column(j).numbers_per_name();
  });
}

void UnseenCategories::add(const double *x, double *out) const {
  for (const int j : columns_)
    if (is_unseen(x[j])) add(j, out);
}

Eigen::Index UnseenCategories::place_of(int column) const {
  return std::lower_bound(columns_.begin(), columns_.end(), column) - columns_.begin();
}

void UnseenCategories::add(int column, double *out) const {
  const auto logs = logs_.col(place_of(column));
  for (Eigen::Index k = 0; k < logs.size(); ++k) out[k] += logs(k);
}

}  // namespace bayes
