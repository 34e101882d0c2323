// How well a generalized linear model fits rows: dispersion, deviance, R2, and for yes and no AUC,
// Brier score and calibration; and by posterior predictive checks, whether rows of the model would
// be like these (Gelman, Meng and Stern 1996).
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/api.hpp"
#include "base/control.hpp"
#include "regression/glm.hpp"

namespace bayes {

/// A statistic of rows under a model. NaN: it has none.
struct FitStatistic {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();

  const char *name;
  double value;
  /// in words
  const char *meaning;
  /// the bounds of its interval
  double lower = none, upper = none;
  /// what it would be if the model were true
  double expected = none;
  /// the posterior predictive p value: the probability that new responses of the same rows have a
  /// larger one; half of the probability that they have the same counts
  double p = none;
};

/// Number, mean and sum of squares about the mean of numbers that come one by one.
class RunningMoments {
 public:
  void add(double x, double times = 1) {
    if (!(times > 0)) return;
    number_ += times;
    if (std::isinf(x)) infinite_ = x;
    const double off = x - mean_;
    mean_ += off * times / number_;
    squares_ += off * (x - mean_) * times;
  }
  double number() const { return number_; }
  /// NaN without numbers
  double mean() const {
    return infinite_ != 0 ? infinite_ : number_ > 0 ? mean_ : FitStatistic::none;
  }
  /// NaN of fewer than two numbers, and of infinite ones
  double variance() const { return number_ > 1 ? squares_ / (number_ - 1) : FitStatistic::none; }
  double standard_error() const { return std::sqrt(variance() / number_); }

 private:
  double number_ = 0, mean_ = 0, squares_ = 0;
  /// the last infinite number, as of a response that cannot be
  double infinite_ = 0;
};

/// The statistics of all rows but those that need their order.
///
/// Rows are simulated from draws of the posterior, with a fixed seed: they depend on the order of
/// the rows, and on nothing else. After stored draws these are draws of the model; after a point
/// estimate all are this point.
class BAYES_API GlmFitStatistics {
 public:
  /// Receives the predictive log odds of rows with a yes or no, in the order of the rows.
  using TakeOdds = std::function<void(double log_odds, bool yes)>;

  static constexpr int default_draws = 400, max_draws = 10000;

  /// 0 < level < 1; `draws`: of the posterior, 0 to max_draws. Throws Error: invalid_argument for
  /// any other, too_large for draws that take more memory than the control allows. All arguments
  /// must outlive this.
  GlmFitStatistics(const Glm &model, double level, int draws, Control &control,
                   TakeOdds take_odds = {});
  ~GlmFitStatistics();

  /// Adds a row; one with a missing value is left out. Throws Error for a response that the model's
  /// distribution does not allow, and for an exposure or trials that cannot be.
  void add(std::span<const double> row, double response);
  /// Counts a row that is left out.
  void leave_out() { ++left_out_; }
  /// The statistics that these rows have. To be called once, after all rows.
  std::vector<FitStatistic> finish();

 private:
  struct Block;
  struct DrawnRows;
  void flush();
  void add_level(std::span<const double> row, double response);
  void score_rows();
  void add_fitted(int row);
  void add_binary(int row);
  void simulate();
  void add_checks(std::vector<FitStatistic> &out) const;
  /// The statistic with what new responses have for it, `member` over the divisor.
  FitStatistic checked(FitStatistic out, double DrawnRows::*member, double divisor) const;
  FitStatistic explained() const;
  FitStatistic mean_of(const char *name, const RunningMoments &moments, const char *meaning) const;

  const Glm &model_;
  const double level_;
  Control &control_;
  const TakeOdds take_odds_;
  /// responses have zeros and a maximum that say something
  const bool counts_, simulated_;
  /// the unknowns, by draw, and the rows so far under each draw
  std::vector<double> unknowns_;
  std::vector<DrawnRows> drawn_, next_;
  std::unique_ptr<Block> block_;
  std::int64_t rows_ = 0, left_out_ = 0, zeros_ = 0;
  double minimum_ = std::numeric_limits<double>::infinity(), maximum_ = -minimum_;
  double pearson_ = 0, deviance_ = 0;
  RunningMoments log_density_, brier_, expected_brier_, wrong_, expected_wrong_;
};

/// The area under the curve of receiver operating characteristics: the probability that a row with
/// a yes has larger log odds than one with a no, equal ones counting half (Mann and Whitney 1947),
/// with the variance of DeLong, DeLong and Clarke-Pearson (1988).
class BAYES_API RankedOdds {
 public:
  /// In ascending order.
  void add(double log_odds, bool yes);
  /// To be called once, after all rows.
  FitStatistic area(double level);
  /// Are there rows of both kinds?
  bool both() const;
  /// Do both kinds of rows have log odds between those of the other? Else a regression on them has
  /// no maximum.
  bool overlap() const;

 private:
  void end_ties();

  double last_ = 0, first_yes_ = 0, last_yes_ = 0, first_no_ = 0, last_no_ = 0;
  /// rows below the last log odds, and those that have them
  double yes_ = 0, no_ = 0, tied_yes_ = 0, tied_no_ = 0;
  /// of every row with a yes, how many with a no are below it; and the reverse
  RunningMoments above_no_, above_yes_;
};

/// The largest log odds of calibration_statistics(): more extreme ones count as these.
inline constexpr double max_log_odds = 600;

/// Cox's (1958) regression of responses on their predicted log odds: `calibration_in_the_large`,
/// the intercept with a slope of 1, and `calibration_slope`, with the intercept that belongs to it.
/// `odds`: rows of a response, 0 or 1, and its log odds; `ranked`: the same ones. Statistics that
/// do not exist are left out.
BAYES_API std::vector<FitStatistic> calibration_statistics(RowSource &odds,
                                                           const RankedOdds &ranked, double level,
                                                           Control &control);

}  // namespace bayes
