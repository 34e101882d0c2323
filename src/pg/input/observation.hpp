// Observations for a fitted hidden Markov model: a sequence from an array, or one observation per
// row.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/unseen.hpp"
#include "pg/input/model_readers.hpp"
#include "pg/input/record_fields.hpp"
#include "pg/input/row_store.hpp"
#include "pg/values/array_elements.hpp"
#include "pg/values/convert.hpp"

namespace bayes::pg {

/// The codes of names in a model; unseen_category, a NaN, for a name that it does not know.
class ModelSymbols final : public SymbolCodes {
 public:
  explicit ModelSymbols(const HiddenMarkovModel &model) : model_(model) {}
  double code(std::string_view name) override {
    const int number = model_.code(name);
    if (number >= 0) return number;
    if (unknown_.empty()) unknown_ = name;
    return unseen_category;
  }
  /// the first name asked for that the model does not know; empty if there is none
  const std::string &unknown() const { return unknown_; }

 private:
  const HiddenMarkovModel &model_;
  std::string unknown_;
};

/// Is any element of the observation known? A name that the model does not know counts as known.
inline bool observed(std::span<const double> x) {
  return std::any_of(x.begin(), x.end(), [](double e) { return e == e || is_unseen(e); });
}

/// Reads sequences that are arrays, of values or records, for fitted models.
class SequenceReader {
 public:
  /// PostgreSQL's allocations go below `context`, which must outlive this.
  explicit SequenceReader(MemoryContext context) : context_(context), type_(context) {}

  /// The number of steps of an array, 0 for an empty one, after checking that it suits the model.
  /// Throws Error(array_shape) naming both shapes.
  std::int64_t steps(const std::shared_ptr<const Model> &model, const OpenArray &array);

  /// Passes every step of the array for which steps() was called to take(x), with values checked;
  /// NaN: missing. WARNING, once for this reader, if observations are symbols and the model knows
  /// none of them.
  void each(const OpenArray &array, const std::function<void(std::span<const double> x)> &take);

 private:
  void read_records(ArrayWalk &walk, std::span<double> out, std::int64_t step);

  MemoryContext context_;
  ElementType type_;
  std::shared_ptr<const Model> model_;
  /// type of the records that readers_ reads
  Oid record_type_ = InvalidOid;
  std::optional<ModelReaders> readers_;
  /// reader of the array's records; null if its elements are not records
  RowReader *reader_ = nullptr;
  /// the WARNING about unknown symbols has been reported
  bool warned_ = false;
};

/// One sequence for a model, in a store that spills.
class ModelSequence {
 public:
  /// Memory is allocated below `context`, which must outlive this.
  ModelSequence(MemoryContext context, const HiddenMarkovModel &model)
      : rows_(context, true),
        sequences{rows_, model.dimension()},
        writer_(sequences, {model.dimension(), true}, {&rows_, model.dimension()}) {}
  ModelSequence(const ModelSequence &) = delete;

  /// `steps`: at least 1
  void begin(std::int64_t steps) { writer_.begin(steps, 1); }
  void step(std::span<const double> x) { writer_.step(x.data()); }

 private:
  struct Append {
    RowStore *rows;
    int dimension;
    void operator()(const double *x, double weight) const { rows->append(x, dimension, weight); }
  };
  RowStore rows_;

 public:
  Sequences sequences;

 private:
  SequenceWriter<Append> writer_;
};

/// Reads observations of one type, row by row: a value, or a record as a vector, whose columns are
/// found by name if those of the model have names.
class ObservationReader {
 public:
  /// `type`: of the observations. PostgreSQL's allocations go below `context`, which must outlive
  /// this.
  ObservationReader(MemoryContext context, Oid type);

  /// Begins another sequence, or another model. Throws Error for a type that the model's
  /// observations cannot have.
  void begin(const std::shared_ptr<const Model> &model);

  /// The observation of step `step` (from 1), checked, valid until the next call. A NULL is a
  /// missing observation.
  std::span<const double> read(const HiddenMarkovModel &model, const NullableDatum &value,
                               std::int64_t step);

  /// Ends a sequence. WARNING, once for this reader, if symbols were read and the model knows none
  /// of them.
  void end(const HiddenMarkovModel &model);

 private:
  struct Field {
    int index;
    Oid base;
    bool array;
  };
  void read_record(Datum value, std::int64_t step);
  void inspect_fields();

  ElementType type_;
  bool record_ = false, symbols_ = false, vectors_ = false;
  std::vector<double> x_;
  /// known_: the model knows a symbol of this sequence; warned_: as in SequenceReader; unknown_:
  /// the first symbol that the model does not know
  bool known_ = false, warned_ = false;
  std::string unknown_;

  ModelReaders readers_;
  /// finds columns by name; null if the model has none
  RowReader *reader_ = nullptr;
  RecordFields records_;
  std::vector<Field> fields_;
  ArrayReader array_;
};

}  // namespace bayes::pg
