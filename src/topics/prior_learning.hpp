// Learning the parameters of Dirichlet priors by maximising a bound (Minka 2000; Blei, Ng and
// Jordan 2003, appendix A.4.2).
#pragma once

#include <span>
#include <vector>

#include "topics/term_topics.hpp"

namespace bayes {

/// What is learned stays within these; below, priors hardly differ.
inline constexpr double least_concentration = 1e-4, most_concentration = 1e4;

/// The a that maximises the prior of `groups` distributions over `size` entries with parameters a,
/// given the sum of all expected logs.
double learn_symmetric(double groups, double size, double logs);

/// The same where some parameters are a + added.
double learn_symmetric(const TermTopics &added, double logs);

/// Moves alpha, one number for each entry, to the maximum, or towards it in many dimensions, given
/// each entry's sum of expected logs over `groups` distributions. Never away from it.
void learn_asymmetric(std::vector<double> &alpha, double groups, std::span<const double> logs);

}  // namespace bayes
