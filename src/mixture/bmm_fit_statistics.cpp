#include "mixture/bmm_fit_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/message.hpp"
#include "base/special.hpp"
#include "base/unseen.hpp"
#include "data/sketch.hpp"
#include "families/product/product_prior.hpp"
#include "families/product/unseen_categories.hpp"
#include "mixture/bmm_state.hpp"

namespace bayes {
namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

/// The largest number of patterns that are counted: a million, in at most 256 MB.
std::size_t pattern_limit(int dimension) {
  return std::min(std::size_t(1000000),
                  std::size_t(256) * 1024 * 1024 / 8 / std::size_t(dimension));
}

double possible_patterns(const Columns &columns) {
  double product = 1;
  columns.for_each([&](int, const Column &column, const ColumnOffsets &) {
    product *= column.by_value                                     ? column.numbers_per_name()
               : std::string_view(column.name) == bernoulli_family ? 2
                                                                   : undefined;
  });
  return product;
}

/// The contribution to the log-likelihood of the rows of categories that do not occur in the rows
/// of the fit.
double unseen_part(const BernoulliMixture &model, RowSource &rows, Control &control) {
  const auto &point = model.state->point;
  const ProductScorer scorer = make_scorer(point.components);
  const UnseenCategories unseen(point.components, model.state->counts,
                                category_alphas(model.state->columns(), model.info));
  const std::vector<double> log_weights = log_weights_of(point.weights);
  const RowShape shape = rows.shape();
  Buffer block(shape.block_doubles());
  std::vector<double> x(std::size_t(shape.dimension)), joint(log_weights.size());
  double total = 0;
  for (std::int64_t i = 0; i < rows.rows(); ++i) {
    const std::size_t inside = std::size_t(i % block_rows);
    if (inside == 0) {
      control.poll();
      rows.read_block(i / block_rows, block.data());
    }
    for (std::size_t j = 0; j < x.size(); ++j) x[j] = block[j * block_rows + inside];
    if (!has_unseen(x)) continue;
    scorer.score(x.data(), joint.data());
    for (std::size_t k = 0; k < joint.size(); ++k) joint[k] += log_weights[k];
    const double without = log_sum_exp(joint);
    unseen.add(x.data(), joint.data());
    const double weight = shape.weighted ? block[x.size() * block_rows + inside] : 1;
    total += weight * (log_sum_exp(joint) - without);
  }
  return total;
}

/// Compares observed with expected counts of complete rows.
void compare_patterns(const BernoulliMixture &model, MemoryRows &patterns, BmmFitStatistics &out,
                      Control &control) {
  const auto &point = model.state->point;
  const ProductScorer scorer = make_scorer(point.components);
  const std::vector<double> log_weights = log_weights_of(point.weights);
  const RowShape shape = patterns.shape();
  Buffer block(shape.block_doubles());
  std::vector<double> x(std::size_t(shape.dimension)), joint(log_weights.size());
  std::vector<double> observed, log_probability;
  for (std::int64_t i = 0; i < patterns.rows(); ++i) {
    const std::size_t inside = std::size_t(i % block_rows);
    if (inside == 0) {
      control.poll();
      patterns.read_block(i / block_rows, block.data());
    }
    for (std::size_t j = 0; j < x.size(); ++j) x[j] = block[j * block_rows + inside];
    if (std::any_of(x.begin(), x.end(), [](double v) { return std::isnan(v); })) continue;
    scorer.score(x.data(), joint.data());
    for (std::size_t k = 0; k < joint.size(); ++k) joint[k] += log_weights[k];
    log_probability.push_back(log_sum_exp(joint));
    observed.push_back(block[x.size() * block_rows + inside]);
    out.complete += observed.back();
  }
  out.patterns = std::ssize(observed);
  if (observed.empty() || std::isnan(out.possible)) return;
  out.g2 = out.x2 = 0;
  double expected_of_observed = 0;
  for (std::size_t i = 0; i < observed.size(); ++i) {
    const double expected = out.complete * std::exp(log_probability[i]);
    out.g2 += 2 * observed[i] * (std::log(observed[i] / out.complete) - log_probability[i]);
    out.x2 += (observed[i] - expected) * (observed[i] - expected) / expected;
    expected_of_observed += expected;
  }
  // Rounding may make these slightly negative.
  out.g2 = std::max(out.g2, 0.0);
  out.x2 += std::max(out.complete - expected_of_observed, 0.0);
}

}  // namespace

BmmFitStatistics bmm_fit_statistics(const BernoulliMixture &model, RowSource &rows,
                                    Control &control) {
  const PollScope scope(control);
  const BernoulliMixture::State &state = *model.state;
  if (state.draws)
    throw Error(Errc::invalid_argument,
                message("this model has no point estimate to evaluate: it was fitted by "
                        "method {}",
                        model.info.method),
                "Fit statistics compare observed counts with those that a point estimate expects.",
                "Fit with option method \"em\".");
  BmmFitStatistics out;
  const ProductSurvey survey = survey_product(rows, state.point.components.columns, control);
  out.observations = survey.weight - survey.unobserved;
  const RowSums sums =
      local_step<SoftAllocation>(rows, control, make_scorer(state.point.components),
                                 log_weights_of(state.point.weights))
          .sums;
  out.log_likelihood = sums.objective + unseen_part(model, rows, control);
  const double parameters = model.free_parameters();
  out.bic = -2 * out.log_likelihood + parameters * std::log(out.observations);
  out.aic = -2 * out.log_likelihood + 2 * parameters;
  FiniteTotals totals;
  totals.counts = state.counts;
  totals.weight = survey.weight;
  totals.entropy = std::max(0.0, sums.entropy);
  totals.leave_out(survey.unobserved, state.point.weights);
  out.entropy = totals.relative_entropy();

  out.possible = possible_patterns(state.columns());
  out.df = out.possible - 1 - parameters;
  out.g2 = out.x2 = out.g2_p = out.x2_p = undefined;
  const Sketch sketch = Sketch::of(rows, control, 0, pattern_limit(model.dimension()));
  if (sketch.complete()) {
    MemoryRows patterns = sketch.sorted();
    compare_patterns(model, patterns, out, control);
  } else {
    out.complete = undefined;
  }
  if (out.df >= 1 && !std::isnan(out.g2)) {
    const double expected = out.complete / out.possible;
    out.sparse = expected < min_expected_g2;
    if (!out.sparse) out.g2_p = chi_square_tail(out.g2, out.df);
    if (expected >= min_expected_x2) out.x2_p = chi_square_tail(out.x2, out.df);
  }
  return out;
}

}  // namespace bayes
