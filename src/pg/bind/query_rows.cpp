#include "pg/bind/query_rows.hpp"

namespace bayes::pg {

const char *query_text(FunctionCallInfo fcinfo, const char *hint) {
  if (PG_ARGISNULL(0)) throw Error(Errc::null_value, "query must not be NULL", {}, hint);
  return guarded([fcinfo] { return TextDatumGetCString(PG_GETARG_DATUM(0)); });
}

FitRequest query_request(FunctionCallInfo fcinfo, const char *family, std::span<const Role> roles) {
  Parameters parameters;
  parameters.read(roles.first(std::size_t(PG_NARGS() - 1)), &fcinfo->args[1]);
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
      [&](const QueryForm &form) -> RowCollector & {
        data_ = make_in<RowCollector>(context_, "pg_bayes data", form.item);
        data_->begin(request, check, form.columns);
        return *data_;
      },
      names, check.use != ColumnUse::numbers);
}

}  // namespace bayes::pg
