// How rows of numbers come in, by whatever door: checked, counted, weighted, left out where that is
// asked for.
#pragma once

#include <cmath>
#include <limits>

#include "pg/input/row_store.hpp"
#include "pg/values/convert.hpp"

namespace bayes::pg {

class RowIntake {
 public:
  RowIntake(MemoryContext context, bool weighted) : rows(context, weighted), weighted_(weighted) {}

  RowStore rows;
  Missing missing = Missing::error;
  /// 0: no limit
  int max_dimension = 0;

  /// The length that rows must have, known before the first of them.
  void expect(int dimension, const char *by) {
    dimension_ = dimension;
    expected_by_ = by;
  }

  void add_null() {
    ++seen_;
    rows.skip();
  }
  void add(Datum array) { add(array, 1, false); }
  /// A row with its weight, which may be NULL: then the row is left out.
  void add(Datum array, double weight, bool weight_null) {
    ++seen_;
    if (weighted_ && !admit(weight, weight_null)) return;
    if (const auto x = reader_.read(array, seen_, missing))
      store(*x, weight);
    else
      rows.skip();
  }
  /// A row put together from `length` columns: `value(i, x)` sets x, or returns false for NULL.
  template <class Value> void add_columns(int length, Value value);

  bool all_weights_zero() const { return rows.rows() == 0 && zero_weights_ > 0; }

  /// Takes over the rows of another process, as write() wrote them.
  void write_counts(std::string &out) const;
  /// of the blocks that write_blocks writes
  std::size_t bytes() const;
  /// may throw Pending
  void write_blocks(char *to);
  void absorb(const char *at, const char *end);

 private:
  bool admit(double weight, bool null);
  void store(std::span<const double> x, double weight) {
    if (std::ptrdiff_t(x.size()) != dimension_) check_length(x.size());
    rows.append(x.data(), dimension_, weight);
  }
  void check_length(std::size_t length);

  bool weighted_;
  int dimension_ = 0;
  const char *expected_by_ = "the first row";
  std::int64_t seen_ = 0, zero_weights_ = 0;
  ArrayReader reader_;
};

template <class Value> void RowIntake::add_columns(int length, Value value) {
  ++seen_;
  std::vector<double> &x = reader_.buffer();
  x.resize(std::size_t(length));
  for (int i = 0; i < length; ++i) {
    double &element = x[std::size_t(i)];
    const bool present = value(i, element);
    if (missing == Missing::skip && (!present || !std::isfinite(element))) return rows.skip();
    if (missing == Missing::keep && (!present || std::isnan(element))) {
      element = std::numeric_limits<double>::quiet_NaN();
      continue;
    }
    if (!present) missing_element("NULL", Errc::null_value, i + 1, seen_);
    check_element(element, i + 1, seen_);
  }
  store(x, 1);
}

}  // namespace bayes::pg
