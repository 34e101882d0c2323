#include "regression/terms.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/control.hpp"
#include "base/error.hpp"
#include "base/message.hpp"
#include "data/rows.hpp"
#include "document/members.hpp"
#include "document/option_table.hpp"

namespace bayes {
namespace {

std::string quoted_text(const std::string &text) { return describe(Document(text)); }

std::string indicator_name(const std::string &column, const std::string &label) {
  return column + "=" + label;
}

/// The code of a column's reference label, which has no indicator.
int reference_label(const RowColumn &column, const Document &reference) {
  const Document *const given = reference.find(column.name);
  if (!given || given->is_null()) return 0;
  const std::string &label = *given->as<std::string>();
  const auto at = std::lower_bound(column.labels.begin(), column.labels.end(), label);
  if (at != column.labels.end() && *at == label) return int(at - column.labels.begin());
  const std::string_view near =
      nearest(label, std::vector<std::string_view>(column.labels.begin(), column.labels.end()));
  throw Error(Errc::invalid_argument,
              message("column {} has no label {}, which option reference names",
                      quoted_text(column.name), quoted_text(label)),
              message("It has {} different labels in the rows of the fit.", column.labels.size()),
              near.empty() ? std::string()
                           : message("Perhaps you meant {}.", quoted_text(std::string(near))));
}

bool has_labels(const RowColumns &columns, int column) {
  return !columns.empty() && columns[std::size_t(column)].kind == ValueKind::label;
}

[[noreturn]] void refuse_terms(const std::string &detail) {
  throw Error(
      Errc::too_large, message("a regression can have at most {} terms", max_terms), detail,
      "Leave out columns that identify single rows, such as an id; combine rare labels into one.");
}

constexpr const char *too_many_products = "Option \"terms\" lists more products of columns.";

/// The columns whose products are the terms of a regression, by option terms.
class ListedProducts {
 public:
  ListedProducts(const RowColumns &columns, int dimension)
      : columns_(columns),
        names_(column_names(columns, dimension)) {
    for (std::size_t j = 0; j < names_.size(); ++j) {
      places_.emplace(names_[j], int(j));
      longest_ = std::max(longest_, names_[j].size());
    }
  }

  /// Adds an entry of the list. Throws Error(invalid_argument).
  void add(const std::string &entry) {
    // Columns joined by ':' are a group; '*' joins groups, and stands for all products of some.
    std::vector<std::vector<int>> groups(1);
    std::string_view rest = entry;
    for (std::size_t factors = 1;; ++factors) {
      if (factors > std::size_t(max_factors))
        refuse(entry, message("has more than {} factors", max_factors), "", "");
      groups.back().push_back(take_column(entry, rest));
      if (rest.empty()) break;
      if (rest.front() == '*') groups.emplace_back();
      rest.remove_prefix(1);
    }
    const unsigned all = (1u << groups.size()) - 1;
    for (int size = 1; size <= int(groups.size()); ++size)
      for (unsigned some = 1; some <= all; ++some)
        if (std::popcount(some) == size) add_product(entry, groups, some);
  }

  const std::vector<std::vector<int>> &products() const { return products_; }
  std::string name(std::span<const int> product) const {
    std::string out;
    for (const int column : product) out += (out.empty() ? "" : ":") + names_[std::size_t(column)];
    return out;
  }

 private:
  [[noreturn]] static void refuse(const std::string &entry, const std::string &what,
                                  const std::string &detail, const std::string &hint) {
    throw Error(Errc::invalid_argument,
                message("entry {} of option \"terms\" {}", quoted_text(entry), what), detail, hint);
  }

  static std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(' ');
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(' ') + 1 - first);
  }

