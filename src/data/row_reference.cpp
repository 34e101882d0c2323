#include "data/row_reference.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <string_view>
#include <unordered_map>

#include "base/aligned.hpp"
#include "base/random.hpp"
#include "data/pass.hpp"
#include "data/remote_rows.hpp"

namespace bayes {
namespace {

/// Every group has a sample, so a sample takes some 128 kB, or a few rows.
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
  // Draws rows of both samples without replacement, in proportion to the rows that each stands for.
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

namespace {

constexpr std::uint64_t sample_stream = 0x7265'6665'7265'6e63;

/// Removes rows without a value, and returns their weight.
double take_nulls(std::vector<WeightedValue> &values) {
  double out = 0;
  std::erase_if(values, [&out](const WeightedValue &each) {
    if (!std::isnan(each.value)) return false;
    out += each.weight;
    return true;
  });
  return out;
}

/// The total weight of the values that occur `length` times; values are sorted.
double weight_of_runs(std::span<const WeightedValue> values, std::size_t length) {
  double out = 0;
  for (std::size_t i = 0, end = 0; i < values.size(); i = end) {
    double weight = 0;
    for (; end < values.size() && values[end].value == values[i].value; ++end)
      weight += values[end].weight;
    if (end - i == length) out += weight;
  }
  return out;
}

void sort_values(std::vector<WeightedValue> &values) {
  for (WeightedValue &each : values) each.value += 0.0;  // no -0
  std::sort(values.begin(), values.end(),
            [](const WeightedValue &a, const WeightedValue &b) { return a.value < b.value; });
}

/// Sorts values, and joins equal ones.
void join_equal(std::vector<WeightedValue> &values) {
  sort_values(values);
  std::size_t last = 0;
  for (std::size_t i = 1; i < values.size(); ++i)
    if (values[i].value == values[last].value)
      values[last].weight += values[i].weight;
    else
      values[++last] = values[i];
  if (!values.empty()) values.resize(last + 1);
}

double bound_between(double low, double high) {
  const double middle = low / 2 + high / 2;
  return (middle >= low && middle < high ? middle : low) + 0.0;
}

/// The weight of a random part of the rows of a category, in which each row is with this
/// probability. Depends on weight and category alone.
double part_of(const WeightedValue &category, double probability) {
  const double rows = std::round(category.weight);
  if (rows < 1 || rows > 1000) return category.weight * probability;
  Random random(std::bit_cast<std::uint64_t>(category.value), sample_stream, std::uint64_t(rows));
  double taken = 0;
  for (double i = 0; i < rows; ++i) taken += random.uniform() < probability;
  return category.weight * taken / rows;
}

/// Adds the moments of log densities; false unless all are finite.
bool add_moments(const std::vector<WeightedValue> &values, DensityReference &to) {
  double weight = 0, sum = 0, second = 0, third = 0;
  for (const WeightedValue &each : values) {
    if (!std::isfinite(each.value)) return false;
    weight += each.weight;
    sum += each.weight * each.value;
  }
  to.mean = sum / weight;
  for (const WeightedValue &each : values) {
    const double d = each.value - to.mean;
    second += each.weight * d * d;
    third += each.weight * d * d * d;
  }
  to.variance = second / weight;
  to.skewness = to.variance > 0 ? third / weight / std::pow(to.variance, 1.5) : 0;
  return std::isfinite(to.mean) && std::isfinite(to.variance) && std::isfinite(to.skewness);
}

/// The expected difference of mean log densities between the rows of the fit and other rows: the
/// number of fitted parameters, in nats, over the number of rows (Akaike). A component with fewer
/// rows than parameters counts by its rows, as the prior determines the rest.
double optimism_of(const Model &model) {
  double rows = model.observations(), listed = 0;
  if (std::isnan(rows)) rows = double(model.info.rows);
  std::vector<double> weights;
  model.describe_parameters({}, [&](const Parameter &p) {
    if (p.component < 0) return;
    ++listed;
    if (std::string_view(p.name) == "weight") weights.push_back(p.value);
  });
  double parameters = model.free_parameters();
  if (std::isnan(parameters)) parameters = listed;
  if (!weights.empty()) {
    const double each = parameters / double(weights.size());
    parameters = 0;
    for (const double weight : weights) parameters += std::min(each, weight * rows);
  }
  const double out = parameters / rows;
  return std::isfinite(out) && out > 0 ? out : 0;
}

/// Weighted rows of a model's columns.
struct RowList {
  const Model &model;
  std::span<const double> elements, weights;
  std::size_t rows() const { return weights.size(); }
  std::span<const double> row(std::size_t i) const {
    const std::size_t d = std::size_t(model.info.dimension);
    return elements.subspan(i * d, d);
  }
};

std::optional<DensityReference> density_of(const RowList &rows, Control &control) {
  if (rows.model.words().response) return std::nullopt;
  DensityReference out;
  std::vector<WeightedValue> values;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    if (control.pending()) control.poll();
    values.push_back({rows.model.log_density(rows.row(i)), rows.weights[i]});
  }
  out.bins = bin_numbers(values);
  if (out.bins.nulls > 0 || !add_moments(values, out)) return std::nullopt;
  out.optimism = optimism_of(rows.model);
  return out;
}

/// `size`: the number of rows that the weights stand for
std::shared_ptr<const RowReference> reference_from(const RowList &rows, double size,
                                                   Control &control) {
  if (!(size > 0) || !std::isfinite(size)) return nullptr;
  auto out = std::make_shared<RowReference>();
  out->rows = size;
  for (std::size_t i = 0; i < rows.rows(); ++i)
    if (std::ranges::any_of(rows.row(i), [](double x) { return std::isnan(x); }))
      out->incomplete += rows.weights[i];
  out->density = density_of(rows, control);
  const int d = rows.model.info.dimension;
  if (d > max_reference_columns) return out->density ? out : nullptr;
  std::vector<WeightedValue> values;
  for (int j = 0; j < d; ++j) {
    if (control.pending()) control.poll();
    values.clear();
    for (std::size_t i = 0; i < rows.rows(); ++i)
      values.push_back({rows.row(i)[std::size_t(j)], rows.weights[i]});
    out->columns.push_back(is_category(rows.model, j) ? count_categories(values)
                                                      : bin_numbers(values));
  }
  return out;
}

}  // namespace

bool is_category(const Model &model, int j) {
  const RowColumns &columns = model.info.columns;
  return (!columns.empty() && columns[std::size_t(j)].kind == ValueKind::label) ||
         !model.categories(j).empty();
}

BinnedColumn bin_numbers(std::vector<WeightedValue> &values) {
  BinnedColumn out;
  out.nulls = take_nulls(values);
  join_equal(values);
  double total = 0;
  for (const WeightedValue &each : values) total += each.weight;
  if (values.size() == 1) {
    // A constant column gets bins for all smaller and for all larger numbers.
    const double value = values[0].value, below = std::nextafter(value, -HUGE_VAL);
    if (std::isfinite(below)) {
      out.points = {below, value};
      out.weights = {0, total, 0};
      return out;
    }
  }
  // Which values are frequent is chance, so they are joined only when they are compared.
  const bool single = values.size() <= std::size_t(max_single_numbers) &&
                      total >= min_bin_weight * double(values.size());
  const double bins = std::clamp(std::floor(total / min_bin_weight), 1.0, double(reference_bins)),
               enough = single ? 0 : total / bins * (1 - 1e-12);
  double weight = 0;
  const auto end_bin = [&](std::size_t last) {
    out.points.push_back(bound_between(values[last].value, values[last + 1].value));
    out.weights.push_back(weight);
    weight = 0;
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!single && values[i].weight >= enough && weight >= min_bin_weight) end_bin(i - 1);
    weight += values[i].weight;
    if (weight >= enough && i + 1 < values.size()) end_bin(i);
  }
  if (!single && !out.points.empty() && weight < std::max(enough / 2, min_bin_weight)) {
    weight += out.weights.back();
    out.points.pop_back();
    out.weights.pop_back();
  }
  out.weights.push_back(weight);
  return out;
}

