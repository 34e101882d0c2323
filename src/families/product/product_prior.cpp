#include "families/product/product_prior.hpp"

#include <algorithm>
#include <cmath>

#include "base/message.hpp"
#include "document/members.hpp"
#include "families/product/category_codes.hpp"

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

/// The values of the categorical columns, increasing; empty for the others.
std::vector<std::vector<double>> categories_seen(RowSource &rows,
                                                 const std::vector<ColumnSpec> &specs,
                                                 Control &control) {
  std::vector<std::vector<double>> seen(specs.size());
  for_each_block(rows, control, [&](const double *block, std::int64_t first, int size) {
    for (std::size_t j = 0; j < specs.size(); ++j) {
      if (!is_categorical(specs[j])) continue;
      std::vector<double> &values = seen[j];
      double last = std::numeric_limits<double>::quiet_NaN();
      for (int b = 0; b < size; ++b) {
        const double x = block[j * block_rows + std::size_t(b)];
        if (x == last || std::isnan(x)) continue;
        last = x;
        const auto at = std::lower_bound(values.begin(), values.end(), x);
        if (at != values.end() && *at == x) continue;
        if (x != std::floor(x) || std::abs(x) > CategoryCodes::farthest)
          unsuitable(x, column_family(specs[j].kind).name, "a whole number",
                     rows.name_of_element(int(j)), rows.number_of(first + b) + 1);
        values.insert(at, x + 0.0);  // 0, not -0
        check_categories(values, rows.name_of_element(int(j)));
      }
    }
  });
  return seen;
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

ProductSurvey survey_product(RowSource &rows, const SharedColumns &columns, Control &control) {
  const int d = rows.shape().dimension;
  const bool weighted = rows.shape().weighted;
  ProductSurvey out{columns, 0, Vector::Zero(d), Vector::Zero(d),
                    std::vector<bool>(std::size_t(d), false)};
  Vector count = Vector::Zero(d);
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
  for (int j = 0; j < d; ++j) {
    if (count(j) > 0) out.variance(j) /= count(j);
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

SharedColumns with_labels_of(const Columns &columns, const RowColumns &before,
                             const RowColumns &now) {
  std::vector<ColumnSpec> specs = columns.specs();
  for (std::size_t j = 0; j < before.size(); ++j) {
    const std::vector<std::string> &had = before[j].labels, &has = now[j].labels;
    if (had.empty() || !is_categorical(specs[j])) continue;
    std::vector<double> values;
    const Column &column = columns.column(int(j));
    for (int i = 0; i < column.numbers_per_name(); ++i) {
      // Categories that option categories added have no label, and follow those with labels.
      const double code = column.value(i);
      const std::string *const label = label_of(before[j], code);
      values.push_back(label
                           ? double(std::lower_bound(has.begin(), has.end(), *label) - has.begin())
                       : code < 0 ? code
                                  : code - double(had.size()) + double(has.size()));
    }
    specs[j].set_categories(std::move(values));
  }
  return std::make_shared<const Columns>(std::move(specs));
}

ProductPosterior widened(const ProductPosterior &q, const ProductPosterior &prior) {
  if (q.columns == prior.columns) return q;
  ProductPosterior out = replicate(prior, q.components());
  for (int k = 0; k < q.components(); ++k) {
    poll_here();
    for (int j = 0; j < q.dimension(); ++j) {
      const Column &before = q.columns->column(j), &now = out.columns->column(j);
      const double *const from = q.column(k, j);
      double *const to = out.column(k, j);
      const int had = before.numbers_per_name(), has = now.numbers_per_name();
      for (int i = 0; i < before.size().posterior; ++i)
        to[before.by_value ? i / had * has + int(now.element(before.value(i % had))) : i] = from[i];
    }
  }
  return out;
}

ProductPoint widened(const ProductPoint &point, const Vector &counts,
                     const ProductPosterior &prior) {
  if (point.columns == prior.columns) return point;
  ProductPoint out{prior.columns, Matrix(prior.columns->size().point, point.components())};
  for (int k = 0; k < point.components(); ++k) {
    poll_here();
    for (int j = 0; j < point.dimension(); ++j) {
      const Column &before = point.columns->column(j), &now = prior.columns->column(j);
      const double *const from = point.column(k, j);
      double *const to = out.values.col(k).data() + prior.columns->offsets(j).point;
      if (!before.by_value) {
        std::copy_n(from, before.size().point, to);
        continue;
      }
      // New categories are counted as often as their parameters in the prior, beside the
      // component's rows.
      const int has = now.numbers_per_name();
      std::copy_n(prior.column(0, j), has, to);
      for (int i = 0; i < before.numbers_per_name(); ++i)
        to[int(now.element(before.value(i)))] = from[i] * std::max(1.0, counts(k));
      double whole = 0;
      for (int i = 0; i < has; ++i) whole += to[i];
      for (int i = 0; i < has; ++i) to[i] /= whole;
    }
  }
  return out;
}

ProductPosterior make_product_prior(const ProductSurvey &survey,
                                    const std::vector<ColumnSpec> &likelihood,
                                    const ProductPriorKeys &given, double k) {
  const Columns &columns = *survey.columns;
  ProductPosterior out{survey.columns, Matrix(columns.size().posterior, 1)};
  for (const std::vector<int> &group : columns.by_family()) {
    const char *const family = columns.column(group[0]).name;
    const auto own = std::find_if(given.families.begin(), given.families.end(),
                                  [&](const auto &each) { return each.first == family; });
    const std::size_t members = group.size();
    const double share = std::pow(k, -2.0 / double(members));
    for (std::size_t c = 0; c < members; ++c) {
      const int j = group[c];
      const Column &column = columns.column(j);
      const int each = column.numbers_per_name();
      double *const at = out.column(0, j);
      column.default_prior(survey.mean(j), survey.variance(j), share, at);
      if (own == given.families.end()) continue;
      for (std::size_t key = 0; key < own->second.size(); ++key) {
        const auto &tensor = own->second[key];
        if (!tensor) continue;
        if (tensor->shape.size() > 1 ||
            (tensor->shape.size() == 1 && tensor->values.size() != members))
          throw Error(
              Errc::invalid_argument,
              message("option \"prior.{}{}{}\" is {}, but must be a number or an array of "
                      "{} numbers, one for each {} element",
                      likelihood.size() == 1 ? "" : family, likelihood.size() == 1 ? "" : ".",
                      column.prior_keys[key], describe_shape(tensor->shape), members, family));
        std::fill_n(at + int(key) * each, each, tensor->values[tensor->shape.empty() ? 0 : c]);
      }
    }
  }
  return out;
}

void require_mode(const ProductPosterior &prior) {
  prior.columns->for_each([&](int j, const Column &column, const ColumnOffsets &) {
    if (!column.has_mode(prior.column(0, j)))
      throw Error(Errc::invalid_argument,
                  message("method map needs a prior with a mode, but that of element {} ({}) has "
                          "none",
                          j + 1, column.name),
                  message("For a mode, {}.", column.mode_requirement));
  });
}

Document product_prior_options(const ProductPosterior &prior,
                               const std::vector<ColumnSpec> &likelihood) {
  Document out = Document::object();
  for (const std::vector<int> &group : prior.columns->by_family()) {
    const Column &family = prior.columns->column(group[0]);
    Document own = Document::object();
    for (std::size_t key = 0; key < family.prior_keys.size(); ++key) {
      Tensor values{{std::int64_t(group.size())}, {}};
      for (const int j : group)
        values.values.push_back(
            prior.column(0, j)[int(key) * prior.columns->column(j).numbers_per_name()]);
      const bool same = std::all_of(values.values.begin(), values.values.end(),
                                    [&](double v) { return v == values.values[0]; });
      if (same)
        own.set(family.prior_keys[key], values.values[0]);
      else
        own.set(family.prior_keys[key], std::move(values));
    }
    if (likelihood.size() == 1)
      out = std::move(own);
    else
      out.set(family.name, std::move(own));
  }
  return out;
}

}  // namespace bayes
