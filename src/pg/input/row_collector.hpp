// Collects rows of numbers: checks, counts and weights them, and skips rows as options say.
#pragma once

#include <memory>
#include <vector>

#include "data/remote_rows.hpp"
#include "pg/input/column_checks.hpp"
#include "pg/input/packed_collector.hpp"
#include "pg/input/unlikely_numbers.hpp"

namespace bayes::pg {

/// How rows are to be read.
struct RowPolicy {
  Missing missing = Missing::error;
  /// maximum number of elements of a row; 0: no limit
  int max_dimension = 0;
};

inline RowPolicy row_policy(const RowOptions &options, int max_dimension) {
  return {.missing = options.skip_missing   ? Missing::skip
                     : options.keep_missing ? Missing::keep
                                            : Missing::error,
          .max_dimension = max_dimension};
}

/// What a model family does with columns.
enum class ColumnUse : char {
  /// all columns must be numbers
  numbers,
  /// each has a likelihood of its own
  likelihoods,
  /// the same, but rows of numbers alone have one multivariate normal density
  normal_or_likelihoods
};

/// A model family's check of a request.
struct RowCheck {
  /// Throws Error for invalid options.
  RowPolicy (*policy)(const FitRequest &request);
  ColumnUse use = ColumnUse::numbers;
  /// treatment of labels that the model of the request does not know
  UnknownLabels unknown = UnknownLabels::added;
};

class RowCollector : public PackedCollector {
 public:
  using Check = RowCheck;

  RowCollector(MemoryContext context, ItemForm form)
      : PackedCollector(context, form.weighted, form.type, 0) {}

  /// For records, options are checked once the columns are known, as option likelihood depends on
  /// the columns. `columns`: if given, rows are added by add_fields(), as attributes of this
  /// description.
  void begin(FitRequest &request, const Check &check, TupleDesc columns = nullptr);
  const RowPolicy &policy() const { return policy_; }
  /// Begins a collection for the fit of another server, which has made the checks. `columns`: as in
  /// begin().
  void begin_part(const char *family, const RowPolicy &policy, TupleDesc columns);

  /// The rows, wherever they are.
  RowSource &source() { return remote ? static_cast<RowSource &>(*remote) : rows; }
  /// If set, the rows are there, and `rows` is empty.
  std::unique_ptr<RemoteRows> remote;
  /// Reports columns of such rows that are probably a mistake; throws Error as arrange() does.
  void check_remote(const ColumnFacts &facts, const NumberFacts &numbers, std::int64_t count) const;
  bool empty() const override { return remote ? remote->rows() == 0 : PackedCollector::empty(); }

  void add(const Item &item) {
    count();
    if (item.values[0].isnull) return rows.skip();
    if (!admit(item.weight)) return;
    if (reader_.records()) open(item.values[0].value);
    take(reader_.read(item.values[0].value, seen_, policy_.missing), weight_of(item));
  }

  /// `weight`: as of an Item
  void add_fields(const Datum *values, const bool *nulls, const NullableDatum *weight) {
    count();
    if (!admit(weight)) return;
    take(reader_.read_fields(values, nulls, seen_, policy_.missing),
         weight ? DatumGetFloat8(weight->value) : 1);
  }

  /// The attributes, from 0, that the elements of rows are read from, if rows are records.
  std::vector<int> attributes() const;

  /// Puts rows into an order that depends on their contents alone, if all are in memory, so that a
  /// fit does not depend on the query plan. Labels get codes in the order of their bytes. Called
  /// once all rows are read.
  void arrange(Control &control);
  /// Puts a fit's results for every row into the order of the input.
  template <class T> void restore_order(std::vector<T> &of_rows) const {
    if (rows.order().empty()) return;
    std::vector<T> out(of_rows.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[rows.order()[i]] = of_rows[i];
    of_rows = std::move(out);
  }

 private:
  void open(Datum row) { decided_ ? reader_.open(row) : open_first(row); }
  void open_first(Datum row);
  void decide();
  void report_numbers(const FindFacts &find) const;
  /// Throws Error for a column that does not contain numbers, if all must.
  void require_numbers() const;
  void take(const std::optional<std::span<const double>> &x, double weight) {
    if (!x) return rows.skip();
    if (std::ptrdiff_t(x->size()) != dimension_) check_length(x->size(), policy_.max_dimension);
    rows.append(x->data(), dimension_, weight);
  }

  FitRequest *request_ = nullptr;
  Check check_ = {};
  RowPolicy policy_;
  bool decided_ = false;
  /// indices of numeric columns whose likelihood defaulted to normal, from 0
  std::vector<std::size_t> normal_by_default_;
  /// numeric columns without an explicit likelihood
  std::vector<std::size_t> numbers_;
};

}  // namespace bayes::pg
