// Collects rows of numbers: checks, counts and weights them, and skips rows as options say.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/remote_rows.hpp"
#include "pg/input/collector.hpp"
#include "pg/input/column_checks.hpp"
#include "pg/input/row_reader.hpp"
#include "regression/responses.hpp"

namespace bayes::pg {

// Common to collectors of rows with columns: the columns, the codes of their labels, and the
// transfer of rows from parallel workers.

/// A summary of what one process or server has read, without the rows themselves (data/pass.hpp).
struct PackedHead {
  /// stored rows, those that were left out, all that were seen, and those of weight 0
  std::int64_t rows = 0, skipped = 0, seen = 0, zero_weights = 0;
  /// the number of elements that rows have in their columns; 0 while it is unknown
  std::int64_t dimension = 0;
  /// with their labels, if rows are records
  std::optional<RowColumns> columns;
  /// the labels of the response, if it has some, and whether their order is their own
  std::optional<std::vector<std::string>> levels;
  bool ordered = false;

  template <class F> void fields(F &f) {
    f.integer("rows", rows, 0, most_rows_of_part);
    f.integer("skipped", skipped, 0, most_rows_of_part);
    f.integer("seen", seen, 0, most_rows_of_part);
    f.integer("zero_weights", zero_weights, 0, most_rows_of_part);
    f.integer("dimension", dimension, 0, most_elements);
    f.optional("columns", columns, [&](RowColumns &all) {
      f.columns("columns", all);
      f.require(std::ssize(all) == dimension);
    });
    f.optional("levels", levels, [&](std::vector<std::string> &all) { f.texts("levels", all); });
    f.flag("ordered", ordered);
  }
  /// No array has more elements.
  static constexpr std::int64_t most_elements = std::int64_t(1) << 27;
};

class PackedCollector : public WeightedCollector {
 public:
  /// The columns of records, labels in the order of their codes.
  RowColumns columns() const { return reader_.columns(); }
  /// The number of elements of a packed row that precede those of the columns.
  int before() const { return before_; }

  /// Identifies the data (DataHash); called after arrange().
  std::uint64_t hash(Control &control);

  /// Everything about the rows except their blocks; sorts labels.
  PackedHead head();
  /// number of bytes that write_blocks() writes
  std::size_t bytes() const;
  /// Replaces the codes of labels by those of `all`, which has the same columns and all labels, if
  /// rows have columns, and of `levels`. Throws Error(invalid_binary) unless they have them.
  void recode(const std::optional<RowColumns> &all, const std::vector<std::string> &levels = {});
  /// The labels of the response in the order of their codes; empty if it has none.
  std::vector<std::string> levels() const {
    return response_ ? response_->columns()[0].labels : std::vector<std::string>();
  }
  /// Do rows have columns with names?
  bool described() const { return reader_.described(); }
  /// Gives labels codes in the order of their bytes, and those of the response, unless they have an
  /// order of their own, in that of level_before().
  void sort_labels();
  /// The rows themselves; may throw Pending.
  void write_blocks(char *to);
  /// Appends the rows of another process, as head() and write_blocks() give them.
  void absorb(const PackedHead &head, std::string_view blocks);
  /// Counts the rows of a part that another server keeps, and adds their columns; `described`: the
  /// rows must have columns.
  void hear(const PackedHead &head, bool described);

 protected:
  /// `before`: see before(); `type`: of the rows that have the columns.
  PackedCollector(MemoryContext context, bool weighted, Oid type, int before)
      : WeightedCollector(context, weighted, "row"),
        before_(before),
        reader_(context, type) {}

  /// Called for a row whose length differs from dimension_: sets dimension_ if it is the first row;
  /// throws Error for a later row, or for a length above `limit` (0: no limit).
  void check_length(std::size_t length, int limit);
  /// Counts items that are read elsewhere.
  void count_elsewhere(const PackedHead &head) {
    seen_ += head.seen;
    zero_weights_ += head.zero_weights;
  }

