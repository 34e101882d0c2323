// Collects sequences, given as arrays of values or records, or record by record, step by step into
// a store of rows (data/sequences.hpp).
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

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

/// Throws: this element (from 0) of the step is a NaN.
[[noreturn]] void refuse_nan(const StepPosition &position, std::size_t element);

/// Checks a step with missing (NaN), infinite or huge elements.
void clean_unusable_step(std::span<const double> x, const StepPosition &position,
                         bool refuse_missing);

/// Applied to every step read, in which NaN is a missing element. Throws for an invalid one.
inline void clean_step(std::span<const double> x, const StepPosition &position,
                       bool refuse_missing) {
  bool usable = true;
  for (const double v : x) usable &= std::fabs(v) <= largest_element;  // false for NaN
  if (!usable) clean_unusable_step(x, position, refuse_missing);
}

/// The kind of observations in words: "single values", "vectors of 3 elements".
std::string observations(bool vectors, std::int64_t dimension);

/// Throws: `what` (as "sequence 2") is an array of this many dimensions.
[[noreturn]] void too_many_dimensions(const std::string &what, int dimensions);

/// Throws: `what` is an array of arrays of names.
[[noreturn]] void vectors_of_symbols(const std::string &what);

/// Throws: `what` is an array of arrays of records.
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
/// Their kind is known from the first one that is neither NULL nor empty: then the options are
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
  /// Another sequence begins, whose length is not known.
  void begin_sequence();
  /// Its next step.
  void add_fields(const Datum *values, const bool *nulls);
  /// of the sequence
  std::int64_t steps() const { return steps_; }
  void end_sequence();

  /// Labels get codes in the order of their bytes; called once the sequences are read.
  void arrange(Control &control);

  // Valid unless empty().
  SequenceElements elements() const { return elements_; }
  bool vectors() const { return vectors_; }
  Sequences &sequences() { return sequences_; }
  const std::vector<std::string> &symbols() const { return symbols_.names(); }
  /// of records, or of the start model; labels in the order of their codes
  RowColumns columns() const;

 private:
  struct Append {
    RowStore *rows;
    int dimension;
    void operator()(const double *x, double weight) const { rows->append(x, dimension, weight); }
  };

  void prepare(const OpenArray &array);
  void prepare_store();
  void prepare_records();
  void open_columns(const OpenArray &array);
  void choose_emission();
  void write_held();
  void read_records(ArrayWalk &walk, std::size_t count, std::int64_t step);
  void check_start(const HiddenMarkovModel &start);
  void check_shape(const OpenArray &array) const;
  void require_labels(std::span<const double> x, std::int64_t step) const;
  void check_states(const OpenArray &array, const OpenArray &states) const;
  double known_state(double state, std::int64_t step) const;
  void store(const OpenArray &array, const OpenArray *states, double weight);
  std::string name() const;

  MemoryContext context_;
  FitRequest *request_ = nullptr;
  Check check_ = nullptr;
  Sequences sequences_;
  std::optional<SequenceWriter<Append>> writer_;

  bool prepared_ = false, vectors_ = false;
  HmmRowOptions options_;
  SequenceElements elements_ = SequenceElements::numbers;
  Oid element_type_ = InvalidOid;
  /// the sequence that determined the kind; 0: the start model did
  std::int64_t first_ = 0;

  ElementType type_, state_type_;
  /// of records
  std::optional<RowReader> reader_;
  /// indices of numeric columns whose likelihood defaulted to normal, from 0
  std::vector<std::size_t> normal_by_default_;
  /// so many steps have their codes
  std::int64_t arranged_ = 0;
  SymbolDictionary symbols_;
  std::vector<double> buffer_, states_, row_;
  /// of the sequence that comes record by record; and how many a piece has: so many are held in
  /// the buffer until it is known where they go
  std::int64_t steps_ = 0, most_held_ = 0;
};

}  // namespace bayes::pg
