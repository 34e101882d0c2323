// Common to the collectors of all kinds of data.
//
// A collector reads the data of one fit item by item (a row, a sequence, a document), from an
// aggregate, a window function or a query. The functions in pg/bind are written against the members
// that all collectors have:
//
//   * C(context, form): lives in this context, in which memory is taken;
//   * C::Check: checks a request, and holds how items are read;
//   * begin(request, check): called before the first item; the request must outlive the items;
//   * add(item);
//   * empty(), all_weights_zero(), item_name(), context().
#pragma once

#include "pg/input/fit_request.hpp"
#include "pg/input/row_store.hpp"
#include "pg/server/fit_progress.hpp"
#include "pg/values/convert.hpp"

namespace bayes::pg {

/// One item, in the arguments of a function.
struct Item {
  /// the arguments that hold the data; the first is the row or sequence itself
  const NullableDatum *values;
  /// a float8; nullptr if the function has no weights
  const NullableDatum *weight;
};

/// The form of a function's items.
struct ItemForm {
  bool weighted = false;
  /// number of arguments that hold the data
  int values = 1;
  /// type and collation of the first of these arguments
  Oid type = InvalidOid, collation = InvalidOid;
  /// type of the second of these arguments, if there is one
  Oid second_type = InvalidOid;
};

class Collector {
 public:
  virtual ~Collector() = default;
  /// There are no items to fit.
  virtual bool empty() const = 0;
  /// There are items, but all have weight 0.
  virtual bool all_weights_zero() const { return false; }
  /// "row", "sequence", "document", "cell"
  const char *item_name() const { return item_name_; }
  /// as it was given
  MemoryContext context() const { return context_; }

  /// Shows the fit of these data to other sessions, from begin() on.
  FitProgress progress;
  /// items so far, including skipped ones
  std::int64_t seen() const { return seen_; }

 protected:
  Collector(MemoryContext context, const char *item_name)
      : context_(context),
        item_name_(item_name) {}

  /// Counts an item, before it is read.
  void count() {
    if (seen_++ % items_between_shown == 0) progress.read(seen_);
  }

  const MemoryContext context_;
  std::int64_t seen_ = 0;

 private:
  const char *item_name_;
};

/// Items that may have weights, in a store of rows.
class WeightedCollector : public Collector {
 public:
  /// The data: items, one after another.
  RowStore rows;

  RowSource &source() { return rows; }

  bool empty() const override { return rows.rows() == 0; }
  bool all_weights_zero() const override { return empty() && zero_weights_ > 0; }

 protected:
  WeightedCollector(MemoryContext context, bool weighted, const char *item_name)
      : Collector(context, item_name),
        rows(context, weighted) {}

  /// Is an item to be used? Items of weight 0 or NULL are skipped. Throws Error for an invalid
  /// weight.
  bool admit(const NullableDatum *weight) {
    if (!weight) return true;
    if (!weight->isnull && usable(DatumGetFloat8(weight->value))) return true;
    leave_out(*weight);
    return false;
  }

  std::int64_t zero_weights_ = 0;

 private:
  static bool usable(double weight) { return weight > 0 && weight <= max_abs_element; }
  void leave_out(const NullableDatum &weight);
};

/// The weight of an admitted item.
inline double weight_of(const Item &item) {
  return item.weight ? DatumGetFloat8(item.weight->value) : 1;
}

}  // namespace bayes::pg
