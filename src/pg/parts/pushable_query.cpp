#include "pg/parts/pushable_query.hpp"

#include <algorithm>

#include "pg/input/query.hpp"
#include "pg/server/context.hpp"
#include "pg/server/encoding.hpp"
#include "pg/server/versions.hpp"

namespace bayes::pg {
namespace {

// A query over one table: views and subqueries in its FROM are replaced by what they select.
//
// Everything here may raise an ERROR, and is plain data, for guarded().

struct FlatQuery {
  /// why the query is not of this kind; null if it is
  const char *reason;
  Oid table;
  /// an expression for each column of the query, and the condition or null; the table is number 1
  List *expressions;
  Node *condition;
};

/// The fields of a record that an expression makes.
struct RecordExpressions {
  /// null if the fields are not known
  TupleDesc description;
  /// one for each attribute
  List *expressions;
};

/// Why a query of this form is not pushed down; null if the form is right.
const char *form_of_query(const Query *query) {
  if (query->setOperations) return "the query is a UNION, INTERSECT or EXCEPT";
  if (query->cteList != NIL) return "the query has WITH";
  if (query->hasAggs || query->groupClause != NIL || query->groupingSets != NIL ||
      query->havingQual)
    return "the query aggregates";
  if (query->hasWindowFuncs) return "the query has window functions";
  if (query->hasTargetSRFs) return "the query has a function that returns rows";
  if (query->distinctClause != NIL) return "the query has DISTINCT";
  if (query->limitCount || query->limitOffset) return "the query has LIMIT or OFFSET";
  if (query->hasSubLinks) return "the query has a subquery in an expression";
  if (query->rowMarks != NIL) return "the query locks rows";
  if (list_length(query->jointree->fromlist) != 1 ||
      !IsA(linitial(query->jointree->fromlist), RangeTblRef))
    return "the query is not over a single table";
  if (contain_volatile_functions(reinterpret_cast<Node *>(query->targetList)) ||
      contain_volatile_functions(query->jointree->quals))
    return "the query calls a volatile function";
  return nullptr;
}

/// Why rows of this entry of FROM are not pushed down; null if they may be.
const char *form_of_entry(const RangeTblEntry *entry) {
  if (entry->rtekind == RTE_SUBQUERY)
    return entry->security_barrier ? "a view of the query is a security barrier" : nullptr;
  if (entry->rtekind != RTE_RELATION) return "the query is not over a single table";
  if (entry->tablesample) return "the query has TABLESAMPLE";
  if (!entry->inh && entry->relkind == RELKIND_PARTITIONED_TABLE) return "the query has ONLY";
  return nullptr;
}

/// The expression or list with the columns of the subquery number `index` replaced.
Node *replaced(Node *in, int index, RangeTblEntry *entry) {
  bool sublinks = false;
  return replace_columns(in, index, entry, &sublinks);
}

/// Raises.
FlatQuery flat_query(const Query *query) {
  FlatQuery out = {};
  ListCell *cell;
  foreach (cell, query->targetList) {
    const auto *const entry = static_cast<const TargetEntry *>(lfirst(cell));
    if (!entry->resjunk)  // resjunk: a column that is only sorted by
      out.expressions = lappend(out.expressions, copyObjectImpl(entry->expr));
  }
  out.condition = static_cast<Node *>(copyObjectImpl(query->jointree->quals));
  for (;;) {
    if ((out.reason = form_of_query(query))) return out;
    const int index = linitial_node(RangeTblRef, query->jointree->fromlist)->rtindex;
    auto *const entry = static_cast<RangeTblEntry *>(list_nth(query->rtable, index - 1));
    if ((out.reason = form_of_entry(entry))) return out;
    if (entry->rtekind == RTE_RELATION) {
      out.table = entry->relid;
      ChangeVarNodes(reinterpret_cast<Node *>(out.expressions), index, 1, 0);
      ChangeVarNodes(out.condition, index, 1, 0);
      return out;
    }
    query = entry->subquery;
    if ((out.reason = form_of_query(query))) return out;
    out.expressions =
        reinterpret_cast<List *>(replaced(reinterpret_cast<Node *>(out.expressions), index, entry));
    if (out.condition) out.condition = replaced(out.condition, index, entry);
    Node *const inner = static_cast<Node *>(copyObjectImpl(query->jointree->quals));
    out.condition = inner && out.condition ? make_and_qual(inner, out.condition)
                    : inner                ? inner
                                           : out.condition;
  }
}

/// The fields of a whole row of the table, or of a row that a view, a subquery or ROW(...) makes.
/// Raises.
RecordExpressions record_expressions(Node *expression) {
  RecordExpressions out = {};
  const bool whole = IsA(expression, Var) && reinterpret_cast<Var *>(expression)->varattno == 0;
  if (!whole && !IsA(expression, RowExpr)) return out;
  const auto *const row = whole ? nullptr : reinterpret_cast<const RowExpr *>(expression);
  const Oid type = exprType(expression);
  const TupleDesc named =
      type == RECORDOID ? nullptr : lookup_rowtype_tupdesc_copy(type, exprTypmod(expression));
  const int fields = named ? named->natts : list_length(row->args);
  if (row && (list_length(row->args) != fields || (!named && list_length(row->colnames) != fields)))
    return out;
  List *names = NIL;
  for (int i = 0; i < fields; ++i) {
    const FormData_pg_attribute *const field = named ? TupleDescAttr(named, i) : nullptr;
    if (field && field->attisdropped) continue;
    out.expressions =
        lappend(out.expressions,
                row ? static_cast<Node *>(list_nth(row->args, i))
                    : reinterpret_cast<Node *>(makeVar(1, AttrNumber(i + 1), field->atttypid,
                                                       field->atttypmod, field->attcollation, 0)));
    names = lappend(names, field ? pstrdup(NameStr(field->attname))
                                 : strVal(static_cast<Node *>(list_nth(row->colnames, i))));
  }
  out.description = CreateTemplateTupleDesc(list_length(names));
  for (int i = 0; i < list_length(names); ++i) {
    const auto *const field = static_cast<Node *>(list_nth(out.expressions, i));
    TupleDescInitEntry(out.description, AttrNumber(i + 1), static_cast<char *>(list_nth(names, i)),
                       exprType(field), exprTypmod(field), 0);
  }
  TupleDescFinalize(out.description);
  return out;
}

/// A leaf of the table, from the catalogs; plain data, for guarded().
struct Leaf {
  const char *place, *relation, *server;
  bool foreign;
  std::int64_t shard;
};
struct Leaves {
  /// why the table cannot be read where its rows are; null if it can
  const char *reason;
  /// the table, if Citus distributes it
  const char *distributed;
  Leaf *leaves;
  int count;
};

const char *refused(const char *format, Oid relation) {
  return psprintf(format, get_rel_name(relation));  // raises
}

const char *qualified(Oid relation) {
  return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)),
                                    get_rel_name(relation));  // raises
}

