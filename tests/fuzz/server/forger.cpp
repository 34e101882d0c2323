// Forged messages of fits over several servers, sent by an ordinary session to the functions that
// take them: the messages of real fits, mutated, out of order, for other rows, with savepoints
// between them. Called by tests/fuzz/forged_messages.pl.
//
//   forge(first bigint, episodes int, trace boolean) -> text
//
// Each episode begins with nothing kept and sends some forty messages; its number determines all of
// them. The result counts the SQLSTATEs, and quotes internal errors. With `trace`, the log names
// each message before it is sent, so that the last one is the one that took the server down.
//
// Table `forged` has the messages: fit int, number int, source text (the columns that the fit
// reads) and request bytea.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <exception>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "document/document.hpp"
#include "fuzz.hpp"

extern "C" {
#include "postgres.h"

#include "access/xact.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/latch.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/timeout.h"

PG_MODULE_MAGIC;
PG_FUNCTION_INFO_V1(forge);
}

using bayes::Document;
using bayes::Tensor;

namespace {

// ---- messages, and what becomes of them ----

struct Fit {
  std::string source;
  std::vector<Document> messages;
};
std::vector<Fit> fits;
/// Parts of all messages: those of a member by its name, and all.
std::map<std::string, std::vector<Document>> members;
std::vector<Document> parts;

constexpr std::size_t max_part_bytes = 1 << 14;

void collect_parts(const Document &from) {
  std::string bytes;
  from.to_bytes(bytes);
  if (bytes.size() <= max_part_bytes) parts.push_back(from);
  if (const auto *const list = from.as<Document::List>())
    for (const Document &each : *list) collect_parts(each);
  if (const auto *const object = from.as<Document::Object>())
    for (const auto &[key, value] : *object) {
      std::vector<Document> &same = members[key];
      if (same.size() < 1000) same.push_back(value);
      collect_parts(value);
    }
}

/// Nodes of a document that is changed in place; the interface of Document has no such access.
struct Node {
  Document *value;
  std::string key;
};
void collect_nodes(Document &from, const std::string &key, std::vector<Node> &out) {
  out.push_back({&from, key});
  if (auto *const list = const_cast<Document::List *>(from.as<Document::List>()))
    for (std::size_t i = 0; i < list->size() && i < 64; ++i) collect_nodes((*list)[i], key, out);
  if (auto *const object = const_cast<Document::Object *>(from.as<Document::Object>()))
    for (auto &[name, value] : *object) collect_nodes(value, name, out);
}

double strange_number(double was, Dice &dice) {
  constexpr double edges[] = {0,
                              1,
                              2,
                              3,
                              -1,
                              0.5,
                              1e-300,
                              -1e-9,
                              1e9,
                              1e15,
                              2147483647,
                              2147483648,
                              4294967296,
                              1e19,
                              1.7e308,
                              -1.7e308,
                              std::numeric_limits<double>::infinity(),
                              -std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::denorm_min()};
  switch (dice.below(5)) {
    case 0: return was + 1;
    case 1: return was - 1;
    case 2: return -was;
    default: return edges[dice.below(std::size(edges))];
  }
}

std::int64_t strange_integer(std::int64_t was, Dice &dice) {
  constexpr std::int64_t edges[] = {0,
                                    1,
                                    2,
                                    3,
                                    5,
                                    40,
                                    -1,
                                    127,
                                    128,
                                    1000,
                                    65536,
                                    1 << 20,
                                    (1 << 30) - 1,
                                    1 << 30,
                                    2147483647,
                                    2147483648,
                                    std::int64_t(1) << 40,
                                    std::numeric_limits<std::int64_t>::max(),
                                    std::numeric_limits<std::int64_t>::min()};
  switch (dice.below(4)) {
    case 0: return std::int64_t(std::uint64_t(was) + 1);
    case 1: return std::int64_t(std::uint64_t(was) - 1);
    default: return edges[dice.below(std::size(edges))];
  }
}

void change_tensor(Tensor &tensor, Dice &dice) {
  std::vector<double> &values = tensor.values;
  switch (dice.below(6)) {
    case 0: values.clear(); break;
    case 1: values.resize(dice.below(values.size() + 1)); break;
    case 2: values.resize(values.size() + 1 + dice.below(8), values.empty() ? 1 : values[0]); break;
    default:
      for (std::size_t n = 1 + dice.below(3); n > 0 && !values.empty(); --n) {
        double &value = values[dice.below(values.size())];
        value = strange_number(value, dice);
      }
      return;
  }
  tensor.shape = {std::int64_t(values.size())};
}

/// One change somewhere.
void change(Document &message, Dice &dice) {
  std::vector<Node> nodes;
  collect_nodes(message, "", nodes);
  const Node node = dice.of(nodes);
  Document &value = *node.value;
  if (const auto same = members.find(node.key); same != members.end() && dice.chance(35)) {
    value = Document(dice.of(same->second));
    return;
  }
  if (dice.chance(4)) {
    value = Document(dice.of(parts));
    return;
  }
  if (const auto *const flag = value.as<bool>()) {
    value = !*flag;
  } else if (const auto *const integer = value.as<std::int64_t>()) {
    value = strange_integer(*integer, dice);
  } else if (const auto *const number = value.as<double>()) {
    value = strange_number(*number, dice);
  } else if (auto *const tensor = const_cast<Tensor *>(value.as<Tensor>())) {
    change_tensor(*tensor, dice);
  } else if (auto *const list = const_cast<Document::List *>(value.as<Document::List>())) {
    const std::size_t at = dice.below(list->size());
    switch (dice.below(4)) {
      case 0: list->clear(); break;
      case 1:
        if (!list->empty()) list->erase(list->begin() + std::ptrdiff_t(at));
        break;
      case 2:
        if (!list->empty()) list->push_back(Document((*list)[at]));
        break;
      default: list->push_back(Document(dice.of(parts)));
    }
  } else if (auto *const object = const_cast<Document::Object *>(value.as<Document::Object>())) {
    if (object->empty()) return;
    const std::size_t at = dice.below(object->size());
    if (dice.chance(50)) {
      object->erase(object->begin() + std::ptrdiff_t(at));
      return;
    }
    auto other = members.begin();
    std::advance(other, std::ptrdiff_t(dice.below(members.size())));
    value.set(other->first, Document(dice.of(other->second)));
  }
}

/// The bytes of a message; its fit is `fit`, so that messages of several fits meet.
std::string bytes_of(const Document &message, const char *fit) {
  Document named = message;
  if (named.find("fit")) named.set("fit", fit);
  std::string out;
  named.to_bytes(out);
  return out;
}

// ---- the session ----

constexpr int tables = 4;
constexpr int limit_ms = 500;
TimeoutId limit;
Oid type_of_pass;

void end_message() {
  InterruptPending = true;
  QueryCancelPending = true;
  SetLatch(MyLatch);
}

/// SQL texts and their plans.
std::map<std::string, SPIPlanPtr> plans;

struct Outcome {
  char state[6];
  std::string text;
};

/// Runs a statement of ($1 int, $2 bayes_pass) in a subtransaction of its own. No C++ object lives
/// where PostgreSQL may jump over it.
bool send(const char *sql, SPIPlanPtr &plan, int part, const char *bytes, std::size_t size,
          char *state, char *text, std::size_t text_size) {
  const MemoryContext context = CurrentMemoryContext;
  const ResourceOwner owner = CurrentResourceOwner;
  volatile bool ok = false;
  BeginInternalSubTransaction(nullptr);
  MemoryContextSwitchTo(context);
  PG_TRY();
  {
    if (!plan) {
      Oid types[] = {INT4OID, type_of_pass};
      plan = SPI_prepare(sql, 2, types);
      if (!plan) elog(ERROR, "no plan: %s", sql);
      SPI_keepplan(plan);
    }
    auto *const request = static_cast<struct varlena *>(palloc(size + VARHDRSZ));
    SET_VARSIZE(request, size + VARHDRSZ);
    std::memcpy(VARDATA(request), bytes, size);
    Datum values[] = {Int32GetDatum(part), PointerGetDatum(request)};
    enable_timeout_after(limit, limit_ms);
    SPI_execute_plan(plan, values, size > 0 ? nullptr : "nn", false, 0);
    SPI_freetuptable(SPI_tuptable);
    disable_timeout(limit, false);
    pfree(request);
    ReleaseCurrentSubTransaction();
    ok = true;
  }
  PG_CATCH();
  {
    disable_timeout(limit, false);
    MemoryContextSwitchTo(context);
    ErrorData *const error = CopyErrorData();
    FlushErrorState();
    RollbackAndReleaseCurrentSubTransaction();
    strlcpy(state, unpack_sql_state(error->sqlerrcode), 6);
    strlcpy(text, error->message ? error->message : "", text_size);
    FreeErrorData(error);
  }
  PG_END_TRY();
  QueryCancelPending = false;
  MemoryContextSwitchTo(context);
  CurrentResourceOwner = owner;
  return ok;
}

std::string sql_of(const std::string &source, bool keep, bool shard, int table) {
  const std::string from = " FROM forged_" + std::to_string(table + 1) + " AS t";
  if (shard)
    return keep ? "SELECT _bayes_answers(_bayes_keep_shard(t.tableoid, $2, " + source + "))" +
                      from + " WHERE $1 IS NOT NULL"
                : "SELECT _bayes_answers(_bayes_pass_over_shard(t.tableoid, $2))" + from +
                      " TABLESAMPLE _bayes_first_rows(1) WHERE $1 IS NOT NULL";
  return keep ? "SELECT _bayes_keep_rows($1, $2, " + source + ")" + from
              : "SELECT _bayes_make_pass($1, $2) WITHIN GROUP (ORDER BY true)";
}

void read_messages() {
  if (!fits.empty()) return;
  if (SPI_execute("SELECT fit, source, request, 'bayes_pass'::regtype::oid FROM forged "
                  "ORDER BY fit, number",
                  true, 0) != SPI_OK_SELECT)
    elog(ERROR, "no messages");
  for (std::uint64_t i = 0; i < SPI_processed; ++i) {
    const HeapTuple row = SPI_tuptable->vals[i];
    const TupleDesc description = SPI_tuptable->tupdesc;
    bool null;
    const auto fit = std::size_t(DatumGetInt32(SPI_getbinval(row, description, 1, &null)));
    const bytea *const bytes = DatumGetByteaPP(SPI_getbinval(row, description, 3, &null));
    type_of_pass = DatumGetObjectId(SPI_getbinval(row, description, 4, &null));
    if (fits.size() <= fit) fits.resize(fit + 1);
    fits[fit].source = SPI_getvalue(row, description, 2);
    fits[fit].messages.push_back(
        Document::from_bytes({VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes)}));
    collect_parts(fits[fit].messages.back());
  }
}

