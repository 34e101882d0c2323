// Surveys of product rows: their categories, and the moments that default priors are made of.
#include "families/product/product_prior.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/message.hpp"
#include "data/pass.hpp"
#include "document/members.hpp"
#include "families/product/category_codes.hpp"
#include "families/product/product_document.hpp"

namespace bayes {
namespace {

/// The names of the families for which `choose` is true, as a list for messages.
template <class Choose> std::string families_of(Choose choose) {
  std::string out;
  for (const Column *family : every_column_family())
    if (choose(*family)) out += (out.empty() ? "\"" : ", \"") + std::string(family->name) + '"';
  return out;
}

/// Rejects a value that its column does not allow; `fitted`: the columns are those of a fitted
/// model, so options cannot help.
[[noreturn]] void unsuitable(double x, std::string_view likelihood, const std::string &requirement,
                             const std::string &element, std::int64_t row, bool fitted = false) {
  const std::string where = row ? message("{} of row {}", element, row) : element,
                    what =
                        message("{} is {}, but must be {}", where, describe_number(x), requirement),
                    detail = message("Its likelihood is {}.", likelihood);
  if (fitted)
    throw Error(Errc::invalid_argument, what, detail,
                likelihood == categorical_family
                    ? "To allow categories that do not occur in the rows, fit with option "
                      "\"categories\" set to the number of categories."
                    : "");
  throw Error(Errc::invalid_argument, what, detail,
              "Likelihoods that allow such a value: " + families_of([&](const Column &family) {
                return family.allowed(x) && family.name != likelihood;
              }) + ". Give one for all elements, or an array with one for each.");
}

/// The number of categories that the options give every element; 0 if they leave it open.
std::vector<int> given_categories(const Document &categories, std::size_t d) {
  std::vector<int> out(d, 0);
  if (categories.is_null()) return out;
  const Tensor given = read_categories(categories);
  if (!given.shape.empty() && given.values.size() != d)
    throw Error(Errc::invalid_argument,
                message("option \"categories\" has {} numbers, but the rows have {} elements",
                        given.values.size(), d));
  for (std::size_t j = 0; j < d; ++j) out[j] = int(given.values[given.shape.empty() ? 0 : j]);
  return out;
}

/// f(block, index of its first row, number of rows) for all blocks, in order.
template <class F> void for_each_block(RowSource &rows, Control &control, F f) {
  Buffer block(rows.shape().block_doubles());
  for (std::int64_t first = 0; first < rows.rows(); first += block_rows) {
    if (control.pending()) control.poll();
    rows.read_block(first / block_rows, block.data());
    f(block.data(), first, int(std::min<std::int64_t>(block_rows, rows.rows() - first)));
  }
}

void check_categories(const std::vector<double> &values, const std::string &where) {
  const std::string hint =
      "For measurements and counts use another likelihood: " +
      families_of([&](const Column &family) {
        return !family.by_value && family.allowed(values.front()) && family.allowed(values.back());
      }) +
      ". Number categories from 1.";
  if (values.size() > std::size_t(max_categories))
    throw Error(Errc::too_large, message("{} has more than {} categories", where, max_categories),
                {}, hint);
  if (values.back() - values.front() > CategoryCodes::widest)
    throw Error(Errc::too_large,
                message("the categories of {} reach from {} to {}, which is too far apart", where,
                        describe_number(values.front()), describe_number(values.back())),
                message("The limit is {}.", describe_number(CategoryCodes::widest)), hint);
}

/// The values of the categorical columns, increasing; none of the others.
struct CategoriesPass {
  static constexpr const char *name = "categories";
  struct Sums {
    std::vector<std::vector<double>> seen;
    /// of the columns, for messages
    std::vector<std::string> names;

    template <class F> void fields(F &f) {
      f.list(
          "values", seen, seen.size(),
          [](const std::vector<double> &values) {
            return Document::object().set("values", numbers_document(values));
          },
          [](const Document &from) { return PassReader(from).numbers("values"); });
      for (const std::vector<double> &values : seen)
        for (std::size_t i = 0; i < values.size(); ++i)
          f.require(std::abs(values[i]) <= CategoryCodes::farthest &&
                    values[i] == std::floor(values[i]) && (i == 0 || values[i] > values[i - 1]));
    }
    void add(const Sums &other) {
      for (std::size_t j = 0; j < seen.size(); ++j) {
        std::vector<double> both;
        std::set_union(seen[j].begin(), seen[j].end(), other.seen[j].begin(), other.seen[j].end(),
                       std::back_inserter(both));
        seen[j] = std::move(both);
        if (!seen[j].empty()) check_categories(seen[j], names[j]);
      }
    }
  };
  std::vector<ColumnSpec> likelihoods = {};

