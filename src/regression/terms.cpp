#include "regression/terms.hpp"

#include <algorithm>
#include <cmath>
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

}  // namespace

void require_terms(std::int64_t terms, const RowColumns &columns) {
  if (terms <= max_terms) return;
  const auto most = std::max_element(
      columns.begin(), columns.end(),
      [](const RowColumn &a, const RowColumn &b) { return a.labels.size() < b.labels.size(); });
  const bool labels = most != columns.end() && most->labels.size() > 1;
  throw Error(
      Errc::too_large, message("a regression can have at most {} terms", max_terms),
      labels ? message("Column {} alone has {} labels so far, and each is a term.",
                       quoted_text(most->name), most->labels.size())
             : message("The rows have {} columns.", terms),
      "Leave out columns that identify single rows, such as an id; combine rare labels into one.");
}

std::vector<double> contrast_weights(const Document &given, const RegressionTerms &terms) {
  const auto *const members = given.as<Document::Object>();
  if (!members || members->empty())
    throw Error(Errc::invalid_argument,
                members ? "the contrast has no terms" : "a contrast is not an object",
                "A contrast is an object that gives a weight to each of some names of terms.",
                R"(For example {"smoker": 1, "weight": -0.5}.)");
  std::unordered_map<std::string_view, std::size_t> places;
  std::vector<std::string_view> names;
  for (int i = 0; i < terms.size(); ++i) {
    places.emplace(terms.name(i), std::size_t(i));
    names.push_back(terms.name(i));
  }
  // The coefficient of a reference label is 0.
  std::unordered_set<std::string> references;
  for (const auto &[column, label] : *terms.reference().as<Document::Object>())
    references.insert(indicator_name(column, *label.as<std::string>()));
  std::vector<double> out(names.size(), 0.0);
  for (const auto &[name, value] : *members) {
    poll_in_loop(out.size());
    const auto found = places.find(name);
    if (found == places.end() && !references.contains(name)) {
      const std::string_view near = nearest(name, names);
      throw Error(Errc::invalid_argument, message("the model has no term {}", quoted_text(name)),
                  "A contrast gives weights to terms by their names.",
                  near.empty() ? message("They are {}.", list_of_terms(terms.names()))
                               : message("Perhaps you meant {}.", quoted_text(std::string(near))));
    }
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

void RegressionTerms::add(std::string name, RegressionTerm term) {
  terms_.push_back(term);
  names_.push_back(std::move(name));
}

RegressionTerms::RegressionTerms(const RowColumns &columns, int dimension, bool intercept,
                                 const Document &reference, std::span<const int> apart) {
  const auto is_apart = [apart](std::size_t j) {
    return std::find(apart.begin(), apart.end(), int(j)) != apart.end();
  };
  check_reference(reference);
  if (const auto *const members = reference.as<Document::Object>())
    for (const auto &[name, label] : *members) {
      const int at = find_column(columns, name);
      if (at < 0 || columns[std::size_t(at)].kind != ValueKind::label)
        throw Error(Errc::invalid_argument,
                    message("option \"reference\" names column {}, which {}", quoted_text(name),
                            at < 0 ? "the rows do not have" : "is not a column of labels"),
                    "A reference is one of the labels of a column of labels.");
    }
  std::int64_t terms = intercept ? 1 : 0;
  for (const RowColumn &column : columns)
    terms += column.kind != ValueKind::label
                 ? 1
                 : std::max<std::int64_t>(0, std::int64_t(column.labels.size()) - 1);
  require_terms(columns.empty() ? terms + dimension : terms, columns);

  if (intercept) add(intercept_name, {});
  if (columns.empty())
    for (int j = 0; j < dimension; ++j)
      if (!is_apart(std::size_t(j))) add(message("x{}", j + 1), {j, -1});
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const RowColumn &column = columns[j];
    if (is_apart(j)) continue;
    if (column.kind != ValueKind::label) {
      add(column.name, {int(j), -1});
      continue;
    }
    if (column.labels.empty()) continue;
    const int left_out = reference_label(column, reference);
    reference_.set(column.name, column.labels[std::size_t(left_out)]);
    for (std::size_t label = 0; label < column.labels.size(); ++label)
      if (int(label) != left_out)
        add(indicator_name(column.name, column.labels[label]), {int(j), int(label)});
  }
}

bool RegressionTerms::expand(std::span<const double> row, double *out) const {
  // Checked first because a missing label must not pass for the reference label, which has no term.
  if (std::any_of(row.begin(), row.end(), [](double x) { return std::isnan(x); })) return false;
  for (std::size_t t = 0; t < terms_.size(); ++t) {
    const RegressionTerm &term = terms_[t];
    if (term.column < 0)
      out[t] = 1;
    else if (term.label < 0)
      out[t] = row[std::size_t(term.column)];
    else
      out[t] = row[std::size_t(term.column)] == double(term.label) ? 1 : 0;
  }
  return true;
}

void RegressionTerms::expand_block(const double *block, int first, int rows, double *out) const {
  for (std::size_t t = 0; t < terms_.size(); ++t) {
    const RegressionTerm &term = terms_[t];
    double *const to = out + t * block_rows;
    const double *const from = block + std::size_t(first + std::max(0, term.column)) * block_rows;
    if (term.column < 0)
      std::fill_n(to, rows, 1.0);
    else if (term.label < 0)
      std::copy_n(from, rows, to);
    else
      for (int b = 0; b < rows; ++b) to[b] = from[b] == double(term.label) ? 1 : 0;
    std::fill(to + rows, to + block_rows, 0.0);
  }
}

}  // namespace bayes
