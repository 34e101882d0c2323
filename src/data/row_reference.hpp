// The reference of a model: made of a sample of the rows of its fit.
#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/api.hpp"
#include "base/control.hpp"
#include "base/random.hpp"
#include "data/rows.hpp"
#include "document/document.hpp"
#include "document/model.hpp"
#include "document/row_columns.hpp"

namespace bayes {

// A random sample of rows that are read one after another, for models of sums, which keep no rows.

/// Every row is in the sample with the same probability (Vitter's algorithm R). All rows are in it
/// while they are few: then neither their order nor parallel workers make a difference, as they do
/// with more rows. Holds 2,048 rows of up to 8 columns, fewer of wider ones (16,384 numbers), but
/// at least 256.
class BAYES_API RowSample {
 public:
  explicit RowSample(std::pmr::memory_resource *memory = std::pmr::get_default_resource())
      : elements_(memory),
        weights_(memory) {}

  void add(std::span<const double> x, double weight) {
    if (closed_) return;
    const std::uint64_t number = std::uint64_t(rows_++);
    std::uint64_t place = number;
    if (number >= capacity_) {
      place = std::uint64_t(static_cast<unsigned __int128>(mixed(number)) * (number + 1) >> 64);
      if (number > 0 && place >= capacity_ && weight == 1 && !weighted_) return;
    }
    put(x, weight, place);
  }
  /// Drops the sample, for good: rows have been removed, or are too wide, or differ in weight.
  void close();
  bool closed() const { return closed_; }

  /// Names the columns of the rows so far, with the labels that their codes stand for.
  void set_columns(RowColumns columns) { columns_ = std::move(columns); }
  /// Adds the sample of other rows, whose labels may have other codes.
  void merge(const RowSample &other);
  /// Replaces codes of labels by those of other columns, which have all of the labels.
  void recode(const RowColumns &columns);

  std::string to_bytes() const;
  /// Throws Error(invalid_binary) for bytes that no sample has.
  static RowSample from_bytes(std::string_view bytes);

  int dimension() const { return dimension_; }
  /// row by row
  std::span<const double> elements() const { return elements_; }
  std::span<const double> weights() const { return weights_; }

 private:
  void require_codes() const;
  static std::uint64_t mixed(std::uint64_t x) { return split_mix((x + 1) * 0x9e3779b97f4a7c15); }
  static std::uint64_t capacity_of(int dimension);
  void put(std::span<const double> x, double weight, std::uint64_t place);
  std::span<const double> row(std::size_t i) const {
    return {elements_.data() + i * std::size_t(dimension_), std::size_t(dimension_)};
  }

  std::int64_t rows_ = 0;
  std::uint64_t capacity_ = 0;
  int dimension_ = 0;
  /// some weight is not 1
  bool weighted_ = false, closed_ = false;
  std::pmr::vector<double> elements_, weights_;
  RowColumns columns_;
};

/// Rows with more columns have a reference of whole rows only.
inline constexpr int max_reference_columns = 256;
/// the bins into which numbers are divided
inline constexpr int reference_bins = 16;
/// a column with at most this many different numbers has a bin for each
inline constexpr int max_single_numbers = 24;
/// the categories of a column that are counted one by one
inline constexpr int max_reference_categories = 64;
/// the least weight of a bin, if there is more than one
inline constexpr double min_bin_weight = 5;

inline constexpr std::int64_t min_sample_rows = 2048, max_sample_rows = 10'000;

/// The number of rows that a reference is made from.
BAYES_API std::int64_t reference_sample(std::int64_t rows, int dimension);

/// A weighted value.
struct WeightedValue {
  double value, weight;
};

/// The bins of a column of numbers (NaN: no value): one for each different number if they are few;
/// else bins of about equal weights, where a number with the weight of a bin has one alone. Sorts
/// `values`.
BAYES_API BinnedColumn bin_numbers(std::vector<WeightedValue> &values);
/// The frequent categories of a column of codes. Sorts `values`.
BAYES_API BinnedColumn count_categories(std::vector<WeightedValue> &values);

/// Is element `j` of the model's rows a category?
BAYES_API bool is_category(const Model &model, int j);

/// The reference of a fitted model, whose info.columns are set. `before`: the number of elements of
/// a packed row that precede its columns. The sample depends on the numbers of the rows and the
/// seed of the fit, so that the same rows in the same order give the same reference.
BAYES_API std::shared_ptr<const RowReference> reference_of(const Model &model, RowSource &rows,
                                                           int before, Control &control);
/// The same from a sample; nullptr if it is closed. Its codes become those of the model's columns.
BAYES_API std::shared_ptr<const RowReference> reference_of(const Model &model, RowSample sample,
                                                           Control &control);

// The rows that the reference of a model is made from, wherever they are.

/// Rows copied out of their blocks.
struct ReferenceRows {
  /// row by row
  std::vector<double> elements;
  std::vector<double> weights;
  /// the number of rows that the weights stand for
  double size = 0;
};

/// Draws the rows by their numbers and this seed. `before`: the number of elements of a packed row
/// that precede its columns, and are left out.
BAYES_API ReferenceRows reference_rows(RowSource &rows, int before, std::uint64_t seed,
                                       Control &control);

/// The passes of reference_rows(): the total weight, rows of given numbers, rows drawn by weight.
extern const PassOver<PartOfRows> total_weight_pass, rows_pass, weighted_rows_pass;

}  // namespace bayes
