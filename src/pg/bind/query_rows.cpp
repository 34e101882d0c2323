#include "pg/bind/query_rows.hpp"

#include <vector>

namespace bayes::pg {

const char *query_text(FunctionCallInfo fcinfo, const char *hint) {
  if (PG_ARGISNULL(0)) throw Error(Errc::null_value, "query must not be NULL", {}, hint);
  return guarded([fcinfo] { return TextDatumGetCString(PG_GETARG_DATUM(0)); });
}

FitRequest query_request(FunctionCallInfo fcinfo, const char *family, std::span<const Role> roles) {
  roles = roles.first(std::size_t(PG_NARGS() - 1));
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
                     std::span<const Role> roles, NamedValues *names)
    : context_(CurrentMemoryContext, "pg_bayes query") {
  const char *const sql = query_text(fcinfo, query_hint(names));
  request = query_request(fcinfo, family, roles);
  const QueryColumns given = QueryColumns::of(request.options);
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
