// Where the chains of a probabilistic matrix factorization begin that starts from a model.
#pragma once

#include "factor/pmf_chain.hpp"
#include "factor/pmf_state.hpp"

namespace bayes {

/// The table of a fit: its units, and its second side, the terms.
struct PmfPlace {
  double center = 0, scale = 1;
  Side second = Side::column;
  const Keys &keys;
};

/// The state in which chain number `chain` of `chains` begins: a stored draw of the start model in
/// the units of the fit, another one for each chain. Keys that the model does not know are drawn
/// from the distribution of their side in that draw.
PmfState pmf_state_of_model(const PmfModel &start, int chain, int chains, const PmfTask &task,
                            const PmfPlace &place);

}  // namespace bayes