/// An episode, and its savepoints.
class Episode {
 public:
  Episode(std::uint64_t number, bool trace, std::map<std::string, std::int64_t> &states,
          std::vector<std::string> &internal)
      : number_(number),
        dice_{number * 0x2545f4914f6cdd1du},
        trace_(trace),
        states_(states),
        internal_(internal) {}

  int run() {
    const std::size_t first = dice_.below(fits.size());
    const bool shard = dice_.chance(35);
    const int part = int(dice_.below(tables));
    savepoint();
    int sent = 0;
    for (std::size_t fit = first, next = 0; sent < 40; ++sent) {
      if (next >= fits[fit].messages.size() || dice_.chance(3)) {
        next = 0;
        if (dice_.chance(50)) fit = dice_.below(fits.size());
      } else if (dice_.chance(20)) {
        next = dice_.below(fits[fit].messages.size());
      }
      const Fit &of = fits[fit];
      Document message = of.messages[next];
      const bool keep = next == 0;
      ++next;
      if (dice_.chance(keep ? 25 : 60))
        for (std::size_t n = 1 + dice_.below(3); n > 0; --n) change(message, dice_);
      const std::string &source = dice_.chance(8) ? dice_.of(fits).source : of.source;
      std::string bytes = bytes_of(message, dice_.chance(90) ? "fit 0" : "fit 1");
      if (dice_.chance(1)) bytes.clear();  // NULLs
      if (dice_.chance(4) && !bytes.empty()) bytes[dice_.below(bytes.size())] = char(dice_.next());
      forge_one(sql_of(source, keep, dice_.chance(3) != shard, part),
                dice_.chance(5) ? int(dice_.below(tables + 2)) - 1 : part, bytes);
      if (dice_.chance(10) && depth_ < 4) savepoint();
      if (dice_.chance(8) && depth_ > 1) end_savepoint(dice_.chance(50));
    }
    while (depth_ > 0) end_savepoint(true);
    return sent;
  }

