// linreg_stats values.
#pragma once

#include "pg/server/boundary.hpp"
#include "regression/linreg_sums.hpp"

namespace bayes::pg {

/// Reads a stored value. Throws XX001 (data corrupted) if its bytes are invalid.
LinregSums load_stats(Datum value);

/// A new value in CurrentMemoryContext.
Datum store_stats(const LinregSums &sums);

}  // namespace bayes::pg
