// Passes for a fit that runs on another server: this server keeps its rows and makes passes over
// them. The other server calls these aggregates through postgres_fdw (pg/parts/pushed_rows.*).

#include <cctype>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/message.hpp"
#include "data/remote_rows.hpp"
#include "document/document.hpp"
#include "document/model.hpp"
#include "pg/bind/aggregate.hpp"
#include "pg/parts/kept_rows.hpp"
#include "pg/parts/pushed_rows.hpp"
#include "pg/server/argument_type.hpp"
#include "pg/server/encoding.hpp"
#include "pg/server/server_control.hpp"
#include "pg/values/pass_value.hpp"

namespace bayes::pg {
namespace {

// A request of a fit that runs on another server, or in another session, as an argument of the
// functions that make its passes.

class PassCall {
 public:
  /// Throws Error: 22P03 if it is no request, 22023 for one of another version of pg_bayes.
  explicit PassCall(Datum request);
  const std::string &fit() const { return fit_; }
  /// The number of the part that is this shard; -1 if the request is not for it.
  int part_of_shard(std::int64_t shard) const;
  /// The answer of the rows that this session keeps for a part; null if it keeps none.
  Document answer(int part) const;
  const Document &body() const;
  /// An answer with the number of the part that gives it.
  static Document answered(int part, Document answer);

 private:
  Document message_;
  std::string fit_;
};

PassCall::PassCall(Datum request) : message_(document_of_pass(request)) {
  const PassReader given(message_);
  if (const std::string &version = given.text("version"); version != library_version)
    throw Error(Errc::invalid_argument,
                message("this server has pg_bayes {}, but the server of the fit has {}",
                        library_version, version),
                "Servers that work on one fit must have the same version.",
                "Install the same version on all of them.");
  fit_ = given.text("fit");
}

const Document &PassCall::body() const { return PassReader(message_).member("request"); }

int PassCall::part_of_shard(std::int64_t shard) const {
  const auto place = [shard](const Document::List &list) {
    for (std::size_t i = 0; i < list.size(); ++i)
      if (const auto *const each = list[i].as<std::int64_t>(); each && *each == shard)
        return int(i);
    return -1;
  };
  const PassReader given(message_);
  if (const Document *const only = message_.find("only"); only && place(given.list("only")) < 0)
    return -1;
  return place(given.list("shards"));
}

Document PassCall::answer(int part) const {
  const std::string &pass = PassReader(body()).text("pass");
  if (pass == "forget") {
    forget_kept_rows(fit_);
    return Document::object();
  }
  KeptRows *const kept = find_kept_rows({fit_, part});
  if (!kept) return {};
  if (pass == "describe") return kept->end();
  ServerControl control;
  return pass == "settle" ? kept->settle(body(), control) : kept->answer(body(), control);
}

Document PassCall::answered(int part, Document answer) {
  Document out = Document::object();
  out.set("part", part).set("answer", std::move(answer));
  return out;
}

/// Begins a collection of rows for a part; a row is in the arguments from `first` on.
KeptRows &begin_kept_rows(const PassCall &call, int part, FunctionCallInfo fcinfo, int first) {
  std::vector<Oid> types;
  for (int i = first; i < PG_NARGS(); ++i) types.push_back(argument_type(fcinfo, i));
  return keep_rows({call.fit(), part}, {call.body(), types});
}

}  // namespace
}  // namespace bayes::pg

using namespace bayes;
using namespace bayes::pg;

namespace {

/// The request of a call, after its number of the part.
PassCall call_of(FunctionCallInfo fcinfo, int &part) {
  if (PG_ARGISNULL(1) || PG_ARGISNULL(2)) PassReader::refuse();
  part = PG_GETARG_INT32(1);
  if (part < 0) PassReader::refuse();
  return PassCall(PG_GETARG_DATUM(2));
}

constexpr int first_value = 3;

/// The state of the aggregate that keeps rows: a number, since the rows may be replaced or
/// forgotten by other calls.
struct KeepState {
  std::uint64_t serial;
};

KeptRows &begin_rows(FunctionCallInfo fcinfo) {
  int part = 0;
  const PassCall call = call_of(fcinfo, part);
  return begin_kept_rows(call, part, fcinfo, first_value);
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
  return pass_value(PassCall::answered(kept.part(), kept.end()));
}

/// (internal, boolean) -> internal: rows are not expected, and are ignored
BAYES_FUNCTION(bayes_make_pass_transition) {
  aggregate_context(fcinfo);
  PG_RETURN_NULL();
}

/// (internal, int, bayes_pass) -> bayes_pass
BAYES_FUNCTION(bayes_make_pass_final) {
  aggregate_context(fcinfo);
  int part = 0;
  const PassCall call = call_of(fcinfo, part);
  return pass_value(PassCall::answered(part, call.answer(part)));
}

// Passes on a worker of Citus for a fit over a distributed table: its sessions keep the rows of
// shards, and make passes over them. Citus sends away an aggregate of one argument with a state of
// its own type. Here the aggregate only joins answers; an ordinary function in its argument makes
// them (src/pg/bind/README.md, Rows in shards).

namespace {

/// The number of a shard, which its table has in its name.
std::int64_t shard_of(Oid table) {
  const char *const name = guarded([table] { return get_rel_name(table); });
  const char *const digits = name ? std::strrchr(name, '_') : nullptr;
  std::int64_t out = 0;
  int count = 0;
  for (const char *at = digits ? digits + 1 : ""; *at; ++at, ++count) {
    if (!std::isdigit(static_cast<unsigned char>(*at)) || count == 18) PassReader::refuse();
    out = out * 10 + (*at - '0');
  }
  if (count == 0) PassReader::refuse();
  return out;
}

/// A list with one answer.
Datum list_value(int part, Document answer) {
  Document::List out;
  out.push_back(PassCall::answered(part, std::move(answer)));
  return pass_value(Document(std::move(out)));
}

/// The state of a call site of _bayes_keep_shard. A query gives all its rows one request, at one
/// address.
class KeepSite {
 public:
  explicit KeepSite(MemoryContext) {}

