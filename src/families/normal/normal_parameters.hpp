// The parameters of normal components in results: mean and standard deviation of every element.
#pragma once

#include <vector>

#include "families/normal/normal_independent.hpp"
#include "families/parameter.hpp"

namespace bayes {

/// The parameters of element j of component k at the point, without summaries of a posterior.
BAYES_API std::vector<Parameter> element_parameters(const NormalPoint &point, int k, int j);
inline std::vector<Parameter> known_parameters(const NormalPoint &, int, int) { return {}; }

/// Appends the marginal posteriors of these parameters. An element's mean is Student t, its
/// variance inverse gamma: with d x d precisions Lambda ~ Wishart(a, B), the inverse of the
/// variance is Wishart_1(a - d + 1, B_jj).
BAYES_API void add_marginals(const NormalWishart &q, int k, int j, std::vector<Marginal> &out);
/// The same, but the mean is normal.
BAYES_API void add_marginals(const NormalIndependent &q, int k, int j, std::vector<Marginal> &out);

}  // namespace bayes
