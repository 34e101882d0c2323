#include "families/product/product_prior.hpp"

#include <algorithm>
#include <cmath>

#include "base/message.hpp"
#include "document/members.hpp"

namespace bayes {
namespace {

/// The names of the families that `choose` takes, as messages list them.
template <class Choose> std::string families_of(Choose choose) {
  std::string out;
  for_each_column_family([&](const auto &family) {
    if (choose(family)) out += (out.empty() ? "\"" : ", \"") + std::string(family.name) + '"';
  });
  return out;
}

/// An element that its column does not know; `fitted`: columns are those of a model and not up to
/// the user any more.
[[noreturn]] void unsuitable(double x, std::string_view likelihood, const std::string &requirement,
                             int element, std::int64_t row, bool fitted = false) {
  const std::string where = row ? message("element {} of row {}", element + 1, row)
                                : message("element {}", element + 1),
                    what =
                        message("{} is {}, but must be {}", where, describe_number(x), requirement),
                    detail = message("Its likelihood is {}.", likelihood);
  if (fitted)
    throw Error(Errc::invalid_argument, what, detail,
                likelihood == Categorical::name
                    ? "A fit knows categories that are not among its rows if its option "
                      "\"categories\" says how many there are."
                    : "");
  throw Error(
      Errc::invalid_argument, what, detail,
      "One name is for all elements, an array has one for each; such a value may stand under " +
          families_of([&]<class F>(const F &family) {
            return family.allowed(x) && family.name != likelihood;
          }) +
          ".");
}

/// How many categories the options give every element; 0 for those that they leave open.
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

/// Below it a column is taken for constant: its reciprocal would leave the range of a double.
constexpr double least_variance = 1e-280;

/// f(block, number of its first row, rows in it) for all blocks, in order.
template <class F> void for_each_block(RowSource &rows, Control &control, F f) {
  Buffer block(rows.shape().block_doubles());
  for (std::int64_t first = 0; first < rows.rows(); first += block_rows) {
    if (control.pending()) control.poll();
    rows.read_block(first / block_rows, block.data());
    f(block.data(), first, int(std::min<std::int64_t>(block_rows, rows.rows() - first)));
  }
}

void check_categories(const std::vector<double> &values, int element) {
  const std::string where = message("element {}", element + 1);
  const std::string hint =
      "Measurements and counts have likelihoods of their own, " +
      families_of([&]<class F>(const F &family) {
        return !F::by_value && family.allowed(values.front()) && family.allowed(values.back());
      }) +
      "; number categories from 1.";
  if (values.size() > std::size_t(most_categories))
    throw Error(Errc::too_large, message("{} has more than {} categories", where, most_categories),
                {}, hint);
  if (values.back() - values.front() > CategoryCodes::widest)
    throw Error(Errc::too_large,
                message("the categories of {} reach from {} to {}, which is too far apart", where,
                        describe_number(values.front()), describe_number(values.back())),
                message("The limit is {}.", describe_number(CategoryCodes::widest)), hint);
}

/// The whole numbers that stand in the categorical columns, rising; nothing for the others.
std::vector<std::vector<double>> categories_seen(RowSource &rows,
                                                 const std::vector<ColumnSpec> &specs,
                                                 Control &control) {
  std::vector<std::vector<double>> seen(specs.size());
  for_each_block(rows, control, [&](const double *block, std::int64_t first, int size) {
    for (std::size_t j = 0; j < specs.size(); ++j) {
      if (specs[j].kind != kind_of<Categorical>) continue;
      std::vector<double> &values = seen[j];
      double last = std::numeric_limits<double>::quiet_NaN();
      for (int b = 0; b < size; ++b) {
        const double x = block[j * block_rows + std::size_t(b)];
        if (x == last || std::isnan(x)) continue;
        last = x;
        const auto at = std::lower_bound(values.begin(), values.end(), x);
        if (at != values.end() && *at == x) continue;
        if (x != std::floor(x) || std::abs(x) > CategoryCodes::farthest)
          unsuitable(x, Categorical::name, "a whole number", int(j), first + b + 1);
        values.insert(at, x + 0.0);  // 0, not -0
        check_categories(values, int(j));
      }
    }
  });
  return seen;
}

}  // namespace

void check_product_row(const Columns &columns, std::span<const double> x, std::int64_t row) {
  columns.for_each([&](int j, const auto &family, const ColumnPlaces &) {
    const double value = x[std::size_t(j)];
    if (!family.allowed(value) && !std::isnan(value))
      unsuitable(value, family.name, family.requirement(), j, row, true);
  });
}

ProductSurvey survey_product(RowSource &rows, const std::vector<std::string> &likelihood,
                             const Document &categories, Control &control) {
  const int d = rows.shape().dimension;
  check_likelihood_count(likelihood, d);
  std::vector<ColumnSpec> specs;
  bool any = false;
  for (int j = 0; j < d; ++j) {
    const auto kind = *likelihood_named(likelihood[likelihood.size() == 1 ? 0 : std::size_t(j)]);
    specs.push_back({kind, kind == kind_of<Categorical>});
    any |= kind == kind_of<Categorical>;
  }
  if (!categories.is_null()) read_categories(categories);
  if (any) {
    std::vector<std::vector<double>> seen = categories_seen(rows, specs, control);
    const std::vector<int> given = given_categories(categories, std::size_t(d));
    double lowest = 1;
    for (const auto &values : seen)
      if (!values.empty()) lowest = std::min(lowest, values.front());
    for (std::size_t j = 0; j < specs.size(); ++j) {
      if (specs[j].kind != kind_of<Categorical>) continue;
      std::vector<double> &values = seen[j];
      for (int v = 0; v < given[j]; ++v) values.push_back(v + (lowest > 0 ? 1 : 0));
      std::sort(values.begin(), values.end());
      values.erase(std::unique(values.begin(), values.end()), values.end());
      if (values.empty()) values = {0};  // an element that is missing in every row
      check_categories(values, int(j));
      specs[j].set_categories(std::move(values));
    }
  }
  return survey_product(rows, std::make_shared<const Columns>(std::move(specs)), control);
}

ProductSurvey survey_product(RowSource &rows, const SharedColumns &columns, Control &control) {
  const int d = rows.shape().dimension;
  const bool weighted = rows.shape().weighted;
  ProductSurvey out{columns, 0, Vector::Zero(d), Vector::Zero(d)};
  Vector count = Vector::Zero(d);
  for_each_block(rows, control, [&](const double *block, std::int64_t first, int size) {
    const double *const weight = block + std::size_t(d) * block_rows;
    for (int b = 0; b < size; ++b) out.weight += weighted ? weight[b] : 1;
    columns->for_each([&]<class F>(int j, const F &family, const ColumnPlaces &) {
      const double *const at = block + std::size_t(j) * block_rows;
      double n = 0, sum = 0;
      for (int b = 0; b < size; ++b) {
        const double x = at[b];
        if (std::isnan(x)) continue;
        if (!family.allowed(x)) unsuitable(x, family.name, family.requirement(), j, first + b + 1);
        const double w = weighted ? weight[b] : 1;
        n += w;
        if constexpr (F::needs_variance) {
          const double away = x - out.mean(j);
          count(j) += w;
          out.mean(j) += w / count(j) * away;
          out.variance(j) += w * away * (x - out.mean(j));
        } else {
          sum += w * x;
        }
      }
      if constexpr (!F::needs_variance) {
        count(j) += n;
        if (count(j) > 0) out.mean(j) += (sum - n * out.mean(j)) / count(j);
      }
    });
  });
  for (int j = 0; j < d; ++j) {
    if (count(j) > 0) out.variance(j) /= count(j);
    if (!(out.variance(j) > least_variance)) out.variance(j) = 1;
  }
  if (!out.mean.allFinite() || !out.variance.allFinite())
    throw Error(Errc::numeric, "the variance of the rows overflows",
                "Values or weights are too large for double precision.",
                "Rescale the columns or the weights.");
  return out;
}

ProductPosterior make_product_prior(const ProductSurvey &survey,
                                    const std::vector<std::string> &likelihood,
                                    const ProductPriorKeys &given, double k) {
  const Columns &columns = *survey.columns;
  ProductPosterior out{survey.columns, Matrix(columns.size().posterior, 1)};
  columns.for_each_group([&]<class F>(const ColumnGroup<F> &group) {
    const auto own = std::find_if(given.families.begin(), given.families.end(),
                                  [](const auto &each) { return each.first == F::name; });
    const std::size_t members = group.columns.size();
    const double share = std::pow(k, -2.0 / double(members));
    for (std::size_t c = 0; c < members; ++c) {
      const F &family = group.families[c];
      const int j = group.columns[c], each = family.numbers_of_name();
      double *const at = out.column(0, j);
      family.default_prior(survey.mean(j), survey.variance(j), share, at);
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
                      likelihood.size() == 1 ? "" : F::name, likelihood.size() == 1 ? "" : ".",
                      F::prior_keys[key], describe_shape(tensor->shape), members, F::name));
        std::fill_n(at + int(key) * each, each, tensor->values[tensor->shape.empty() ? 0 : c]);
      }
    }
  });
  return out;
}

Document product_prior_options(const ProductPosterior &prior,
                               const std::vector<std::string> &likelihood) {
  Document out = Document::object();
  prior.columns->for_each_group([&]<class F>(const ColumnGroup<F> &group) {
    Document own = Document::object();
    for (std::size_t key = 0; key < F::prior_keys.size(); ++key) {
      Tensor values{{std::int64_t(group.columns.size())}, {}};
      for (std::size_t c = 0; c < group.columns.size(); ++c)
        values.values.push_back(
            prior.column(0, group.columns[c])[int(key) * group.families[c].numbers_of_name()]);
      const bool same = std::all_of(values.values.begin(), values.values.end(),
                                    [&](double v) { return v == values.values[0]; });
      if (same)
        own.set(F::prior_keys[key], values.values[0]);
      else
        own.set(F::prior_keys[key], std::move(values));
    }
    if (likelihood.size() == 1)
      out = std::move(own);
    else
      out.set(F::name, std::move(own));
  });
  return out;
}

}  // namespace bayes