  /// Is this the request and the table of the row before?
  bool continues(Datum request, Oid table) const {
    return call_ && address_ == request && table_ == table;
  }
  /// Turns to the rows of a table; returns whether they have just begun, and the request is for
  /// them.
  bool turn(FunctionCallInfo fcinfo, Datum request, Oid table) {
    if (!call_ || address_ != request) {
      tables_.clear();
      call_.emplace(request);
      address_ = request;
    }
    table_ = table;
    for (const auto &[before, serial] : tables_)
      if (before == table) {
        serial_ = serial;
        return false;
      }
    part = call_->part_of_shard(shard_of(table));
    serial_.reset();
    if (part >= 0) serial_ = begin_kept_rows(*call_, part, fcinfo, first_value).serial();
    tables_.emplace_back(table, serial_);
    return part >= 0;
  }
  void add(const NullableDatum *values) {
    if (serial_) kept_rows_of(*serial_).add(values);
  }

  static constexpr int first_value = 2;
  int part = -1;

 private:
  std::optional<PassCall> call_;
  Datum address_ = 0;
  Oid table_ = InvalidOid;
  std::optional<std::uint64_t> serial_;
  std::vector<std::pair<Oid, std::optional<std::uint64_t>>> tables_;
};

void require_request(FunctionCallInfo fcinfo) {
  if (!PG_ARGISNULL(0) && !PG_ARGISNULL(1)) return;
  throw Error(Errc::null_value, "there is no request for a pass",
              "Only functions of a query with option push_down make them.");
}

}  // namespace

/// () -> bayes_pass
BAYES_FUNCTION(bayes_current_request) {
  const Datum out = current_request();
  if (!out) PG_RETURN_NULL();
  return out;
}

/// (oid, bayes_pass, values...) -> bayes_pass
BAYES_FUNCTION(bayes_keep_shard) {
  require_request(fcinfo);
  auto &site = call_site<KeepSite>(fcinfo);
  const Datum request = PG_GETARG_DATUM(1);
  const Oid table = PG_GETARG_OID(0);
  const bool first = !site.continues(request, table) && site.turn(fcinfo, request, table);
  site.add(&fcinfo->args[KeepSite::first_value]);
  if (!first) PG_RETURN_NULL();
  return list_value(site.part, Document::object());
}

/// (oid, bayes_pass) -> bayes_pass
BAYES_FUNCTION(bayes_pass_over_shard) {
  require_request(fcinfo);
  const PassCall call(PG_GETARG_DATUM(1));
  const int part = call.part_of_shard(shard_of(PG_GETARG_OID(0)));
  if (part < 0) PG_RETURN_NULL();
  return list_value(part, call.answer(part));
}

/// (bayes_pass, bayes_pass) -> bayes_pass
BAYES_FUNCTION(bayes_join_answers) {
  // The executor owns the state of an aggregate, so it may be changed in place.
  const bool state = AggCheckCallContext(fcinfo, nullptr) == AGG_CONTEXT_AGGREGATE;
  return joined_pass_value(PG_GETARG_DATUM(0), PG_GETARG_DATUM(1), state);
}

namespace {

/// The position of a scan for the first rows.
struct FirstRows {
  BlockNumber block;
  OffsetNumber offset;
  int wanted;
};

FirstRows *first_rows(SampleScanState *node) { return static_cast<FirstRows *>(node->tsm_state); }

/// Raises.
void init_first_rows(SampleScanState *node, int) { node->tsm_state = palloc0(sizeof(FirstRows)); }

bool found_all(SampleScanState *node) { return node->donetuples >= first_rows(node)->wanted; }

}  // namespace

/// (internal) -> tsm_handler: a TABLESAMPLE method that returns the first visible rows of a table.
/// A pass over rows that are kept needs a row of the shard only to be called.
BAYES_FUNCTION(bayes_first_rows) {
  auto *const out = guarded([] {
    TsmRoutine *const routine = makeNode(TsmRoutine);
    routine->parameterTypes = list_make1_oid(INT4OID);
    return routine;
  });
  out->repeatable_across_queries = true;
  out->repeatable_across_scans = true;
  out->SampleScanGetSampleSize = [](PlannerInfo *, RelOptInfo *, List *, BlockNumber *pages,
                                    double *tuples) {
    *pages = 1;
    *tuples = 1;
  };
  out->InitSampleScan = init_first_rows;
  out->BeginSampleScan = [](SampleScanState *node, Datum *parameters, int, uint32) {
    *first_rows(node) = {0, FirstOffsetNumber, DatumGetInt32(parameters[0])};
    node->use_pagemode = false;
  };
  out->NextSampleBlock = [](SampleScanState *node, BlockNumber blocks) {
    FirstRows *const at = first_rows(node);
    at->offset = FirstOffsetNumber;
    return found_all(node) || at->block >= blocks ? InvalidBlockNumber : at->block++;
  };
  out->NextSampleTuple = [](SampleScanState *node, BlockNumber, OffsetNumber last) {
    FirstRows *const at = first_rows(node);
    if (found_all(node) || at->offset > last) return OffsetNumber(InvalidOffsetNumber);
    return at->offset++;
  };
  PG_RETURN_POINTER(out);
}