  /// The column that the rest of an entry begins with, by the longest name that is followed by an
  /// operator or the end: a name may contain operators. `rest` loses it.
  int take_column(const std::string &entry, std::string_view &rest) const {
    const std::size_t leading = std::min(rest.find_first_not_of(' '), rest.size());
    int found = -1;
    std::size_t after = 0;
    for (std::size_t end = leading; end <= rest.size(); ++end) {
      end = std::min(rest.find_first_of(":*", end), rest.size());
      const std::string_view exact = rest.substr(0, end), bare = trimmed(exact);
      if (bare.size() > longest_) break;
      auto at = places_.find(exact);
      if (at == places_.end()) at = places_.find(bare);
      if (at == places_.end()) continue;
      found = at->second;
      after = end;
    }
    if (found < 0) unknown(entry, trimmed(rest.substr(0, rest.find_first_of(":*", leading))));
    rest.remove_prefix(after);
    return found;
  }

  [[noreturn]] void unknown(const std::string &entry, std::string_view name) const {
    const std::string_view near =
        nearest(name, std::vector<std::string_view>(names_.begin(), names_.end()));
    refuse(entry,
           message("names column {}, which the rows do not have", quoted_text(std::string(name))),
           names_.empty() ? "They have no columns." : "They have " + list_of_terms(names_) + ".",
           near.empty() ? std::string()
                        : message("Perhaps you meant {}.", quoted_text(std::string(near))));
  }

  /// Adds the product of the groups that are bits of `some`. A product that is listed by itself may
  /// be so once; those of a '*' may be there.
  void add_product(const std::string &entry, const std::vector<std::vector<int>> &groups,
                   unsigned some) {
    std::vector<int> product;
    for (std::size_t g = 0; g < groups.size(); ++g)
      if (some >> g & 1) product.insert(product.end(), groups[g].begin(), groups[g].end());
    std::vector<int> key = product;
    std::sort(key.begin(), key.end());
    const auto twice = std::adjacent_find(key.begin(), key.end(), [this](int a, int b) {
      return a == b && !columns_.empty() && columns_[std::size_t(a)].kind != ValueKind::number;
    });
    if (twice != key.end())
      refuse(entry, message("has column {} twice", quoted_text(names_[std::size_t(*twice)])),
             "Only a column of numbers has powers: a number that is 0 or 1 is its own square.", "");
    if (groups.size() == 1 && !listed_.insert(key).second)
      refuse(entry, message("repeats the term {}", quoted_text(name(product))),
             "Products of the same columns are the same term, whatever their order.", "");
    if (!known_.insert(std::move(key)).second) return;
    products_.push_back(std::move(product));
    if (products_.size() > std::size_t(max_terms)) refuse_terms(too_many_products);
  }

  const RowColumns &columns_;
  std::vector<std::string> names_;
  std::unordered_map<std::string_view, int> places_;
  std::size_t longest_ = 0;
  std::vector<std::vector<int>> products_;
  /// sorted products: all of them, and those that entries name themselves
  std::set<std::vector<int>> known_, listed_;
};

}  // namespace

void require_terms(std::int64_t terms, const RowColumns &columns) {
  if (terms <= max_terms) return;
  const auto most = std::max_element(
      columns.begin(), columns.end(),
      [](const RowColumn &a, const RowColumn &b) { return a.labels.size() < b.labels.size(); });
  const bool labels = most != columns.end() && most->labels.size() > 1;
  refuse_terms(labels ? message("Column {} alone has {} labels so far, and each is a term.",
                                quoted_text(most->name), most->labels.size())
                      : message("The rows have {} columns.", terms));
}

std::vector<std::string> column_names(const RowColumns &columns, int dimension) {
  std::vector<std::string> out;
  for (const RowColumn &column : columns) out.push_back(column.name);
  if (columns.empty())
    for (int j = 1; j <= dimension; ++j) out.push_back(message("x{}", j));
  return out;
}

