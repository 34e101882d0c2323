// What the families of a column are called, for those who need nothing else of them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace bayes {

/// In the order of the list (column_families.hpp).
const std::vector<std::string_view> &column_family_names();

/// The keys of this family's prior.
std::span<const char *const> column_prior_keys(std::string_view family);

}  // namespace bayes
