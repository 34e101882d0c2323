// Collects rows of numbers: checks, counts and weights them, and leaves out those that options say.
#pragma once

#include <cmath>
#include <limits>

#include "pg/input/collector.hpp"
#include "pg/values/convert.hpp"

namespace bayes::pg {

/// How rows are to be read.
struct RowPolicy {
  Missing missing = Missing::error;
  /// columns of a query may be booleans, which count as 1 and 0
  bool booleans = false;
  /// on_error = null
  bool null_on_error = false;
  /// of a row; 0: no limit
  int max_dimension = 0;
};

inline RowPolicy row_policy(const RowOptions &options, int max_dimension, bool booleans = false) {
  return {.missing = options.skip_missing   ? Missing::skip
                     : options.keep_missing ? Missing::keep
                                            : Missing::error,
          .booleans = booleans,
          .null_on_error = options.null_on_error,
          .max_dimension = max_dimension};
}

class RowCollector : public WeightedCollector {
 public:
  using Check = RowPolicy (*)(const FitRequest &request);

  RowCollector(MemoryContext context, ItemForm form)
      : WeightedCollector(context, form.weighted, "row") {}

  void begin(const FitRequest &request, const RowPolicy &policy);
  void begin(const FitRequest &request, Check check) { begin(request, check(request)); }
  const RowPolicy &policy() const { return policy_; }

  void add(const Item &item) {
    ++seen_;
    if (item.values[0].isnull) return rows.skip();
    if (!admit(item.weight)) return;
    if (const auto x = reader_.read(item.values[0].value, seen_, policy_.missing))
      store(*x, weight_of(item));
    else
      rows.skip();
  }
  /// Adds a row of `length` columns: `value(i, x)` sets x, or returns false for NULL.
  template <class Value> void add_columns(int length, Value value);

  /// Makes a fit independent of the order of the rows, which a plan changes, as far as they are in
  /// memory; called once they are read.
  void arrange(Control &control);
  /// What a fit says of every row, in the order of the input.
  template <class T> void restore_order(std::vector<T> &of_rows) const {
    if (rows.order().empty()) return;
    std::vector<T> out(of_rows.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[rows.order()[i]] = of_rows[i];
    of_rows = std::move(out);
  }

  /// Everything about the rows except their blocks, as bytes for another process.
  void write_counts(std::string &out) const;
  /// written by write_blocks()
  std::size_t bytes() const;
  /// The rows themselves; may throw Pending.
  void write_blocks(char *to);
  /// Appends the rows of another process, as written by write_counts() and write_blocks().
  void absorb(const char *at, const char *end);

 private:
  void store(std::span<const double> x, double weight) {
    if (std::ptrdiff_t(x.size()) != dimension_) check_length(x.size());
    rows.append(x.data(), dimension_, weight);
  }
  void check_length(std::size_t length);

  RowPolicy policy_;
  /// of all rows; 0 while it is unknown
  int dimension_ = 0;
  /// where it comes from, for messages
  const char *expected_by_ = "the first row";
  ArrayReader reader_;
  /// so many rows are in order
  std::int64_t arranged_ = 0;
};

template <class Value> void RowCollector::add_columns(int length, Value value) {
  ++seen_;
  std::vector<double> &x = reader_.buffer();
  x.resize(std::size_t(length));
  for (int i = 0; i < length; ++i) {
    double &element = x[std::size_t(i)];
    const bool present = value(i, element);
    if (policy_.missing == Missing::skip && (!present || !std::isfinite(element)))
      return rows.skip();
    if (policy_.missing == Missing::keep && (!present || std::isnan(element))) {
      element = std::numeric_limits<double>::quiet_NaN();
      continue;
    }
    if (!present) missing_element("NULL", Errc::null_value, i + 1, seen_);
    check_element(element, i + 1, seen_);
  }
  store(x, 1);
}

}  // namespace bayes::pg
