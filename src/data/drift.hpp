// How far new rows are from those of a model's fit, column by column and as whole rows.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/api.hpp"
#include "base/double_double.hpp"
#include "document/model.hpp"
#include "document/row_columns.hpp"

namespace bayes {

// Tests of whether two samples of rows have one distribution: by the counts of bins, and by a mean.

/// The weights of one bin in both samples: the rows of the fit, and the new ones.
struct BinPair {
  double fit = 0, now = 0;
};

/// The bins of a column. `counts`: the new rows in each bin, with one more bin for unknown
/// categories, which a column of numbers does not have.
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

/// Counts by which the rows of a fit predict categories that none of them has.
struct RareCategories {
  /// number of all rows, of rows whose category no other row has, and of rows whose category one
  /// other row has
  double rows, once, twice;
};
/// The probability that at least `unknown` of `now` new rows of the same distribution have a
/// category that no row of the fit has. The expected share of such rows is the share of the rows
/// `once` (Good and Turing). Both counts are taken as Poisson numbers, divided by the
/// overdispersion that the rows `twice` add. Conservative where categories are few.
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

/// One row of bayes_drift(model, row). NaN where there is no number.
struct DriftEntry {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();
  /// from 0; -1: whole rows
  int element = -1;
  /// new rows
  std::int64_t rows = 0;
  /// Jensen-Shannon, in base 2: the square root of the divergence, from 0 to 1
  double distance = none;
  /// For whole rows: the mean over the new rows, and its expectation without drift.
  double log_density = none, log_density_fit = none;
  /// For whole rows: the difference of both, in standard errors. For a column: the standard normal
  /// quantile of 1 - p.
  double z = none;
  /// the probability of a larger difference without drift
  double p = none;
  /// share of the rows without a value (whole rows: without some value), among the new rows and
  /// among the rows of the fit
  double nulls = none, nulls_fit = none;
  /// share of the new rows with a category, or some category, that the model does not know
  double unknown = none;
  /// The probability, without drift, of at least as many rows with such a category; for whole rows
  /// the smallest probability of a column, times the number of columns that have one.
  double unknown_p = none;
};

/// Counts of new rows, of a size that the reference bounds. The order in which rows are added and
/// counts are merged changes only the last of 106 bits of three sums.
class BAYES_API Drift {
 public:
  /// Throws Error: wrong_family for a model that takes no rows, invalid_argument for one without a
  /// reference.
  explicit Drift(std::shared_ptr<const Model> model);

  const Model &model() const { return *model_; }
  std::int64_t rows() const { return rows_; }
  /// x: info.dimension numbers that are valid for their columns. NaN is missing, or a category that
  /// the model does not know (base/unseen.hpp).
  void add(std::span<const double> x);

  /// The counts, for another process.
  std::string to_bytes() const;
  /// Adds counts of rows under the same model. Throws Error(internal) if they are not.
  void add_bytes(std::string_view bytes);

  /// whole rows first, then the columns
  std::vector<DriftEntry> entries() const;

 private:
  struct Counts {
    /// compared rows in each bin, and last those with unknown categories
    std::vector<std::int64_t> bins;
    /// of all rows
    std::int64_t nulls = 0, unknown = 0;
  };
  void score(std::span<const double> x);
  std::size_t bin_of(std::size_t column, double x) const;
  DriftEntry of_rows() const;
  DriftEntry of_column(std::size_t column) const;
  /// calls f with every count
  template <class F> void each_count(F f);

  std::shared_ptr<const Model> model_;
  const RowReference &reference_;
  /// the fit left out rows with a NULL, or marginalizes missing values; neither: it refuses NULL
  bool skips_ = false, marginalizes_ = false;
  /// For columns of categories without labels: the categories that the model knows.
  std::vector<std::vector<double>> known_;
  /// the row at hand, with categories that the model does not know marked as such
  std::vector<double> row_;
  bool has_categories_ = false;

  std::vector<Counts> columns_;
  Counts density_;
  std::int64_t rows_ = 0, incomplete_ = 0, with_unknown_ = 0;
  /// number of rows by which columns are compared, of rows with a log density, and of rows with a
  /// finite log density
  std::int64_t compared_ = 0, scored_ = 0, finite_ = 0;
  /// sums of the powers of log density - that of the reference
  DoubleDouble sums_[3];
};

}  // namespace bayes
