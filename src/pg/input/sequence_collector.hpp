// Collects sequences, given as arrays of values or records, or record by record, step by step into
// a store of rows (data/sequences.hpp).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "data/remote_rows.hpp"
#include "pg/input/collector.hpp"
#include "pg/input/row_reader.hpp"
#include "pg/values/array_elements.hpp"

namespace bayes::pg {

/// Array elements read at once.
inline constexpr std::int64_t elements_at_once = 8192;

/// The position of a step, for messages. All numbers count from 1.
struct StepPosition {
  /// 0 if there is only one
  std::int64_t sequence;
  std::int64_t step;
  /// elements are numbered within the step
  bool vectors;
};

/// Throws Error: this element (from 0) of the step is NaN.
[[noreturn]] void refuse_nan(const StepPosition &position, std::size_t element);

/// check_step() for a step with missing (NaN), infinite or too large elements.
void check_unusable_step(std::span<const double> x, const StepPosition &position,
                         bool refuse_missing);

/// Checks a step, in which NaN is a missing element. Throws Error for an invalid element.
inline void check_step(std::span<const double> x, const StepPosition &position,
                       bool refuse_missing) {
  bool usable = true;
  for (const double v : x) usable &= std::fabs(v) <= max_abs_element;  // false for NaN
  if (!usable) check_unusable_step(x, position, refuse_missing);
}

/// The kind of observations in words: "single values", "vectors of 3 elements".
std::string observations(bool vectors, std::int64_t dimension);

/// Throws Error: `what` (as "sequence 2") is an array of this many dimensions.
[[noreturn]] void too_many_dimensions(const std::string &what, int dimensions);

/// Throws Error: `what` is a two-dimensional array of names.
[[noreturn]] void vectors_of_symbols(const std::string &what);

/// Throws Error: `what` is a two-dimensional array of records.
[[noreturn]] void arrays_of_records(const std::string &what);

/// Names in order of first appearance, and their codes.
class SymbolDictionary final : public SymbolCodes {
 public:
  double code(std::string_view name) override;
  const std::vector<std::string> &names() const { return names_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const {
      return std::hash<std::string_view>()(name);
    }
  };
  std::unordered_map<std::string, int, Hash, std::equal_to<>> numbers_;
  std::vector<std::string> names_;
};

/// The sequences of one fit, each an array; an item with two values also has the known states, an
/// int[].
///
/// The first sequence that is neither NULL nor empty determines their kind: then the options are
/// checked. Records are vectors whose elements have names.
class SequenceCollector : public WeightedCollector {
 public:
  using Check = HmmRowOptions (*)(const FitRequest &request, SequenceElements elements,
                                  bool vectors);

  SequenceCollector(MemoryContext context, ItemForm form);

  void begin(FitRequest &request, Check check);
  void add(const Item &item);

  /// Sequences come record by record, as attributes of this description from `first` (from 0) on;
  /// called before begin().
  void describe(TupleDesc description, int first);
  /// Begins another sequence, whose length is not known yet.
  void begin_sequence();
  /// Adds the next step of the sequence.
  void add_fields(const Datum *values, const bool *nulls);
  void end_sequence();

  /// Gives labels codes in the order of their bytes; called once the sequences are read.
  void arrange(Control &control);

  /// Identifies the data (DataHash); called after arrange().
  std::uint64_t hash(Control &control);

  bool empty() const override {
    return elsewhere_ ? elsewhere_->count == 0 : WeightedCollector::empty();
  }

  // Valid unless empty().
  SequenceElements elements() const { return elements_; }
  bool vectors() const { return vectors_; }
  Sequences &sequences() { return elsewhere_ ? *elsewhere_ : sequences_; }
  const std::vector<std::string> &symbols() const { return symbols_.names(); }
  /// columns of records, or of the start model; labels in the order of their codes
  RowColumns columns() const;

 private:
  // Sequences of several parts (pg/parts/sequences.cpp).
  friend struct SequencesInParts;
  friend class PushedSequences;

  struct Append {
    RowStore *rows;
    int dimension;
    void operator()(const double *x, double weight) const { rows->append(x, dimension, weight); }
  };

  void prepare(const OpenArray &array);
  void prepare_store();
  void prepare_records();
  void open_columns(const OpenArray &array);
  void check_options();
  void choose_emission();
  void write_buffered_steps();
  void read_records(ArrayWalk &walk, std::size_t count, std::int64_t step);
  void check_start(const HiddenMarkovModel &start);
  void check_shape(const OpenArray &array) const;
  void require_labels(std::span<const double> x, std::int64_t step) const;
  void check_states(const OpenArray &array, const OpenArray &states) const;
  double known_state(double state, std::int64_t step) const;
  void store(const OpenArray &array, const OpenArray *states, double weight);
  std::string name() const;

  FitRequest *request_ = nullptr;
  Check check_ = nullptr;
  /// for sequences in parts: their sums, until all parts are known
  Sequences sequences_;
  std::optional<SequenceWriter<Append>> writer_;

  bool prepared_ = false, vectors_ = false;
  HmmRowOptions options_;
  SequenceElements elements_ = SequenceElements::numbers;
  Oid element_type_ = InvalidOid;
  /// the sequence that determined the kind; 0: the start model did
  std::int64_t first_ = 0;

  ElementType type_, state_type_;
  /// reader of records; none if observations are not records
  std::optional<RowReader> reader_;
  /// indices of numeric columns whose likelihood defaulted to normal, from 0
  std::vector<std::size_t> normal_by_default_;
  /// number of stored rows whose labels have their final codes
  std::int64_t arranged_ = 0;
  SymbolDictionary symbols_;
  /// if sequences are in parts
  std::unique_ptr<RemoteRows> remote_;
  std::optional<Sequences> elsewhere_;
  std::vector<double> buffer_, states_, row_;
  /// steps so far of the sequence that is read record by record; and rows of a piece: that many
  /// steps are held in the buffer, as a shorter sequence must lie in one piece
  std::int64_t steps_ = 0, max_buffered_steps_ = 0;
};

}  // namespace bayes::pg
