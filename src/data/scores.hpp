// How well models predict data that they were not fitted to: scores of independent rows, and from
// their sums the means with standard errors, of one model or of the difference of two.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "base/api.hpp"
#include "base/double_double.hpp"

namespace bayes {

/// The score of a row under a model. A row is a unit independent of others: a row of a table, a
/// document, a sequence, a cell.
struct Score {
  /// number of items that log_density is a sum over: 1, the tokens of a document, the steps of a
  /// sequence
  double units = 1;
  /// may be infinite
  double log_density = 0;
  /// 1 for a wrong label and 0 for the right one, or the squared error of a prediction
  double error = 0;
};

/// The meaning of Score::error, and the estimate made from it.
enum class ErrorMeasure : char {
  none,
  /// the share of wrong labels
  share,
  /// the root of the mean squared error
  root
};

/// NaN where there is none.
struct ScoreEstimate {
  double value = std::numeric_limits<double>::quiet_NaN();
  double standard_error = value;
};

/// Sums of the scores of rows under one or two models, trivially copyable; in 106 bits, so that
/// results do not depend on the order of the rows.
///
/// Every estimate is a function f of a ratio of sums, R = sum(x) / sum(units); for two models it is
/// the difference of both values. Its standard error is that of the mean of the rows' influences
/// (delta method), f'(R) (x_i - R units_i) / sum(units), with n - 1 in the denominator of the
/// variance: stddev_samp / sqrt(n) for a mean over rows, and the paired one for two models.
class BAYES_API ScoreSums {
 public:
  ScoreSums() = default;
  /// `models`: 1 or 2
  explicit ScoreSums(int models) : models_(models) {}

  std::int64_t rows() const { return rows_; }

  /// Adds a row, with a score for each model.
  void add(std::span<const Score> scores) { change(scores, 1); }
  /// Removes a row. False if that leaves too few correct digits: sums must then be computed anew.
  bool remove(std::span<const Score> scores);
  /// Adds the sums of other rows. No row may be removed later.
  void merge(const ScoreSums &other);

  // For two models: the first less the second. Without rows there is no estimate, with one row no
  // standard error.
  /// the mean per unit
  ScoreEstimate log_density() const;
  /// exp(- mean log density per unit)
  ScoreEstimate perplexity() const;
  ScoreEstimate error(ErrorMeasure measure) const;

 private:
  /// numbers of a score, and of the scores of two models
  static constexpr std::size_t numbers = 3, most = 2 * numbers;
  enum Number : std::size_t { units, density, wrong };
  void change(std::span<const Score> scores, int sign);
  /// The estimate f(R), R being the ratio of a number and the units; f(ratio) returns the value and
  /// the derivative.
  struct Transformed {
    DoubleDouble value;
    double slope;
  };
  template <class F> ScoreEstimate estimate(Number number, F f) const;
  /// Infinity or NaN if log densities were infinite, else 0.
  double infinite(std::size_t model) const;
  template <class F> ScoreEstimate estimate_of_density(F f) const;

  std::int32_t models_ = 1;
  std::int64_t rows_ = 0;
  /// rows with the log density -infinity and +infinity, for each model; they are 0 in the sums
  std::array<std::array<std::int64_t, 2>, 2> infinite_ = {};
  std::array<DoubleDouble, most> sums_ = {};
  /// sums of products of two numbers of a row, the second not before the first
  std::array<DoubleDouble, most *(most + 1) / 2> products_ = {};
  /// bounds of the rounding errors of the sums of squares
  std::array<double, most> errors_ = {};
};

/// The sums of these rows. Polls.
BAYES_API ScoreSums sum_scores(std::span<const Score> rows);
/// The sums of rows under two models, `first` and `second` of the same length. Polls.
BAYES_API ScoreSums sum_scores(std::span<const Score> first, std::span<const Score> second);

}  // namespace bayes
