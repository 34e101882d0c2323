// Lists in their byte form, which are put together without being read.
#pragma once

#include <array>
#include <string_view>

#include "base/api.hpp"

namespace bayes {

/// The beginning of the byte form of a list, before its elements.
using ListHead = std::array<char, 8>;
/// The beginning of the list that has the elements of both of these, which follow it as they are.
/// Throws Error(invalid_binary) unless both begin as lists do; elements are not looked at.
BAYES_API ListHead joined_list_head(std::string_view first, std::string_view second);

}  // namespace bayes