  /// Reads labels of the response, of this type: known ones alone, or any if there are none.
  void open_labels(MemoryContext context, Oid type, const std::vector<std::string> &known,
                   bool ordered);

  const int before_;
  /// number of elements that rows have in their columns; 0 while it is unknown
  int dimension_ = 0;
  /// what determined the length, for messages
  const char *expected_by_ = "the first row";
  RowReader reader_;
  /// Reads the response, element 0, if it is a label; else null.
  std::unique_ptr<RowReader> response_;
  /// Its labels have an order of their own.
  bool ordered_ = false;
  /// number of rows that have been arranged
  std::int64_t arranged_ = 0;
};

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

/// The use that a model family makes of columns.
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
  /// If set, the rows are on other servers, and `rows` is empty.
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

// Collects rows of a response and predictors, for regressions.

/// How rows with a response are to be read.
struct ResponsePolicy {
  /// rows with a NULL are skipped and counted; if false, they are an error
  bool skip_missing = true;
  /// maximum number of predictors
  int max_dimension = 0;
  /// the responses that it allows
  const ResponseFamily *response = nullptr;
  /// of labels: those that it allows, in their order; empty: all, in the order of level_before()
  std::vector<std::string> levels = {};
};

/// Rows (y, x): the response is element 0 of a packed row, the predictors follow. y is a boolean
/// or a number that the policy's response allows, or the index of a label; x is read as RowReader
/// does, and may be an empty array.
class ResponseCollector final : public PackedCollector {
 public:
  /// Throws Error for invalid options.
  using Check = ResponsePolicy (*)(const FitRequest &request);

  /// `form`: two arguments, of which the first is the response.
  ResponseCollector(MemoryContext context, ItemForm form);

  void begin(const FitRequest &request, Check check);
  const ResponsePolicy &policy() const { return policy_; }
  /// Begins a collection for the fit of another server, which has made the checks.
  void begin_part(const char *family, const ResponsePolicy &policy) {
    progress.begin(family);
    policy_ = policy;
    open_response();
  }

  /// The rows, wherever they are.
  RowSource &source() { return remote ? static_cast<RowSource &>(*remote) : rows; }
  /// If set, the rows are on other servers, and `rows` is empty.
  std::unique_ptr<RemoteRows> remote;
  bool empty() const override { return remote ? remote->rows() == 0 : PackedCollector::empty(); }
  /// The names of the elements of rows of this many predictors, for messages.
  std::vector<std::string> names_of_elements(int predictors) const;

  void add(const Item &item) {
    count();
    const NullableDatum &y = item.values[0], &x = item.values[1];
    if (x.isnull || (y.isnull && policy_.skip_missing)) return rows.skip();
    if (!admit(item.weight)) return;
    packed_[0] = response(y);
    if (reader_.records()) reader_.open(x.value);
    const auto read = predictors(x.value);
    if (!read) return rows.skip();
    if (std::ptrdiff_t(read->size()) != dimension_) set_length(read->size());
    std::copy(read->begin(), read->end(), packed_.begin() + 1);
    rows.append(packed_.data(), int(packed_.size()), weight_of(item));
  }

  /// There were rows, but all were skipped because of a NULL.
  bool no_row_complete() const { return empty() && seen_ > 0 && zero_weights_ == 0; }

  /// Makes a fit independent of the order of the rows, as RowCollector::arrange does.
  void arrange(Control &control);

 private:
  /// Throws Error for a type that the policy's response cannot have.
  void open_response();
  double response(const NullableDatum &y) const;
  std::optional<std::span<const double>> predictors(Datum x);
  void set_length(std::size_t length);

  /// type of the response, and its base type
  Oid type_, base_ = InvalidOid;
  /// x is an array, which may be empty
  bool arrays_ = false;
  ResponsePolicy policy_;
  std::vector<double> packed_{0.0};
};

}  // namespace bayes::pg
