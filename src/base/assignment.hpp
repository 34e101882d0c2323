// The assignment problem, for relabelling posterior draws.
#pragma once

#include <functional>
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

/// Components that nothing tells apart but their data are in one group: [i] is the first component
/// that i may be exchanged with. Relabelling and sorting may exchange those of a group, no others:
/// a prior that names its components is of these, in this order.
using ExchangeableGroups = std::vector<int>;

/// `exchangeable(i, j)`: does the prior stay as it is if i and j, i < j, are exchanged?
BAYES_API ExchangeableGroups
exchangeable_groups(int k, const std::function<bool(int i, int j)> &exchangeable);
/// k groups of one.
ExchangeableGroups no_exchange(int k);
/// Is there more than one group?
bool tells_apart(const ExchangeableGroups &groups);

/// The best assignment of those in which every i gets a name of its group.
BAYES_API std::vector<int> best_assignment(const std::vector<double> &overlap, int k,
                                           const ExchangeableGroups &groups);

/// The places of every group, in rising order, given to its members by `order`, which has all of
/// them: [place] is the member there.
std::vector<int> order_within(const std::vector<int> &order, const ExchangeableGroups &groups);

}  // namespace bayes
