// Statistics of rows by class while rows are read, one after another. Classes, labels and words
// have numbers in the order in which they come; totals() sorts them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/api.hpp"
#include "document/row_columns.hpp"

namespace bayes {

inline constexpr int nb_max_classes = 10000;
/// of rows of columns, and names of sparse rows
inline constexpr int nb_max_columns = 10000, nb_max_words = 1000000;

class Columns;
struct ColumnSpec;
struct NbTotals;
struct NbOptions;

/// A feature that a sparse row names, by its number, and its value: NaN if that is not known; of
/// labels their code.
struct NbWord {
  std::int32_t feature;
  double value;
};

class BAYES_API NbAccumulator {
 public:
  NbAccumulator();
  ~NbAccumulator();

  /// Reads the options, and the likelihoods and features of the model to be updated if there is one
  /// (null: none). Throws Error(invalid_argument).
  void begin(const NbOptions &options, const NbTotals *start);

  /// Rows have these features, of records (names, but no labels) or of arrays (`names` empty).
  /// Throws Error(invalid_argument) for likelihoods that cannot be, and for options of sparse rows.
  void set_columns(const RowColumns &names, int dimension);
  int dimension() const;

  /// Rows are sparse; features are added as they come, numbered from 0. Throws
  /// Error(invalid_argument) for options of columns.
  void set_sparse();
  void add_feature(std::string_view name);
  /// Of a feature that has no kind yet, as it was null in all rows before. Throws
  /// Error(invalid_argument) for a likelihood that cannot be.
  void set_kind(std::int32_t feature, ValueKind kind);
  std::optional<ValueKind> kind_of(std::int32_t feature) const;

  /// Can the row be added? Not if it misses one of the elements that have a common covariance.
  bool takes(std::span<const double> x) const;
  /// Adds a row of class `k` (any number up to one more than those before). `number`: of the row,
  /// from 1, for messages. Throws Error(invalid_argument) for a value that its likelihood does not
  /// allow.
  void add(int k, std::span<const double> x, double weight, std::int64_t number);
  void add(int k, std::span<const NbWord> words, double weight, std::int64_t number);
  void skip(std::int64_t rows = 1) { skipped_ += rows; }

  bool empty() const;

  /// `classes`: by their numbers; `names`: with the labels of each, by their codes.
  NbTotals totals(const std::vector<std::string> &classes, const RowColumns &names) const;

 private:
  struct Slot;
  struct Part;
  void set_likelihood(Slot &slot, const ColumnSpec &likelihood);
  const Columns &family_of(const ColumnSpec &likelihood);
  Part &part_of(int k);
  /// For the categorical features that are new.
  void make_room(Part &part);
  void take(Part &part, const Slot &slot, double x, double weight, std::int64_t number);
  void charge(std::size_t numbers);
  std::vector<bool> counted_codes(const Slot &slot, std::size_t codes) const;
  [[noreturn]] void refuse(const Slot &slot, double x, std::int64_t number) const;

  std::unique_ptr<NbOptions> options_;
  std::unique_ptr<NbTotals> start_;
  bool sparse_ = false;
  /// a column of each likelihood that features have
  std::vector<std::unique_ptr<const Columns>> families_;
  std::vector<Slot> slots_;
  std::vector<Part> parts_;
  /// elements with a common covariance
  std::vector<int> joint_;
  std::vector<double> difference_;
  std::size_t numbers_ = 0, size_ = 0, categorical_ = 0, charged_ = 0;
  std::int64_t skipped_ = 0;
};

}  // namespace bayes
