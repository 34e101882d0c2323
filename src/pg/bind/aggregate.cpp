#include "pg/bind/aggregate.hpp"

#include "base/message.hpp"
#include "pg/server/argument_type.hpp"
#include "pg/values/convert.hpp"

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
  if (bytes.size() > max_varlena_bytes) refuse_partial_state(bytes.size(), what, remedy);
  return new_varlena(bytes);
}

std::vector<Role> roles_by_type(FunctionCallInfo fcinfo, int first, RolesOfTypes types) {
  std::vector<Role> out;
  for (int i = first; i < PG_NARGS(); ++i) {
    const Oid type = argument_type(fcinfo, i);
    switch (type) {
      case INT2OID:
      case INT4OID: out.push_back(types.integer); break;
      case INT4ARRAYOID: out.push_back(Role::ks); break;
      case JSONBOID: out.push_back(Role::options); break;
      case FLOAT8OID: out.push_back(Role::weight); break;
      default: out.push_back(types.model);
    }
  }
  return out;
}

bool take_weight(std::vector<Role> &roles) {
  if (roles.empty() || roles.back() != Role::weight) return false;
  roles.pop_back();
  return true;
}

}  // namespace bayes::pg
