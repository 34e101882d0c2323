#include "regression/linreg_sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/control.hpp"
#include "base/error.hpp"
#include "base/linalg.hpp"
#include "base/message.hpp"
#include "base/simd.hpp"
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

namespace {

/// Four times the relative rounding error of one addition. The errors of n additions grow as
/// sqrt(n) in practice (Higham and Mary 2019). (Errors within a batch of rows, relative to its
/// largest product, are smaller.)
constexpr double one_rounding = 0x1p-104;
/// Largest harmless relative error of variances and of squared residuals.
constexpr double harmless = 1e-10;
/// Relative error of sums about the mean that is harmless even where other columns explain all but
/// 1e-12 of a column's variance.
constexpr double always_harmless = 1e-22;
/// share of a column's sum of squares: with less about the mean the column is constant
constexpr double constant_part = 1e-26;
/// A sum of squares may have shrunk by at most this factor. (sums() treats every column as being as
/// inexact as the one that has shrunk most.)
constexpr double max_shrunk = 1e6;
/// Up to this number of labels, those without rows left are kept.
constexpr int many_labels = max_terms / 4;

}  // namespace

LinregAccumulator::LinregAccumulator(std::pmr::memory_resource *memory)
    : numbers_(memory),
      labelled_(memory),
      right_(memory),
      left_(memory),
      rest_(memory),
      largest_(memory),
      hi_(memory),
      lo_(memory),
      label_cells_(memory),
      cell_of_code_(memory),
      label_hi_(memory),
      label_lo_(memory),
      labels_of_row_(memory),
      peak_(memory) {}

void LinregAccumulator::begin(const RowColumns &columns, int dimension, bool weighted) {
  require_terms(dimension, columns);
  dimension_ = dimension;
  weighted_ = weighted;
  for (int j = 0; j < dimension; ++j)
    (!columns.empty() && columns[std::size_t(j)].kind == ValueKind::label ? labelled_ : numbers_)
        .push_back(j);
  front_ = first_predictor_cell + numbers_.size();
  stride_ = (front_ + lanes - 1) / lanes * lanes;
  right_.assign(buffered * stride_, 0.0);
  left_.assign(buffered * stride_, 0.0);
  if (weighted) rest_.assign(buffered * stride_, 0.0);
  largest_.assign(stride_, 0.0);
  const std::size_t whole_tiles = (front_ + tile - 1) / tile * tile;
  hi_.assign(row_of_front(whole_tiles), 0.0);
  lo_.assign(row_of_front(whole_tiles), 0.0);
  cell_of_code_.resize(labelled_.size());
  labels_of_row_.resize(labelled_.size());
}

std::int64_t LinregAccumulator::terms() const {
  return 1 + std::int64_t(numbers_.size()) + labels_in_use_ - std::int64_t(labelled_.size());
}

void LinregAccumulator::add(double y, std::span<const double> x, double weight) {
  take(y, x, weight, 1);
  if (waiting_ == buffered) flush();
}

bool LinregAccumulator::remove(double y, std::span<const double> x, double weight) {
  flush();
  if (peak_.empty()) {
    peak_.assign(front_, 0.0);
    changes_ = double(rows_);
  }
  for (std::size_t i = 0; i < front_; ++i) peak_[i] = std::max(peak_[i], hi_[row_of_front(i) + i]);
  take(y, x, weight, -1);
  flush(true);
  // Sums of labels without rows left still take time and memory.
  const auto cells = std::int64_t(label_cells_.size()), gone = cells - labels_in_use_;
  return (cells <= many_labels || 2 * gone <= labels_in_use_) && still_exact();
}

void LinregAccumulator::take(double y, std::span<const double> x, double weight, double sign) {
  double *const right = right_.data() + std::size_t(waiting_) * stride_;
  right[one_cell] = 1;
  right[response_cell] = y;
  if (labelled_.empty())
    std::copy(x.begin(), x.end(), right + first_predictor_cell);
  else
    for (std::size_t i = 0; i < numbers_.size(); ++i)
      right[first_predictor_cell + i] = x[std::size_t(numbers_[i])];
  double *const left = left_.data() + std::size_t(waiting_) * stride_;
  if (weighted_) {
    const double signed_weight = sign * weight;
    double *const rest = rest_.data() + std::size_t(waiting_) * stride_;
    for (std::size_t i = 0; i < front_; ++i) {
      left[i] = signed_weight * right[i];
      rest[i] = product_error(signed_weight, right[i], left[i]);
    }
  } else if (sign < 0) {
    for (std::size_t i = 0; i < front_; ++i) left[i] = -right[i];
  }
  rows_ += sign > 0 ? 1 : -1;
  ++changes_;
  if (!labelled_.empty()) take_labels(x, weight, sign);
  ++waiting_;
}

