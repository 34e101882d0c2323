#include "pg/bind/query_rows.hpp"

namespace bayes::pg {

QueryRows::QueryRows(FunctionCallInfo fcinfo, const char *family, int max_dimension,
                     CheckRequest check, std::span<const Role> roles, RowNames *names)
    : context_(CurrentMemoryContext, "pg_bayes query") {
  if (PG_ARGISNULL(0))
    throw Error(Errc::null_value, "query must not be NULL", {}, query_hint(names));
  const char *const sql = guarded([fcinfo] { return TextDatumGetCString(PG_GETARG_DATUM(0)); });
  Parameters::Argument arguments[4];
  const std::size_t given = std::size_t(PG_NARGS() - 1);
  for (std::size_t i = 0; i < given; ++i)
    arguments[i] = {fcinfo->args[1 + i].value, fcinfo->args[1 + i].isnull};
  Parameters parameters;
  parameters.read(roles.first(given), arguments);
  request = parameters.request(family);
  policy = check(request);
  read_query(
      sql,
      [&](bool weighted) -> RowIntake & {
        rows_ = make_in<RowIntake>(context_, "pg_bayes rows", weighted);
        prepare(*rows_, request, policy, max_dimension);
        return *rows_;
      },
      names, policy.booleans);
}

}  // namespace bayes::pg
