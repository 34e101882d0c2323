#include "pg/input/pushable_query.hpp"

#include "pg/server/encoding.hpp"

namespace bayes::pg {
namespace {

/// What the catalogs say; plain data, for guarded().
struct Leaf {
  const char *place, *relation, *server;
  bool foreign;
};
struct Leaves {
  /// why the table cannot be read where its rows are; null if it can
  const char *reason;
  Leaf *leaves;
  int count;
};

/// Why a query of this form is not pushed down; null if the form is right. Raises.
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
  if (query->hasSubLinks) return "the query has a subquery";
  if (list_length(query->rtable) != 1 || list_length(query->jointree->fromlist) != 1 ||
      !IsA(linitial(query->jointree->fromlist), RangeTblRef))
    return "the query is not over a single table";
  const auto *const table = linitial_node(RangeTblEntry, query->rtable);
  if (table->rtekind != RTE_RELATION) return "the query is not over a single table";
  if (table->tablesample) return "the query has TABLESAMPLE";
  if (!table->inh && table->relkind == RELKIND_PARTITIONED_TABLE) return "the query has ONLY";
  if (contain_volatile_functions(reinterpret_cast<Node *>(query->targetList)) ||
      contain_volatile_functions(query->jointree->quals))
    return "the query calls a volatile function";
  return nullptr;
}

const char *refused(const char *format, Oid relation) {
  return psprintf(format, get_rel_name(relation));  // raises
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
  leaf.relation = quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)),
                                             get_rel_name(relation));
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

/// The tables that the rows of this table are in, ordered by name. Raises.
Leaves leaves_of(Oid table) {
  Leaves out = {};
  const char kind = get_rel_relkind(table);
  if (kind != RELKIND_PARTITIONED_TABLE && kind != RELKIND_FOREIGN_TABLE) {
    out.reason = refused(
        kind == RELKIND_VIEW ? "\"%s\" is a view" : "the rows of \"%s\" are on this server", table);
    return out;
  }
  if (pg_class_aclcheck(table, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
    out.reason = refused("the caller may not read all columns of \"%s\"", table);
  else if (check_enable_rls(table, InvalidOid, true) != RLS_NONE)
    out.reason = refused("table \"%s\" has row-level security", table);
  if (out.reason) return out;
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
/// or a whole row or a system column is among them. Raises.
bool columns_read(const Query *query, Oid table, const char *&column) {
  const List *const lists[] = {pull_var_clause(reinterpret_cast<Node *>(query->targetList), 0),
                               pull_var_clause(query->jointree->quals, 0)};
  column = nullptr;
  for (const List *const list : lists) {
    ListCell *cell;
    foreach (cell, list) {
      const auto *const var = static_cast<const Var *>(lfirst(cell));
      if (var->varattno <= 0) return false;
      if (!column) column = quote_identifier(get_attname(table, var->varattno, false));
    }
  }
  return column;
}

}  // namespace

std::optional<PushableQuery> pushable_query(const char *text, const QueryColumns &given,
                                            bool booleans, std::string &reason) {
  const MemoryContext caller = CurrentMemoryContext;
  const SPIPlanPtr plan = guarded([text] {
    if (SPI_connect() != SPI_OK_CONNECT) elog(ERROR, "SPI_connect failed");
    const SPIPlanPtr prepared = SPI_prepare(text, 0, nullptr);
    if (!prepared)
      ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                      errmsg("query cannot be prepared: %s", SPI_result_code_string(SPI_result)),
                      errdetail("It must be one SELECT.")));
    return prepared;
  });
  const CachedPlanSource *const source = only_select(plan, query_hint(false));
  PushableQuery out;
  out.layout = layout_of(source->resultDesc, given, false, booleans);
  {
    const CurrentContext context(caller);
    out.form = form_of(out.layout, source->resultDesc);
  }
  const auto *const query = linitial_node(Query, source->query_list);
  struct {
    const char *reason, *condition, *column;
    Leaves leaves;
    const char **expressions;
    int count;
  } found = {};
  guarded([query, &found] {
    if ((found.reason = form_of_query(query))) return;
    const Oid table = linitial_node(RangeTblEntry, query->rtable)->relid;
    found.leaves = leaves_of(table);
    if ((found.reason = found.leaves.reason)) return;
    if (!columns_read(query, table, found.column)) {
      found.reason = "the query reads whole rows, system columns or no column at all";
      return;
    }
    List *const context = deparse_context_for("t", table);
    found.expressions = static_cast<const char **>(
        palloc(sizeof(char *) * std::size_t(list_length(query->targetList))));
    ListCell *cell;
    foreach (cell, query->targetList) {
      const auto *const entry = static_cast<const TargetEntry *>(lfirst(cell));
      if (entry->resjunk) continue;  // of ORDER BY, which does not matter
      found.expressions[found.count++] =
          deparse_expression(reinterpret_cast<Node *>(entry->expr), context, true, false);
    }
    if (query->jointree->quals)
      found.condition = deparse_expression(query->jointree->quals, context, true, false);
  });
  if (found.reason) reason = utf8_of_server(found.reason);
  if (!found.reason && out.layout.whole && is_record_type(out.layout.type))
    reason = "its rows are records; select their columns";
  if (reason.empty()) {
    for (int i = 0; i < found.leaves.count; ++i) {
      const Leaf &leaf = found.leaves.leaves[i];
      out.parts.push_back({leaf.place, leaf.relation, leaf.server, leaf.foreign});
    }
    out.expressions.assign(found.expressions, found.expressions + found.count);
    out.condition = found.condition ? found.condition : "";
    out.column = found.column;
  }
  guarded([] {
    if (SPI_finish() != SPI_OK_FINISH) elog(ERROR, "SPI_finish failed");
  });
  if (!reason.empty()) return std::nullopt;
  return out;
}

}  // namespace bayes::pg
