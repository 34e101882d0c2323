#include "pg/bind/query_rows.hpp"

#include <utility>
#include <vector>

#include "base/message.hpp"
#include "pg/input/pushed_rows.hpp"

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
                     std::span<const Role> roles, NamedValues *names,
                     const PushedMethods &pushed)
    : context_(CurrentMemoryContext, "pg_bayes query") {
  const char *const sql = query_text(fcinfo, query_hint(names));
  request = query_request(fcinfo, family, roles);
  const QueryColumns given = QueryColumns::of(request.options);
  if (!pushed.methods.empty() && push(fcinfo, sql, given, check, pushed)) return;
  read_query(
      sql, given,
      [&](const QueryForm &form) -> FitData<RowCollector> & {
        data_.emplace(context_, form.item);
        data_->begin(request, check, form.columns);
        return *data_;
      },
      names, check.use != ColumnUse::numbers);
}

namespace {

/// Why a fit with these options does not run where its rows are; empty if it may.
std::string reason_of(const FitRequest &request, const PushedMethods &pushed) {
  if (request.null_on_error) return "option on_error is \"null\"";
  for (const char *const key : {"resumable", "resume"})
    if (const Document *const given = request.options.find(key);
        given && !given->is_null() && !(given->as<bool>() && !*given->as<bool>()))
      return message("option {} is given", key);
  if (request.resumed) return "the fit is resumed";
  const Document *const given = request.options.find("method");
  const std::string *const name = given ? given->as<std::string>() : nullptr;
  if (given && !given->is_null() && !name) return {};  // refused where options are checked
  const std::string_view method =
      name ? *name
           : method_name(request.start ? request.start->info.method : pushed.by_default);
  std::string others;
  for (const Method each : pushed.methods) {
    if (method_name(each) == method) return {};
    others += (others.empty() ? "" : ", ") + std::string(method_name(each));
  }
  return message("method {} needs rows one at a time; these do not: {}", method, others);
}

}  // namespace

bool QueryRows::push(FunctionCallInfo fcinfo, const char *sql, const QueryColumns &given,
                     RowCollector::Check check, const PushedMethods &pushed) {
  const PushDown wanted = push_down_of(request.options);
  if (wanted == PushDown::no) return false;
  const Document options = request.options;
  std::string reason = reason_of(request, pushed);
  std::optional<PushableQuery> query;
  if (reason.empty()) query = pushable_query(sql, given, check.use != ColumnUse::numbers, reason);
  std::unique_ptr<PushedRows> rows;
  if (query) {
    const Oid function = fcinfo->flinfo->fn_oid;
    const Oid schema = guarded([function] { return get_func_namespace(function); });
    const bool whole = query->layout.whole;
    data_.emplace(context_, query->form.item);
    data_->begin(request, check, query->form.columns);
    rows = std::make_unique<PushedRows>(*std::move(query), schema);
    reason = rows->plan(whole ? std::vector<int>() : (*data_)->attributes());
  }
  if (!reason.empty()) {
    if (wanted == PushDown::yes)
      throw Error(Errc::invalid_argument, message("query cannot be pushed down: {}", reason),
                  "Option push_down asks for a fit where the rows are.",
                  "With \"push_down\": \"auto\" the rows are collected on this server.");
    report(NOTICE, message("rows are collected on this server: {}", reason));
    data_.reset();
    request.options = options;  // begin() makes them those of the columns
    return false;
  }
  data_->read([&](RowCollector &to) {
    rows->collect(to, request.family);
    if (wanted == PushDown::if_possible)
      report(NOTICE, message("fit is pushed down: {}, {} rows", rows->servers(), rows->rows()));
    if (rows->facts()) to.check_remote(*rows->facts(), rows->rows());
    to.remote = std::move(rows);
  });
  return true;
}

void QueryRows::end() {
  if (data_ && *data_ && (*data_)->remote) static_cast<PushedRows &>(*(*data_)->remote).forget();
}

}  // namespace bayes::pg
