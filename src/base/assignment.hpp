// The assignment problem, for relabelling posterior draws.
#pragma once

#include <vector>

#include "base/api.hpp"

namespace bayes {

/// The permutation p of 0 .. k-1 that maximises the sum of overlap[i * k + p[i]] over i, in O(k^3)
/// steps (Kuhn 1955, Munkres 1957; by shortest augmenting paths: Jonker and Volgenant 1987). Ties
/// are broken by the matrix alone.
///
/// For the equivalence classes representatives algorithm against label switching (Papastamoulis and
/// Iliopoulos 2010): if overlap[i * k + j] is the number of rows labelled i in the draw and j in
/// the reference, p[i] is the reference's label for the draw's i. k >= 0. Throws invalid_argument
/// unless overlap has k * k finite entries.
BAYES_API std::vector<int> best_assignment(const std::vector<double> &overlap, int k);

}  // namespace bayes
