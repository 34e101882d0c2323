#include "pg/bind/query_rows.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/message.hpp"
#include "document/members.hpp"
#include "pg/input/record_fields.hpp"
#include "pg/parts/rows.hpp"

namespace bayes::pg {
namespace {

/// The values of option push_down.
enum class Wanted : char { no, yes, if_possible };

/// Removes the option, and returns it. Throws Error for anything but true, false and "auto".
Wanted wanted_of(Document &options) {
  const std::optional<Document> given = take_option(options, "push_down");
  if (!given) return Wanted::no;
  if (const bool *const yes = given->as<bool>()) return *yes ? Wanted::yes : Wanted::no;
  const std::string *const text = given->as<std::string>();
  if (text && *text == "auto") return Wanted::if_possible;
  throw Error(
      Errc::invalid_argument,
      message("option \"push_down\" is {}, but must be true, false or \"auto\"", describe(*given)));
}

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
  // An unknown method is refused where options are checked.
  if (given && !given->is_null() && !(name && method_of(*name))) return {};
  const std::string_view method =
      name ? *name : method_name(request.start ? request.start->info.method : pushed.by_default);
  std::string others;
  for (const Method each : pushed.methods) {
    if (method_name(each) == method) return {};
    others += (others.empty() ? "" : ", ") + std::string(method_name(each));
  }
  return message("method {} needs rows one at a time; these do not: {}", method, others);
}

}  // namespace

bool PushDown::collect(FunctionCallInfo fcinfo, const char *sql, FitRequest &request,
                       const PushedMethods &methods, const char *hint, PushedData &data) {
  const Wanted wanted = wanted_of(request.options);
  if (wanted == Wanted::no) return false;
  std::string reason = reason_of(request, methods);
  std::optional<PushableQuery> query;
  std::vector<int> columns;
  bool begun = false;
  const auto begin = [&](TupleDesc description) {
    begun = true;
    columns = data.begin(description, reason);
  };
  if (reason.empty())
    query = pushable_query(
        sql, hint,
        [&](TupleDesc description, std::span<const RecordColumn> records) {
          data.records(records);
          begin(description);
        },
        reason);
  if (query) {
    const Oid function = fcinfo->flinfo->fn_oid;
    const Oid schema = guarded([function] { return get_func_namespace(function); });
    rows_ = std::make_unique<PushedRows>(*std::move(query), schema);
    reason = rows_->plan(columns);
  }
  if (!reason.empty()) {
    if (wanted == Wanted::yes)
      throw Error(Errc::invalid_argument, message("query cannot be pushed down: {}", reason),
                  "Option push_down asks for a fit where the rows are.",
                  "With \"push_down\": \"auto\" the rows are collected on this server.");
    report(NOTICE, message("rows are collected on this server: {}", reason));
    rows_.reset();
    if (begun) data.undo();
    return false;
  }
  rows_->collect(data);
  if (wanted == Wanted::if_possible)
    report(NOTICE, message("fit is pushed down: {}, {} rows", rows_->servers(), rows_->rows()));
  return true;
}

const char *query_text(FunctionCallInfo fcinfo, const char *hint) {
  if (PG_ARGISNULL(0)) throw Error(Errc::null_value, "query must not be NULL", {}, hint);
  return guarded([fcinfo] { return TextDatumGetCString(PG_GETARG_DATUM(0)); });
}

Datum options_of(FunctionCallInfo fcinfo, int argument) {
  const Datum given = PG_GETARG_DATUM(argument);
  const Oid type =
      guarded([&] { return getBaseType(get_fn_expr_argtype(fcinfo->flinfo, argument)); });
  switch (type) {
    case InvalidOid:
    case JSONBOID: return given;
    case UNKNOWNOID: return guarded([given] { return DirectFunctionCall1(jsonb_in, given); });
    case TEXTOID:
    case VARCHAROID:
    case JSONOID:
      return guarded([given] {
        return DirectFunctionCall1(jsonb_in, CStringGetDatum(TextDatumGetCString(given)));
      });
    default:
      throw SqlError(ERRCODE_DATATYPE_MISMATCH,
                     message("options are of type {}", name_of_type(type)),
                     "They are a jsonb object.",
                     "A literal before another argument is taken for a query; one that is a "
                     "response needs its type: 'yes'::text.");
  }
}

FitRequest query_request(FunctionCallInfo fcinfo, const char *family, std::span<const Role> roles) {
  std::vector<Role> given(roles.begin(), roles.end());
  std::vector<NullableDatum> arguments;
  for (int i = 1; i <= int(roles.size()); ++i) {
    arguments.push_back(fcinfo->args[i]);
    if (roles[std::size_t(i - 1)] == Role::options && !arguments.back().isnull)
      arguments.back().value = options_of(fcinfo, i);
  }
  // A start model is the last argument, if the function takes one, and has its own number.
  const int start = int(roles.size()) + 1;
  const bool number = given.front() == Role::k || given.front() == Role::rank;
  if (PG_NARGS() > start && !PG_ARGISNULL(start)) {
    if (number && !PG_ARGISNULL(1))
      throw Error(Errc::invalid_argument,
                  message("a number, {}, is given beside a start model", PG_GETARG_INT32(1)),
                  "The model has its number of components.", "Leave one of them out.");
    if (number) {
      given.front() = Role::start;
      arguments.front() = fcinfo->args[start];
    } else {
      given.push_back(Role::start);
      arguments.push_back(fcinfo->args[start]);
    }
  } else if (number && PG_ARGISNULL(1)) {
    throw Error(Errc::null_value, "the number of components, states, topics or factors is missing",
                "It is the argument after the query.",
                "SELECT * FROM gmm_fit('SELECT ...', 3); the model to start from, if there is one, "
                "is given as start => model.");
  }
  Parameters parameters;
  parameters.read(given, arguments.data());
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
