#include "pg/bind/push_down.hpp"

#include <optional>
#include <string>
#include <utility>

#include "base/message.hpp"
#include "document/members.hpp"

namespace bayes::pg {
namespace {

/// The option.
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
  // What names no method is refused where options are checked.
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

}  // namespace bayes::pg
