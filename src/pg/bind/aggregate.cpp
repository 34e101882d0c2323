#include "pg/bind/aggregate.hpp"

#include "base/message.hpp"
#include "pg/values/varlena.hpp"

namespace bayes::pg {

MemoryContext aggregate_context(FunctionCallInfo fcinfo) {
  MemoryContext context = nullptr;
  if (!AggCheckCallContext(fcinfo, &context))
    throw Error(Errc::internal, "aggregate support function called outside an aggregate");
  return context;
}

void refuse_partial_state(std::size_t size, const char *what, const char *remedy) {
  throw Error(Errc::too_large,
              message("{} of a parallel worker take {} bytes, more than can be sent to the leader",
                      what, size),
              "The limit is 1 GB.",
              message("SET max_parallel_workers_per_gather = 0; or {}", remedy));
}

Datum partial_state(std::string_view bytes, const char *what, const char *remedy) {
  if (bytes.size() > largest_varlena) refuse_partial_state(bytes.size(), what, remedy);
  return new_varlena(bytes);
}

std::vector<Role> roles_by_type(FunctionCallInfo fcinfo, std::span<const Role> roles, int first) {
  std::vector<Role> out(roles.begin(), roles.end());
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] != Role::k_or_start) continue;
    const Oid type = guarded([=] { return get_fn_expr_argtype(fcinfo->flinfo, first + int(i)); });
    out[i] = type == INT4OID || type == INT2OID ? Role::k : Role::start;
  }
  return out;
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