std::vector<double> contrast_weights(const Document &given, const RegressionTerms &terms,
                                     std::span<const std::string> prefixes,
                                     const std::optional<std::string> &reference_prefix) {
  const auto *const members = given.as<Document::Object>();
  if (!members || members->empty())
    throw Error(Errc::invalid_argument,
                members ? "the contrast has no terms" : "a contrast is not an object",
                "A contrast is an object that gives a weight to each of some names of terms.",
                R"(For example {"smoker": 1, "weight": -0.5}.)");
  std::unordered_map<std::string_view, std::size_t> places;
  std::vector<std::string> names;
  // The coefficient of a reference label is 0.
  std::unordered_set<std::string> references;
  for (const std::string &prefix : prefixes) {
    for (const std::string &name : terms.names()) names.push_back(prefix + name);
    for (const std::string &product : terms.reference_products())
      references.insert(prefix + product);
    for (const auto &[column, label] : *terms.reference().as<Document::Object>())
      references.insert(prefix + indicator_name(column, *label.as<std::string>()));
  }
  std::unordered_set<std::string_view> ambiguous;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!places.emplace(names[i], i).second) ambiguous.insert(names[i]);
  for (const std::string &name : terms.names())
    if (reference_prefix) references.insert(*reference_prefix + name);
  std::vector<double> out(names.size(), 0.0);
  for (const auto &[name, value] : *members) {
    poll_in_loop(out.size());
    const auto found = places.find(name);
    if (found == places.end() && !references.contains(name)) {
      const std::string_view near = nearest(name, {names.begin(), names.end()});
      throw Error(Errc::invalid_argument, message("the model has no term {}", quoted_text(name)),
                  "A contrast gives weights to terms by their names.",
                  near.empty() ? message("They are {}.", list_of_terms(names))
                               : message("Perhaps you meant {}.", quoted_text(std::string(near))));
    }
    if (ambiguous.contains(name))
      throw Error(Errc::invalid_argument,
                  message("two coefficients are called {}", quoted_text(name)),
                  "A class of the response and a column have names that make the same one.",
                  "Rename one of them.");
    const auto *const whole = value.as<std::int64_t>();
    const auto *const number = value.as<double>();
    if (!whole && !(number && std::isfinite(*number)))
      throw Error(Errc::invalid_argument,
                  message("the weight of term {} is {}", quoted_text(name), describe(value)),
                  "It must be a finite number.");
    if (found != places.end()) out[found->second] = whole ? double(*whole) : *number;
  }
  return out;
}

std::string list_of_terms(const std::vector<std::string> &names) {
  constexpr std::size_t most = 5;
  std::string out;
  for (std::size_t i = 0; i < names.size() && i < most; ++i)
    out += (i > 0 ? ", " : "") + quoted_text(names[i]);
  return names.size() > most ? message("{} and {} more", out, names.size() - most) : out;
}

void check_reference(const Document &reference) {
  if (reference.is_null()) return;
  const auto *const members = reference.as<Document::Object>();
  if (!members)
    throw Error(Errc::invalid_argument,
                message("option \"reference\" is {}, but must be an object", describe(reference)),
                {}, R"(Name columns and labels: {"reference": {"species": "setosa"}}.)");
  for (const auto &[column, label] : *members)
    if (!label.as<std::string>() && !label.is_null())
      throw Error(
          Errc::invalid_argument,
          message("option \"reference.{}\" is {}, but must be a label", column, describe(label)));
}

std::vector<std::string> listed_terms(const Document &given) {
  const auto *const list = given.as<Document::List>();
  const auto refuse = [](const Document &what, const char *where) {
    throw Error(Errc::invalid_argument,
                message("{}option \"terms\" is {}, but must be {}", where, describe(what),
                        *where ? "a text" : "a list of at least one text"),
                "A text names a column, or several joined by ':', whose product is a term.",
                R"(For instance {"terms": ["age", "smoker", "age:smoker"]}.)");
  };
  if (!list || list->empty()) refuse(given, "");
  if (list->size() > std::size_t(max_terms))
    refuse_terms(message("Option \"terms\" has {} entries.", list->size()));
  std::vector<std::string> out;
  for (const Document &entry : *list) {
    const auto *const text = entry.as<std::string>();
    if (!text) refuse(entry, "an entry of ");
    out.push_back(*text);
  }
  return out;
}

void RegressionTerms::add(std::string name, std::span<const TermFactor> factors) {
  factors_.insert(factors_.end(), factors.begin(), factors.end());
  ends_.push_back(int(factors_.size()));
  names_.push_back(std::move(name));
}

