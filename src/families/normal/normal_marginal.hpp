// Marginals of normal components over a subset of the elements, for rows of which only these are
// observed. The predictive densities of the marginal posteriors are the marginals of the predictive
// densities.
#pragma once

#include <span>

#include "families/normal/normal_independent.hpp"
#include "families/normal/normal_wishart.hpp"

namespace bayes {

/// `of`: the elements that remain, increasing, at least one.
NormalPoint marginal(const NormalPoint &point, std::span<const int> of);

/// If Lambda^-1 ~ inverse Wishart(a, B) in d dimensions, its diagonal block of e elements is
/// inverse Wishart(a - d + e, the same block of B).
NormalWishart marginal(const NormalWishart &q, std::span<const int> of);
NormalIndependent marginal(const NormalIndependent &q, std::span<const int> of);

}  // namespace bayes
