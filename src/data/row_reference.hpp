// The reference of a model: made of a sample of the rows of its fit.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/control.hpp"
#include "data/row_sample.hpp"
#include "data/rows.hpp"
#include "document/document.hpp"
#include "document/model.hpp"
#include "document/row_columns.hpp"

namespace bayes {

/// Rows with more columns have a reference of whole rows only.
inline constexpr int max_reference_columns = 256;
/// the bins into which numbers are divided
inline constexpr int reference_bins = 16;
/// so many different numbers have a bin each
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

/// The bins of a column of numbers (NaN: no value): one for each if they are few, else with about
/// equal weights, and a number that has the weight of a bin alone. Sorts `values`.
BAYES_API BinnedColumn bin_numbers(std::vector<WeightedValue> &values);
/// The frequent categories of a column of codes. Sorts `values`.
BAYES_API BinnedColumn count_categories(std::vector<WeightedValue> &values);

/// Is element `j` of the model's rows a category?
BAYES_API bool is_category(const Model &model, int j);

/// The reference of a fitted model, whose info.columns are set. `before`: the number of elements of
/// a packed row that precede its columns. The rows of the sample are named by their numbers and the
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