 private:
  void savepoint() {
    const MemoryContext context = CurrentMemoryContext;
    owners_.push_back(CurrentResourceOwner);
    BeginInternalSubTransaction(nullptr);
    MemoryContextSwitchTo(context);
    ++depth_;
  }
  void end_savepoint(bool back) {
    const MemoryContext context = CurrentMemoryContext;
    if (back)
      RollbackAndReleaseCurrentSubTransaction();
    else
      ReleaseCurrentSubTransaction();
    MemoryContextSwitchTo(context);
    CurrentResourceOwner = owners_.back();
    owners_.pop_back();
    --depth_;
  }

  void forge_one(const std::string &sql, int part, const std::string &bytes) {
    if (trace_) {
      std::string json;
      try {
        json = Document::from_bytes(bytes).to_json();
      } catch (const std::exception &) {
        json = "damaged";
      }
      elog(LOG, "forged %llu: %s; part %d; %s", static_cast<unsigned long long>(number_),
           sql.c_str(), part, json.substr(0, 3000).c_str());
    }
    char state[6] = "00000", text[512] = "";
    if (!send(sql.c_str(), plans[sql], part, bytes.data(), bytes.size(), state, text,
              sizeof text) &&
        std::string_view(state, 2) == "XX" && internal_.size() < 10)
      internal_.push_back("episode " + std::to_string(number_) + ": " + text);
    if (trace_) elog(LOG, "forged: %s %s", state, text);
    ++states_[state];
  }

