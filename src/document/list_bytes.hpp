// Lists in their byte form, which are put together without being read.
#pragma once

#include <string>
#include <string_view>

#include "base/api.hpp"

namespace bayes {

/// The byte form of the elements of one list followed by those of another, from their byte forms.
/// Throws Error(invalid_binary) unless both begin as lists do; elements are not looked at.
BAYES_API std::string joined_list_bytes(std::string_view first, std::string_view second);

}  // namespace bayes