BinnedColumn count_categories(std::vector<WeightedValue> &values) {
  constexpr double common = 10, of_choice = 0.25, chosen_from = 3;
  BinnedColumn out;
  out.categories = true;
  out.nulls = take_nulls(values);
  sort_values(values);
  out.once = weight_of_runs(values, 1);
  out.twice = weight_of_runs(values, 2);
  join_equal(values);
  // A part of the rows selects the frequent categories, and the others count them: the counts in
  // the selecting part are biased upwards.
  std::vector<WeightedValue> choice;
  const bool all = values.size() <= std::size_t(max_reference_categories) &&
                   std::ranges::all_of(values, [](const auto &v) { return v.weight >= common; });
  if (!all) {
    for (WeightedValue &each : values) {
      choice.push_back({each.value, part_of(each, of_choice)});
      each.weight -= choice.back().weight;
    }
    std::stable_sort(choice.begin(), choice.end(),
                     [](const auto &a, const auto &b) { return a.weight > b.weight; });
    while (!choice.empty() && (choice.size() > std::size_t(max_reference_categories) ||
                               choice.back().weight < chosen_from))
      choice.pop_back();
  }
  double others = 0;
  for (const WeightedValue &each : values) {
    const bool frequent = all || std::ranges::any_of(choice, [&each](const auto &chosen) {
                            return chosen.value == each.value;
                          });
    if (frequent) {
      out.points.push_back(each.value);
      out.weights.push_back(each.weight);
    } else {
      others += each.weight;
    }
  }
  out.weights.push_back(others);
  return out;
}

