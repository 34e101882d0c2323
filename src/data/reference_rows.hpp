// The rows that the reference of a model is made from, wherever they are.
#pragma once

#include <cstdint>
#include <vector>

#include "base/control.hpp"
#include "data/rows.hpp"
#include "document/document.hpp"

namespace bayes {

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
