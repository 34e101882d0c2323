#include "regression/glm_fit_statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "base/message.hpp"
#include "base/random.hpp"
#include "base/special.hpp"
#include "data/sweep.hpp"
#include "families/marginal.hpp"
#include "families/parameter.hpp"
#include "regression/glm_state.hpp"

namespace bayes {
namespace {

constexpr double no_number = FitStatistic::none;
/// Rows wait until a block of them is full, and a thread takes so many rows, or draws, at a time.
constexpr int rows_of_block = 256, rows_of_task = 8, draws_of_task = 10;
constexpr std::uint64_t seed_of_statistics = 1;
constexpr std::uint64_t stream_of_responses = 1;

/// A predictor of a log link that is larger counts as this one, so that squares of means are
/// finite.
constexpr double max_log_mean = 345;

/// Draws of the logarithm of a dispersion are at most so far from its mean.
constexpr double max_off = 60;

double bounded_predictor(const NumberResponse &response, double a) {
  return response.link == Link::log ? std::min(a, max_log_mean) : a;
}

/// How many standard errors an interval reaches to both sides.
double reach_of(double level) { return -normal_quantile((1 - level) / 2); }

/// (y - mean)^2 over the variance
double pearson_residual_square(const NumberResponse &response, double y, double mean,
                               const ResponsePoint &at) {
  const double off = (y - mean) * (y - mean), variance = response.variance(mean, at);
  if (off == 0) return 0;
  return off / variance;
}

/// The predictor at which y is the mean.
double saturated_predictor(const NumberResponse &response, double y, double trials) {
  if (response.link == Link::log || response.link == Link::identity)
    return predictor_at(response.link, y);
  if (y <= 0) return -std::numeric_limits<double>::infinity();
  if (y >= trials) return std::numeric_limits<double>::infinity();
  return predictor_at(response.link, y / trials);
}

double deviance_of(const NumberResponse &response, double y, const ResponsePoint &at) {
  ResponsePoint best = at;
  best.predictor = saturated_predictor(response, y, at.trials);
  return 2 * std::max(0.0, response.log_density(y, best) - response.log_density(y, at));
}

/// The share of draws that are larger, and half of those that are equal.
template <class Larger> double share_above(std::size_t draws, Larger larger) {
  double sum = 0;
  for (std::size_t s = 0; s < draws; ++s) sum += larger(s);
  return sum / double(draws);
}
double compared(double drawn, double observed) {
  return drawn > observed ? 1 : drawn == observed ? 0.5 : 0;
}

}  // namespace

/// Rows that wait.
struct GlmFitStatistics::Block {
  Block(std::size_t terms, double degrees) : terms(terms * rows_of_block), degrees(degrees) {}
  int rows = 0;
  /// of row r: term j at [j * rows_of_block + r]
  std::vector<double> terms;
  std::array<double, rows_of_block> offset, trials, response;
  std::array<ResponsePoint, rows_of_block> fitted;
  /// the log predictive density of the response, and of a yes or no that of the other one
  std::array<double, rows_of_block> log_density, log_other;
  std::vector<double> values[rows_of_block];
  const double degrees;

