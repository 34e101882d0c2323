// An order of rows that depends on nothing but their contents.
//
// Rows of a mixture are exchangeable, but sums of doubles are not associative, and random numbers
// depend on the index of a row. Tables have no order, and parallel workers deliver rows in any
// order, so rows in memory are sorted before a fit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "base/api.hpp"
#include "base/control.hpp"
#include "data/rows.hpp"

namespace bayes {

/// Content hashes of the rows of a block with this many elements. Equal rows have equal hashes (0
/// and -0 are equal, and so are all NaNs). out: block_rows numbers.
BAYES_API void hash_block(int numbers, std::uint64_t seed, const double *block, std::uint64_t *out);

/// The same of one row.
BAYES_API std::uint64_t hash_row(std::span<const double> x, std::uint64_t seed);

using RowNumbers = std::vector<std::uint32_t, Untouched<std::uint32_t>>;

/// The largest number of rows that can be sorted.
inline constexpr std::int64_t max_arranged_rows = 0xffffffff;

/// Puts rows in the order of a hash of elements and weight, in their memory: all of them are in
/// stretch 0, in pieces whose memory is the caller's to change. (Rows with equal 64-bit hashes
/// count as equal, and keep their order.) Works on all threads, with the same result for any number
/// of them. Returns the former number of every row, or nothing if they were in order. Takes 24
/// bytes a row while it works. Throws what the control throws; the rows may then be lost.
BAYES_API RowNumbers arrange_rows(RowSource &rows, Control &control);

}  // namespace bayes
