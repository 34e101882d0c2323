#include "regression/linreg_sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/control.hpp"
#include "base/error.hpp"
#include "base/linalg.hpp"
#include "base/message.hpp"
#include "document/members.hpp"
#include "document/sealed.hpp"
#include "regression/terms.hpp"

namespace bayes {
namespace {

constexpr int sums_format = 1;
constexpr Seal sums_seal = {"PGBR", sums_format, "linreg_stats"};
constexpr std::int64_t max_rows = std::numeric_limits<std::int64_t>::max();

/// The largest number of cells whose matrix of sums is factored as a check: that takes some
/// milliseconds.
constexpr Eigen::Index max_checked_cells = 500;

bool has_labels(const RowColumn &column) { return column.kind == ValueKind::label; }

/// The indices in `from` of the columns of `to`, matched by name.
std::vector<int> match_columns(const RowColumns &to, const RowColumns &from) {
  std::vector<int> out;
  for (const RowColumn &column : to) {
    const int at = find_column(from, column.name);
    if (at < 0)
      throw Error(Errc::invalid_argument,
                  message("statistics of rows with column {} cannot be added to others without it",
                          describe(Document(column.name))),
                  "Statistics can be added only if their rows have the same columns.",
                  "Columns are matched by name; rename them as in SELECT a AS b.");
    const RowColumn &other = from[std::size_t(at)];
    if (has_labels(column) != has_labels(other))
      throw Error(
          Errc::invalid_argument,
          message("statistics of rows where column {} is a {} cannot be added to others "
                  "where it is a {}",
                  describe(Document(column.name)), name_of(column.kind), name_of(other.kind)));
    out.push_back(at);
  }
  return out;
}

void require_same_columns(const LinregSums &a, const LinregSums &b) {
  if (a.columns.empty() != b.columns.empty())
    throw Error(Errc::invalid_argument, "statistics of records and of arrays cannot be added up",
                "Coefficients of records belong to columns, those of arrays to elements.");
  if (a.dimension != b.dimension)
    throw Error(Errc::array_shape,
                message("statistics of rows with {} predictors cannot be added to others with {}",
                        b.dimension, a.dimension));
}

}  // namespace

void LinregSums::count_cells() {
  std::int64_t numbers = dimension, labels = 0;
  for (const RowColumn &column : columns)
    if (has_labels(column)) {
      --numbers;
      labels += std::int64_t(column.labels.size());
    }
  cells_ = int(first_predictor_cell + numbers + labels);
  label_rows.assign(std::size_t(labels), 0);
}

void LinregSums::resize() {
  count_cells();
  hi_.assign(index(cells_, 0), 0.0);
  lo_.assign(hi_.size(), 0.0);
}

int LinregSums::cell_of(int column) const {
  if (columns.empty()) return first_predictor_cell + column;
  const bool labelled = has_labels(columns[std::size_t(column)]);
  int out = first_predictor_cell;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const bool before = int(j) < column;
    if (has_labels(columns[j]))
      out += labelled && before ? int(columns[j].labels.size()) : 0;
    else
      out += labelled || before ? 1 : 0;
  }
  return out;
}

void LinregSums::widen(const LinregSums &other) {
  const std::vector<int> match = match_columns(columns, other.columns);
  LinregSums wide;
  wide.columns = columns;
  wide.dimension = dimension;
  bool any = false;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    std::vector<std::string> &labels = wide.columns[j].labels;
    const std::vector<std::string> &more = other.columns[std::size_t(match[j])].labels;
    std::vector<std::string> all;
    std::set_union(labels.begin(), labels.end(), more.begin(), more.end(), std::back_inserter(all));
    any |= all.size() > labels.size();
    labels = std::move(all);
  }
  if (!any) return;
  std::int64_t terms = 1 + dimension;
  for (const RowColumn &column : wide.columns)
    if (has_labels(column)) terms += std::int64_t(column.labels.size()) - 2;
  require_terms(terms, wide.columns);
  wide.resize();
  wide.add(*this);
  *this = std::move(wide);
}