  ResponsePoint at(int row, double predictor, double log_dispersion) const {
    return {predictor + offset[std::size_t(row)], trials[std::size_t(row)], log_dispersion,
            degrees};
  }
  /// The linear predictors without offsets.
  void predictors(std::span<const double> unknowns, double *out) const {
    std::fill(out, out + rows, 0.0);
    for (std::size_t j = 0; j < unknowns.size(); ++j) {
      const double u = unknowns[j];
      const double *const z = terms.data() + j * rows_of_block;
      for (int r = 0; r < rows; ++r) out[r] += u * z[r];
    }
  }
};

/// The rows so far under one draw of the unknowns.
struct GlmFitStatistics::DrawnRows {
  explicit DrawnRows(std::uint64_t draw)
      : random(seed_of_statistics, draw, 0, stream_of_responses) {}
  /// for new responses
  Random random;
  RunningMoments means, variances;
  /// sums of squared Pearson residuals, of the rows and of new responses
  double observed = 0, replicated = 0;
  double zeros = 0, minimum = std::numeric_limits<double>::infinity(), maximum = -minimum;
};

GlmFitStatistics::GlmFitStatistics(const Glm &model, double level, int draws, Control &control,
                                   TakeOdds take_odds)
    : model_(model),
      level_(level),
      control_(control),
      take_odds_(std::move(take_odds)),
      counts_(model.response().whole() && !model.response().binary()),
      simulated_(!model.response().binary()) {
  require_level(level);
  if (draws < 0 || draws > max_draws)
    throw Error(Errc::invalid_argument,
                message("draws is {}, but must be from 0 to {}", draws, max_draws));
  if (model.response().labelled()) draws = 0;
  const std::size_t p = model.state->size();
  const double bytes = double(draws) * (8 * double(p) + 2 * sizeof(DrawnRows)) +
                       rows_of_block * 8 * double(p + std::size_t(model.info.dimension));
  if (bytes > control.memory)
    throw Error(Errc::too_large,
                message("{} draws of {} coefficients take {} MB, but the limit is {} MB", draws, p,
                        std::int64_t(bytes / 1048576), std::int64_t(control.memory / 1048576)),
                "The limit is maintenance_work_mem, or 1 GB if that is more.",
                "Use fewer draws, or raise maintenance_work_mem.");
  const PollScope scope(control);
  unknowns_ = model.state->posterior_unknowns(std::size_t(draws), seed_of_statistics);
  for (int s = 0; s < draws; ++s) drawn_.emplace_back(std::uint64_t(s));
  next_ = drawn_;
  block_ = std::make_unique<Block>(p, model.state->columns.degrees);
}

GlmFitStatistics::~GlmFitStatistics() = default;

void GlmFitStatistics::add(std::span<const double> row, double response) {
  if (model_.response().labelled()) return add_level(row, response);
  const std::optional<GlmRow> own = model_.in_own_units(row);
  if (!own) return leave_out();
  // Refused here, and not where threads would race for the first such row.
  if (!model_.response().allows(response) ||
      (model_.response().has_trials() && response > own->trials))
    model_.score(row, response);
  const auto r = std::size_t(block_->rows++);
  for (std::size_t j = 0; j < own->terms.size(); ++j)
    block_->terms[j * rows_of_block + r] = own->terms[j];
  block_->offset[r] = own->offset;
  block_->trials[r] = own->trials;
  block_->response[r] = response;
  block_->fitted[r] = own->fitted;
  block_->values[r].assign(row.begin(), row.end());
  if (block_->rows == rows_of_block) flush();
}

void GlmFitStatistics::add_level(std::span<const double> row, double response) {
  // It says why there is no such level.
  if (!(response >= 0 && response < double(model_.levels().size()))) model_.score(row, response);
  const std::optional<LevelPoints> points = model_.level_points(row);
  if (!points) return leave_out();
  const PollScope scope(control_);
  poll_here();
  const Score score = model_.score_level(*points, std::size_t(response));
  const std::vector<double> p = points->means();
  double expected = 0;
  for (const double each : p) expected += 0.5 * each * (1 - each);
  const double most = *std::max_element(p.begin(), p.end());
  ++rows_;
  log_density_.add(score.log_density);
  brier_.add(score.error);
  expected_brier_.add(expected);
  wrong_.add(p[std::size_t(response)] < most);
  expected_wrong_.add(1 - most);
}

void GlmFitStatistics::score_rows() {
  Block &block = *block_;
  const bool binary = model_.response().binary();
  const auto tasks = std::size_t((block.rows + rows_of_task - 1) / rows_of_task);
  const double operations = double(block.rows) * (model_.response().dispersed() ? 1e5 : 1e4);
  run_tasks(tasks, plan_tasks(operations, 0, control_).threads, control_,
            [&](std::size_t task, const Stop &stop) {
              const int first = int(task) * rows_of_task,
                        last = std::min(block.rows, first + rows_of_task);
              for (int i = first; i < last && !stop(); ++i) {
                const auto r = std::size_t(i);
                const double y = block.response[r];
                block.log_density[r] = model_.score(block.values[r], y)->log_density;
                if (binary) block.log_other[r] = model_.score(block.values[r], 1 - y)->log_density;
              }
            });
}

void GlmFitStatistics::add_fitted(int row) {
  const auto r = std::size_t(row);
  const NumberResponse &response = model_.numbers();
  ResponsePoint at = block_->fitted[r];
  at.predictor = bounded_predictor(response, at.predictor);
  const double y = block_->response[r], fitted = at.trials * mean_at(response.link, at.predictor);
  pearson_ += pearson_residual_square(response, y, fitted, at);
  deviance_ += deviance_of(response, y, at);
  log_density_.add(block_->log_density[r]);
  zeros_ += y == 0;
  minimum_ = std::min(minimum_, y);
  maximum_ = std::max(maximum_, y);
}

void GlmFitStatistics::add_binary(int row) {
  const auto r = std::size_t(row);
  const bool yes = block_->response[r] > 0;
  const double own = block_->log_density[r], other = block_->log_other[r];
  brier_.add(std::exp(2 * other));
  expected_brier_.add(std::exp(own + other));
  if (take_odds_) take_odds_(yes ? own - other : other - own, yes);
}

void GlmFitStatistics::simulate() {
  const NumberResponse &response = model_.numbers();
  const Block &block = *block_;
  const std::size_t p = model_.state->size(), draws = drawn_.size();
  const double typical = model_.state->mean.back();
  const double operations = double(draws) * block.rows * (2.0 * double(p) + 300);
  run_tasks(
      (draws + draws_of_task - 1) / draws_of_task, plan_tasks(operations, 0, control_).threads,
      control_, [&](std::size_t task, const Stop &stop) {
        std::array<double, rows_of_block> predictor;
        const std::size_t first = task * draws_of_task,
                          last = std::min(draws, first + draws_of_task);
        for (std::size_t s = first; s < last && !stop(); ++s) {
          // An abandoned task is done again, from the sums without this block.
          DrawnRows &to = next_[s] = drawn_[s];
          const double *const u = unknowns_.data() + s * p;
          block.predictors({u, p}, predictor.data());
          const double log_dispersion =
              response.dispersed() ? std::clamp(u[p - 1], typical - max_off, typical + max_off) : 0;
          for (int r = 0; r < block.rows; ++r) {
            ResponsePoint at = block.at(r, predictor[std::size_t(r)], log_dispersion);
            at.predictor = bounded_predictor(response, at.predictor);
            const double mean = at.trials * mean_at(response.link, at.predictor),
                         y = block.response[std::size_t(r)];
            to.means.add(mean);
            to.variances.add(response.variance(mean, at));
            if (!simulated_) continue;
            const double drawn = response.sample(at, to.random);
            to.observed += pearson_residual_square(response, y, mean, at);
            to.replicated += pearson_residual_square(response, drawn, mean, at);
            to.zeros += drawn == 0;
            to.minimum = std::min(to.minimum, drawn);
            to.maximum = std::max(to.maximum, drawn);
          }
        }
      });
  std::swap(drawn_, next_);
}

void GlmFitStatistics::flush() {
  if (block_->rows == 0) return;
  score_rows();
  for (int r = 0; r < block_->rows; ++r) {
    add_fitted(r);
    if (model_.response().binary()) add_binary(r);
    ++rows_;
  }
  if (!drawn_.empty()) simulate();
  block_->rows = 0;
}

FitStatistic GlmFitStatistics::mean_of(const char *name, const RunningMoments &moments,
                                       const char *meaning) const {
  FitStatistic out{name, moments.mean(), meaning};
  const double off = reach_of(level_) * moments.standard_error();
  out.lower = out.value - off;
  out.upper = out.value + off;
  return out;
}

FitStatistic GlmFitStatistics::explained() const {
  FitStatistic out{"r2", no_number, "share of the variance that the predictors explain"};
  if (rows_ < 2 || drawn_.empty()) return out;
  std::vector<double> all;
  for (const DrawnRows &each : drawn_) {
    const double fitted = each.means.variance(), total = fitted + each.variances.mean();
    all.push_back(total == 0 ? 0 : fitted / total);
  }
  // Of student_t responses without a variance there is none.
  if (std::isnan(all[0])) return out;
  const DrawSummary found = summary_of_draws(std::move(all), level_);
  out.value = found.mean;
  // Draws of a point estimate are all alike, which says nothing of its uncertainty.
  if (model_.state->root.empty() && model_.state->draws.empty()) return out;
  out.lower = found.lower;
  out.upper = found.upper;
  return out;
}

FitStatistic GlmFitStatistics::checked(FitStatistic out, double DrawnRows::*member,
                                       double divisor) const {
  if (drawn_.empty()) return out;
  RunningMoments drawn;
  for (const DrawnRows &each : drawn_) drawn.add(each.*member / divisor);
  out.expected = drawn.mean();
  out.p = share_above(drawn_.size(), [&](std::size_t s) {
    return compared(drawn_[s].*member / divisor, out.value);
  });
  return out;
}

void GlmFitStatistics::add_checks(std::vector<FitStatistic> &out) const {
  const double degrees = double(rows_) - double(model_.state->parameters);
  FitStatistic dispersion{"dispersion", degrees > 0 ? pearson_ / degrees : no_number,
                          "variance about the means, over that of the distribution"};
  dispersion.expected = 1;
  if (!drawn_.empty() && simulated_)
    dispersion.p = share_above(drawn_.size(), [this](std::size_t s) {
      return compared(drawn_[s].replicated, drawn_[s].observed);
    });
  out.push_back(dispersion);
  if (rows_ == 0 || !simulated_) return;
  const double n = double(rows_);
  if (counts_)
    out.push_back(checked({"zeros", double(zeros_) / n, "share of responses that are 0"},
                          &DrawnRows::zeros, n));
  else
    out.push_back(checked({"minimum", minimum_, "smallest response"}, &DrawnRows::minimum, 1));
  out.push_back(checked({"maximum", maximum_, "largest response"}, &DrawnRows::maximum, 1));
}

std::vector<FitStatistic> GlmFitStatistics::finish() {
  const PollScope scope(control_);
  flush();
  std::vector<FitStatistic> out;
  out.push_back({"rows", double(rows_), "rows with all columns"});
  out.push_back({"left_out", double(left_out_), "rows left out, as a column is missing"});
  out.push_back(mean_of("log_density", log_density_, "mean log predictive density of a response"));
  if (model_.response().labelled()) {
    out.push_back(mean_of("error", wrong_, "share of rows whose most probable label is another"));
    out.back().expected = expected_wrong_.mean();
  } else {
    out.push_back({"deviance", rows_ > 0 ? deviance_ : no_number,
                   "twice the log-likelihood that a perfect fit has more"});
    add_checks(out);
    out.push_back(explained());
  }
  if (model_.response().binary() || model_.response().labelled()) {
    out.push_back(mean_of("brier", brier_, "mean squared difference of response and probability"));
    out.back().expected = expected_brier_.mean();
  }
  std::erase_if(out, [](const FitStatistic &each) { return std::isnan(each.value); });
  return out;
}

// ---- yes and no ----

void RankedOdds::add(double log_odds, bool yes) {
  if (yes_ + no_ + tied_yes_ + tied_no_ > 0 && log_odds != last_) end_ties();
  last_ = log_odds;
  if (yes_ + tied_yes_ == 0 && yes) first_yes_ = log_odds;
  if (no_ + tied_no_ == 0 && !yes) first_no_ = log_odds;
  ++(yes ? tied_yes_ : tied_no_);
  (yes ? last_yes_ : last_no_) = log_odds;
}

void RankedOdds::end_ties() {
  above_no_.add(no_ + tied_no_ / 2, tied_yes_);
  above_yes_.add(yes_ + tied_yes_ / 2, tied_no_);
  yes_ += std::exchange(tied_yes_, 0);
  no_ += std::exchange(tied_no_, 0);
}

FitStatistic RankedOdds::area(double level) {
  end_ties();
  FitStatistic out{"auc", above_no_.mean() / no_,
                   "probability that a yes has a larger probability than a no"};
  const double variance =
      above_no_.variance() / (no_ * no_ * yes_) + above_yes_.variance() / (yes_ * yes_ * no_);
  const double off = reach_of(level) * std::sqrt(variance);
  out.lower = std::max(0.0, out.value - off);
  out.upper = std::min(1.0, out.value + off);
  if (std::isnan(off)) out.lower = out.upper = no_number;
  return out;
}

bool RankedOdds::both() const { return yes_ + tied_yes_ > 0 && no_ + tied_no_ > 0; }

bool RankedOdds::overlap() const {
  return both() && first_yes_ < last_no_ && first_no_ < last_yes_;
}

namespace {

/// Coefficient `wanted` of a logistic regression under a flat prior, which is that of the greatest
/// likelihood with Wald's interval; none if there is no regression.
std::optional<FitStatistic> calibrated(RowSource &odds, const char *offset, int wanted,
                                       FitStatistic out, double level, Control &control) {
  Document options = Document::object()
                         .set("response", "bernoulli")
                         .set("tol", 1e-14)
                         .set("prior", Document::object().set("c", 1e12).set("c_intercept", 1e12));
  if (offset) options.set("offset", offset);
  try {
    GlmWarnings ignored;
    const auto model = glm_fit(GlmFamily::glm, odds, {}, options, control, ignored);
    if (!model->info.converged) return std::nullopt;
    int at = 0;
    model->coefficients(level, [&](const Coefficient &each) {
      if (at++ != wanted) return;
      out.value = each.mean;
      out.lower = each.lower;
      out.upper = each.upper;
    });
    return out;
  } catch (const Error &error) {
    if (error.code() != Errc::numeric) throw;
    return std::nullopt;
  }
}

}  // namespace

std::vector<FitStatistic> calibration_statistics(RowSource &odds, const RankedOdds &ranked,
                                                 double level, Control &control) {
  std::vector<FitStatistic> out;
  FitStatistic shift{"calibration_in_the_large", no_number,
                     "log odds that predictions lack: above 0 if a yes is more frequent"};
  shift.expected = 0;
  FitStatistic slope{"calibration_slope", no_number,
                     "slope of log odds by predicted ones: below 1 if these are too extreme"};
  slope.expected = 1;
  if (ranked.both())
    if (const auto found = calibrated(odds, "x1", 0, shift, level, control)) out.push_back(*found);
  if (ranked.overlap())
    if (const auto found = calibrated(odds, nullptr, 1, slope, level, control))
      out.push_back(*found);
  return out;
}

}  // namespace bayes