std::shared_ptr<const RowReference> reference_of(const Model &model, RowSource &rows, int before,
                                                 Control &control) {
  const ReferenceRows sample =
      reference_rows(rows, before, std::uint64_t(model.info.seed), control);
  return reference_from({model, sample.elements, sample.weights}, sample.size, control);
}

std::shared_ptr<const RowReference> reference_of(const Model &model, RowSample sample,
                                                 Control &control) {
  if (sample.closed() || sample.dimension() != model.info.dimension) return nullptr;
  sample.recode(model.info.columns);
  const std::span<const double> weights = sample.weights();
  return reference_from({model, sample.elements(), weights},
                        std::accumulate(weights.begin(), weights.end(), 0.0), control);
}

namespace {

/// Samples larger than the smallest have one row for this many rows.
constexpr std::int64_t rows_for_each = 64;
/// The sample of rows with many columns has fewer rows: at most max_sample_numbers numbers, but not
/// below min_wide_sample rows.
constexpr std::int64_t max_sample_numbers = 1 << 17, min_wide_sample = 256;
constexpr std::uint64_t stream_of_sample = 0x7265'6665'7265'6e63;

/// Reads single rows in ascending order.
class RowPicker {
 public:
  RowPicker(RowSource &rows, int before)
      : rows_(rows),
        shape_(rows.shape()),
        before_(before),
        block_(shape_.block_doubles()) {}

  double weight(std::int64_t row) { return shape_.weighted ? *at(row, shape_.dimension) : 1; }
  void add(std::int64_t row, double weight, ReferenceRows &to) {
    for (int j = before_; j < shape_.dimension; ++j) to.elements.push_back(*at(row, j));
    to.weights.push_back(weight);
  }

