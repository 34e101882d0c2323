#include "pg/parts/pushed_rows.hpp"

#include <limits>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "base/message.hpp"
#include "document/model.hpp"
#include "pg/server/context.hpp"
#include "pg/server/encoding.hpp"
#include "pg/server/server_control.hpp"
#include "pg/values/pass_value.hpp"

namespace bayes::pg {
namespace {

Datum request_under_way = 0;

}  // namespace

Datum current_request() noexcept { return request_under_way; }

CurrentRequest::CurrentRequest(Datum request) noexcept : before_(request_under_way) {
  request_under_way = request;
}

CurrentRequest::~CurrentRequest() { request_under_way = before_; }

int begin_pushed_only() {
  const int level = NewGUCNestLevel();
  set_config_option("citus.coordinator_aggregation_strategy", "disabled", PGC_USERSET,
                    PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
  return level;
}

void end_pushed_only(int level) { AtEOXact_GUC(true, level); }

namespace {

constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();

/// A name for a fit, which no other fit has.
std::string new_fit() {
  unsigned char bytes[16];
  guarded([&bytes] {
    if (!pg_strong_random(bytes, sizeof bytes)) elog(ERROR, "could not generate a random number");
  });
  std::string out;
  for (const unsigned char byte : bytes) {
    out.push_back("0123456789abcdef"[byte >> 4]);
    out.push_back("0123456789abcdef"[byte & 15]);
  }
  return out;
}

/// Is this the plan of one part as it should be: a foreign scan that stands for the aggregate too,
/// or an aggregate of nothing, as no row satisfies the condition?
bool is_pushed(const Plan *plan) {
  while (plan && IsA(plan, SubqueryScan))
    plan = reinterpret_cast<const SubqueryScan *>(plan)->subplan;
  if (plan && IsA(plan, Agg)) {
    const Plan *const of = plan->lefttree;
    return of && IsA(of, Result) && !of->lefttree;
  }
  return plan && IsA(plan, ForeignScan) &&
         reinterpret_cast<const ForeignScan *>(plan)->scan.scanrelid == 0;
}

/// The beginning of every statement over all parts.
constexpr const char *statement_begins = "SELECT s FROM (";

/// The beginning of a call, before the number of its part.
const char *call_of(bool keep) { return keep ? "_bayes_keep_rows(" : "_bayes_make_pass("; }

/// The worker of Citus that an error came from; empty if it came from none.
std::string worker_in(const std::string &context) {
  static constexpr std::string_view before = "while executing command on ";
  const std::size_t at = context.find(before);
  if (at == std::string::npos) return {};
  const std::size_t from = at + before.size();
  return context.substr(from, context.find('\n', from) - from);
}

/// Is a call for this part in the CONTEXT of an error?
bool names_call(const std::string &context, std::size_t part) {
  for (const bool keep : {true, false})
    if (context.find(message("{}{}, ", call_of(keep), part)) != std::string::npos) return true;
  return false;
}

}  // namespace

class PushedRows::Statement {
 public:
  /// With postgres_fdw, $1 is the request and $2 is NULL; with Citus, the request is
  /// current_request().
  Statement(const std::string &text, Oid request_type, bool citus) : citus_(citus) {
    const char *const query = text.c_str();
    guarded([this, query, request_type] {
      Oid types[] = {request_type, BOOLOID};
      if (SPI_connect() != SPI_OK_CONNECT) elog(ERROR, "SPI_connect failed");
      // A generic plan: in a custom one $1 would be a literal, to be parsed in every pass.
      plan_ = SPI_prepare_cursor(query, citus_ ? 0 : 2, types, CURSOR_OPT_GENERIC_PLAN);
      if (!plan_ || SPI_keepplan(plan_) != 0)
        elog(ERROR, "pg_bayes: pass cannot be prepared: %s", SPI_result_code_string(SPI_result));
      if (SPI_finish() != SPI_OK_FINISH) elog(ERROR, "SPI_finish failed");
    });
  }
  ~Statement() { SPI_freeplan(plan_); }
  Statement(const Statement &) = delete;
  Statement &operator=(const Statement &) = delete;

  /// For each of its parts, whether it is pushed down.
  std::vector<bool> pushed(std::size_t parts) const {
    std::vector<bool> out(parts);
    const ReadOnly read_only;  // planning calls functions of constants
    guarded([this, &out] {
      if (SPI_connect() != SPI_OK_CONNECT) elog(ERROR, "SPI_connect failed");
      CachedPlan *const cached = SPI_plan_get_cached_plan(plan_);
      if (!cached) elog(ERROR, "pg_bayes: pass has no plan");
      const Plan *plan = linitial_node(PlannedStmt, cached->stmt_list)->planTree;
      while (IsA(plan, SubqueryScan)) plan = reinterpret_cast<const SubqueryScan *>(plan)->subplan;
      if (IsA(plan, Append)) {
        const List *const plans = reinterpret_cast<const Append *>(plan)->appendplans;
        for (std::size_t i = 0; i < out.size() && int(i) < list_length(plans); ++i)
          out[i] = is_pushed(static_cast<const Plan *>(list_nth(plans, int(i))));
      } else if (out.size() == 1) {
        out[0] = is_pushed(plan);
      }
      ReleaseCachedPlan(cached, CurrentResourceOwner);
      if (SPI_finish() != SPI_OK_FINISH) elog(ERROR, "SPI_finish failed");
    });
    return out;
  }

  /// Runs it; take(value) gets every row that is not NULL.
  void run(const Document &request, const std::function<void(Datum)> &take) {
    const ReadOnly read_only;
    const QueryOfFit level;
    const Datum given = pass_value(request);
    const CurrentRequest current(given);
    const std::uint64_t rows = guarded([this, given] {
      Datum values[] = {given, BoolGetDatum(false)};
      const char nulls[] = {' ', 'n'};
      if (SPI_connect() != SPI_OK_CONNECT) elog(ERROR, "SPI_connect failed");
      const int level = citus_ ? begin_pushed_only() : 0;
      const int result = SPI_execute_plan(plan_, values, nulls, true, 0);
      if (result != SPI_OK_SELECT) elog(ERROR, "pass failed: %s", SPI_result_code_string(result));
      if (citus_) end_pushed_only(level);
      return std::uint64_t(SPI_processed);
    });
    SPITupleTable *const table = SPI_tuptable;
    for (std::uint64_t i = 0; i < rows; ++i) {
      bool null = false;
      const Datum value = guarded(
          [table, i, &null] { return SPI_getbinval(table->vals[i], table->tupdesc, 1, &null); });
      if (!null) take(value);
    }
    guarded([given] {
      if (SPI_finish() != SPI_OK_FINISH) elog(ERROR, "SPI_finish failed");
      pfree(DatumGetPointer(given));
    });
  }

 private:
  const bool citus_;
  SPIPlanPtr plan_ = nullptr;
};

PushedRows::PushedRows(PushableQuery query, Oid schema)
    : query_(std::move(query)),
      schema_(schema),
      fit_(new_fit()),
      rows_of_parts_(query_.parts.size()),
      hashes_(query_.parts.size()) {}

PushedRows::~PushedRows() = default;

std::string PushedRows::servers() const {
  std::set<std::string> names;
  bool here = false;
  for (const RowPart &part : query_.parts)
    if (part.foreign)
      names.insert(part.server);
    else
      here = true;
  return message("{} {}{}", names.size(), names.size() == 1 ? "server" : "servers",
                 here ? " and this one" : "");
}

std::string PushedRows::names_of_servers(const char *between) const {
  std::set<std::string> names;
  for (const RowPart &part : query_.parts)
    if (part.foreign) names.insert(utf8_of_server(part.server));
  std::string out;
  for (const std::string &name : names)
    out += (out.empty() ? "" : between) + message("server \"{}\"", name);
  return out;
}

std::string PushedRows::text_of(std::size_t index, bool keep) const {
  const RowPart &part = query_.parts[index];
  const char *const schema =
      guarded([this] { return quote_identifier(get_namespace_name(schema_)); });
  std::string out = message("SELECT {}.{}{}, $1", schema, call_of(keep), index);
  if (keep) {
    out += arguments_ + ") AS s FROM " + part.relation + " AS t";
    if (!query_.condition.empty()) out += " WHERE " + query_.condition;
  } else if (part.foreign) {
    // The other server folds a comparison with NULL before it plans, and so reads no row of the
    // table; but it checks whether the caller may read the table.
    out += message(
        ") WITHIN GROUP (ORDER BY t.{} IS NULL) AS s FROM {} AS t WHERE (t.{} IS NULL) "
        "= $2",
        query_.column, part.relation, query_.column);
  } else {
    out += ") WITHIN GROUP (ORDER BY true) AS s WHERE $2";
  }
  return out;
}

std::string PushedRows::text_of_shards(bool keep) const {
  const std::string schema =
      guarded([this] { return quote_identifier(get_namespace_name(schema_)); });
  // The table makes Citus run the subquery here, and send its value to all workers, in one
  // transaction for all. Without a table, a statement over one shard would run on its worker.
  std::string out = message(
      "SELECT {}._bayes_answers({}.{}(t.tableoid, (SELECT {}._bayes_current_request() FROM "
      "pg_catalog.pg_language WHERE lanname = 'internal')",
      schema, schema, keep ? "_bayes_keep_shard" : "_bayes_pass_over_shard", schema);
  out += (keep ? arguments_ : "") + message(")) AS s FROM {} AS t", query_.distributed);
  if (!keep) return out + message(" TABLESAMPLE {}._bayes_first_rows(1)", schema);
  return query_.condition.empty() ? out : out + " WHERE " + query_.condition;
}

PushedRows::Statement PushedRows::prepared(const std::vector<std::size_t> &parts, bool keep) {
  const Oid type = guarded([this] {
    return GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum("bayes_pass"),
                           ObjectIdGetDatum(schema_));
  });
  if (!query_.distributed.empty()) return {text_of_shards(keep), type, true};
  std::string text = statement_begins;
  for (std::size_t i = 0; i < parts.size(); ++i)
    text += (i ? " UNION ALL " : "") + text_of(parts[i], keep);
  return {text + ") AS q", type, false};
}

std::vector<Document> PushedRows::answers(Statement &statement,
                                          const std::vector<std::size_t> &parts,
                                          const Document &body) {
  Document request = Document::object();
  request.set("version", library_version).set("fit", fit_).set("request", body);
  if (!query_.distributed.empty()) {
    Document::List shards, only;
    for (const RowPart &part : query_.parts) shards.emplace_back(part.shard);
    for (const std::size_t i : parts) only.emplace_back(query_.parts[i].shard);
    request.set("shards", std::move(shards));
    if (parts.size() < parts_.size()) request.set("only", std::move(only));
  }
  std::vector<Document> out(query_.parts.size());
  const auto take = [&out](const Document &each) {
    const PassReader given(each);
    const auto part = std::size_t(given.integer("part", 0, std::ssize(out) - 1));
    out[part] = given.member("answer");
  };
  try {
    statement.run(request, [&](Datum value) {
      const Document message = document_of_pass(value);
      if (const auto *const several = message.as<Document::List>())
        for (const Document &each : *several) take(each);
      else
        take(message);
    });
  } catch (const Pending &) {
    // The remote statement in the CONTEXT names the server; it comes before the whole statement.
    std::string context = context_of_pending();
    const int state = sqlstate_of_pending();
    if (const std::string worker = worker_in(context); !worker.empty())
      throw error_of_pending(message("This is an error of server \"{}\".", utf8_of_server(worker)));
    const std::size_t end = context.find(statement_begins);
    if (end == std::string::npos || state == ERRCODE_QUERY_CANCELED) throw;
    context.resize(end);
    for (const std::size_t i : parts) {
      if (query_.parts[i].foreign && names_call(context, i))
        throw error_of_pending(
            message("This is an error of {}.", utf8_of_server(query_.parts[i].place)));
    }
    // A lost connection may be noticed when a cursor is closed; that error names no part.
    if (state != ERRCODE_CONNECTION_FAILURE && state != ERRCODE_ADMIN_SHUTDOWN) throw;
    throw error_of_pending(message("This is an error of {}.", names_of_servers(" or ")));
  }
  return out;
}

std::string PushedRows::plan(const std::vector<int> &columns) {
  // An aggregate takes one argument less than a function; two are not columns.
  constexpr std::size_t most = FUNC_MAX_ARGS - 3;
  if (columns.size() > most)
    return message("a row has {} columns, and more than {} cannot be sent; make them one array",
                   columns.size(), most);
  for (const int column : columns) arguments_ += ", " + query_.expressions[std::size_t(column)];
  std::vector<std::size_t> parts(query_.parts.size());
  std::iota(parts.begin(), parts.end(), std::size_t(0));
  keep_.reset(new Statement(prepared(parts, true)));
  // Citus is asked to raise an error instead of collecting rows.
  if (!query_.distributed.empty()) return {};
  const std::vector<bool> pushed = keep_->pushed(parts.size());
  for (const std::size_t i : parts)
    if (query_.parts[i].foreign && !pushed[i])
      return message("{} cannot be sent the query's expressions or its condition",
                     utf8_of_server(query_.parts[i].place));
  return {};
}

std::vector<Document> PushedRows::kept(Statement &keep, const std::vector<std::size_t> &parts) {
  std::vector<Document> out = answers(keep, parts, keep_request_);
  if (query_.distributed.empty()) return out;
  // A shard answers at its first row that it has rows; now all are read, and are described.
  Statement pass = prepared(parts, false);
  const std::vector<Document> found = answers(pass, parts, pass_request("describe"));
  for (const std::size_t i : parts) {
    if (out[i].is_null()) continue;
    if (found[i].is_null())
      throw Error(Errc::invalid_argument,
                  message("the rows of {} have been lost", utf8_of_server(query_.parts[i].place)),
                  "They are kept by a session of that server, but another one was asked for them.");
    out[i] = found[i];
  }
  return out;
}

void PushedRows::collect(PushedData &data) {
  keep_request_ = data.keep();
  std::vector<std::size_t> parts(query_.parts.size());
  std::iota(parts.begin(), parts.end(), std::size_t(0));
  const std::vector<Document> found = kept(*keep_, parts);
  for (const std::size_t i : parts) {
    if (found[i].is_null()) continue;
    const PassReader part(found[i]);
    rows_of_parts_[i] = part.integer("rows", 0, most_rows_of_part);
    rows_ += rows_of_parts_[i];
    skipped_ += part.integer("skipped", 0, most_rows_of_part);
    if (rows_of_parts_[i] > 0) parts_.push_back(i);
    data.hear(found[i], utf8_of_server(query_.parts[i].place));
  }
  if (!parts_.empty()) {
    data.rows_of_parts(rows_of_parts_);
    settle_request_ = data.settle();
    pass_.reset(new Statement(prepared(parts_, false)));
    settle(*pass_, parts_, &data);
  }
  data.take(*this);
}

void PushedRows::refuse_changed(std::size_t part, const char *detail) const {
  throw Error(Errc::invalid_argument,
              message("the rows of {} have changed since the fit began",
                      utf8_of_server(query_.parts[part].place)),
              detail, "In a transaction of isolation level REPEATABLE READ they do not change.");
}

/// Sends the parts what all have in common; `data`, if given, gets their answers.
void PushedRows::settle(Statement &pass, const std::vector<std::size_t> &parts, PushedData *data) {
  const std::vector<Document> found = answers(pass, parts, settle_request_);
  for (const std::size_t i : parts) {
    if (found[i].is_null()) PassReader::refuse();
    const PassReader part(found[i]);
    if (data) data->settled(found[i]);
    const std::int64_t hash = part.integer("hash", -any - 1, any);
    if (hashes_[i] && *hashes_[i] != hash)
      refuse_changed(i, "They were read again, as the session that had them lost them.");
    hashes_[i] = hash;
  }
}

/// Reads again the rows of parts whose sessions have lost them.
void PushedRows::keep_again(const std::vector<std::size_t> &parts) {
  Statement keep = prepared(parts, true);
  const std::vector<Document> found = kept(keep, parts);
  for (const std::size_t i : parts)
    if (found[i].is_null() || PassReader(found[i]).integer("rows", 0, any) != rows_of_parts_[i])
      refuse_changed(i, "");
}

std::vector<Document> PushedRows::ask(const Document &request) {
  std::vector<Document> found = answers(*pass_, parts_, request);
  std::vector<std::size_t> lost;
  for (const std::size_t i : parts_)
    if (found[i].is_null()) lost.push_back(i);
  if (!lost.empty()) {
    keep_again(lost);
    // The other parts have made the pass, which may have changed what they keep beside their rows.
    Statement pass = prepared(lost, false);
    settle(pass, lost, nullptr);
    std::vector<Document> again = answers(pass, lost, request);
    for (const std::size_t i : lost) found[i] = std::move(again[i]);
  }
  std::vector<Document> out;
  for (const std::size_t i : parts_) {
    if (found[i].is_null()) PassReader::refuse();
    out.push_back(std::move(found[i]));
  }
  return out;
}

void PushedRows::forget() {
  if (pass_) answers(*pass_, parts_, pass_request("forget"));
}

}  // namespace bayes::pg