int LinregAccumulator::label_cell(int column, double code) {
  List<int> &cells = cell_of_code_[std::size_t(column)];
  const auto at = std::size_t(code);
  if (at >= cells.size()) cells.resize(at + 1, -1);
  if (cells[at] < 0) {
    cells[at] = int(label_cells_.size());
    label_cells_.push_back({column, int(at), 0});
    label_hi_.resize(row_of_label(label_cells_.size()), 0.0);
    label_lo_.resize(row_of_label(label_cells_.size()), 0.0);
  }
  return cells[at];
}

void LinregAccumulator::add_to_label(std::size_t label, double weight, double rest,
                                     const double *cells) {
  double *const hi = label_hi_.data() + row_of_label(label);
  double *const lo = label_lo_.data() + row_of_label(label);
  for (std::size_t i = 0; i < stride_; i += simd::lanes) {
    simd::Vector h = simd::load(hi + i), l = simd::load(lo + i);
    add_product<true>(simd::all(weight), simd::all(rest), simd::load(cells + i), h, l);
    renormalize(h, l);
    simd::store(hi + i, h);
    simd::store(lo + i, l);
  }
}

void LinregAccumulator::take_labels(std::span<const double> x, double weight, double sign) {
  const double *const cells = right_.data() + std::size_t(waiting_) * stride_;
  const double signed_weight = sign * weight;
  for (std::size_t c = 0; c < labelled_.size(); ++c) {
    const int cell = label_cell(int(c), x[std::size_t(labelled_[c])]);
    labels_of_row_[c] = cell;
    std::int64_t &rows = label_cells_[std::size_t(cell)].rows;
    const bool had = rows > 0;
    rows += sign > 0 ? 1 : -1;
    labels_in_use_ += int(rows > 0) - int(had);
    add_to_label(std::size_t(cell), signed_weight, 0, cells);
    for (std::size_t before = 0; before < c; ++before) {
      const auto high = std::size_t(std::max(cell, labels_of_row_[before])),
                 low = std::size_t(std::min(cell, labels_of_row_[before]));
      const std::size_t at = row_of_label(high) + stride_ + low;
      add_product<false>(signed_weight, 0.0, 1.0, label_hi_[at], label_lo_[at]);
      renormalize(label_hi_[at], label_lo_[at]);
    }
  }
}

/// Sets largest_ for the buffered rows: |weight x cell i x cell j| <= largest_[i] x largest_[j].
template <bool Weighted> void LinregAccumulator::find_largest() {
  for (std::size_t j = 0; j < stride_; j += simd::lanes) {
    simd::Vector most = {};
    for (int r = 0; r < waiting_; ++r) {
      const std::size_t row = std::size_t(r) * stride_;
      simd::Vector x = simd::load(&right_[row + j]);
      if constexpr (Weighted) x *= simd::all(std::sqrt(std::fabs(left_[row + one_cell])));
      most = simd::max(most, simd::max(x, -x));
    }
    simd::store(&largest_[j], most);
  }
}

// Each sum has a lane of its own and adds the rows in their order, so it is the same for vectors of
// any width.
template <bool Weighted> void LinregAccumulator::add_products(const double *left) {
  find_largest<Weighted>();
  for (std::size_t i = 0; i < front_; i += tile) {
    if (i % 64 == 0) poll_here();
    for (std::size_t j = 0; j <= i; j += simd::lanes) {
      const simd::Vector most = 4.0 * waiting_ * simd::load(&largest_[j]);
      simd::Vector offset[tile];
      OffsetSum sum[tile];
      for (std::size_t t = 0; t < tile; ++t)
        sum[t] = OffsetSum(offset[t] = simd::all(largest_[i + t]) * most);
      for (int r = 0; r < waiting_; ++r) {
        const std::size_t row = std::size_t(r) * stride_;
        const simd::Vector right = simd::load(&right_[row + j]);
        for (std::size_t t = 0; t < tile; ++t) {
          simd::Vector rest = {};
          if constexpr (Weighted) rest = simd::all(rest_[row + i + t]);
          sum[t].add_product<Weighted>(simd::all(left[row + i + t]), rest, right);
        }
      }
      for (std::size_t t = 0; t < tile; ++t) {
        const std::size_t at = row_of_front(i + t) + j;
        const simd::Vector before = simd::load(&hi_[at]), added = sum[t].high - offset[t];
        simd::Vector hi = before + added,
                     lo = simd::load(&lo_[at]) + (sum_error(before, added, hi) + sum[t].low);
        renormalize(hi, lo);
        simd::store(&hi_[at], hi);
        simd::store(&lo_[at], lo);
      }
    }
  }
}

void LinregAccumulator::flush(bool removed) {
  if (waiting_ == 0) return;
  if (weighted_)
    add_products<true>(left_.data());
  else
    add_products<false>(removed ? left_.data() : right_.data());
  waiting_ = 0;
}