 private:
  const double *at(std::int64_t row, int j) {
    if (row / block_rows != held_) rows_.read_block(held_ = row / block_rows, block_.data());
    return block_.data() + std::size_t(j) * block_rows + std::size_t(row % block_rows);
  }
  RowSource &rows_;
  const RowShape shape_;
  const int before_;
  Buffer block_;
  std::int64_t held_ = -1;
};

/// `count` different numbers below `bound`, ascending; every set of them is equally probable.
std::vector<std::int64_t> draw_numbers(std::int64_t bound, std::int64_t count, Random &random) {
  std::vector<std::int64_t> out;
  // Draws as many numbers as are lacking; a number is dropped only if it is a repetition.
  while (std::int64_t(out.size()) < count) {
    for (std::int64_t lacking = count - std::int64_t(out.size()); lacking > 0; --lacking)
      out.push_back(std::int64_t(random.below(std::uint64_t(bound))));
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
  }
  return out;
}

struct TotalWeightPass {
  static constexpr const char *name = "total weight";
  struct Sums {
    /// weights of the parts that have rows
    std::vector<double> of_parts = {};
    template <class F> void fields(F &f) { f.numbers("weight", of_parts, 1); }
    void add(const Sums &other) {
      of_parts.insert(of_parts.end(), other.of_parts.begin(), other.of_parts.end());
    }
  };

  template <class F> void fields(F &, RowSource &) {}
  Sums nothing(RowSource &) const { return {}; }
  Sums here(RowSource &rows, Control &control) const {
    RowPicker picker(rows, 0);
    double total = 0;
    for (std::int64_t i = 0; i < rows.rows(); ++i) {
      if (control.pending()) control.poll();
      total += picker.weight(i);
    }
    return {{total}};
  }
};

/// Rows that a pass has read, in the order of the parts.
struct RowsRead : ReferenceRows {
  std::size_t width = 0;

  template <class F> void fields(F &f) {
    f.numbers("weights", weights);
    f.numbers("elements", elements, weights.size() * width);
    for (const double weight : weights) f.require(weight >= 0 && std::isfinite(weight));
  }
  void add(const RowsRead &part) {
    weights.insert(weights.end(), part.weights.begin(), part.weights.end());
    elements.insert(elements.end(), part.elements.begin(), part.elements.end());
  }
};

/// A pass that reads single rows. Each part is told which of its rows.
struct PickedRows {
  using Sums = RowsRead;
  /// as in reference_rows()
  int before = 0;

  Sums nothing(RowSource &rows) const {
    Sums out;
    out.width = std::size_t(rows.shape().dimension - before);
    return out;
  }

 protected:
  template <class F> void before_field(F &f, RowSource &rows) {
    f.integer("before", before, 0, rows.shape().dimension);
  }
  /// The member of a request that is for this part.
  static PassReader own(const PassReader &request, const PartOfRows &part) {
    const Document::List &parts = request.list("parts");
    if (part.number >= parts.size()) PassReader::refuse();
    return PassReader(parts[part.number]);
  }
};

/// Reads the rows of these numbers, ascending, with their weights.
struct RowsPass : PickedRows {
  static constexpr const char *name = "rows";
  std::vector<std::int64_t> numbers;

  template <class F> void fields(F &f, RowSource &rows) {
    before_field(f, rows);
    if constexpr (!F::reading) {
      Document::List parts;
      std::int64_t first = 0;
      auto next = numbers.begin();
      for (const std::int64_t count : rows.remote()->rows_of_parts()) {
        std::vector<double> here;
        for (; next != numbers.end() && *next < first + count; ++next)
          here.push_back(double(*next - first));
        parts.emplace_back(Document::object().set("numbers", numbers_document(here)));
        first += count;
      }
      f.document().set("parts", std::move(parts));
    }
  }
  void keep(PartOfRows &part, const PassReader &request, Control &) {
    for (const double number : own(request, part).numbers("numbers")) {
      if (!(number >= 0 && number < double(part.rows.rows()))) PassReader::refuse();
      numbers.push_back(std::int64_t(number));
    }
  }
  Sums here(RowSource &rows, Control &control) const {
    Sums out = nothing(rows);
    RowPicker picker(rows, before);
    for (const std::int64_t i : numbers) {
      if (control.pending()) control.poll();
      picker.add(i, picker.weight(i), out);
    }
    return out;
  }
};

/// Reads, with this weight, the row at each of these ascending places on a line on which each row
/// takes up its own weight.
struct WeightedRowsPass : PickedRows {
  static constexpr const char *name = "weighted rows";
  std::vector<double> places;
  double weight = 0;
  /// weights of the parts that have rows
  std::vector<double> totals;

