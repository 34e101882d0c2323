// Collects rows of a response and predictors, for regressions.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/remote_rows.hpp"
#include "pg/input/packed_collector.hpp"

namespace bayes::pg {

/// How rows with a response are to be read.
struct ResponsePolicy {
  /// rows with a NULL are skipped and counted; if false, they are an error
  bool skip_missing = true;
  /// maximum number of predictors
  int max_dimension = 0;
};

/// Rows (y, x): the response is element 0 of a packed row, the predictors follow. y is a boolean,
/// or a number that is 0 or 1; x is read as RowReader does, and may be an empty array.
class ResponseCollector final : public PackedCollector {
 public:
  /// Throws Error for invalid options.
  using Check = ResponsePolicy (*)(const FitRequest &request);

  /// `form`: two arguments, of which the first is the response. Throws Error for a type that a
  /// response cannot have.
  ResponseCollector(MemoryContext context, ItemForm form);

  void begin(const FitRequest &request, Check check);
  const ResponsePolicy &policy() const { return policy_; }
  /// Begins a collection for the fit of another server, which has made the checks.
  void begin_part(const char *family, const ResponsePolicy &policy) {
    progress.begin(family);
    policy_ = policy;
  }

  /// The rows, wherever they are.
  RowSource &source() { return remote ? static_cast<RowSource &>(*remote) : rows; }
  /// If set, the rows are there, and `rows` is empty.
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
  double response(const NullableDatum &y) const;
  std::optional<std::span<const double>> predictors(Datum x);
  void set_length(std::size_t length);

  /// base type of the response
  Oid base_ = InvalidOid;
  /// x is an array, which may be empty
  bool arrays_ = false;
  ResponsePolicy policy_;
  std::vector<double> packed_{0.0};
};

}  // namespace bayes::pg
