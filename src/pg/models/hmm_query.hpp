// The sequences of a query text: one in each row, or one step in each row.
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
/// A row of the query is the name of a sequence, of any type, and the sequence, an array; or the
/// name and the columns of a step: the rows of a name, which follow one another, are a sequence.
class SequenceQuery {
 public:
  /// Lives in CurrentMemoryContext.
  SequenceQuery(FunctionCallInfo fcinfo, const char *family, SequenceCollector::Check check,
                std::span<const Role> roles);
  FitRequest request;
  SequenceCollector &data() { return *data_; }
  /// To be called if each() is not.
  void close() { sequences_->close(); }

  /// f(name, steps, sequence) for all sequences that are not NULL, in order; the sequence as the
  /// model reads it, or nullptr without a model or without steps. Call once, after the fit.
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
  std::optional<SequenceCollector> data_;
  Oid name_output_ = InvalidOid;
  /// sequences are arrays of this type; InvalidOid: rows are steps
  Oid array_ = InvalidOid;
  /// the array of each sequence, or its number of steps
  std::optional<NamedValues> sequences_;

  // ---- rows that are steps ----
  /// the name of the sequence that the last row was of; none: there was no row, or it is NULL
  std::optional<std::string> name_;
  bool any_ = false, any_null_ = false;
  /// of all sequences
  std::optional<TermDictionary> names_;
};

}  // namespace bayes::pg
