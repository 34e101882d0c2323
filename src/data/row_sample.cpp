#include "data/row_sample.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "base/random.hpp"
#include "data/remote_rows.hpp"
#include "data/row_reference.hpp"

namespace bayes {
namespace {

/// Groups have a sample each, so it takes some 128 kB, or a few rows.
constexpr int max_numbers = 16384, min_rows = 256;
constexpr double missing = std::numeric_limits<double>::quiet_NaN();

Document list_of(std::span<const double> values) {
  return Tensor{{std::int64_t(values.size())}, {values.begin(), values.end()}};
}

using Codes = std::unordered_map<std::string_view, std::size_t>;

Codes codes_of(const std::vector<std::string> &labels) {
  Codes out;
  for (std::size_t i = 0; i < labels.size(); ++i) out.emplace(labels[i], i);
  return out;
}

}  // namespace

void RowSample::close() {
  closed_ = true;
  elements_.clear();
  elements_.shrink_to_fit();
  weights_.clear();
}

std::uint64_t RowSample::capacity_of(int dimension) {
  return std::uint64_t(
      std::clamp(max_numbers / std::max(dimension, 1), min_rows, int(min_sample_rows)));
}

void RowSample::put(std::span<const double> x, double weight, std::uint64_t place) {
  if (rows_ == 1) {
    dimension_ = int(x.size());
    capacity_ = capacity_of(dimension_);
  }
  weighted_ |= weight != 1;
  const bool full = weights_.size() == capacity_;
  // Rows of different weights would have to be drawn by their weights.
  if (dimension_ == 0 || dimension_ > max_reference_columns || (full && weighted_)) return close();
  if (full) {
    if (place < capacity_)
      std::copy(x.begin(), x.end(),
                elements_.begin() + std::ptrdiff_t(place) * std::ptrdiff_t(dimension_));
    return;
  }
  elements_.insert(elements_.end(), x.begin(), x.end());
  weights_.push_back(weight);
}

void RowSample::merge(const RowSample &other) {
  if (closed_ || other.rows_ == 0) return;
  if (other.closed_) return close();
  if (rows_ == 0) {
    *this = other;
    return;
  }
  if (columns_.size() != other.columns_.size() || dimension_ != other.dimension_) return close();
  RowColumns all = columns_;
  for (std::size_t j = 0; j < all.size(); ++j) {
    const Codes known = codes_of(columns_[j].labels);
    for (const std::string &label : other.columns_[j].labels)
      if (!known.contains(label)) all[j].labels.push_back(label);
  }
  RowSample more = other;
  more.recode(all);
  columns_ = std::move(all);
  weighted_ |= more.weighted_;
  const std::int64_t rows = rows_ + more.rows_;
  if (rows <= std::int64_t(capacity_)) {
    elements_.insert(elements_.end(), more.elements_.begin(), more.elements_.end());
    weights_.insert(weights_.end(), more.weights_.begin(), more.weights_.end());
    rows_ = rows;
    return;
  }
  if (weighted_) return close();
  // Rows of both, taken one after another from all that there are.
  Random random(std::uint64_t(rows_), std::uint64_t(more.rows_));
  std::int64_t left[] = {rows_, more.rows_};
  const RowSample *const from[] = {this, &more};
  std::vector<std::size_t> waiting[2];
  for (int side = 0; side < 2; ++side)
    for (std::size_t i = 0; i < from[side]->weights_.size(); ++i) waiting[side].push_back(i);
  std::pmr::vector<double> elements(elements_.get_allocator());
  for (std::uint64_t i = 0; i < capacity_; ++i) {
    const int side = std::int64_t(random.below(std::uint64_t(left[0] + left[1]))) >= left[0];
    --left[side];
    std::vector<std::size_t> &rest = waiting[side];
    std::swap(rest[random.below(rest.size())], rest.back());
    const std::span<const double> taken = from[side]->row(rest.back());
    rest.pop_back();
    elements.insert(elements.end(), taken.begin(), taken.end());
  }
  elements_ = std::move(elements);
  weights_.assign(std::size_t(capacity_), 1.0);
  rows_ = rows;
}

void RowSample::recode(const RowColumns &columns) {
  if (closed_) return;
  for (std::size_t j = 0; j < columns_.size() && j < columns.size(); ++j) {
    const std::vector<std::string> &from = columns_[j].labels, &to = columns[j].labels;
    if (from.empty() || from == to) continue;
    const Codes of = codes_of(to);
    std::vector<double> codes;
    for (const std::string &label : from) {
      const auto found = of.find(label);
      codes.push_back(found == of.end() ? missing : double(found->second));
    }
    for (std::size_t at = j; at < elements_.size(); at += std::size_t(dimension_))
      if (!std::isnan(elements_[at])) elements_[at] = codes[std::size_t(elements_[at])];
  }
  columns_ = columns;
}

std::string RowSample::to_bytes() const {
  Document out = Document::object();
  out.set("rows", rows_).set("closed", closed_).set("weighted", weighted_);
  out.set("capacity", std::int64_t(capacity_)).set("dimension", dimension_);
  out.set("elements", list_of(elements_)).set("weights", list_of(weights_));
  out.set("columns", document_of_columns(columns_));
  std::string bytes;
  out.to_bytes(bytes);
  return bytes;
}

RowSample RowSample::from_bytes(std::string_view bytes) {
  constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
  const Document document = Document::from_bytes(bytes);
  const PassReader given(document);
  RowSample out;
  out.rows_ = given.integer("rows", 0, most_rows_of_part);
  out.closed_ = given.flag("closed");
  out.weighted_ = given.flag("weighted");
  out.capacity_ = std::uint64_t(given.integer("capacity", 0, any));
  out.dimension_ = int(given.integer("dimension", 0, std::numeric_limits<int>::max()));
  const std::vector<double> &elements = given.numbers("elements"),
                            &weights = given.numbers("weights");
  const bool none = out.rows_ == 0 || out.closed_;
  const auto d = std::size_t(out.dimension_);
  if (!none && (d < 1 || d > std::size_t(max_reference_columns) ||
                out.capacity_ != capacity_of(out.dimension_)))
    PassReader::refuse();
  const std::size_t size =
      none ? 0 : std::size_t(std::min<std::uint64_t>(std::uint64_t(out.rows_), out.capacity_));
  if (weights.size() != size || elements.size() != size * d) PassReader::refuse();
  for (const double weight : weights)
    if (!(weight > 0 && std::isfinite(weight)) || (!out.weighted_ && weight != 1))
      PassReader::refuse();
  out.elements_.assign(elements.begin(), elements.end());
  out.weights_.assign(weights.begin(), weights.end());
  const Document::List &columns = given.list("columns");
  if (!columns.empty() && !none && columns.size() != d) PassReader::refuse();
  for (const Document &each : columns) {
    RowColumn &column = out.columns_.emplace_back();
    if (!each.as<Document::Object>()) PassReader::refuse();
    if (each.find("labels")) column.labels = PassReader(each).texts("labels");
  }
  out.require_codes();
  return out;
}

/// Codes are indices of labels.
void RowSample::require_codes() const {
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    const double labels = double(columns_[j].labels.size());
    for (std::size_t at = j; at < elements_.size() && labels > 0; at += std::size_t(dimension_)) {
      const double code = elements_[at];
      if (!std::isnan(code) && !(code >= 0 && code < labels && code == std::floor(code)))
        PassReader::refuse();
    }
  }
}

}  // namespace bayes
