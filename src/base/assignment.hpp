// The assignment problem, for relabelling posterior draws.
#pragma once

#include <functional>
#include <vector>

#include "base/api.hpp"

namespace bayes {

/// The permutation p of 0 .. k-1 that maximises the sum of overlap[i * k + p[i]] over i, in O(k^3)
/// steps (Kuhn 1955, Munkres 1957; by shortest augmenting paths: Jonker and Volgenant 1987). How
/// ties are broken depends on the matrix alone.
///
/// For the equivalence classes representatives algorithm against label switching (Papastamoulis and
/// Iliopoulos 2010): if overlap[i * k + j] is the number of rows labelled i in the draw and j in
/// the reference, p[i] is the reference's label for the draw's i. k >= 0. Throws invalid_argument
/// unless overlap has k * k finite entries.
BAYES_API std::vector<int> best_assignment(const std::vector<double> &overlap, int k);

/// Groups of components that the prior treats alike: [i] is the first component with which i is
/// exchangeable. Relabelling and sorting permute components only within a group, so that a
/// component with its own prior keeps its position.
using ExchangeableGroups = std::vector<int>;

/// `exchangeable(i, j)`: is the prior invariant under exchanging i and j, i < j?
BAYES_API ExchangeableGroups
exchangeable_groups(int k, const std::function<bool(int i, int j)> &exchangeable);
/// k groups of one.
ExchangeableGroups no_exchange(int k);
/// Is there more than one group?
bool has_several_groups(const ExchangeableGroups &groups);

/// The best of the assignments that map every i to a member of its own group.
BAYES_API std::vector<int> best_assignment(const std::vector<double> &overlap, int k,
                                           const ExchangeableGroups &groups);

/// Rearranges `order`, a permutation of all components, so that every position holds a component of
/// that position's group: the members of a group fill its positions in the sequence in which
/// `order` lists them.
std::vector<int> order_within(const std::vector<int> &order, const ExchangeableGroups &groups);

}  // namespace bayes
