// The data of one fit, as long as they can be fitted.
#pragma once

#include <optional>
#include <utility>

#include "pg/input/collector.hpp"
#include "pg/server/context.hpp"

namespace bayes::pg {

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
