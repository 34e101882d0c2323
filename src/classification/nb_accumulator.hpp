// Accumulates the sufficient statistics of rows by class, one row after another. Classes, labels
// and words are numbered in the order of their first occurrence; totals() sorts them.
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
/// limits of columns, and of the feature names of sparse rows
inline constexpr int nb_max_columns = 10000, nb_max_words = 1000000;

class Columns;
struct ColumnSpec;
struct NbTotals;
struct NbOptions;
class WorkPoll;

/// A feature of a sparse row: its index, and its value: NaN if it is missing, the code if it is a
/// label.
struct NbWord {
  std::int32_t feature;
  double value;
};

class BAYES_API NbAccumulator {
 public:
  NbAccumulator();
  ~NbAccumulator();
  NbAccumulator &operator=(NbAccumulator &&) noexcept;

  /// Sets the options and, for an update, the likelihoods and features of the model `start` (null:
  /// no update). Throws Error(invalid_argument).
  void begin(const NbOptions &options, const NbTotals *start);

  /// Sets the columns of the rows: of records (`names`, without their labels) or of arrays (`names`
  /// empty). Throws Error(invalid_argument) for an invalid likelihood, and for options that only
  /// sparse rows have.
  void set_columns(const RowColumns &names, int dimension);
  int dimension() const;

  /// Rows are sparse; features are added as they occur, numbered from 0. Throws
  /// Error(invalid_argument) for options that only rows with columns have.
  void set_sparse();
  void add_feature(std::string_view name);
  /// Sets the kind of a feature that has none yet, since it was null in all rows before. Throws
  /// Error(invalid_argument) for an invalid likelihood.
  void set_kind(std::int32_t feature, ValueKind kind);
  std::optional<ValueKind> kind_of(std::int32_t feature) const;

  /// Whether the row can be added: none of the elements with a common covariance is missing.
  bool takes(std::span<const double> x) const;
  /// Adds a row of class `k`, at most the number of classes so far. `number`: the number of the
  /// row, from 1, for messages. Throws Error(invalid_argument) for a value that its likelihood does
  /// not allow.
  void add(int k, std::span<const double> x, double weight, std::int64_t number);
  void add(int k, std::span<const NbWord> words, double weight, std::int64_t number);
  void skip(std::int64_t rows = 1) { skipped_ += rows; }

  bool empty() const;

  /// `classes`: the labels of the classes by number; `names`: the features, with their labels by
  /// code.
  NbTotals totals(const std::vector<std::string> &classes, const RowColumns &names) const;

 private:
  struct Slot;
  struct Part;
  void set_likelihood(Slot &slot, const ColumnSpec &likelihood);
  const Columns &family_of(const ColumnSpec &likelihood);
  Part &part_of(int k);
  /// Makes room in `part` for categorical features that were added since its last row.
  void make_room(Part &part);
  void take(Part &part, const Slot &slot, double x, double weight, std::int64_t number);
  void charge(std::size_t numbers);
  std::vector<bool> counted_codes(const Slot &slot, std::size_t codes) const;
  std::vector<std::size_t> sort_categories(const Slot &slot, std::vector<std::string> &labels,
                                           std::vector<double> &values) const;
  void add_class(const Part &part, std::size_t k, const std::vector<std::size_t> &features,
                 const std::vector<std::vector<std::size_t>> &places, WorkPoll &poll,
                 NbTotals &out) const;
  [[noreturn]] void refuse(const Slot &slot, double x, std::int64_t number) const;

  std::unique_ptr<NbOptions> options_;
  std::unique_ptr<NbTotals> start_;
  bool sparse_ = false;
  /// one column for each distinct likelihood of the features
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
