// Aggregates over rows of numbers: transition, combination and serialisation, once for all
// families.
//
// Arguments of a transition function: state, row, then roles (fit_request.hpp), trailing ones left
// out by the shorter signatures.
#pragma once

#include <span>

#include "pg/bind/family.hpp"

namespace bayes::pg {

/// The state of one aggregate call: the parameters, and all rows.
struct FitState {
  FitState(MemoryContext context, bool weighted) : intake(context, weighted) {}
  Parameters parameters;
  RowIntake intake;

  // Known from the first row on; a state put together from other processes' has to ask for them.
  struct Asked {
    FitRequest request;
    FitPolicy policy;
  };
  const Asked &asked(const char *family, CheckRequest check);

 private:
  std::optional<Asked> asked_;
};

/// One row: `family` is what a start model must be.
Datum fit_transition(FunctionCallInfo fcinfo, const char *family, int max_dimension,
                     CheckRequest check, std::span<const Role> roles);

/// A final function's state; nullptr: there was no row at all. Final functions may run several
/// times on one state and leave it as it is.
FitState *final_state(FunctionCallInfo fcinfo);

Datum fit_final(FunctionCallInfo fcinfo, const Family &family);

}  // namespace bayes::pg
