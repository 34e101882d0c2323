// What differs between versions of PostgreSQL, under one name each. No other file asks for the
// version.
#pragma once

#include "pg/server/postgres.hpp"

namespace bayes::pg {

// Each function raises where PostgreSQL's raises.

/// All relations that the query joins.
inline Relids joined_relations(const PlannerInfo *root) {
#if PG_VERSION_NUM >= 160000
  return root->all_query_rels;
#else
  return root->all_baserels;
#endif
}

inline AclResult may_execute(Oid function, Oid role) {
#if PG_VERSION_NUM >= 160000
  return object_aclcheck(ProcedureRelationId, function, role, ACL_EXECUTE);
#else
  return pg_proc_aclcheck(function, role, ACL_EXECUTE);
#endif
}

/// May the role see what others do, as pg_stat_activity decides it?
inline bool reads_all_statistics(Oid role) {
#if PG_VERSION_NUM >= 150000
  return has_privs_of_role(role, ROLE_PG_READ_ALL_STATS);
#else
  return is_member_of_role(role, ROLE_PG_READ_ALL_STATS);
#endif
}

/// The copy of a backend's slot that the transaction has; i from 1.
inline const PgBackendStatus &backend_number(int i) {
#if PG_VERSION_NUM >= 160000
  return pgstat_get_local_beentry_by_index(i)->backendStatus;
#else
  return pgstat_fetch_stat_local_beentry(i)->backendStatus;
#endif
}

/// ReplaceVarsFromTargetList of a subquery that is read; an unknown column is an error.
inline Node *replace_columns(Node *in, int index, RangeTblEntry *entry, bool *sublinks) {
  List *const columns = entry->subquery->targetList;
#if PG_VERSION_NUM >= 180000
  return ReplaceVarsFromTargetList(in, index, 0, entry, columns, 0, REPLACEVARS_REPORT_ERROR, 0,
                                   sublinks);
#else
  return ReplaceVarsFromTargetList(in, index, 0, entry, columns, REPLACEVARS_REPORT_ERROR, 0,
                                   sublinks);
#endif
}

/// A lexer of JSON in the database's encoding; `text` ends with a zero.
inline JsonLexContext *new_json_lexer(const char *text) {
  const auto size = std::strlen(text);
#if PG_VERSION_NUM >= 170000
  return makeJsonLexContextCstringLen(nullptr, text, size, GetDatabaseEncoding(), true);
#else
  return makeJsonLexContextCstringLen(const_cast<char *>(text), int(size), GetDatabaseEncoding(),
                                      true);
#endif
}

#if PG_VERSION_NUM < 190000
/// To be called once a description has all its columns, before anything else is done with it.
inline void TupleDescFinalize(TupleDesc) {}
#endif

/// A jsonb while it is built, token by token.
class JsonbParts {
 public:
  void push(JsonbIteratorToken token, JsonbValue *value) {
#if PG_VERSION_NUM >= 190000
    pushJsonbValue(&state_, token, value);
#else
    whole_ = pushJsonbValue(&state_, token, value);
#endif
  }
#if PG_VERSION_NUM >= 190000
  /// Has an array or an object begun, or ended?
  bool begun() const { return state_.parseState || state_.result; }
  /// null if it is neither
  JsonbValue *whole() const { return state_.result; }

 private:
  JsonbInState state_ = {};
#else
  bool begun() const { return state_; }
  JsonbValue *whole() const { return whole_; }

 private:
  JsonbParseState *state_ = nullptr;
  JsonbValue *whole_ = nullptr;
#endif
};

}  // namespace bayes::pg
