// The parameters of a hidden Markov model, as results show them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "families/parameter.hpp"
#include "markov/hmm_state.hpp"

namespace bayes {

/// State by state: initial probability, transitions, emissions. `symbols`: names of the categories
/// of the only element; empty: none. `info`: of the model.
void describe_states(const NormalHmm &fitted, const std::vector<std::string> &symbols,
                     const ModelInfo &info, std::optional<double> level, const TakeParameter &take);
void describe_states(const ProductHmm &fitted, const std::vector<std::string> &symbols,
                     const ModelInfo &info, std::optional<double> level, const TakeParameter &take);

}  // namespace bayes
