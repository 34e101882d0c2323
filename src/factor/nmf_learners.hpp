// Learners of non-negative factorizations: variational inference under gamma priors (002 L12;
// Cemgil 2009), also from minibatches (002 L8; Hoffman and others 2013), maximum likelihood of
// Poisson counts by EM, whose steps are those of Lee and Seung (2001) for the divergence, and least
// squares by coordinates (Cichocki and Phan 2009).
#pragma once

#include <vector>

#include "factor/factor_table.hpp"
#include "factor/nmf_options.hpp"
#include "factor/weight_gamma.hpp"
#include "fit/schedule.hpp"
#include "topics/document_step.hpp"
#include "topics/term_topics.hpp"

namespace bayes {

/// Where a run is. Lines have weights w, the keys of the other side v.
///
/// Rates are common to all keys of a side, unless cells may be missing or the prior is
/// hierarchical: then each key has its own.
struct FactorState {
  /// of the other side, keys x K: of vi and svi the parts m of its cells, so that q(v) =
  /// Gamma(shape + m, rate); else the points v
  TermTopics others;
  /// of the lines, padded: of vi, svi and em the parts n of their cells, so that q(w) = Gamma(shape
  /// + n, rate), or w = n / rate, behind them with own rates 1 / rate; of squared the points w.
  /// Empty before the first pass if they are to be found.
  Buffer lines;
  /// K common rates of each side
  std::vector<double> line_rates, other_rates;
  /// own rates of the other side, keys x K, and the rates of the q of their scales
  TermTopics own_other_rates;
  std::vector<double> other_scales;
  /// of vi and svi
  WeightGamma line_prior, other_prior;
};

struct FactorRun : RunTrace {
  FactorState state;
};

/// What a run needs beside its state. All must live as long.
struct FactorTask {
  const FactorTable &table;
  const NmfOptions &options;
  /// of vi and svi: what of the prior is learned
  bool learn_line_shape = false, learn_line_rate = false;
  bool learn_other_shape = false, learn_other_rate = false;
};

/// Doubles that a run has in memory, with its state and what threads need.
double factor_run_doubles(const FactorTable &table, const NmfOptions &options,
                          const Control &control);

/// From this state: the objective is the log-likelihood (em), the ELBO (vi, svi), or minus the sum
/// of squares (squared), with all constants.
FactorRun run_factors(const FactorTask &task, FactorState state, const Schedule &schedule,
                      Control &control);

/// Method squared (nmf_squared.cpp).
FactorRun run_squared(const FactorTask &task, FactorState state, const Schedule &schedule,
                      Control &control);

/// Method svi (nmf_stochastic.cpp).
FactorRun run_stochastic(const FactorTask &task, FactorState state, const Schedule &schedule,
                         Control &control);

/// The points w >= 0 of a line for which |x - V w|^2 is least, for cells by rows of `points`, V'V
/// being that of `all_points`, the points of all keys.
std::vector<double> least_squares(const DocumentTerms &cells, const TermTopics &points,
                                  const TermTopics &all_points);

/// How well points describe the table, or those of its cells that are not missing. Points of lines
/// are padded.
NmfError error_of(Corpus &lines, bool missing, const TermTopics &others,
                  const Buffer &points_of_lines, Control &control);

}  // namespace bayes
