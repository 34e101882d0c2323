#include "classification/nb_totals.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "base/control.hpp"
#include "base/message.hpp"
#include "families/product/product_options.hpp"

namespace bayes {
namespace {

/// The union of two increasing lists.
template <class T> std::vector<T> both(const std::vector<T> &a, const std::vector<T> &b) {
  std::vector<T> out;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

/// The index of each entry of an increasing list in another one that contains all of them.
template <class T> std::vector<int> places(const std::vector<T> &of, const std::vector<T> &in) {
  std::vector<int> out;
  for (const T &each : of)
    out.push_back(int(std::lower_bound(in.begin(), in.end(), each) - in.begin()));
  return out;
}

std::vector<std::string> names_of_features(const NbTotals &totals) {
  std::vector<std::string> out;
  for (const RowColumn &column : totals.names) out.push_back(column.name);
  return out;
}

std::string name_of_feature(const NbTotals &totals, int j) {
  return totals.names.empty() ? message("element {}", j + 1)
                              : message("{} {}", totals.sparse ? "feature" : "column",
                                        describe(Document(totals.names[std::size_t(j)].name)));
}

[[noreturn]] void differ(const std::string &what, const std::string &detail) {
  throw Error(Errc::invalid_argument, what, detail,
              "All rows of a classifier must have the same features.");
}

/// Throws Error unless both features are the same, except for their labels and categories.
void check_same_feature(const NbTotals &a, int i, const NbTotals &b, int j) {
  const ColumnSpec &one = a.specs[std::size_t(i)], &other = b.specs[std::size_t(j)];
  const std::string name = name_of_feature(a, i);
  if (!a.names.empty() && a.names[std::size_t(i)].kind != b.names[std::size_t(j)].kind)
    differ(message("{} is a {} and a {}", name, name_of(a.names[std::size_t(i)].kind),
                   name_of(b.names[std::size_t(j)].kind)),
           "It must be of the same kind in all rows.");
  if (!one.same_likelihood(other))
    differ(message("{} is {} and {}", name, describe_likelihood(one), describe_likelihood(other)),
           "It must have the same likelihood in all rows.");
}

/// The statistics of naive feature i in class k.
const double *statistics_of(const NbTotals &totals, int k, int i) {
  return totals.product.values.col(k).data() + totals.product.columns->offsets(i).statistics;
}

/// The entries of `all` whose category occurs in some row. A partial state without any category is
/// stored with one category that no row has.
template <class T>
std::vector<T> seen(const NbTotals &totals, int feature, const std::vector<T> &all) {
  const int i = int(std::lower_bound(totals.naive.begin(), totals.naive.end(), feature) -
                    totals.naive.begin());
  std::vector<T> out;
  for (std::size_t v = 0; v < all.size(); ++v)
    for (int k = 0; k < totals.size(); ++k)
      if (statistics_of(totals, k, i)[v] != 0) {
        out.push_back(all[v]);
        break;
      }
  return out;
}

/// Adds a feature to `to`: with the labels or categories of both parts, if `other` has it too.
void add_feature(const NbTotals &from, int i, const NbTotals *other, int j, NbTotals &to) {
  ColumnSpec spec = from.specs[std::size_t(i)];
  RowColumn name = from.names.empty() ? RowColumn{} : from.names[std::size_t(i)];
  if (other && is_categorical(spec)) {
    if (name.kind == ValueKind::label) {
      name.labels =
          both(seen(from, i, name.labels), seen(*other, j, other->names[std::size_t(j)].labels));
      if (name.labels.empty()) name.labels = {""};
      std::vector<double> values(name.labels.size());
      std::iota(values.begin(), values.end(), 0.0);
      spec.set_categories(std::move(values));
    } else {
      const auto values = [](const NbTotals &of, int feature) {
        const ColumnSpec &its = of.specs[std::size_t(feature)];
        std::vector<double> out = its.values;
        if (out.empty())
          for (int v = 0; v < its.categories; ++v) out.push_back(v);
        return seen(of, feature, out);
      };
      std::vector<double> all = both(values(from, i), values(*other, j));
      if (all.empty()) all = {0};
      spec.set_categories(std::move(all));
    }
  }
  to.specs.push_back(std::move(spec));
  if (!from.names.empty()) to.names.push_back(std::move(name));
}

/// Adds the statistics of a column, whose categories may have other positions in `to`. `codes`: the
/// new code of each label; empty for categories of numbers.
void add_column(const Column &from, const double *statistics, const std::vector<int> &codes,
                const Column &to, double *out) {
  if (!from.by_value) return to.merge(statistics, out);
  for (int i = 0; i < from.numbers_per_name(); ++i) {
    if (statistics[i] == 0) continue;
    const int place = codes.empty() ? int(to.element(from.value(i))) : codes[std::size_t(i)];
    out[place] += statistics[i];
  }
}

/// Adds the rows of class k of `from`, given by their mean and scatter, to class `at` of `to`.
void add_normal(const NormalStatistics &from, int k, NormalStatistics &to, int at) {
  const double n = from.count(k), whole = to.count(at) + n;
  if (!(n > 0)) return;
  const Vector away = from.mean.col(k) - to.mean.col(at);
  to.scatter[std::size_t(at)] +=
      from.scatter[std::size_t(k)] + to.count(at) * (n / whole) * outer(full_covariance, away);
  to.mean.col(at) += n / whole * away;
  to.count(at) = whole;
}

/// The weight of the rows of class k in which a feature is null, if no row of the part has a value.
double nulls_of(const NbTotals &part, const RowColumn &feature, int k) {
  const auto at =
      std::lower_bound(part.nulls.begin(), part.nulls.end(), feature.name,
                       [](const auto &each, const std::string &name) { return each.first < name; });
  return at != part.nulls.end() && at->first == feature.name ? at->second(k) : 0;
}

/// Adds the null features of a part to those of `to`, unless `to` has values of them.
void add_nulls(const NbTotals &part, NbTotals &to) {
  const std::vector<int> classes = places(part.classes, to.classes);
  const std::vector<std::string> known = names_of_features(to);
  for (const auto &[name, weight] : part.nulls) {
    if (std::binary_search(known.begin(), known.end(), name)) continue;
    auto at = std::lower_bound(
        to.nulls.begin(), to.nulls.end(), name,
        [](const auto &each, const std::string &wanted) { return each.first < wanted; });
    if (at == to.nulls.end() || at->first != name)
      at = to.nulls.insert(at, {name, Vector::Zero(to.size())});
    for (int k = 0; k < part.size(); ++k) at->second(classes[std::size_t(k)]) += weight(k);
  }
}

/// Adds all rows of a part to totals that contain its classes and features. `features`: the index
/// in `to` of each feature of the part.
void add_part(const NbTotals &part, const std::vector<int> &features, NbTotals &to) {
  const std::vector<int> classes = places(part.classes, to.classes);
  std::vector<int> place_of(std::size_t(to.features()), -1);  // index in part of each feature of to
  for (std::size_t j = 0; j < features.size(); ++j) place_of[std::size_t(features[j])] = int(j);
  std::vector<int> naive_of(std::size_t(part.features()), -1);
  for (std::size_t i = 0; i < part.naive.size(); ++i) naive_of[std::size_t(part.naive[i])] = int(i);
  std::vector<std::vector<int>> codes(std::size_t(part.features()));
  for (std::size_t j = 0; j < part.names.size(); ++j)
    if (part.names[j].kind == ValueKind::label)
      codes[j] = places(part.names[j].labels, to.names[std::size_t(features[j])].labels);
  WorkPoll poll;
  for (int k = 0; k < part.size(); ++k) {
    const int at = classes[std::size_t(k)];
    to.rows[std::size_t(at)] += part.rows[std::size_t(k)];
    to.weight(at) += part.weight(k);
    if (!to.joint.empty()) add_normal(part.normal, k, to.normal, at);
    if (to.naive.empty()) continue;
    to.product.count(at) = to.weight(at);
    if (part.product.columns) to.product.carrier(at) += part.product.carrier(k);
    for (std::size_t i = 0; i < to.naive.size(); ++i) {
      const Column &column = to.product.columns->column(int(i));
      double *const out =
          to.product.values.col(at).data() + to.product.columns->offsets(int(i)).statistics;
      const int feature = place_of[std::size_t(to.naive[i])];
      poll(1 + std::size_t(column.by_value ? column.numbers_per_name() : 0));
      if (feature >= 0) {
        const int own = naive_of[std::size_t(feature)];
        const Columns &columns = *part.product.columns;
        add_column(columns.column(own), statistics_of(part, k, own), codes[std::size_t(feature)],
                   column, out);
      } else if (to.is_zero_if_absent(to.naive[i])) {
        // No row of the part has a value of this feature: it is 0 except where it is null.
        const double absent =
            part.weight(k) - nulls_of(part, to.names[std::size_t(to.naive[i])], k);
        if (absent > 0) column.add(0, absent, out);
      }
    }
  }
  if (__builtin_add_overflow(to.skipped, part.skipped, &to.skipped))
    throw Error(Errc::too_large, "merged models have more rows than can be counted");
}

}  // namespace

void require_nb_numbers(double numbers, std::size_t classes, std::size_t features) {
  if (numbers <= nb_max_numbers) return;
  throw Error(
      Errc::too_large,
      message("{} classes with {} features have more than {} statistics", classes, features,
              describe_number(nb_max_numbers)),
      "A classifier has some statistics for each class and feature; for a column of labels, "
      "one for each label.",
      "Leave out rare words or labels, or classes with few rows.");
}

bool zero_if_absent(const ColumnSpec &spec) { return spec.counts(); }

void NbTotals::lay_out(bool full) {
  naive.clear();
  joint.clear();
  std::vector<ColumnSpec> own;
  for (int j = 0; j < features(); ++j) {
    const ColumnSpec &spec = specs[std::size_t(j)];
    const bool together = full && std::string_view(spec.name()) == normal_family;
    (together ? joint : naive).push_back(j);
    if (!together) own.push_back(spec);
  }
  const Eigen::Index k = size(), d = Eigen::Index(joint.size());
  rows.assign(classes.size(), 0);
  weight = Vector::Zero(k);
  product = {};
  if (!naive.empty()) {
    auto columns = std::make_shared<const Columns>(std::move(own));
    require_nb_numbers(double(columns->size().statistics) * double(k), classes.size(),
                       specs.size());
    product = {columns, Vector::Zero(k), Matrix::Zero(columns->size().statistics, k),
               Vector::Zero(k)};
  }
  if (!joint.empty()) {
    require_nb_numbers(double(d) * double(d + 1) * double(k), classes.size(), specs.size());
    normal = {full_covariance, Vector::Zero(k), Matrix::Zero(d, k),
              std::vector<Matrix>(classes.size(), Matrix::Zero(d, d))};
  }
}

namespace {

/// Adds the features of both, which have names, to `out`, and tells the place of each.
void merge_named_features(const NbTotals &first, const NbTotals &second, std::vector<int> &of_first,
                          std::vector<int> &of_second, NbTotals &out) {
  const std::vector<std::string> a = names_of_features(first), b = names_of_features(second);
  const std::vector<std::string> all = both(a, b);
  of_first = places(a, all);
  of_second = places(b, all);
  std::vector<int> in_first(all.size(), -1), in_second(all.size(), -1);
  for (std::size_t i = 0; i < a.size(); ++i) in_first[std::size_t(of_first[i])] = int(i);
  for (std::size_t i = 0; i < b.size(); ++i) in_second[std::size_t(of_second[i])] = int(i);
  for (std::size_t j = 0; j < all.size(); ++j) {
    poll_in_loop(j);
    const int i = in_first[j], other = in_second[j];
    if (i >= 0 && other >= 0) check_same_feature(first, i, second, other);
    if (i >= 0)
      add_feature(first, i, other >= 0 ? &second : nullptr, other, out);
    else
      add_feature(second, other, nullptr, -1, out);
  }
}

}  // namespace

NbTotals merged(const NbTotals &first, const NbTotals &second) {
  // A part without rows has no features yet.
  for (const auto &[some, none] : {std::pair(&first, &second), std::pair(&second, &first)})
    if (none->classes.empty()) {
      NbTotals out = *some;
      out.skipped += none->skipped;
      return out;
    }
  if (first.sparse != second.sparse)
    differ("features are objects of names in some rows, and columns in others", {});
  if (!first.sparse && first.names.empty() != second.names.empty())
    differ("some rows are arrays, others are records", "Columns of records have names.");
  NbTotals out;
  out.sparse = first.sparse;
  out.absent_is_zero = first.absent_is_zero;
  out.classes = both(first.classes, second.classes);
  if (out.classes.size() > std::size_t(nb_max_classes))
    throw Error(Errc::too_large, message("rows have more than {} classes", nb_max_classes));
  std::vector<int> of_first, of_second;
  if (first.sparse) {
    merge_named_features(first, second, of_first, of_second, out);
  } else {
    if (first.features() != second.features())
      throw Error(Errc::array_shape,
                  message("rows have different lengths: {} and {} elements", first.features(),
                          second.features()),
                  "All rows of one model have the same length.");
    for (int j = 0; j < first.features(); ++j) {
      if (!first.names.empty() &&
          first.names[std::size_t(j)].name != second.names[std::size_t(j)].name)
        differ(message("{} of some rows is {} in others", name_of_feature(first, j),
                       name_of_feature(second, j)),
               {});
      check_same_feature(first, j, second, j);
      add_feature(first, j, &second, j, out);
    }
    of_first.resize(first.specs.size());
    std::iota(of_first.begin(), of_first.end(), 0);
    of_second = of_first;
  }
  out.lay_out(!first.joint.empty());
  add_part(first, of_first, out);
  add_part(second, of_second, out);
  add_nulls(first, out);
  add_nulls(second, out);
  return out;
}

}  // namespace bayes
