// Tests of whether two samples of rows have one distribution: by the counts of bins, and by a mean.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/api.hpp"
#include "document/row_columns.hpp"

namespace bayes {

/// The weights of one bin in both samples: the rows of the fit, and the new ones.
struct BinPair {
  double fit = 0, now = 0;
};

/// The bins of a column; `counts`: those of the new rows, with one more for unknown categories. A
/// column of numbers has no such bin.
std::vector<BinPair> bin_pairs(const BinnedColumn &column, std::span<const std::int64_t> counts);

/// The Jensen-Shannon distance of both samples: the root of the divergence in base 2, from 0 to 1.
/// NaN if one has no rows.
BAYES_API double jensen_shannon(std::span<const BinPair> bins);

/// NaN if there is nothing to compare.
struct Comparison {
  double z = std::numeric_limits<double>::quiet_NaN(), p = z;
};

/// Tests whether both samples have the same distribution over bins by Pearson's chi-squared test;
/// p is uniform if they have. `bins`: neighbours are joined until enough rows are expected in each,
/// or, of categories, the rarest ones are. `special`: bins that stand for themselves (rows without
/// a value, or with a rare category). If they are too small for the chi-squared test, more new rows
/// there than expected count by their exact probability. z is the standard normal quantile of
/// 1 - p, computed from the statistic where p underflows.
BAYES_API Comparison compare_bins(std::vector<BinPair> bins, std::span<const BinPair> special,
                                  bool categories);

/// What the rows of a fit tell of categories that none of them has.
struct RareCategories {
  /// all rows; those with a category that no other row has, and with one that one other has
  double rows, once, twice;
};
/// The probability that of `now` new rows of the same distribution at least `unknown` have a
/// category that no row of the fit has. As many rows as have a category of their own would have
/// been such (Good and Turing), and the variance of their share grows with the categories of two
/// rows; both are Poisson numbers but for that. Conservative where categories are few.
BAYES_API double unknown_probability(const RareCategories &fit, double now, double unknown);

struct Moments {
  double count, mean, variance;
  /// the third central moment
  double third;
};

/// Tests whether `now` has the mean of `fit` less `optimism`, of which half is taken as the error.
/// z: the difference in standard errors, negative if `now` is lower; p: two-sided, at the
/// longer tail from a gamma distribution that has the skewness of the difference (Pearson's type
/// III).
BAYES_API Comparison compare_means(const Moments &fit, const Moments &now, double optimism);

}  // namespace bayes
