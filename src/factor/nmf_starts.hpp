// Starting points of non-negative factorizations.
#pragma once

#include <cstdint>

#include "factor/factor_table.hpp"
#include "fit/schedule.hpp"
#include "topics/term_topics.hpp"

namespace bayes {

/// Points: of the other side, keys x K, and of the lines, padded, which may be empty.
struct FactorStart {
  TermTopics others;
  Buffer lines;
};

/// Non-negative double singular value decomposition with zeros filled by the table's mean
/// (Boutsidis and Gallopoulos 2008, NNDSVDa), the singular vectors by subspace iteration (Halko,
/// Martinsson and Tropp 2011). Factors beyond the rank of the table are drawn at random. The
/// iteration ends at the latest when half of the time of the fit is over. Polls; on all threads,
/// with the same result for any number.
FactorStart nndsvd_start(Corpus &lines, int factors, std::uint64_t seed, const Schedule &schedule,
                         Control &control);

/// Uniform random numbers, named by seed and restart; lines are left to be found.
FactorStart random_start(Corpus &lines, int factors, std::uint64_t seed, int restart);

}  // namespace bayes
