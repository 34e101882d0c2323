// A random sample of rows that are read one after another, for models of sums, which keep no rows.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/api.hpp"
#include "base/random.hpp"
#include "document/row_columns.hpp"

namespace bayes {

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

}  // namespace bayes
