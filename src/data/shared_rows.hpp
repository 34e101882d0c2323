// Overlap of the components of two mixtures, measured by the rows.
#pragma once

#include <vector>

#include "data/local_step.hpp"

namespace bayes {

/// The weight of the rows that component i of `one` and j of `other` have in common, in entry i * K
/// + j, both having K components: the sum over rows of weight x r_i x s_j, r and s being the
/// responsibilities. Of many rows a sample of about 10,000 is used, in blocks. Log weights are as
/// for local_step().
std::vector<double> shared_rows(RowSource &rows, Control &control, const BlockScorer &one,
                                const std::vector<double> &log_weights_of_one,
                                const BlockScorer &other,
                                const std::vector<double> &log_weights_of_other);

}  // namespace bayes
