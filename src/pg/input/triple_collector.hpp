// Collects the cells of a table, numbers the keys of its rows and columns, and sorts it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "counts/remote_corpus.hpp"
#include "data/hashed_rows.hpp"
#include "factor/factor_table.hpp"
#include "pg/input/cell_store.hpp"
#include "pg/input/collector.hpp"
#include "pg/input/row_store.hpp"
#include "pg/input/term_dictionary.hpp"
#include "pg/values/array_elements.hpp"
#include "pg/values/vectors.hpp"

namespace bayes::pg {

// The keys of one side of a table, while its cells are collected.

/// Keys of one side, numbered in order of appearance: values of any type, each identified by its
/// text, or the numbers of rows or array elements, from 1.
class TableKeys {
 public:
  /// PostgreSQL's allocations go below `context`, which must outlive this.
  TableKeys(MemoryContext context, Side side);

  /// Sets the type of the keys; without this call keys are the numbers of rows or array elements.
  void use(Oid type) { type_.use(named_ = type); }
  bool named() const { return OidIsValid(named_); }

  std::int32_t size() const { return named() ? dictionary_.size() : counted_; }
  /// The memory that keys take while they are read and sorted, in bytes.
  double bytes() const;
  /// Sets what messages append to a key as its location: `, in row "a"`, or nothing.
  void set_location(std::function<std::string()> place) { place_ = std::move(place); }
  /// The number of a key of that type; -1 for a NaN. Throws Error(too_large) for a key that exceeds
  /// a limit.
  std::int32_t number(Datum key);
  /// For keys that are numbers: there are at least `keys` of them.
  void count_to(std::int32_t keys) { counted_ = std::max(counted_, keys); }

  /// `row "a"`, for messages. `number`: of the key, in order of appearance.
  std::string name(std::int32_t number) const;
  const char *side() const { return side_ == Side::row ? "row" : "column"; }

  /// Calls f(key) for the keys, unless they are numbers of rows or elements.
  void each(const std::function<void(std::string_view key)> &f) const;

  /// Returns the keys in order; `places` receives the index in that order of every key number. Only
  /// size() may be called afterwards.
  std::vector<std::string> arrange(std::vector<std::int32_t> &places);

 private:
  std::int32_t small_number(std::int64_t key);

  Side side_;
  std::function<std::string()> place_ = [] { return std::string(); };
  Oid named_ = InvalidOid;
  ElementType type_;
  TermDictionary dictionary_;
  /// number of the last key that was looked up by its text; -1 if there is none
  std::int32_t last_ = -1;
  /// numbers of small integers, -1 for those that have not occurred
  std::vector<std::int32_t> small_;
  std::int32_t counted_ = 0;
};

/// The table of one fit: from cells, each with the keys of its row and column and a number, in any
/// order; or from rows, each an array of numbers, with or without a key.
///
/// Keys have provisional numbers, in order of appearance, until all are known. The table depends on
/// the keys only by their order by bytes, and does not depend on the order of cells. Which side
/// becomes the lines does not depend on which one is called rows. Cells, and then the table, share
/// maintenance_work_mem; what does not fit lies in temporary files.
class TripleCollector final : public Collector {
 public:
  using Check = FactorTableOptions (*)(const FitRequest &request);

  /// An item of three values is a cell: two keys of any type, and a float8. An item of two values
  /// is the key of a row and the array of its numbers; an item of one value is such an array, whose
  /// key is the number of the row. Cells may have weights.
  TripleCollector(MemoryContext context, ItemForm form);

  void begin(const FitRequest &request, Check check);
  /// Holds out about every `every`-th line, by hashes of the keys; called before the first item.
  void hold_out(int every) { hold_out_.emplace(every); }
  void add(const Item &item);
  bool empty() const override {
    return remote_ ? remote_->totals().documents == 0 || remote_->totals().vocabulary == 0
                   : rows_.size() == 0 || columns_.size() == 0;
  }

  /// Makes the table; called once all cells are read. Nothing can be added afterwards.
  void arrange(Control &control);
  /// Identifies the data (DataHash); called after arrange().
  std::uint64_t hash(Control &control);
  const FactorTable &table() const { return *table_; }
  /// the held-out lines, over the same keys of the other side
  Corpus &held_out() {
    return remote_held_out_ ? static_cast<Corpus &>(*remote_held_out_) : *held_out_;
  }

 private:
  // Rows of several parts (pg/parts/table.cpp).
  friend struct TableInParts;
  friend class PushedTable;

  void begin_cells();
  void add_cell(const Item &item);
  void open_rows(Oid type);
  void add_row(const Item &item);
  void add_sparse(std::int32_t row, const SparseVector &vector);
  void check_length(std::int32_t row, std::int32_t length);
  void add_number(std::int32_t row, std::int32_t column, double number, double weight = 1);
  void check_keys() const;
  [[noreturn]] void refuse_number(std::int32_t row, std::int32_t column, double number) const;
  Side choose_lines(const std::vector<std::string> &row_keys,
                    const std::vector<std::string> &column_keys,
                    const std::vector<std::int32_t> &row_places,
                    const std::vector<std::int32_t> &column_places) const;
  std::vector<char> choose_held_out(const Keys &keys);
  CellRules rules_of(const FactorTable &table) const;
  void write_lines(const CellMap &map, const CellRules &rules, const FactorTable &table,
                   const std::vector<char> &apart);
  void write_transposed(const CellRules &rules, std::size_t bytes);

  ItemForm form_;
  FactorTableOptions options_;
  /// in bytes
  std::size_t budget_ = 0;
  /// bytes besides the table: for keys, and for the numbers of the model and the fit for each key
  double key_memory_ = 0;

  TableKeys rows_, columns_;
  /// row of the cell that is being read, -1 if its key is NULL or NaN
  std::int32_t row_ = -1;
  /// of rows that are arrays: type of their elements; their length, and the first row
  ElementType elements_;
  /// rows are of another type: of sparse vectors, or of one that is cast to an array
  bool sparse_ = false;
  ArrayCast make_array_;
  std::int32_t length_ = 0, first_row_ = 0;
  std::vector<double> numbers_;
  /// zeros need not be stored
  bool drop_zeros_ = false;
  std::int64_t skipped_ = 0;
  /// cells with keys, but without a number
  std::int64_t null_numbers_ = 0;
  std::unique_ptr<CellStore> cells_;

  std::optional<HoldOut> hold_out_;
  /// Are these the rows of a part?
  bool part_ = false;
  /// the number of rows in the parts before
  std::int64_t rows_before_ = 0;
  /// the number of rows that other servers keep, and the memory for their keys
  std::int64_t rows_elsewhere_ = 0;
  double bytes_elsewhere_ = 0;
  std::vector<std::string> held_out_keys_;
  std::unique_ptr<RemoteCorpus> remote_, remote_held_out_;
  std::unique_ptr<DocumentStore> lines_, transposed_, held_out_;
  std::optional<FactorTable> table_;
};

}  // namespace bayes::pg
