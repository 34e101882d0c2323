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

#include <optional>
#include <utility>

#include "pg/input/fit_request.hpp"
#include "pg/input/row_store.hpp"
#include "pg/server/context.hpp"
#include "pg/server/server_control.hpp"
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
  bool all_weights_zero() const { return empty() && zero_weights_ > 0; }
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

  /// Does an item count? Those of weight 0 or NULL are skipped. Throws Error for an invalid weight.
  bool has_weight(const NullableDatum *weight) {
    if (!weight) return true;
    if (!weight->isnull && usable(DatumGetFloat8(weight->value))) return true;
    if (!weight->isnull) count_zero(DatumGetFloat8(weight->value));
    return false;
  }

  const MemoryContext context_;
  std::int64_t seen_ = 0, zero_weights_ = 0;

 private:
  static bool usable(double weight) { return weight > 0 && weight <= max_abs_element; }
  void count_zero(double weight);

  const char *item_name_;
};

/// Items that may have weights, in a store of rows.
class WeightedCollector : public Collector {
 public:
  /// The data: items, one after another.
  RowStore rows;

  RowSource &source() { return rows; }

  bool empty() const override { return rows.rows() == 0; }

 protected:
  WeightedCollector(MemoryContext context, bool weighted, const char *item_name)
      : Collector(context, item_name),
        rows(context, weighted) {}

  /// Is an item to be used? Others are counted as skipped.
  bool admit(const NullableDatum *weight) {
    if (has_weight(weight)) return true;
    rows.skip();
    return false;
  }
};

/// The weight of an admitted item.
inline double weight_of(const Item &item) {
  return item.weight ? DatumGetFloat8(item.weight->value) : 1;
}

/// The WARNING that replaces an error under on_error = null: "no model: ...".
void warn_of_failure(const Error &error, const char *result = "model");

/// An error about an item, with a sentence that reading ended there.
Error refusal_of(const Error &error, const char *item_name, std::int64_t number);

/// A collector, until an item is refused under option on_error = null. Then nothing is left of it
/// but the error, and further items are ignored.
template <class C> class FitData {
 public:
  /// Memory is taken below `context`, which must live longer.
  FitData(MemoryContext context, const ItemForm &form)
      : items_(make_in<C>(context, "pg_bayes items", form)) {}
  FitData(const FitData &) = delete;
  FitData &operator=(const FitData &) = delete;

  /// No item has been refused.
  explicit operator bool() const { return items_; }
  C &operator*() const { return *items_; }
  C *operator->() const { return items_; }
  /// Why there are no data.
  const std::optional<Error> &refusal() const { return refusal_; }

  void null_on_error(bool given) { null_on_error_ = given; }
  bool null_on_error() const { return null_on_error_; }
  /// Calls begin(request, arguments...) of the collector.
  template <class Request, class... A> void begin(Request &request, A &&...arguments) {
    null_on_error_ = request.null_on_error;
    if (items_) items_->begin(request, std::forward<A>(arguments)...);
  }

  void add(const Item &item) {
    read([&item](C &items) { items.add(item); });
  }
  /// Calls f(items), which reads one or more items, unless one was refused.
  template <class F> void read(F f) {
    attempt(f, [this](const Error &error) {
      return refusal_of(error, items_->item_name(), items_->seen());
    });
  }
  /// Adds the data of another process by f(items), which is about no item of its own.
  template <class F> void absorb(F f) {
    attempt(f, [](const Error &error) { return error; });
  }
  /// Frees the data, and keeps this error.
  void refuse(Error error) {
    if (!items_) return;
    refusal_ = std::move(error);
    MemoryContextDelete(std::exchange(items_, nullptr)->context());
  }

 private:
  /// Calls f(items). Under on_error = null an Error frees them, and refusal(error) is kept.
  template <class F, class R> void attempt(F f, R refusal) {
    if (!items_) return;
    try {
      f(*items_);
    } catch (const StatementError &) {
      throw;
    } catch (const Error &error) {
      if (!null_on_error_) throw;
      refuse(refusal(error));
    }
  }

  C *items_;
  bool null_on_error_ = false;
  std::optional<Error> refusal_;
};

}  // namespace bayes::pg
