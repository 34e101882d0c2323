#include "data/reference_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "base/aligned.hpp"
#include "base/random.hpp"
#include "data/pass.hpp"
#include "data/row_reference.hpp"

namespace bayes {
namespace {

/// Samples larger than the smallest have one row of so many.
constexpr std::int64_t rows_for_each = 64;
/// The sample of rows with many columns has fewer rows: so many numbers, but not below
/// min_wide_sample rows.
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
  // As many as are lacking are drawn at a time: none that is drawn is left out but for a
  // repetition.
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
    /// of the parts that have rows
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
  /// What the request has for a part.
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

/// Reads, with this weight, the row at each of these places, ascending, on a line on which each row
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

/// As many rows as were asked for.
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
  // With replacement, from rows that are a sample themselves.
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
