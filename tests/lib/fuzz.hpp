// What a fuzz target offers beside LLVMFuzzerTestOneInput: valid inputs to start from.
#pragma once

#include <string>
#include <vector>

/// Inputs that the target accepts. Mutations of these reach much deeper than random bytes.
std::vector<std::string> fuzz_seeds();
