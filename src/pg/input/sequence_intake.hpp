// How sequences come in: arrays, read step by step into a store of rows (data/sequences.hpp).
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "pg/input/fit_request.hpp"
#include "pg/input/row_store.hpp"
#include "pg/values/array_elements.hpp"
#include "pg/values/convert.hpp"

namespace bayes::pg {

/// Elements of arrays that are read at once.
inline constexpr std::int64_t elements_at_once = 8192;

/// Where a step stands, for messages. All counted from 1.
struct StepPlace {
  /// 0: there is only one
  std::int64_t sequence;
  std::int64_t step;
  /// elements have numbers of their own
  bool vectors;
};

/// What is wrong with a step that may hold NaN, infinite or huge elements; makes it as kernels want
/// it. `whole`: a missing element makes the whole step missing.
void mend_step(std::span<double> x, const StepPlace &place, bool whole, bool refuse_missing);

/// Every step that is read goes through here. Throws for an element that cannot be; NaN is missing.
inline void settle_step(std::span<double> x, const StepPlace &place, bool whole,
                        bool refuse_missing) {
  bool usable = true;
  for (const double v : x) usable &= std::fabs(v) <= largest_element;  // false for NaN
  if (!usable) mend_step(x, place, whole, refuse_missing);
}

/// What the observations of a sequence are, in words: "single values", "vectors of 3 elements".
std::string observations(bool vectors, std::int64_t dimension);

/// Throws: `what` (as "sequence 2") is an array of this many dimensions.
[[noreturn]] void too_many_dimensions(const std::string &what, int dimensions);

/// Throws: `what` is an array of arrays of names.
[[noreturn]] void vectors_of_symbols(const std::string &what);

/// Names in the order in which they first appear, and their numbers.
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

/// The sequences of one fit.
///
/// What they are is known when the first one comes that is neither NULL nor empty: then the options
/// are checked.
class SequenceIntake {
 public:
  /// `request` must stay. `labelled`: known states stand beside the sequences.
  SequenceIntake(MemoryContext context, const FitRequest &request, bool labelled);

  void add_null() {
    ++seen_;
    rows_.skip();
  }
  void add(Datum array) { take(array, 1, false, nullptr); }
  /// With a weight, which may be NULL: then the sequence is left out.
  void add(Datum array, double weight, bool weight_null) {
    take(array, weight, weight_null, nullptr);
  }
  /// With known states, an int[] that may be NULL.
  void add_labelled(Datum array, const NullableDatum &states) { take(array, 1, false, &states); }

  bool empty() const { return sequences_.count == 0; }
  bool all_weights_zero() const { return empty() && zero_weights_ > 0; }

  // Known unless no sequence came that was neither NULL nor empty.
  bool null_on_error() const { return options_.null_on_error; }
  SequenceElements elements() const { return elements_; }
  bool vectors() const { return vectors_; }
  Sequences &sequences() { return sequences_; }
  const std::vector<std::string> &symbols() const { return symbols_.names(); }

 private:
  struct Append {
    RowStore *rows;
    int dimension;
    void operator()(const double *x, double weight) const { rows->append(x, dimension, weight); }
  };

  void take(Datum array, double weight, bool weight_null, const NullableDatum *states);
  bool admit(double weight, bool null);
  void prepare(const OpenArray &array);
  void check_shape(const OpenArray &array) const;
  void store(const OpenArray &array, const OpenArray *states, double weight);
  void check_states(const OpenArray &array, const OpenArray &states) const;
  double known_state(double state, std::int64_t step) const;
  std::string name() const { return "sequence " + std::to_string(seen_); }

  const FitRequest &request_;
  const HiddenMarkovModel *start_;
  RowStore rows_;
  Sequences sequences_;
  std::optional<SequenceWriter<Append>> writer_;

  bool prepared_ = false, vectors_ = false;
  HmmRowOptions options_;
  SequenceElements elements_ = SequenceElements::numbers;
  Oid element_type_ = InvalidOid;
  /// the sequence that said what all are; 0: the start model did
  std::int64_t first_ = 0;
  std::int64_t seen_ = 0, zero_weights_ = 0;

  ElementType type_, state_type_;
  SymbolDictionary symbols_;
  std::vector<double> buffer_, states_, row_;
};

}  // namespace bayes::pg
