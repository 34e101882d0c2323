#include "families/product/product_document.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/message.hpp"
#include "families/product/category_codes.hpp"
#include "families/product/product_options.hpp"

namespace bayes {
namespace {

/// Selects names and numbers of a family: those of points or those of posteriors.
using Names = std::span<const char *const> ColumnTraits::*;
using Place = int ColumnOffsets::*;

/// For every family an object with a member for each name: for each component the numbers of all
/// columns of that family.
void write_numbers(Document &document, const Columns &columns, const Matrix &values, Names names,
                   Place place) {
  for (const std::vector<int> &group : columns.by_family()) {
    const Column &family = columns.column(group[0]);
    Document own = Document::object();
    for (std::size_t name = 0; name < (family.*names).size(); ++name) {
      Tensor t{{values.cols(), 0}, {}};
      for (Eigen::Index k = 0; k < values.cols(); ++k)
        for (const int j : group) {
          const int each = columns.column(j).numbers_per_name();
          const double *const from =
              values.col(k).data() + columns.offsets(j).*place + int(name) * each;
          t.values.insert(t.values.end(), from, from + each);
        }
      t.shape[1] = std::int64_t(t.values.size()) / std::max<std::int64_t>(1, t.shape[0]);
      own.set((family.*names)[name], std::move(t));
    }
    document.set(family.name, std::move(own));
  }
}

/// Reads what write_numbers() writes. `finish` completes the numbers of a column, and returns
/// whether they are valid.
void read_numbers(const MemberReader &in, const Columns &columns, Matrix &values, Names names,
                  Place place, bool (*finish)(const Column &, double *)) {
  for (const std::vector<int> &group : columns.by_family()) {
    const Column &family = columns.column(group[0]);
    const MemberReader own = in.object(family.name);
    std::int64_t width = 0;
    for (const int j : group) width += columns.column(j).numbers_per_name();
    for (std::size_t name = 0; name < (family.*names).size(); ++name) {
      const Tensor t = own.tensor((family.*names)[name], {values.cols(), width});
      const double *from = t.values.data();
      for (Eigen::Index k = 0; k < values.cols(); ++k)
        for (const int j : group) {
          const int each = columns.column(j).numbers_per_name();
          std::copy_n(from, each,
                      values.col(k).data() + columns.offsets(j).*place + int(name) * each);
          from += each;
        }
    }
    for (Eigen::Index k = 0; k < values.cols(); ++k)
      for (const int j : group)
        if (!finish(columns.column(j), values.col(k).data() + columns.offsets(j).*place))
          in.reject(family.name,
                    message("has invalid numbers for component {}, element {}", k + 1, j + 1));
  }
}

}  // namespace

void write_columns(Document &document, const Columns &columns) {
  Document::List likelihoods;
  Tensor counts{{0}, {}}, values{{0}, {}};
  for (const ColumnSpec &spec : columns.specs()) {
    likelihoods.push_back(likelihood_document(spec));
    if (!is_categorical(spec)) continue;
    counts.values.push_back(spec.categories);
    for (int v = 0; v < spec.categories; ++v)
      values.values.push_back(spec.values.empty() ? v : spec.values[std::size_t(v)]);
  }
  document.set("columns", std::move(likelihoods));
  if (counts.values.empty()) return;
  counts.shape = {std::int64_t(counts.values.size())};
  values.shape = {std::int64_t(values.values.size())};
  document.set("categories", std::move(counts)).set("category_values", std::move(values));
}

SharedColumns read_product_columns(const MemberReader &in, int d) {
  const auto *list = in.value("columns").as<Document::List>();
  if (!list || list->size() != std::size_t(d))
    in.reject("columns", message("must be an array of {} likelihoods", d));
  std::vector<ColumnSpec> specs;
  std::int64_t categorical = 0;
  for (const Document &each : *list) {
    const auto likelihood = stored_likelihood(each);
    if (!likelihood)
      in.reject("columns", message("contains {}, which is not a likelihood", describe(each)));
    specs.push_back(*likelihood);
    categorical += is_categorical(specs.back());
  }
  if (categorical > 0) {
    const Tensor counts = in.tensor("categories", {categorical});
    std::size_t all = 0;
    for (const double n : counts.values) {
      if (!(n >= 1 && n <= max_categories && n == std::floor(n)))
        in.reject("categories", message("must be whole numbers from 1 to {}", max_categories));
      all += std::size_t(n);
    }
    const Tensor values = in.tensor("category_values", {std::int64_t(all)});
    auto at = values.values.begin();
    auto count = counts.values.begin();
    for (ColumnSpec &spec : specs) {
      if (!is_categorical(spec)) continue;
      const auto end = at + std::ptrdiff_t(*count++);
      for (auto v = at; v != end; ++v)
        if (*v != std::floor(*v) || (v != at && !(v[-1] < *v)) ||
            !(std::abs(*v) <= CategoryCodes::farthest) || *v - *at > CategoryCodes::widest)
          in.reject("category_values", "must be increasing whole numbers for each element");
      spec.set_categories({at, end});
      at = end;
    }
  }
  return std::make_shared<const Columns>(std::move(specs));
}

void write_posterior(Document &document, const ProductPosterior &q) {
  write_numbers(document, *q.columns, q.values, &ColumnTraits::prior_keys,
                &ColumnOffsets::posterior);
}

ProductPosterior read_posterior(const MemberReader &in, const SharedColumns &columns, int k) {
  ProductPosterior out{columns, Matrix(columns->size().posterior, k)};
  read_numbers(in, *columns, out.values, &ColumnTraits::prior_keys, &ColumnOffsets::posterior,
               [](const Column &column, double *q) { return column.valid_posterior(q); });
  return out;
}

void write_point(Document &document, const ProductPoint &point) {
  write_numbers(document, *point.columns, point.values, &ColumnTraits::parameters,
                &ColumnOffsets::point);
}

ProductPoint read_point(const MemberReader &in, const SharedColumns &columns, int k) {
  ProductPoint out{columns, Matrix(columns->size().point, k)};
  read_numbers(in, *columns, out.values, &ColumnTraits::parameters, &ColumnOffsets::point,
               [](const Column &column, double *point) {
                 column.complete(point);
                 return column.valid_point(point);
               });
  return out;
}

}  // namespace bayes
