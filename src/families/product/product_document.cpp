#include "families/product/product_document.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "base/message.hpp"
#include "families/product/product_options.hpp"

namespace bayes {
namespace {

/// The numbers of the columns of one family, as the document names them. Not a template over
/// families: this says all that reading and writing need of one.
struct NamedNumbers {
  const char *family;
  std::span<const char *const> names;
  struct Column {
    int number;  // of the column
    int offset;  // of its first number in a component
    int each;    // numbers of one name
  };
  std::vector<Column> columns;
  /// of all columns, under one name
  std::int64_t width = 0;
};

/// `names_of(family)`; `place`: where a column's numbers begin.
template <class NamesOf>
std::vector<NamedNumbers> named_numbers(const Columns &columns, int ColumnPlaces::*place,
                                        NamesOf names_of) {
  std::vector<NamedNumbers> out;
  columns.for_each_group([&](const auto &group) {
    NamedNumbers &own = out.emplace_back();
    own.family = group.families[0].name;
    own.names = names_of(group.families[0]);
    for (std::size_t c = 0; c < group.columns.size(); ++c) {
      const int j = group.columns[c], each = group.families[c].numbers_of_name();
      own.columns.push_back({j, columns.place(j).*place, each});
      own.width += each;
    }
  });
  return out;
}

std::vector<NamedNumbers> of_posterior(const Columns &columns) {
  return named_numbers(columns, &ColumnPlaces::posterior, []<class F>(const F &) {
    return std::span<const char *const>(F::prior_keys);
  });
}
std::vector<NamedNumbers> of_point(const Columns &columns) {
  return named_numbers(columns, &ColumnPlaces::point, []<class F>(const F &) {
    return std::span<const char *const>(F::parameters);
  });
}

/// For every family an object with a member for each name: for each component the numbers of all
/// columns of that family.
void write_numbers(Document &document, const std::vector<NamedNumbers> &families,
                   const Matrix &values) {
  for (const NamedNumbers &family : families) {
    Document own = Document::object();
    for (std::size_t name = 0; name < family.names.size(); ++name) {
      Tensor t{{values.cols(), family.width}, {}};
      for (Eigen::Index k = 0; k < values.cols(); ++k)
        for (const auto &column : family.columns) {
          const double *const from = values.col(k).data() + column.offset + int(name) * column.each;
          t.values.insert(t.values.end(), from, from + column.each);
        }
      own.set(family.names[name], std::move(t));
    }
    document.set(family.family, std::move(own));
  }
}

/// `complete(family, numbers of a column)` fills in what is not stored, and says if the numbers can
/// be.
void read_numbers(const MemberReader &in, const std::vector<NamedNumbers> &families,
                  const Columns &columns, Matrix &values,
                  bool (*complete)(const AnyColumnFamily &, double *)) {
  for (const NamedNumbers &family : families) {
    const MemberReader own = in.object(family.family);
    for (std::size_t name = 0; name < family.names.size(); ++name) {
      const Tensor t = own.tensor(family.names[name], {values.cols(), family.width});
      const double *from = t.values.data();
      for (Eigen::Index k = 0; k < values.cols(); ++k)
        for (const auto &column : family.columns) {
          std::copy_n(from, column.each,
                      values.col(k).data() + column.offset + int(name) * column.each);
          from += column.each;
        }
    }
    for (Eigen::Index k = 0; k < values.cols(); ++k)
      for (const auto &column : family.columns)
        if (!complete(columns.family(column.number), values.col(k).data() + column.offset))
          in.reject(family.family,
                    message("has numbers for component {}, element {} that cannot be", k + 1,
                            column.number + 1));
  }
}

bool complete_posterior(const AnyColumnFamily &any, double *q) {
  return std::visit([q](const auto &family) { return family.valid_posterior(q); }, any);
}
bool complete_point(const AnyColumnFamily &any, double *point) {
  return std::visit(
      [point](const auto &family) {
        family.complete(point);
        return family.valid_point(point);
      },
      any);
}

}  // namespace

void write_columns(Document &document, const Columns &columns) {
  Document::List names;
  Tensor counts{{0}, {}}, values{{0}, {}};
  for (const ColumnSpec &spec : columns.specs()) {
    names.emplace_back(spec.name());
    if (spec.kind != kind_of<Categorical>) continue;
    counts.values.push_back(spec.categories);
    for (int v = 0; v < spec.categories; ++v)
      values.values.push_back(spec.values.empty() ? v : spec.values[std::size_t(v)]);
  }
  document.set("columns", std::move(names));
  if (counts.values.empty()) return;
  counts.shape = {std::int64_t(counts.values.size())};
  values.shape = {std::int64_t(values.values.size())};
  document.set("categories", std::move(counts)).set("category_values", std::move(values));
}

SharedColumns read_product_columns(const MemberReader &in, int d) {
  const auto *list = in.value("columns").as<Document::List>();
  if (!list || list->size() != std::size_t(d))
    in.reject("columns", message("must be an array of {} names", d));
  std::vector<ColumnSpec> specs;
  std::int64_t categorical = 0;
  for (const Document &each : *list) {
    const auto *name = each.as<std::string>();
    const auto kind = name ? likelihood_named(*name) : std::nullopt;
    if (!kind) in.reject("columns", message("contains {}, which is no likelihood", describe(each)));
    specs.push_back({*kind});
    categorical += *kind == kind_of<Categorical>;
  }
  if (categorical > 0) {
    const Tensor counts = in.tensor("categories", {categorical});
    std::size_t all = 0;
    for (const double n : counts.values) {
      if (!(n >= 1 && n <= most_categories && n == std::floor(n)))
        in.reject("categories", message("must be whole numbers from 1 to {}", most_categories));
      all += std::size_t(n);
    }
    const Tensor values = in.tensor("category_values", {std::int64_t(all)});
    auto at = values.values.begin();
    auto count = counts.values.begin();
    for (ColumnSpec &spec : specs) {
      if (spec.kind != kind_of<Categorical>) continue;
      const auto end = at + std::ptrdiff_t(*count++);
      for (auto v = at; v != end; ++v)
        if (*v != std::floor(*v) || (v != at && !(v[-1] < *v)) ||
            !(std::abs(*v) <= CategoryCodes::farthest) || *v - *at > CategoryCodes::widest)
          in.reject("category_values", "must be rising whole numbers for each element");
      spec.set_categories({at, end});
      at = end;
    }
  }
  return std::make_shared<const Columns>(std::move(specs));
}

void write_posterior(Document &document, const ProductPosterior &q) {
  write_numbers(document, of_posterior(*q.columns), q.values);
}

ProductPosterior read_posterior(const MemberReader &in, const SharedColumns &columns, int k) {
  ProductPosterior out{columns, Matrix(columns->size().posterior, k)};
  read_numbers(in, of_posterior(*columns), *columns, out.values, complete_posterior);
  return out;
}

void write_point(Document &document, const ProductPoint &point) {
  write_numbers(document, of_point(*point.columns), point.values);
}

ProductPoint read_point(const MemberReader &in, const SharedColumns &columns, int k) {
  ProductPoint out{columns, Matrix(columns->size().point, k)};
  read_numbers(in, of_point(*columns), *columns, out.values, complete_point);
  return out;
}

}  // namespace bayes
