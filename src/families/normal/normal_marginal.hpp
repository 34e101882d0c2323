// Normal components of some of the elements alone: what they say of a row of which only these are
// observed. The predictive densities of the marginal posteriors are the marginals of the
// predictive densities.
#pragma once

#include <span>

#include "families/normal/normal_independent.hpp"
#include "families/normal/normal_wishart.hpp"

namespace bayes {

/// Elements `of`, increasing, at least one.
NormalPoint marginal(const NormalPoint &point, std::span<const int> of);

/// Of Lambda^-1 ~ inverse Wishart(a, B) in d dimensions a block of e is inverse Wishart(a - d + e,
/// its block of B).
NormalWishart marginal(const NormalWishart &q, std::span<const int> of);
NormalIndependent marginal(const NormalIndependent &q, std::span<const int> of);

}  // namespace bayes
