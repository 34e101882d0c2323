// The names of what posterior draws are drawn of.
#pragma once

#include <string>
#include <vector>

#include "document/model.hpp"

namespace bayes::pg {

/// The names of model.draws.quantities for people: the coefficients of a regression, stored as w1,
/// w2, ..., have those of their terms.
std::vector<std::string> names_of_quantities(const Model &model);

}  // namespace bayes::pg
