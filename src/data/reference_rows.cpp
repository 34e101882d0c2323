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

/// Reads the rows that a sample consists of; of remote rows, each part reads its own.
class RowsOfSample {
 public:
  RowsOfSample(RowSource &rows, int before, Control &control)
      : rows_(rows),
        before_(before),
        control_(control) {}

  /// Adds the rows of these numbers, ascending, with their weights.
  void add(std::span<const std::int64_t> numbers, ReferenceRows &to) {
    if (RemoteRows *const remote = rows_.remote()) return add_remote(*remote, numbers, to);
    RowPicker picker(rows_, before_);
    for (const std::int64_t i : numbers) {
      poll();
      picker.add(i, picker.weight(i), to);
    }
  }

  double total_weight() {
    totals_ = run(rows_, TotalWeightPass{}, control_).of_parts;
    return std::accumulate(totals_.begin(), totals_.end(), 0.0);
  }

  /// Adds, with this weight, the row at each of these places, ascending, on a line on which each
  /// row takes up its own weight. To be called after total_weight().
  void add_at(std::span<const double> places, double weight, ReferenceRows &to) {
    if (RemoteRows *const remote = rows_.remote())
      return add_remote_at(*remote, places, weight, to);
    RowPicker picker(rows_, before_);
    double sum = 0;
    std::size_t next = 0;
    const std::int64_t n = rows_.rows();
    for (std::int64_t i = 0; i < n && next < places.size(); ++i) {
      poll();
      sum += picker.weight(i);
      for (; next < places.size() && (places[next] < sum || i == n - 1); ++next)
        picker.add(i, weight, to);
    }
  }

 private:
  void poll() {
    if (control_.pending()) control_.poll();
  }

  void ask(RemoteRows &remote, const char *pass, Document::List parts, ReferenceRows &to) {
    Document request = pass_request(pass);
    request.set("before", before_).set("parts", std::move(parts));
    for (const Document &answer : remote.ask(request)) {
      const PassReader part(answer);
      const std::vector<double> &weights = part.numbers("weights"),
                                &elements = part.numbers(
                                    "elements", weights.size() *
                                                    std::size_t(rows_.shape().dimension - before_));
      for (const double weight : weights)
        if (!(weight >= 0 && std::isfinite(weight))) PassReader::refuse();
      to.weights.insert(to.weights.end(), weights.begin(), weights.end());
      to.elements.insert(to.elements.end(), elements.begin(), elements.end());
    }
  }

  void add_remote(RemoteRows &remote, std::span<const std::int64_t> numbers, ReferenceRows &to) {
    Document::List parts;
    std::int64_t first = 0;
    auto next = numbers.begin();
    for (const std::int64_t rows : remote.rows_of_parts()) {
      std::vector<double> own;
      for (; next != numbers.end() && *next < first + rows; ++next)
        own.push_back(double(*next - first));
      parts.emplace_back(Document::object().set("numbers", numbers_document(own)));
      first += rows;
    }
    ask(remote, "rows", std::move(parts), to);
    if (to.weights.size() != numbers.size()) PassReader::refuse();
  }

  void add_remote_at(RemoteRows &remote, std::span<const double> places, double weight,
                     ReferenceRows &to) {
    Document::List parts;
    double sum = 0;
    std::size_t next = 0, with_rows = 0;
    for (const std::int64_t rows : remote.rows_of_parts()) {
      std::vector<double> own;
      if (rows > 0) {
        const double begin = sum;
        sum += totals_[with_rows++];
        for (; next < places.size() && (places[next] < sum || with_rows == totals_.size()); ++next)
          own.push_back(places[next] - begin);
      }
      parts.emplace_back(
          Document::object().set("places", numbers_document(own)).set("weight", weight));
    }
    ask(remote, "weighted rows", std::move(parts), to);
    if (to.weights.size() != places.size()) PassReader::refuse();
  }

  RowSource &rows_;
  const int before_;
  Control &control_;
  /// weights of the parts that have rows
  std::vector<double> totals_;
};

Document message_of(const ReferenceRows &sample) {
  Document out = Document::object();
  out.set("elements", numbers_document(sample.elements));
  out.set("weights", numbers_document(sample.weights));
  return out;
}

/// What the request has for one part; `before`: of the request.
const Document &own_part(const Document &request, std::size_t part, const RowSource &rows,
                         int &before) {
  const PassReader given(request);
  before = int(given.integer("before", 0, rows.shape().dimension));
  const Document::List &parts = given.list("parts");
  if (part >= parts.size()) PassReader::refuse();
  return parts[part];
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
  ReferenceRows out;
  out.elements.reserve(std::size_t(size * (rows.shape().dimension - before)));
  RowsOfSample reader(rows, before, control);
  Random random(seed, stream_of_sample);
  if (size == n || !rows.shape().weighted) {
    std::vector<std::int64_t> numbers(std::size_t(size), 0);
    std::iota(numbers.begin(), numbers.end(), std::int64_t(0));
    if (size < n) numbers = draw_numbers(n, size, random);
    reader.add(numbers, out);
    out.size = std::accumulate(out.weights.begin(), out.weights.end(), 0.0);
  } else {
    // A weight is a number of rows: each of these is drawn with the same probability.
    const double total = reader.total_weight();
    std::vector<double> places(static_cast<std::size_t>(size));
    for (double &place : places) place = random.uniform() * total;
    std::sort(places.begin(), places.end());
    // With replacement, from rows that are a sample themselves.
    out.size = 1 / (1 / double(size) + 1 / total);
    reader.add_at(places, out.size / double(size), out);
  }
  return out;
}

Document answer_rows(RowSource &rows, const Document &request, std::size_t part, Control &control) {
  int before;
  const PassReader own(own_part(request, part, rows, before));
  std::vector<std::int64_t> numbers;
  for (const double number : own.numbers("numbers")) {
    if (!(number >= 0 && number < double(rows.rows()))) PassReader::refuse();
    numbers.push_back(std::int64_t(number));
  }
  ReferenceRows out;
  RowsOfSample(rows, before, control).add(numbers, out);
  return message_of(out);
}

const PassOver<PartOfRows> total_weight_pass = pass_over<PartOfRows, TotalWeightPass>();

Document answer_weighted_rows(RowSource &rows, const Document &request, std::size_t part,
                              Control &control) {
  int before;
  const PassReader own(own_part(request, part, rows, before));
  ReferenceRows out;
  RowsOfSample(rows, before, control).add_at(own.numbers("places"), own.number("weight"), out);
  return message_of(out);
}

}  // namespace bayes
