#include "fit/component_overlap.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "base/assignment.hpp"
#include "base/control.hpp"
#include "base/message.hpp"
#include "document/members.hpp"
#include "families/product/product_options.hpp"

namespace bayes {
namespace {

std::string overlap_column(const RowColumns &columns, int j) {
  return columns.empty() ? message("element {}", j + 1)
                         : "column " + describe(Document(columns[std::size_t(j)].name));
}

int dimension_of(const ComponentDensities &of) {
  return std::visit([](const auto &components) { return components.dimension(); }, of.components);
}

/// The index in `after` of each column of `before`.
std::vector<int> places_of_columns(const ComponentDensities &before,
                                   const ComponentDensities &after) {
  const int d = dimension_of(before);
  if (dimension_of(after) != d)
    throw Error(Errc::invalid_argument,
                message("the models have {} and {} columns", d, dimension_of(after)),
                "Components of two models can be compared if they have the same columns.");
  std::vector<int> out(std::size_t(d), 0);
  std::iota(out.begin(), out.end(), 0);
  if (before.columns.empty() || after.columns.empty()) return out;
  for (int j = 0; j < d; ++j) {
    const int at = find_column(after.columns, before.columns[std::size_t(j)].name);
    if (at < 0)
      throw Error(Errc::invalid_argument,
                  message("the second model has no {}", overlap_column(before.columns, j)),
                  "Components of two models can be compared if they have the same columns.");
    out[std::size_t(j)] = at;
  }
  return out;
}

// ---- normals ----

/// The scales of both models in the same form: variances if neither model has covariances.
struct Scales {
  CovarianceShape shape;
  std::vector<Matrix> scales;
  Vector log_determinants;
};

Scales scales_in(const NormalPoint &point, const std::vector<int> &places, bool dense) {
  const int d = point.dimension();
  Scales out{dense ? full_covariance : diagonal_covariance, {}, {}};
  out.log_determinants.resize(Eigen::Index(point.covariance.size()));
  for (const Matrix &scale : point.covariance) {
    poll_here();
    Matrix own;
    if (dense) {
      const Matrix all = dense_form(point.shape, scale, d);
      own = Matrix(d, d);
      for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j) own(i, j) = all(places[std::size_t(i)], places[std::size_t(j)]);
    } else {
      own = Matrix(d, 1);
      for (int i = 0; i < d; ++i)
        own(i, 0) = point.shape.isotropic ? scale(0, 0) : scale(places[std::size_t(i)], 0);
    }
    FactoredScale factored;
    if (!factor(out.shape, own, d, factored))
      not_positive_definite("covariance", int(out.scales.size()));
    out.log_determinants(Eigen::Index(out.scales.size())) = factored.log_determinant;
    out.scales.push_back(std::move(own));
  }
  return out;
}

std::vector<double> normal_overlaps(const NormalPoint &before, const NormalPoint &after,
                                    const std::vector<int> &places) {
  const int d = before.dimension(), k = before.components(), other_k = after.components();
  const bool dense = before.shape.dense || after.shape.dense;
  std::vector<int> same(places.size());
  std::iota(same.begin(), same.end(), 0);
  const Scales one = scales_in(before, same, dense), other = scales_in(after, places, dense);
  const bool one_for_all = before.shape.shared && after.shape.shared;
  std::vector<double> out(std::size_t(k) * std::size_t(other_k));
  std::optional<FactoredScale> between;
  for (int i = 0; i < k; ++i)
    for (int j = 0; j < other_k; ++j) {
      poll_here();
      const int a = before.shape.index(i), b = after.shape.index(j);
      if (!between || !one_for_all) {
        between.emplace();
        const Matrix middle = 0.5 * (one.scales[std::size_t(a)] + other.scales[std::size_t(b)]);
        if (!factor(one.shape, middle, d, *between)) not_positive_definite("covariance", i);
      }
      Vector away(d);
      for (int c = 0; c < d; ++c)
        away(c) = before.mean(c, i) - after.mean(places[std::size_t(c)], j);
      const double determinants = 0.25 * (one.log_determinants(a) + other.log_determinants(b)) -
                                  0.5 * between->log_determinant;
      out[std::size_t(i) * std::size_t(other_k) + std::size_t(j)] =
          std::min(1.0, std::exp(determinants - between->quadratic(away) / 8));
    }
  return out;
}

// ---- products ----

/// The index in column `after` of each category of column `before`; -1: none.
std::vector<int> places_of_categories(const Column &before, const RowColumn *labels_before,
                                      const Column &after, const RowColumn *labels_after) {
  std::vector<int> out;
  const auto labelled = [](const RowColumn *labels) { return labels && !labels->labels.empty(); };
  const bool by_label = labelled(labels_before) && labelled(labels_after);
  std::unordered_map<std::string, std::size_t> codes;
  for (std::size_t i = 0; by_label && i < labels_after->labels.size(); ++i)
    codes.emplace(labels_after->labels[i], i);
  for (int i = 0; i < before.numbers_per_name(); ++i) {
    double value = before.value(i);
    if (const std::string *const label = by_label ? label_of(*labels_before, value) : nullptr) {
      const auto found = codes.find(*label);
      value = found == codes.end() ? -1 : double(found->second);
    }
    const bool known = value == value && after.allowed(value);
    out.push_back(known ? int(after.element(value)) : -1);
  }
  return out;
}

std::vector<double> product_overlaps(const ComponentDensities &before_all,
                                     const ComponentDensities &after_all,
                                     const std::vector<int> &places) {
  const auto &before = std::get<ProductPoint>(before_all.components);
  const auto &after = std::get<ProductPoint>(after_all.components);
  const auto named = [](const ComponentDensities &of, int j) {
    return of.columns.empty() ? nullptr : &of.columns[std::size_t(j)];
  };
  const int k = before.components(), other_k = after.components();
  std::vector<double> logs(std::size_t(k) * std::size_t(other_k), 0.0);
  for (int c = 0; c < before.dimension(); ++c) {
    const int at = places[std::size_t(c)];
    const Column &column = before.columns->column(c), &other = after.columns->column(at);
    const ColumnSpec &spec = before.columns->specs()[std::size_t(c)],
                     &other_spec = after.columns->specs()[std::size_t(at)];
    if (!spec.same_likelihood(other_spec))
      throw Error(Errc::invalid_argument,
                  message("{} is {} in one model and {} in the other",
                          overlap_column(before_all.columns, c), describe_likelihood(spec),
                          describe_likelihood(other_spec)),
                  "Densities of different families of distributions are not compared.");
    std::vector<int> categories;
    if (column.by_value)
      categories = places_of_categories(column, named(before_all, c), other, named(after_all, at));
    std::vector<double> point(std::size_t(column.size().point));
    for (int j = 0; j < other_k; ++j) {
      poll_here();
      const double *compared = after.column(j, at);
      if (column.by_value) {
        for (std::size_t v = 0; v < categories.size(); ++v)
          point[v] = categories[v] < 0 ? 0 : compared[categories[v]];
        compared = point.data();
      }
      for (int i = 0; i < k; ++i)
        logs[std::size_t(i) * std::size_t(other_k) + std::size_t(j)] +=
            column.log_overlap(before.column(i, c), compared);
    }
  }
  for (double &x : logs) x = std::min(1.0, std::exp(x));
  return logs;
}

}  // namespace