  template <class F> void fields(F &f, RowSource &rows) {
    likelihood_fields(f, "likelihoods", likelihoods, std::size_t(rows.shape().dimension));
  }
  Sums nothing(RowSource &rows) const {
    Sums out{std::vector<std::vector<double>>(likelihoods.size()), {}};
    for (std::size_t j = 0; j < likelihoods.size(); ++j)
      out.names.push_back(rows.name_of_element(int(j)));
    return out;
  }
  Sums here(RowSource &rows, Control &control) const {
    Sums out = nothing(rows);
    for_each_block(rows, control, [&](const double *block, std::int64_t first, int size) {
      for (std::size_t j = 0; j < likelihoods.size(); ++j) {
        if (!is_categorical(likelihoods[j])) continue;
        std::vector<double> &values = out.seen[j];
        double last = std::numeric_limits<double>::quiet_NaN();
        for (int b = 0; b < size; ++b) {
          const double x = block[j * block_rows + std::size_t(b)];
          if (x == last || std::isnan(x)) continue;
          last = x;
          const auto at = std::lower_bound(values.begin(), values.end(), x);
          if (at != values.end() && *at == x) continue;
          if (x != std::floor(x) || std::abs(x) > CategoryCodes::farthest)
            unsuitable(x, column_family(likelihoods[j].kind).name, "a whole number",
                       rows.name_of_element(int(j)), rows.number_of(first + b) + 1);
          values.insert(at, x + 0.0);  // 0, not -0
          check_categories(values, out.names[j]);
        }
      }
    });
    return out;
  }
};

std::vector<std::vector<double>> categories_seen(RowSource &rows,
                                                 const std::vector<ColumnSpec> &specs,
                                                 Control &control) {
  return run(rows, CategoriesPass{specs}, control).seen;
}

}  // namespace

void check_product_row(const Columns &columns, const RowColumns &names, std::span<const double> x) {
  columns.for_each([&](int j, const Column &column, const ColumnOffsets &) {
    const double value = x[std::size_t(j)];
    if (!column.allowed(value) && !std::isnan(value))
      unsuitable(value, column.name, column.requirement(),
                 names.empty()
                     ? message("element {}", j + 1)
                     : message("column {}", describe(Document(names[std::size_t(j)].name))),
                 0, true);
  });
}

ProductSurvey survey_product(RowSource &rows, const std::vector<ColumnSpec> &likelihood,
                             const Document &categories, Control &control) {
  const int d = rows.shape().dimension;
  check_likelihood_count(likelihood, d);
  std::vector<ColumnSpec> specs;
  bool any = false;
  for (int j = 0; j < d; ++j) {
    specs.push_back(likelihood[likelihood.size() == 1 ? 0 : std::size_t(j)]);
    any |= is_categorical(specs.back());
  }
  if (!categories.is_null()) read_categories(categories);
  if (any) {
    std::vector<std::vector<double>> seen = categories_seen(rows, specs, control);
    const std::vector<int> given = given_categories(categories, std::size_t(d));
    double lowest = 1;
    for (const auto &values : seen)
      if (!values.empty()) lowest = std::min(lowest, values.front());
    for (std::size_t j = 0; j < specs.size(); ++j) {
      if (!is_categorical(specs[j])) continue;
      std::vector<double> &values = seen[j];
      for (int v = 0; v < given[j]; ++v) values.push_back(v + (lowest > 0 ? 1 : 0));
      std::sort(values.begin(), values.end());
      values.erase(std::unique(values.begin(), values.end()), values.end());
      if (values.empty()) values = {0};  // a column that is missing in every row
      check_categories(values, rows.name_of_element(int(j)));
      specs[j].set_categories(std::move(values));
    }
  }
  return survey_product(rows, std::make_shared<const Columns>(std::move(specs)), control);
}

namespace {

/// Moments of the elements. `variance` has sums of squares about the mean, where it is needed.
struct ProductMoments {
  double weight = 0, unobserved = 0;
  Vector count, mean, variance;

  explicit ProductMoments(int d)
      : count(Vector::Zero(d)),
        mean(Vector::Zero(d)),
        variance(Vector::Zero(d)) {}

  template <class F> void fields(F &f) {
    f.number("weight", weight);
    f.number("unobserved", unobserved);
    f.vector("count", count);
    f.vector("mean", mean);
    f.vector("variance", variance);
  }
  void add(const ProductMoments &other) {
    weight += other.weight;
    unobserved += other.unobserved;
    for (Eigen::Index j = 0; j < count.size(); ++j) {
      const double both = count(j) + other.count(j), away = other.mean(j) - mean(j);
      if (!(other.count(j) > 0)) continue;
      variance(j) += other.variance(j) + count(j) * (other.count(j) / both) * away * away;
      mean(j) += other.count(j) / both * away;
      count(j) = both;
    }
  }
};

struct ProductSurveyPass {
  static constexpr const char *name = "product survey";
  using Sums = ProductMoments;
  SharedColumns columns = {};