void LinregSums::add(const LinregSums &other) {
  require_same_columns(*this, other);
  if (!columns.empty()) widen(other);
  // Maps cells of `other` to cells of this.
  std::vector<int> cell(std::size_t(other.cells()));
  cell[one_cell] = one_cell;
  cell[response_cell] = response_cell;
  const std::vector<int> match =
      columns.empty() ? std::vector<int>() : match_columns(columns, other.columns);
  for (int j = 0; j < dimension; ++j) {
    const int there = match.empty() ? j : match[std::size_t(j)], first = other.cell_of(there);
    const int here = cell_of(j);
    if (match.empty() || !has_labels(columns[std::size_t(j)])) {
      cell[std::size_t(first)] = here;
      continue;
    }
    const std::vector<std::string> &labels = columns[std::size_t(j)].labels,
                                   &from = other.columns[std::size_t(there)].labels;
    for (std::size_t l = 0; l < from.size(); ++l) {
      const auto at = std::lower_bound(labels.begin(), labels.end(), from[l]) - labels.begin();
      cell[std::size_t(first) + l] = here + int(at);
      const std::size_t numbers = std::size_t(cells_) - label_rows.size(),
                        numbers_there = std::size_t(other.cells_) - other.label_rows.size();
      label_rows[std::size_t(here) + std::size_t(at) - numbers] +=
          other.label_rows[std::size_t(first) + l - numbers_there];
    }
  }
  WorkPoll poll;
  for (int i = 0; i < other.cells(); ++i) {
    poll(std::size_t(20 * (i + 1)));
    for (int j = 0; j <= i; ++j) {
      const int a = cell[std::size_t(i)], b = cell[std::size_t(j)];
      set(a, b, at(a, b) + other.at(i, j));
    }
  }
  require_finite();
  if (other.rows > max_rows - rows || other.skipped > max_rows - skipped)
    throw Error(Errc::too_large, "merged statistics have more rows than can be counted");
  rows += other.rows;
  skipped += other.skipped;
  operations += other.operations;
}

void LinregSums::require_finite() const {
  const auto finite = [](double x) { return std::isfinite(x); };
  if (!std::all_of(hi_.begin(), hi_.end(), finite) || !std::all_of(lo_.begin(), lo_.end(), finite))
    throw Error(Errc::numeric, "sums of products of the rows overflow",
                "The numbers, or the weights, are too large for their squares to be added up.",
                "Divide a column, the response or the weights by a power of ten.");
}

Document LinregSums::to_document() const {
  Document out;
  out.set("linreg_stats", Document::object().set("format", sums_format));
  out.set("rows", rows).set("skipped", skipped).set("dimension", dimension);
  if (!columns.empty()) out.set("row_columns", document_of_columns(columns));
  if (operations != double(rows)) out.set("operations", operations);
  if (!label_rows.empty()) {
    Tensor counts{{std::int64_t(label_rows.size())}, {}};
    for (const std::int64_t count : label_rows) counts.values.push_back(double(count));
    out.set("label_rows", std::move(counts));
  }
  const auto size = std::int64_t(hi_.size());
  out.set("sums", Tensor{{size}, hi_}).set("rests", Tensor{{size}, lo_});
  return out;
}

LinregSums LinregSums::from_document(const Document &document) {
  try {
    return read(document);
  } catch (const Error &error) {
    // Members are read like those of models, so errors name the type bayes_model.
    constexpr std::string_view of_model = "invalid bayes_model";
    const std::string_view what = error.what();
    if (error.code() != Errc::invalid_text || !what.starts_with(of_model)) throw;
    throw Error(error.code(), "invalid linreg_stats" + std::string(what.substr(of_model.size())),
                error.detail(), error.hint());
  }
}