DoubleDouble LinregAccumulator::front_sum(int i, int j) const {
  const std::size_t at = row_of_front(std::size_t(std::max(i, j))) + std::size_t(std::min(i, j));
  return {hi_[at], lo_[at]};
}

bool LinregAccumulator::still_exact() {
  const DoubleDouble weight = front_sum(one_cell, one_cell);
  if (rows_ <= 0 || !(weight.hi > 0)) return false;
  const double errors = one_rounding * std::sqrt(changes_);
  if (weighted_ && errors * peak_[one_cell] > harmless * weight.hi) return false;
  for (int i = 0; i < int(front_); ++i) {
    const double now = front_sum(i, i).hi;
    if (now > 0 && peak_[std::size_t(i)] > max_shrunk * now) return false;
  }
  std::vector<int> varying;
  std::vector<double> scale;
  double largest = 0;
  for (int i = 1; i < int(front_); ++i) {
    const DoubleDouble squares = front_sum(i, i), sum = front_sum(i, one_cell);
    const double error = errors * peak_[std::size_t(i)],
                 about_mean = (squares - sum * sum / weight).hi;
    if (!(about_mean > constant_part * squares.hi)) {
      if (error > constant_part * squares.hi) return false;
      continue;
    }
    largest = std::max(largest, error / about_mean);
    varying.push_back(i);
    scale.push_back(1 / std::sqrt(about_mean));
  }
  if (largest <= always_harmless) return true;
  // Where columns are collinear, or explain the response, the error must be compared with the
  // residual variances. With an error E of the correlation matrix R, |E| <= e, all variances that
  // follow from R have a relative error of at most e x (size of R) x trace(R^-1). Labels are not in
  // R.
  const auto n = Eigen::Index(varying.size());
  Matrix correlations(n, n), lower;
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j <= i; ++j) {
      const int a = varying[std::size_t(i)], b = varying[std::size_t(j)];
      const DoubleDouble about_mean =
          front_sum(a, b) - front_sum(a, one_cell) * front_sum(b, one_cell) / weight;
      correlations(i, j) = about_mean.hi * scale[std::size_t(i)] * scale[std::size_t(j)];
      correlations(j, i) = correlations(i, j);
    }
  return labelled_.empty() && cholesky(correlations, lower) &&
         largest * double(n) * inverse_lower(lower).squaredNorm() <= harmless;
}

LinregSums LinregAccumulator::sums(const RowColumns &columns) {
  flush();
  LinregSums out;
  out.columns = columns;
  out.dimension = dimension_;
  out.rows = rows_;
  // Labels that have rows, by column, in the order of their bytes.
  std::vector<int> cells;
  for (std::size_t c = 0; c < labelled_.size(); ++c) {
    std::vector<std::string> &labels = out.columns[std::size_t(labelled_[c])].labels;
    std::vector<int> of_column;
    for (std::size_t l = 0; l < label_cells_.size(); ++l)
      if (label_cells_[l].column == int(c) && label_cells_[l].rows > 0) of_column.push_back(int(l));
    const auto text = [&](int cell) -> std::string & {
      return labels[std::size_t(label_cells_[std::size_t(cell)].code)];
    };
    std::sort(of_column.begin(), of_column.end(), [&](int a, int b) { return text(a) < text(b); });
    std::vector<std::string> sorted;
    for (const int cell : of_column) {
      sorted.push_back(text(cell));
      cells.push_back(cell);
    }
    labels = std::move(sorted);
  }
  out.resize();
  double ratio = 1;
  for (std::size_t i = 0; i < peak_.size(); ++i) {
    const double now = hi_[row_of_front(i) + i];
    if (now > 0) ratio = std::max(ratio, peak_[i] / now);
  }
  out.operations = peak_.empty() ? double(rows_) : changes_ * ratio * ratio;
  for (std::size_t i = 0; i < cells.size(); ++i)
    out.label_rows[i] = label_cells_[std::size_t(cells[i])].rows;
  WorkPoll poll;
  for (int i = 0; i < int(front_); ++i)
    for (int j = 0; j <= i; ++j) out.set(i, j, front_sum(i, j));
  for (std::size_t a = 0; a < cells.size(); ++a) {
    const auto label = std::size_t(cells[a]);
    const int i = int(front_ + a);
    const std::size_t row = row_of_label(label);
    for (int j = 0; j < int(front_); ++j)
      out.set(i, j, {label_hi_[row + std::size_t(j)], label_lo_[row + std::size_t(j)]});
    for (std::size_t b = 0; b < a; ++b) {
      const auto other = std::size_t(cells[b]);
      const std::size_t at =
          row_of_label(std::max(label, other)) + stride_ + std::min(label, other);
      out.set(i, int(front_ + b), {label_hi_[at], label_lo_[at]});
    }
    out.set(i, i, {label_hi_[row], label_lo_[row]});
    poll(front_ + a);
  }
  out.require_finite();
  return out;
}

}  // namespace bayes
