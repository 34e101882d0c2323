#include "families/product/product_prior.hpp"

#include <algorithm>
#include <cmath>

#include "base/message.hpp"
#include "document/members.hpp"

namespace bayes {

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
