#include "pg/bind/query_rows.hpp"

#include <utility>
#include <vector>

#include "pg/parts/rows.hpp"

namespace bayes::pg {

const char *query_text(FunctionCallInfo fcinfo, const char *hint) {
  if (PG_ARGISNULL(0)) throw Error(Errc::null_value, "query must not be NULL", {}, hint);
  return guarded([fcinfo] { return TextDatumGetCString(PG_GETARG_DATUM(0)); });
}

namespace {

/// Is the argument after the query a model to start from, in place of a number, or before the
/// options?
bool takes_start(FunctionCallInfo fcinfo, Role role) {
  if (role == Role::options) return PG_NARGS() == 3;
  if (role != Role::k && role != Role::rank) return false;
  const Oid type = guarded([fcinfo] { return get_fn_expr_argtype(fcinfo->flinfo, 1); });
  return OidIsValid(type) && type != INT4OID && type != INT2OID;
}

}  // namespace

FitRequest query_request(FunctionCallInfo fcinfo, const char *family,
                         std::span<const Role> all_roles) {
  std::vector<Role> roles(all_roles.begin(), all_roles.end());
  if (takes_start(fcinfo, roles.front())) roles = {Role::start, Role::options};
  roles.resize(std::size_t(PG_NARGS() - 1));
  std::vector<NullableDatum> arguments(&fcinfo->args[1], &fcinfo->args[PG_NARGS()]);
  for (std::size_t i = 0; i < roles.size(); ++i) {
    // Functions declare options as text where a literal would otherwise be ambiguous.
    if (roles[i] != Role::options || arguments[i].isnull) continue;
    arguments[i].value = guarded([fcinfo, i, given = arguments[i].value] {
      return get_fn_expr_argtype(fcinfo->flinfo, int(i) + 1) == TEXTOID
                 ? DirectFunctionCall1(jsonb_in, CStringGetDatum(TextDatumGetCString(given)))
                 : given;
    });
  }
  Parameters parameters;
  parameters.read(roles, arguments.data());
  return parameters.request(family);
}

QueryRows::QueryRows(FunctionCallInfo fcinfo, const char *family, RowCollector::Check check,
                     std::span<const Role> roles, NamedValues *names, const PushedMethods &pushed)
    : context_(CurrentMemoryContext, "pg_bayes query") {
  const char *const sql = query_text(fcinfo, query_hint(names));
  request = query_request(fcinfo, family, roles);
  const QueryColumns given = QueryColumns::of(request.options);
  if (!pushed.methods.empty()) {
    PushedCollectedRows data(context_, data_, request, given, check);
    if (push_.collect(fcinfo, sql, request, pushed, query_hint(names), data)) return;
  }
  read_query(
      sql, given,
      [&](const QueryForm &form) -> FitData<RowCollector> & {
        data_.emplace(context_, form.item);
        data_->begin(request, check, form.columns);
        return *data_;
      },
      names, check.use != ColumnUse::numbers);
}

}  // namespace bayes::pg
