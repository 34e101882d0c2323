// What a server does for a fit that runs on another one: it keeps its rows, and makes passes over
// them. The other server calls these aggregates through postgres_fdw (pg/input/pushed_rows.*).
#include <utility>
#include <vector>

#include "base/message.hpp"
#include "data/remote_rows.hpp"
#include "document/model.hpp"
#include "pg/bind/aggregate.hpp"
#include "pg/input/kept_rows.hpp"
#include "pg/server/server_control.hpp"
#include "pg/values/pass_value.hpp"

using namespace bayes;
using namespace bayes::pg;

namespace {

/// The request of a call, after its number of the part.
class Request {
 public:
  Request(FunctionCallInfo fcinfo, int first) {
    if (PG_ARGISNULL(first) || PG_ARGISNULL(first + 1)) PassReader::refuse();
    part = PG_GETARG_INT32(first);
    if (part < 0) PassReader::refuse();
    message_ = document_of_pass(PG_GETARG_DATUM(first + 1));
    const PassReader given(message_);
    if (const std::string &version = given.text("version"); version != library_version)
      throw Error(Errc::invalid_argument,
                  message("this server has pg_bayes {}, but the server of the fit has {}",
                          library_version, version),
                  "Servers that work on one fit must have the same version.",
                  "Install the same version on all of them.");
    fit = given.text("fit");
  }
  const Document &body() const { return PassReader(message_).member("request"); }

  int part;
  std::string fit;

 private:
  Document message_;
};

/// An answer, for the part that gives it.
Datum answer_value(int part, Document body) {
  Document out = Document::object();
  out.set("part", part).set("answer", std::move(body));
  return pass_value(out);
}

constexpr int first_value = 3;

/// The state of the aggregate that keeps rows: a number, since the rows may be replaced or
/// forgotten by other calls.
struct KeepState {
  std::uint64_t serial;
};

KeptRows &begin_rows(FunctionCallInfo fcinfo) {
  const Request request(fcinfo, 1);
  std::vector<Oid> types;
  for (int i = first_value; i < PG_NARGS(); ++i)
    types.push_back(guarded([fcinfo, i] { return get_fn_expr_argtype(fcinfo->flinfo, i); }));
  return keep_rows({request.fit, request.part}, {request.body(), types});
}

}  // namespace

/// (internal, int, bayes_pass, values...) -> internal
BAYES_FUNCTION(bayes_keep_rows_transition) {
  const MemoryContext context = aggregate_context(fcinfo);
  auto *state = PG_ARGISNULL(0) ? nullptr : reinterpret_cast<KeepState *>(PG_GETARG_POINTER(0));
  if (!state) {
    const std::uint64_t serial = begin_rows(fcinfo).serial();
    state = static_cast<KeepState *>(
        guarded([context] { return MemoryContextAlloc(context, sizeof(KeepState)); }));
    state->serial = serial;
  }
  kept_rows_of(state->serial).add(&fcinfo->args[first_value]);
  PG_RETURN_POINTER(state);
}

/// (internal) -> bayes_pass: NULL if there were no rows at all
BAYES_FUNCTION(bayes_keep_rows_final) {
  aggregate_context(fcinfo);
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  KeptRows &kept = kept_rows_of(reinterpret_cast<KeepState *>(PG_GETARG_POINTER(0))->serial);
  return answer_value(kept.part(), kept.end());
}

/// (internal, boolean) -> internal: there are no rows, and if there are, they do not matter
BAYES_FUNCTION(bayes_make_pass_transition) {
  aggregate_context(fcinfo);
  PG_RETURN_NULL();
}

/// (internal, int, bayes_pass) -> bayes_pass
BAYES_FUNCTION(bayes_make_pass_final) {
  aggregate_context(fcinfo);
  const Request request(fcinfo, 1);
  const PassReader given(request.body());
  if (given.text("pass") == "forget") {
    forget_kept_rows(request.fit);
    return answer_value(request.part, Document::object());
  }
  KeptRows *const kept = find_kept_rows({request.fit, request.part});
  if (!kept) return answer_value(request.part, {});
  ServerControl control;
  return answer_value(request.part, given.text("pass") == "settle"
                                        ? kept->settle(request.body(), control)
                                        : kept->answer(request.body(), control));
}