LinregSums LinregSums::read(const Document &document) {
  if (!document.as<Document::Object>())
    throw Error(Errc::invalid_text, "invalid linreg_stats: it must be an object");
  const MemberReader in(document);
  const std::int64_t format = in.object("linreg_stats").integer("format", 1, max_rows);
  if (format > sums_format) throw newer_format(Errc::invalid_text, sums_seal, format);
  LinregSums out;
  out.rows = in.integer("rows", 0, max_rows);
  out.skipped = in.integer("skipped", 0, max_rows);
  out.dimension = int(in.integer("dimension", 0, max_predictors));
  out.columns = read_columns(document, out.dimension);
  std::int64_t terms = 1 + out.dimension;
  for (const RowColumn &column : out.columns)
    if (has_labels(column)) terms += std::int64_t(column.labels.size()) - 2;
  if (terms > max_terms)
    in.reject("row_columns", "has more labels than a regression can have terms");
  // A short text may name thousands of labels, and so need millions of sums: these are allocated
  // only when they are read.
  out.count_cells();
  out.operations = in.has("operations") ? in.number("operations", 0, 1e300) : double(out.rows);
  if (!out.label_rows.empty()) {
    const Tensor counts = in.tensor("label_rows", {out.labels()});
    for (std::size_t i = 0; i < counts.values.size(); ++i) {
      const double count = counts.values[i];
      if (!(count >= 1 && count <= double(out.rows)) || count != std::floor(count))
        in.reject("label_rows", "must be whole numbers from 1 to rows");
      out.label_rows[i] = std::int64_t(count);
    }
  }
  const auto size = std::int64_t(index(out.cells_, 0));
  out.hi_ = in.tensor("sums", {size}).values;
  out.lo_ = in.tensor("rests", {size}).values;
  for (std::size_t k = 0; k < out.hi_.size(); ++k)
    if (out.hi_[k] + out.lo_[k] != out.hi_[k])
      in.reject("rests", "must be the rounding errors of the sums");
  // Squares may have underflowed.
  const auto root = [&out](int i) { return std::sqrt(out.at(i, i).hi + 1e-300); };
  for (int i = 0; i < out.cells(); ++i) {
    if (!(out.at(i, i).hi >= 0)) in.reject("sums", "must not have negative sums of squares");
    for (int j = 0; j < i; ++j)
      if (std::fabs(out.at(i, j).hi) > (1 + 1e-9) * root(i) * root(j))
        in.reject("sums", "must be sums of products: one is larger than its sums of squares allow");
  }
  if (out.rows > 0 && !(out.weight() > 0)) in.reject("sums", "must have a positive weight");
  out.check_labels(in);
  return out;
}

void LinregSums::check_labels(const MemberReader &in) const {
  // Relative to the weight of all rows, with room for the rounding errors of weights removed.
  constexpr double tolerance = 1e-9;
  const double room = tolerance * weight();
  const int first_label = cells_ - labels();
  for (int j = 0; j < int(columns.size()); ++j) {
    if (!has_labels(columns[std::size_t(j)])) continue;
    const int first = cell_of(j), end = first + int(columns[std::size_t(j)].labels.size());
    double of_column = 0, rows_of_column = 0;
    for (int a = first; a < end; ++a) {
      of_column += at(a, one_cell).hi;
      rows_of_column += double(label_rows[std::size_t(a - first_label)]);
      if (std::fabs(at(a, a).hi - at(a, one_cell).hi) > room)
        in.reject("sums", "must have indicators of labels, whose sums equal their sums of squares");
      for (int b = first; b < a; ++b)
        if (at(a, b).hi != 0) in.reject("sums", "must have no row with two labels of one column");
    }
    if (std::fabs(of_column - weight()) > room || rows_of_column != double(rows))
      in.reject("label_rows", "and sums must add up to all rows in every column of labels");
  }
}

void LinregSums::require_semidefinite() const {
  const auto size = Eigen::Index(cells_);
  if (size > max_checked_cells) return;
  // Tolerance of a sum of products for rounding errors, relative to the sums of squares.
  constexpr double room = 1e-10;
  Matrix scaled(size, size), lower;
  std::vector<double> unit;
  for (int i = 0; i < cells_; ++i) unit.push_back(1 / std::sqrt(at(i, i).hi + 1e-300));
  for (int i = 0; i < cells_; ++i) {
    for (int j = 0; j < i; ++j)
      scaled(i, j) = scaled(j, i) = at(i, j).hi * unit[std::size_t(i)] * unit[std::size_t(j)];
    scaled(i, i) = 1 + room;
  }
  if (!cholesky(scaled, lower))
    throw Error(Errc::invalid_text,
                "invalid linreg_stats: member \"sums\" must be sums of products of rows",
                "No rows have these sums: their matrix is not positive semidefinite.");
}

std::string LinregSums::to_bytes() const {
  std::string bytes(sealed_header_bytes, '\0');
  to_document().to_bytes(bytes);
  seal(bytes, sums_seal);
  return bytes;
}

LinregSums LinregSums::from_bytes(std::string_view bytes) {
  const std::string_view payload = unsealed(bytes, sums_seal);
  try {
    return from_document(Document::from_bytes(payload));
  } catch (const Error &error) {
    if (error.code() != Errc::invalid_text) throw;
    throw Error(Errc::invalid_binary, error.what(), error.detail(), error.hint());
  }
}

}  // namespace bayes
