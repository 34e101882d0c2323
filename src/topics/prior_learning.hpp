// Learning the parameters of Dirichlet priors by maximising a bound (Minka 2000; Blei, Ng and
// Jordan 2003, appendix A.4.2).
#pragma once

#include <span>
#include <vector>

#include "counts/padded_table.hpp"

namespace bayes {

/// Limits of learned parameters; below, priors hardly differ.
inline constexpr double min_concentration = 1e-4, max_concentration = 1e4;

/// The a that maximises the expected log density of `groups` Dirichlet distributions over `size`
/// entries with all parameters a. `logs`: the sum of all expected logs.
double learn_symmetric(double groups, double size, double logs);

/// The same for Dirichlet distributions of the columns with parameters a + added.
double learn_symmetric(const PaddedMatrix &added, double logs);

/// Moves alpha, one parameter for each entry, to the maximum, or in many dimensions towards it; the
/// objective never falls. `logs`: for each entry the sum of expected logs over `groups`
/// distributions.
void learn_asymmetric(std::vector<double> &alpha, double groups, std::span<const double> logs);

}  // namespace bayes
