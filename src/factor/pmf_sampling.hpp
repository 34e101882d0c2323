// Chains of probabilistic matrix factorization, and the draws that a model stores.
#pragma once

#include "factor/pmf_chain.hpp"
#include "factor/pmf_state.hpp"
#include "fit/fit_run.hpp"

namespace bayes {

/// Numbers that a stored draw has.
double pmf_numbers_of_draw(double keys, int rank, bool means, bool hierarchical);

/// How many draws a model stores: as many as option stored_draws says, by default all, at most 500
/// and 8 million numbers (64 MB), but 10 of them if that is more; within 40 million numbers (320
/// MB) and what memory allows, and at least one.
std::int64_t pmf_stored_draws(const ChainPlan &plan, double numbers, const Control &control);

/// Runs the chains; what they find goes into `run` and, but for keys, units and rated cells, into
/// `state`. The quantities of a draw are noise_sd, rmse (of the fitted numbers), norm (the root
/// mean square of u_i'v_j over all pairs of keys) and, unless the prior is hierarchical, c: in the
/// units of the table's numbers, and the same however vectors are rotated.
void sample_pmf(const PmfTask &task, const ChainPlan &plan, double scale, Side of_lines,
                PmfModel::State &state, FitRun &run, Control &control);

}  // namespace bayes