namespace {

/// Throws Error(invalid_argument) for an option reference of something else than columns of labels.
void require_reference(const RowColumns &columns, const Document &reference) {
  check_reference(reference);
  const auto *const members = reference.as<Document::Object>();
  if (!members) return;
  for (const auto &[name, label] : *members) {
    const int at = find_column(columns, name);
    if (at < 0 || columns[std::size_t(at)].kind != ValueKind::label)
      throw Error(Errc::invalid_argument,
                  message("option \"reference\" names column {}, which {}", quoted_text(name),
                          at < 0 ? "the rows do not have" : "is not a column of labels"),
                  "A reference is one of the labels of a column of labels.");
  }
}

/// All columns but those apart. Throws Error(too_large) for too many terms.
std::vector<std::vector<int>> single_columns(const RowColumns &columns, int dimension,
                                             bool intercept, std::span<const int> apart) {
  std::int64_t terms = intercept ? 1 : 0;
  for (const RowColumn &column : columns)
    terms += column.kind != ValueKind::label
                 ? 1
                 : std::max<std::int64_t>(0, std::int64_t(column.labels.size()) - 1);
  require_terms(columns.empty() ? terms + dimension : terms, columns);
  std::vector<std::vector<int>> out;
  for (int j = 0; j < (columns.empty() ? dimension : int(columns.size())); ++j)
    if (std::find(apart.begin(), apart.end(), j) == apart.end()) out.push_back({j});
  return out;
}

/// The products that option terms lists. Throws Error(invalid_argument), and Error(too_large) for
/// too many terms, with which the combinations of labels in products count that have none.
std::vector<std::vector<int>> listed_products(const RowColumns &columns, int dimension,
                                              bool intercept, std::span<const std::string> listed) {
  ListedProducts list(columns, dimension);
  for (const std::string &entry : listed) list.add(entry);
  double all = intercept ? 1 : 0, most = 1;
  const std::vector<int> *largest = nullptr;
  for (const std::vector<int> &product : list.products()) {
    double terms = 1;
    for (const int column : product)
      if (has_labels(columns, column)) terms *= double(columns[std::size_t(column)].labels.size());
    all += product.size() == 1 && has_labels(columns, product.front()) ? terms - 1 : terms;
    if (terms > most) largest = &product;
    most = std::max(most, terms);
  }
  if (all > max_terms)
    refuse_terms(largest ? message("Term {} alone has {} combinations of labels.",
                                   quoted_text(list.name(*largest)), describe_number(most))
                         : too_many_products);
  return list.products();
}

/// Throws Error(invalid_argument) for two terms of one name, as names of columns and labels may
/// contain ':'.
void require_different(const std::vector<std::string> &names) {
  std::unordered_set<std::string_view> all;
  for (const std::string &name : names)
    if (!all.insert(name).second)
      throw Error(Errc::invalid_argument, message("two terms have the name {}", quoted_text(name)),
                  "A product has the names of its factors, joined by ':'.",
                  "Rename the column, or the label, that contains ':'.");
}

}  // namespace

RegressionTerms::RegressionTerms(const RowColumns &columns, int dimension, bool intercept,
                                 const Document &reference, std::span<const int> apart,
                                 std::span<const std::string> listed) {
  require_reference(columns, reference);
  const std::vector<std::vector<int>> products =
      listed.empty() ? single_columns(columns, dimension, intercept, apart)
                     : listed_products(columns, dimension, intercept, listed);
  std::vector<bool> used(columns.size());
  for (const std::vector<int> &product : products)
    for (const int j : product)
      if (!columns.empty()) used[std::size_t(j)] = true;
  std::vector<int> references(columns.empty() ? std::size_t(dimension) : columns.size(), -1);
  for (std::size_t j = 0; j < columns.size(); ++j) {
    if (!used[j] || !has_labels(columns, int(j)) || columns[j].labels.empty()) continue;
    references[j] = reference_label(columns[j], reference);
    reference_.set(columns[j].name, columns[j].labels[std::size_t(references[j])]);
  }
  if (intercept) add(intercept_name, {});
  for (const std::vector<int> &product : products) add_product(columns, product, references);
  if (!listed.empty()) require_different(names_);
}

