// What a fit of a hidden Markov model finds out about its sequences before the first iteration,
// wherever they are.
#pragma once

#include <vector>

#include "base/control.hpp"
#include "data/sequences.hpp"
#include "document/document.hpp"
#include "families/product/product.hpp"

namespace bayes {

/// Which elements of observations there are.
struct ObservedElements {
  /// some element of some step is observed
  bool any = false;
  /// some step is observed in part
  bool incomplete = false;
};
ObservedElements observed_elements(const Sequences &sequences, Control &control);

/// Throws Error(invalid_argument), naming sequence and step, if an element has a value that its
/// emission does not allow. `emissions`: one for each element; `started`: they are those of a start
/// model.
void check_emissions(const Sequences &sequences, const std::vector<ColumnSpec> &emissions,
                     bool started, Control &control);

/// Has some step a symbol whose number is below `known`?
bool has_symbol_below(const Sequences &sequences, std::int64_t known, Control &control);

/// The passes of these that other servers make.
extern const PassOver<PartOfSequences> observed_elements_pass, check_emissions_pass,
    symbol_below_pass;

}  // namespace bayes
