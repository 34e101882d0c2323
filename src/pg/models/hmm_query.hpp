// The sequences of a query: a row of the query is a whole sequence, or one step.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "pg/bind/query_rows.hpp"
#include "pg/input/observation.hpp"
#include "pg/input/sequence_collector.hpp"

namespace bayes::pg {

/// The sequences of a function F(query bayes_query, roles...), and the request.
///
/// A row of the query has the name of a sequence, of any type, and the sequence, an array; or the
/// name and the columns of one step: contiguous rows with the same name are a sequence.
class SequenceQuery {
 public:
  /// Lives in CurrentMemoryContext.
  /// Without `pushed`, the function has no option push_down.
  SequenceQuery(FunctionCallInfo fcinfo, const char *family, SequenceCollector::Check check,
                std::span<const Role> roles, const PushedMethods &pushed = {});
  FitRequest request;
  FitData<SequenceCollector> &data() { return *data_; }
  /// Call this if each() is not called.
  void close() {
    if (sequences_) sequences_->close();
    push_.end();
  }

  /// Calls f(name, steps, sequence) for each sequence that is not NULL, in the order of the query.
  /// `sequence` is encoded for the model; nullptr if there is no model, or if it has no steps. Call
  /// each() once, after the fit.
  using TakeSequence = std::function<void(Cell name, std::int64_t steps, Sequences *sequence)>;
  void each(const std::shared_ptr<const Model> &model, const TakeSequence &f);

 private:
  void take_array(TupleTableSlot *row);
  void take_step(TupleTableSlot *row);
  void end_sequence();
  void each_array(const std::shared_ptr<const Model> &model, const TakeSequence &f);
  void each_stored(const std::shared_ptr<const Model> &model, const TakeSequence &f);

  const MemoryContext here_;
  std::optional<ScopedContext> context_;
  PushDown push_;
  std::optional<FitData<SequenceCollector>> data_;
  Oid name_output_ = InvalidOid;
  /// the type of sequences that are arrays; InvalidOid: rows are steps
  Oid array_ = InvalidOid;
  /// the array of each sequence, or its number of steps
  std::optional<NamedValues> sequences_;

  // ---- rows that are steps ----
  /// the name of the last row's sequence; nullopt if it is NULL, or before the first row
  std::optional<std::string> name_;
  /// the number of its steps so far
  std::int64_t steps_ = 0;
  /// whether there was a row, and whether there was a row whose name is NULL
  bool any_ = false, any_null_ = false;
  /// the names of all sequences so far
  std::optional<TermDictionary> names_;
};

}  // namespace bayes::pg