/// Does the server have pg_bayes in its option extensions? Raises.
bool knows_extension(const ForeignServer *server) {
  ListCell *cell;
  foreach (cell, server->options) {
    auto *const option = static_cast<DefElem *>(lfirst(cell));
    if (std::strcmp(option->defname, "extensions") != 0) continue;
    List *names;
    if (!SplitIdentifierString(pstrdup(defGetString(option)), ',', &names)) return false;
    ListCell *name;
    foreach (name, names)
      if (std::strcmp(static_cast<const char *>(lfirst(name)), "pg_bayes") == 0) return true;
  }
  return false;
}

/// Adds a leaf; returns why it cannot be one, or null. Raises.
const char *add_leaf(Oid relation, Leaves &to) {
  const char kind = get_rel_relkind(relation);
  if (kind == RELKIND_PARTITIONED_TABLE) return nullptr;
  if (pg_class_aclcheck(relation, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
    return refused("the caller may not read partition \"%s\" itself", relation);
  if (check_enable_rls(relation, InvalidOid, true) != RLS_NONE)
    return refused("table \"%s\" has row-level security", relation);
  Leaf &leaf = to.leaves[to.count++];
  leaf = {};
  leaf.relation = qualified(relation);
  leaf.foreign = kind == RELKIND_FOREIGN_TABLE;
  if (kind == RELKIND_RELATION) {
    leaf.place = psprintf("this server, table %s", leaf.relation);
    leaf.server = "";
    return nullptr;
  }
  if (!leaf.foreign) return refused("\"%s\" is no table", relation);
  const ForeignServer *const server = GetForeignServer(GetForeignTable(relation)->serverid);
  if (std::strcmp(GetForeignDataWrapper(server->fdwid)->fdwname, "postgres_fdw") != 0)
    return refused("foreign table \"%s\" is not one of postgres_fdw", relation);
  if (!knows_extension(server))
    return psprintf("server \"%s\" does not have pg_bayes in its option extensions",
                    server->servername);
  leaf.place = psprintf("server \"%s\", table %s", server->servername, leaf.relation);
  leaf.server = server->servername;
  return nullptr;
}

/// Runs a query about a table in the catalogs; its rows are in SPI_tuptable. Raises.
void ask_catalogs(const char *query, Oid table) {
  Oid types[] = {OIDOID};
  Datum values[] = {ObjectIdGetDatum(table)};
  const int result = SPI_execute_with_args(query, 1, types, values, nullptr, true, 0);
  if (result != SPI_OK_SELECT) elog(ERROR, "pg_bayes: %s", SPI_result_code_string(result));
}

/// Does Citus know the table? Raises.
bool known_to_citus(Oid table) {
  const Oid catalog = get_namespace_oid("pg_catalog", false);
  if (!OidIsValid(get_relname_relid("pg_dist_partition", catalog))) return false;
  ask_catalogs("SELECT 1 FROM pg_catalog.pg_dist_partition WHERE logicalrelid = $1", table);
  return SPI_processed > 0;
}

/// Adds the shards of a table, and of its partitions, ordered by number. Raises.
void add_shards(Oid table, Leaves &to) {
  to.distributed = qualified(table);
  ask_catalogs(
      "SELECT c.oid, p.partmethod IN ('h', 'r', 'a'), a.amname = 'heap', s.shardid, "
      "  (SELECT min(concat(n.nodename, ':', n.nodeport)) FROM pg_catalog.pg_dist_placement AS l "
      "   JOIN pg_catalog.pg_dist_node AS n USING (groupid) "
      "   WHERE l.shardid = s.shardid AND n.noderole = 'primary') "
      "FROM (SELECT $1 AS relid "
      "  UNION SELECT t.relid FROM pg_catalog.pg_partition_tree($1) AS t) AS r "
      "JOIN pg_catalog.pg_class AS c ON c.oid = r.relid AND c.relkind <> 'p' "
      "LEFT JOIN pg_catalog.pg_am AS a ON a.oid = c.relam "
      "LEFT JOIN pg_catalog.pg_dist_partition AS p ON p.logicalrelid = c.oid "
      "LEFT JOIN pg_catalog.pg_dist_shard AS s ON s.logicalrelid = c.oid ORDER BY s.shardid",
      table);
  to.leaves = static_cast<Leaf *>(palloc0(sizeof(Leaf) * std::size_t(SPI_processed)));
  for (std::uint64_t i = 0; i < SPI_processed; ++i) {
    const auto value = [i](int column, bool &null) {
      return SPI_getbinval(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, column, &null);
    };
    bool unknown, other, empty, nowhere;
    const Oid relation = DatumGetObjectId(value(1, unknown));
    const bool spread = DatumGetBool(value(2, unknown)) && !unknown;
    const bool heap = DatumGetBool(value(3, other)) && !other;
    Leaf &leaf = to.leaves[to.count];
    leaf.shard = DatumGetInt64(value(4, empty));
    const char *const server = SPI_getvalue(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 5);
    nowhere = !server;
    if (!spread)
      to.reason = refused("\"%s\" is known to Citus, but not distributed over shards", relation);
    else if (!heap)
      to.reason = refused("rows of \"%s\" are not stored as a heap", relation);
    if (to.reason) return;
    if (empty || nowhere) continue;
    leaf.relation = qualified(relation);
    leaf.server = server;
    leaf.foreign = true;
    leaf.place =
        psprintf("server \"%s\", shard " INT64_FORMAT " of %s", server, leaf.shard, leaf.relation);
    ++to.count;
  }
  if (to.count == 0) to.reason = refused("\"%s\" has no shards", table);
}

/// The tables that the rows of this table are in, ordered by name. Raises.
Leaves leaves_of(Oid table) {
  Leaves out = {};
  const char kind = get_rel_relkind(table);
  const bool citus = known_to_citus(table);
  if (!citus && kind != RELKIND_PARTITIONED_TABLE && kind != RELKIND_FOREIGN_TABLE) {
    out.reason = refused("the rows of \"%s\" are on this server", table);
    return out;
  }
  if (pg_class_aclcheck(table, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
    out.reason = refused("the caller may not read all columns of \"%s\"", table);
  else if (check_enable_rls(table, InvalidOid, true) != RLS_NONE)
    out.reason = refused("table \"%s\" has row-level security", table);
  if (out.reason) return out;
  if (citus) {
    add_shards(table, out);
    return out;
  }
  const List *const all = find_all_inheritors(table, AccessShareLock, nullptr);
  out.leaves = static_cast<Leaf *>(palloc(sizeof(Leaf) * std::size_t(list_length(all))));
  ListCell *cell;
  foreach (cell, all)
    if (!out.reason) out.reason = add_leaf(lfirst_oid(cell), out);
  if (!out.reason && out.count == 0) out.reason = refused("\"%s\" has no partitions", table);
  qsort(out.leaves, std::size_t(out.count), sizeof(Leaf), [](const void *a, const void *b) {
    return std::strcmp(static_cast<const Leaf *>(a)->relation,
                       static_cast<const Leaf *>(b)->relation);
  });
  return out;
}

/// Sets `column` to the name of a column that the expressions read; returns false if there is none,
/// or if they read a system column, or a whole row inside an expression. Raises.
bool columns_read(const FlatQuery &query, const char *&column) {
  const List *const lists[] = {pull_var_clause(reinterpret_cast<Node *>(query.expressions), 0),
                               pull_var_clause(query.condition, 0)};
  column = nullptr;
  for (const List *const list : lists) {
    ListCell *cell;
    foreach (cell, list) {
      const auto *const var = static_cast<const Var *>(lfirst(cell));
      if (var->varattno == 0 && list_member_ptr(query.expressions, var)) continue;
      if (var->varattno <= 0) return false;
      if (!column) column = quote_identifier(get_attname(query.table, var->varattno, false));
    }
  }
  return column;
}

/// A column that is a record, with its fields; plain data, for guarded().
struct Record {
  int column, first;
  TupleDesc fields;
};

/// The findings about a query; plain data, for guarded().
struct Found {
  const char *reason, *condition, *column;
  Leaves leaves;
  const char **expressions;
  int count;
  Record *records;
  int record_count;
};

/// Adds the fields of columns that are records to the expressions. Raises.
void add_fields(FlatQuery &query, Found &found) {
  const int columns = list_length(query.expressions);
  found.records = static_cast<Record *>(palloc(sizeof(Record) * std::size_t(columns + 1)));
  for (int i = 0; i < columns; ++i) {
    const RecordExpressions record =
        record_expressions(static_cast<Node *>(list_nth(query.expressions, i)));
    if (!record.description) continue;
    found.records[found.record_count++] = {i, list_length(query.expressions), record.description};
    query.expressions = list_concat(query.expressions, record.expressions);
  }
}

/// The text of every expression that is no whole row. Raises.
void deparse(const FlatQuery &query, Found &found) {
  List *const context = deparse_context_for("t", query.table);
  found.expressions = static_cast<const char **>(
      palloc(sizeof(char *) * std::size_t(list_length(query.expressions))));
  ListCell *cell;
  foreach (cell, query.expressions)
    found.expressions[found.count++] =
        deparse_expression(static_cast<Node *>(lfirst(cell)), context, true, false);
  if (query.condition) found.condition = deparse_expression(query.condition, context, true, false);
}

/// Raises.
void examine(const Query *text, Found &found) {
  FlatQuery query = flat_query(text);
  if ((found.reason = query.reason)) return;
  found.leaves = leaves_of(query.table);
  if ((found.reason = found.leaves.reason)) return;
  add_fields(query, found);
  if (!columns_read(query, found.column))
    found.reason = "the query reads system columns, a whole row in an expression, or no column";
  else
    deparse(query, found);
}

}  // namespace

const RecordColumn *record_at(std::span<const RecordColumn> records, int column,
                              std::string &reason) {
  const auto found =
      std::ranges::find_if(records, [&](const RecordColumn &r) { return r.column == column; });
  if (found != records.end()) return &*found;
  reason = "its rows are records that an expression makes; select their columns";
  return nullptr;
}

std::optional<PushableQuery> pushable_query(const char *text, const char *hint,
                                            const CheckColumns &check, std::string &reason) {
  const ReadOnly read_only;
  const CachedPlanSource *const source = only_select(prepare_query(text, hint), hint);
  PushableQuery out;
  Found found = {};
  const auto *const query = linitial_node(Query, source->query_list);
  guarded([query, &found] { examine(query, found); });
  if (found.reason) reason = utf8_of_server(found.reason);
  if (reason.empty()) {
    for (int i = 0; i < found.leaves.count; ++i) {
      const Leaf &leaf = found.leaves.leaves[i];
      out.parts.push_back({leaf.place, leaf.relation, leaf.server, leaf.foreign, leaf.shard});
    }
    out.distributed = found.leaves.distributed ? found.leaves.distributed : "";
    out.expressions.assign(found.expressions, found.expressions + found.count);
    out.condition = found.condition ? found.condition : "";
    out.column = found.column;
    std::vector<RecordColumn> records;
    for (int i = 0; i < found.record_count; ++i)
      records.push_back({found.records[i].column, found.records[i].first, found.records[i].fields});
    check(source->resultDesc, records);
  }
  guarded([] {
    if (SPI_finish() != SPI_OK_FINISH) elog(ERROR, "SPI_finish failed");
  });
  if (!reason.empty()) return std::nullopt;
  return out;
}

}  // namespace bayes::pg