std::vector<double> component_overlaps(const ComponentDensities &before,
                                       const ComponentDensities &after) {
  const std::vector<int> places = places_of_columns(before, after);
  const auto *const normal = std::get_if<NormalPoint>(&before.components);
  const auto *const other = std::get_if<NormalPoint>(&after.components);
  if (!normal != !other)
    throw Error(Errc::invalid_argument,
                "one model has multivariate normals, the other independent columns",
                "Densities of different families of distributions are not compared.");
  return normal ? normal_overlaps(*normal, *other, places)
                : product_overlaps(before, after, places);
}

std::vector<int> best_matching(std::span<const double> weights,
                               std::span<const double> other_weights,
                               const std::vector<double> &overlaps) {
  const std::size_t k = weights.size(), other_k = other_weights.size(), most = std::max(k, other_k);
  // The smaller mixture is padded with components that overlap with none.
  std::vector<double> worth(most * most, 0.0);
  for (std::size_t i = 0; i < k; ++i)
    for (std::size_t j = 0; j < other_k; ++j)
      worth[i * most + j] = std::sqrt(weights[i] * other_weights[j]) * overlaps[i * other_k + j];
  std::vector<int> out = best_assignment(worth, int(most));
  out.resize(k);
  return out;
}

}  // namespace bayes
