// What learners of Poisson counts add up over the lines of a table and over the keys of the other
// side, and what follows from these sums for rates and priors.
#pragma once

#include <algorithm>
#include <numeric>
#include <optional>

#include "factor/line_step.hpp"
#include "factor/nmf_learners.hpp"

namespace bayes {

/// sum of log Gamma(x + 1) over all cells: the constant of the Poisson distribution. `of_lines`: a
/// number for each line, which becomes its sum, or empty.
double log_factorials(Corpus &lines, Buffer &of_lines, Control &control);

/// What lines add up to.
struct LineSums {
  LineTotals totals;
  TopicStatistics cells;
  /// expected weights of the lines: of all, and by cells that may be missing
  Buffer weights;
  std::optional<TopicStatistics> weights_of_cells;

  /// `all`: rows for all other keys
  LineSums(std::int32_t others, int factors, bool missing, bool all)
      : totals(factors),
        cells(others, factors, all),
        weights(totals.parts) {
    if (missing) weights_of_cells.emplace(others, factors, all);
  }
  void clear() {
    totals.clear();
    cells.clear();
    std::fill(weights.begin(), weights.end(), 0.0);
    if (weights_of_cells) weights_of_cells->clear();
  }
  void merge(LineSums &other) {
    totals.add(other.totals);
    cells.merge(other.cells);
    for (std::size_t k = 0; k < weights.size(); ++k) weights[k] += other.weights[k];
    if (weights_of_cells) weights_of_cells->merge(*other.weights_of_cells);
  }
  /// The sum of the cells of the i-th of the keys that there are, which all its parts, sum x / n
  /// t_k b_k, add up to.
  double of_key(std::size_t i, const TopicFactors &factors) const {
    const double *const row = cells.of(i), *const end = row + totals.parts.size();
    return std::inner_product(row, end, factors.of(cells.terms()[i]), 0.0);
  }
};

/// What the keys of the other side add up to.
struct OtherSums {
  /// minus the divergence of q(v), but for constants that do not depend on q
  double bound = 0;
  /// sums of E log v
  double logs = 0;
  /// sums of E v
  Buffer means;

  explicit OtherSums(std::size_t stride) : means(stride, 0.0) {}
  void clear() {
    bound = logs = 0;
    std::fill(means.begin(), means.end(), 0.0);
  }
  void add(const OtherSums &other) {
    bound += other.bound;
    logs += other.logs;
    for (std::size_t k = 0; k < means.size(); ++k) means[k] += other.means[k];
  }
};

/// The other side as the local step sees it.
class OtherSide {
 public:
  OtherSide(const NmfOptions &options, std::int32_t keys, int factors);

  /// The factors of all keys, what they add up to, and if cells may be missing each one's means.
  void factor(const FactorState &state, Control &control);

  TopicFactors factors;
  OtherSums sums;
  /// of every key, if cells may be missing
  TermTopics means;

 private:
  void factor(const FactorState &state, std::int32_t key, const Buffer &rates,
              const Buffer &log_rates, OtherSums &here);

  const bool gamma_, missing_, own_;
  const int topics_;
  const std::size_t stride_;
};

/// The bound's terms that depend neither on the cells nor on q.
double bound_of_priors(const FactorState &state, std::int64_t lines);

/// What is learned of the prior of the lines maximises the bound, given their parts, padded, and
/// the sum of their E log w.
void learn_line_prior(const FactorTask &task, FactorState &state, const Buffer &parts, double logs);
/// The same of the other side.
void learn_other_prior(const FactorTask &task, FactorState &state, const OtherSums &sums);

/// Common rates of both sides depend on each other, r = h + sum E v and likewise: given all parts,
/// which add up to these, both are best at the solution of a quadratic equation.
void balance_rates(FactorState &state, std::int64_t lines, const Buffer &other_parts,
                   const Buffer &line_parts);

}  // namespace bayes