  template <class F> void fields(F &f, RowSource &rows) {
    if constexpr (F::reading)
      columns = read_product_columns(MemberReader(f.document()), rows.shape().dimension);
    else
      write_columns(f.document(), *columns);
  }
  Sums nothing(RowSource &rows) const { return Sums(rows.shape().dimension); }
  Sums here(RowSource &rows, Control &control) const {
    const int d = rows.shape().dimension;
    const bool weighted = rows.shape().weighted;
    ProductMoments out(d);
    Vector &count = out.count;
    for_each_block(rows, control, [&](const double *block, std::int64_t first, int size) {
      const double *const weight = block + std::size_t(d) * block_rows;
      for (int b = 0; b < size; ++b) {
        const double own = weighted ? weight[b] : 1;
        out.weight += own;
        int j = 0;
        while (j < d && std::isnan(block[j * block_rows + b])) ++j;
        if (j == d) out.unobserved += own;
      }
      columns->for_each([&](int j, const Column &column, const ColumnOffsets &) {
        const double *const at = block + std::size_t(j) * block_rows;
        if (const int b = column.first_disallowed(at, size); b < size)
          unsuitable(at[b], column.name, column.requirement(), rows.name_of_element(j),
                     rows.number_of(first + b) + 1);
        double n = 0, sum = 0;
        for (int b = 0; b < size; ++b) {
          if (std::isnan(at[b])) continue;
          const double x = column.by_value ? at[b] : column.element(at[b]);
          const double w = weighted ? weight[b] : 1;
          n += w;
          if (column.needs_variance) {
            const double away = x - out.mean(j);
            count(j) += w;
            out.mean(j) += w / count(j) * away;
            out.variance(j) += w * away * (x - out.mean(j));
          } else {
            sum += w * x;
          }
        }
        if (!column.needs_variance) {
          count(j) += n;
          if (count(j) > 0) out.mean(j) += (sum - n * out.mean(j)) / count(j);
        }
      });
    });
    return out;
  }
};

ProductMoments moments_of(RowSource &rows, const SharedColumns &columns, Control &control) {
  ProductMoments out = run(rows, ProductSurveyPass{columns}, control);
  for (int j = 0; j < columns->count(); ++j)
    if (!columns->column(j).needs_variance) out.variance(j) = 0;
  return out;
}

}  // namespace

void require_allowed_values(RowSource &rows, const Document &columns, Control &control) {
  const SharedColumns read = read_product_columns(MemberReader(columns), rows.shape().dimension);
  for_each_block(rows, control, [&](const double *block, std::int64_t first, int size) {
    read->for_each([&](int j, const Column &column, const ColumnOffsets &) {
      const double *const at = block + std::size_t(j) * block_rows;
      if (const int b = column.first_disallowed(at, size); b < size)
        unsuitable(at[b], column.name, column.requirement(), rows.name_of_element(j),
                   rows.number_of(first + b) + 1);
    });
  });
}

void require_allowed_sample(RowSource &sample, const Columns &columns, Control &control) {
  for_each_block(sample, control, [&](const double *block, std::int64_t, int size) {
    columns.for_each([&](int j, const Column &column, const ColumnOffsets &) {
      if (column.first_disallowed(block + std::size_t(j) * block_rows, size) < size)
        PassReader::refuse();
    });
  });
}

const PassOver<PartOfRows> categories_pass = pass_over<PartOfRows, CategoriesPass>(),
                           product_survey_pass = pass_over<PartOfRows, ProductSurveyPass>();

ProductSurvey survey_product(RowSource &rows, const SharedColumns &columns, Control &control) {
  const int d = rows.shape().dimension;
  const ProductMoments found = moments_of(rows, columns, control);
  ProductSurvey out{columns,
                    found.weight,
                    found.mean,
                    found.variance,
                    std::vector<bool>(std::size_t(d), false),
                    found.unobserved};
  for (int j = 0; j < d; ++j) {
    if (found.count(j) > 0) out.variance(j) /= found.count(j);
    if (out.variance(j) > min_variance) continue;
    out.constant[std::size_t(j)] = columns->column(j).needs_variance;
    out.variance(j) = 1;
    if (out.constant[std::size_t(j)]) require_constant(rows, j, control);
  }
  if (!out.mean.allFinite() || !out.variance.allFinite())
    throw Error(Errc::numeric, "the variance of the rows overflows",
                "Values or weights are too large for double precision.",
                "Rescale the columns or the weights.");
  return out;
}

SharedColumns with_categories_of(RowSource &rows, const SharedColumns &columns, Control &control) {
  std::vector<ColumnSpec> specs = columns->specs();
  if (std::none_of(specs.begin(), specs.end(), is_categorical)) return columns;
  std::vector<std::vector<double>> seen = categories_seen(rows, specs, control);
  bool any = false;
  for (std::size_t j = 0; j < specs.size(); ++j) {
    if (!is_categorical(specs[j])) continue;
    const Column &known = columns->column(int(j));
    std::vector<double> &values = seen[j];
    std::erase_if(values, [&known](double value) { return known.allowed(value); });
    if (values.empty()) continue;
    for (int i = 0; i < known.numbers_per_name(); ++i) values.push_back(known.value(i));
    std::sort(values.begin(), values.end());
    check_categories(values, rows.name_of_element(int(j)));
    specs[j].set_categories(std::move(values));
    any = true;
  }
  return any ? std::make_shared<const Columns>(std::move(specs)) : columns;
}

}  // namespace bayes
