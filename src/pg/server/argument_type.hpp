// The type of an argument that is declared as "any".
#pragma once

#include "pg/server/boundary.hpp"

namespace bayes::pg {

/// Throws Error(invalid_argument) if the caller does not tell it: a value of an unknown type cannot
/// be looked at. Extensions that call functions of aggregates themselves do so (Citus).
inline Oid argument_type(FunctionCallInfo fcinfo, int argument) {
  const Oid out =
      guarded([fcinfo, argument] { return get_fn_expr_argtype(fcinfo->flinfo, argument); });
  if (!OidIsValid(out))
    throw Error(Errc::invalid_argument, "the type of an argument is not known",
                "The function was called by something that does not tell the types of its "
                "arguments, as an extension may that computes aggregates elsewhere.",
                "Give the rows to a function of a query.");
  return out;
}

}  // namespace bayes::pg
