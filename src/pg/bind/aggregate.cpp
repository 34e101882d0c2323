#include "pg/bind/aggregate.hpp"

namespace bayes::pg {

MemoryContext aggregate_context(FunctionCallInfo fcinfo) {
  MemoryContext context = nullptr;
  if (!AggCheckCallContext(fcinfo, &context))
    throw Error(Errc::internal, "aggregate support function called outside an aggregate");
  return context;
}

TransitionArguments::TransitionArguments(FunctionCallInfo fcinfo, std::span<const Role> all_roles,
                                         int values)
    : item{&fcinfo->args[1], nullptr},
      parameters(&fcinfo->args[1 + values]) {
  const std::size_t given = std::size_t(PG_NARGS() - 1 - values);
  form.values = values;
  form.weighted = given > 0 && all_roles[given - 1] == Role::weight;
  roles = all_roles.first(given - (form.weighted ? 1 : 0));
  if (form.weighted) item.weight = &fcinfo->args[PG_NARGS() - 1];
}

}  // namespace bayes::pg
