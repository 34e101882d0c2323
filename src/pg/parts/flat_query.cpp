#include "pg/parts/flat_query.hpp"

namespace bayes::pg {
namespace {

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
  return ReplaceVarsFromTargetList(in, index, 0, entry, entry->subquery->targetList,
#if PG_VERSION_NUM >= 180000
                                   0,
#endif
                                   REPLACEVARS_REPORT_ERROR, 0, &sublinks);
}

}  // namespace

/// Raises.
FlatQuery flat_query(const Query *query) {
  FlatQuery out = {};
  ListCell *cell;
  foreach (cell, query->targetList) {
    const auto *const entry = static_cast<const TargetEntry *>(lfirst(cell));
    if (!entry->resjunk)  // as what is only sorted by, which does not matter
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
  return out;
}

}  // namespace bayes::pg
