// The parameters of normal components, as results show them: mean and standard deviation of every
// element.
#pragma once

#include <vector>

#include "families/normal/normal_independent.hpp"
#include "families/parameter.hpp"

namespace bayes {

/// Those of element j of component k at the point, without what a posterior says of them.
BAYES_API std::vector<Parameter> element_parameters(const NormalPoint &point, int k, int j);
inline std::vector<Parameter> known_parameters(const NormalPoint &, int, int) { return {}; }

/// Adds their distributions. An element's mean is Student t, its variance inverse gamma: with d x d
/// precisions Lambda ~ Wishart(a, B) the variance's inverse is Wishart_1(a - d + 1, B_jj), whatever
/// the other elements do.
BAYES_API void add_marginals(const NormalWishart &q, int k, int j, std::vector<Marginal> &out);
/// The mean is normal.
BAYES_API void add_marginals(const NormalIndependent &q, int k, int j, std::vector<Marginal> &out);

}  // namespace bayes