void RegressionTerms::add_product(const RowColumns &columns, std::span<const int> product,
                                  std::span<const int> references) {
  // The labels of the first column change fastest.
  std::vector<TermFactor> factors;
  for (const int j : product) {
    factors.push_back({j, has_labels(columns, j) ? 0 : -1});
    if (has_labels(columns, j) && columns[std::size_t(j)].labels.empty()) return;
  }
  for (std::size_t changed = 0; changed < factors.size();) {
    std::string name;
    bool compares = true;
    for (const auto &[j, label] : factors) {
      if (!name.empty()) name += ':';
      const std::string column =
          columns.empty() ? message("x{}", j + 1) : columns[std::size_t(j)].name;
      name += label < 0
                  ? column
                  : indicator_name(column, columns[std::size_t(j)].labels[std::size_t(label)]);
      if (label >= 0 && label == references[std::size_t(j)]) compares = false;
    }
    if (compares)
      add(std::move(name), factors);
    else if (factors.size() > 1)
      reference_products_.push_back(std::move(name));
    for (changed = 0; changed < factors.size(); ++changed) {
      auto &[j, label] = factors[changed];
      if (label < 0) continue;
      if (++label < int(columns[std::size_t(j)].labels.size())) break;
      label = 0;
    }
  }
}

RegressionTerms RegressionTerms::unnamed() const {
  RegressionTerms out;
  out.factors_ = factors_;
  out.ends_ = ends_;
  return out;
}

bool RegressionTerms::take(std::span<const double> columns, std::span<const double> labels,
                           std::span<const double> ends, int dimension) {
  const auto whole = [](double x, double low, double high) {
    return x >= low && x <= high && x == std::floor(x);
  };
  if (ends.empty() || ends.size() > std::size_t(max_terms)) return false;
  factors_.clear();
  ends_.clear();
  double before = 0;
  for (const double end : ends) {
    // The first term alone may have no factors.
    if (!whole(end, ends_.empty() ? 0 : before + 1, before + max_factors)) return false;
    ends_.push_back(int(before = end));
  }
  if (before != double(columns.size()) || labels.size() != columns.size()) return false;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!whole(columns[i], 0, dimension - 1) || !whole(labels[i], -1, 1e9)) return false;
    factors_.push_back({int(columns[i]), int(labels[i])});
  }
  return true;
}

bool RegressionTerms::expand(std::span<const double> row, double *out) const {
  // Checked first because a missing label must not pass for the reference label, which has no term.
  if (std::any_of(row.begin(), row.end(), [](double x) { return std::isnan(x); })) return false;
  const auto value = [row](const TermFactor &factor) {
    const double x = row[std::size_t(factor.column)];
    if (factor.label < 0) return x;
    return x == double(factor.label) ? 1.0 : 0.0;
  };
  const TermFactor *factor = factors_.data();
  for (std::size_t t = 0; t < ends_.size(); ++t) {
    const TermFactor *const past = factors_.data() + ends_[t];
    out[t] = factor < past ? value(*factor++) : 1;
    while (factor < past) out[t] *= value(*factor++);
  }
  return true;
}

namespace {

/// Multiplies numbers of a block by a column, or by the indicator of its label.
void multiply(const double *column, int label, int rows, double *out) {
  if (label < 0)
    for (int b = 0; b < rows; ++b) out[b] *= column[b];
  else
    for (int b = 0; b < rows; ++b) out[b] *= column[b] == double(label) ? 1 : 0;
}

}  // namespace

void RegressionTerms::expand_block(const double *block, int first, int rows, double *out) const {
  int at = 0;
  for (const int end : ends_) {
    if (at == end) std::fill_n(out, rows, 1.0);
    for (const int begin = at; at < end; ++at) {
      const TermFactor factor = factors_[std::size_t(at)];
      const double *const from = block + std::size_t(first + factor.column) * block_rows;
      if (at > begin)
        multiply(from, factor.label, rows, out);
      else if (factor.label < 0)
        std::copy_n(from, rows, out);
      else
        for (int b = 0; b < rows; ++b) out[b] = from[b] == double(factor.label) ? 1 : 0;
    }
    std::fill(out + rows, out + block_rows, 0.0);
    out += block_rows;
  }
}

}  // namespace bayes