  const std::uint64_t number_;
  Dice dice_;
  const bool trace_;
  std::map<std::string, std::int64_t> &states_;
  std::vector<std::string> &internal_;
  std::vector<ResourceOwner> owners_;
  int depth_ = 0;
};

}  // namespace

Datum forge(PG_FUNCTION_ARGS) {
  const std::int64_t first = PG_GETARG_INT64(0), episodes = PG_GETARG_INT32(1);
  const MemoryContext context = CurrentMemoryContext;
  static bool registered = false;
  if (!registered) {
    limit = RegisterTimeout(USER_TIMEOUT, end_message);
    registered = true;
  }
  SPI_connect();
  read_messages();
  text *out;
  {
    std::map<std::string, std::int64_t> states;
    std::vector<std::string> internal;
    for (std::int64_t i = first; i < first + episodes; ++i) {
      CHECK_FOR_INTERRUPTS();
      const MemoryContext own =
          AllocSetContextCreate(CurrentMemoryContext, "episode", ALLOCSET_DEFAULT_SIZES);
      const MemoryContext before = MemoryContextSwitchTo(own);
      Episode(std::uint64_t(i), PG_GETARG_BOOL(2), states, internal).run();
      MemoryContextSwitchTo(before);
      MemoryContextDelete(own);
    }
    std::string said;
    for (const auto &[state, count] : states) said += state + " " + std::to_string(count) + "\n";
    for (const std::string &each : internal) said += each + "\n";
    const MemoryContext before = MemoryContextSwitchTo(context);
    out = cstring_to_text_with_len(said.data(), int(said.size()));
    MemoryContextSwitchTo(before);
  }
  SPI_finish();
  PG_RETURN_TEXT_P(out);
}