  template <class F> void fields(F &f, RowSource &rows) {
    before_field(f, rows);
    if constexpr (!F::reading) {
      Document::List parts;
      double sum = 0;
      std::size_t next = 0, with_rows = 0;
      for (const std::int64_t count : rows.remote()->rows_of_parts()) {
        std::vector<double> here;
        if (count > 0) {
          const double begin = sum;
          sum += totals[with_rows++];
          for (; next < places.size() && (places[next] < sum || with_rows == totals.size()); ++next)
            here.push_back(places[next] - begin);
        }
        parts.emplace_back(
            Document::object().set("places", numbers_document(here)).set("weight", weight));
      }
      f.document().set("parts", std::move(parts));
    }
  }
  void keep(PartOfRows &part, const PassReader &request, Control &) {
    const PassReader here = own(request, part);
    places = here.numbers("places");
    weight = here.number("weight");
  }
  Sums here(RowSource &rows, Control &control) const {
    Sums out = nothing(rows);
    RowPicker picker(rows, before);
    double sum = 0;
    std::size_t next = 0;
    const std::int64_t n = rows.rows();
    for (std::int64_t i = 0; i < n && next < places.size(); ++i) {
      if (control.pending()) control.poll();
      sum += picker.weight(i);
      for (; next < places.size() && (places[next] < sum || i == n - 1); ++next)
        picker.add(i, weight, out);
    }
    return out;
  }
};

/// Refuses unless as many rows were found as were asked for.
ReferenceRows all_of(RowsRead found, std::size_t count) {
  if (found.weights.size() != count) PassReader::refuse();
  return found;
}

}  // namespace

std::int64_t reference_sample(std::int64_t rows, int dimension) {
  const std::int64_t wanted = std::clamp(rows / rows_for_each, min_sample_rows, max_sample_rows),
                     narrow = max_sample_numbers / std::max(dimension, 1);
  return std::min({rows, wanted, std::max(narrow, min_wide_sample)});
}

ReferenceRows reference_rows(RowSource &rows, int before, std::uint64_t seed, Control &control) {
  const std::int64_t n = rows.rows();
  const std::int64_t size = reference_sample(n, rows.shape().dimension - before);
  Random random(seed, stream_of_sample);
  if (size == n || !rows.shape().weighted) {
    RowsPass pass{{before}, std::vector<std::int64_t>(std::size_t(size), 0)};
    std::iota(pass.numbers.begin(), pass.numbers.end(), std::int64_t(0));
    if (size < n) pass.numbers = draw_numbers(n, size, random);
    ReferenceRows out = all_of(run(rows, std::move(pass), control), std::size_t(size));
    out.size = std::accumulate(out.weights.begin(), out.weights.end(), 0.0);
    return out;
  }
  // A weight is a number of rows: each of these is drawn with the same probability.
  std::vector<double> totals = run(rows, TotalWeightPass{}, control).of_parts;
  const double total = std::accumulate(totals.begin(), totals.end(), 0.0);
  std::vector<double> places(static_cast<std::size_t>(size));
  for (double &place : places) place = random.uniform() * total;
  std::sort(places.begin(), places.end());
  // The draws are with replacement, and from rows that are a sample themselves: both errors count.
  const double stands_for = 1 / (1 / double(size) + 1 / total);
  WeightedRowsPass pass{{before}, std::move(places), stands_for / double(size), std::move(totals)};
  ReferenceRows out = all_of(run(rows, std::move(pass), control), std::size_t(size));
  out.size = stands_for;
  return out;
}

const PassOver<PartOfRows> total_weight_pass = pass_over<PartOfRows, TotalWeightPass>(),
                           rows_pass = pass_over<PartOfRows, RowsPass>(),
                           weighted_rows_pass = pass_over<PartOfRows, WeightedRowsPass>();

}  // namespace bayes
