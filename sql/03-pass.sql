-- What a server does for a fit that runs on another one, and calls it through postgres_fdw: see
-- docs/scale.md. Nothing here is for other callers.

CREATE TYPE bayes_pass;

CREATE FUNCTION _bayes_pass_in(cstring) RETURNS bayes_pass
  AS 'MODULE_PATHNAME', 'bayes_pass_in' @strict;
COMMENT IS 'Input function of bayes_pass: base64. 22P02 for anything else. Bytes that are no '
  'message are refused where they are read (22P03).';
CREATE FUNCTION _bayes_pass_out(bayes_pass) RETURNS cstring
  AS 'MODULE_PATHNAME', 'bayes_pass_out' @strict;
COMMENT IS 'Output function of bayes_pass: base64.';
CREATE FUNCTION _bayes_pass_recv(internal) RETURNS bayes_pass
  AS 'MODULE_PATHNAME', 'bayes_pass_recv' @strict;
COMMENT IS 'Binary input function of bayes_pass. Bytes that are no message are refused where they '
  'are read (22P03).';
CREATE FUNCTION _bayes_pass_send(bayes_pass) RETURNS bytea
  AS 'MODULE_PATHNAME', 'bayes_pass_send' @strict;
COMMENT IS 'Binary output function of bayes_pass: the stored bytes.';

CREATE TYPE bayes_pass (
  INPUT = _bayes_pass_in, OUTPUT = _bayes_pass_out,
  RECEIVE = _bayes_pass_recv, SEND = _bayes_pass_send,
  INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = external
);
COMMENT ON TYPE bayes_pass IS
  'A message between servers that work on one fit (option push_down): a request for a pass over '
  'rows, or the sums that answer it. Not meant to be stored; servers of one fit must have the same '
  'version of pg_bayes.';

-- The aggregates keep rows from one call to the next, in the session, until the transaction ends,
-- and so are not parallel safe. The functions below are called by nothing but these.

CREATE FUNCTION _bayes_keep_rows_transition(
  state internal, part int, request bayes_pass, VARIADIC "any"
) RETURNS internal
  AS 'MODULE_PATHNAME', 'bayes_keep_rows_transition' @immutable;
COMMENT IS 'Internal. Keeps one row.';
CREATE FUNCTION _bayes_keep_rows_final(state internal) RETURNS bayes_pass
  AS 'MODULE_PATHNAME', 'bayes_keep_rows_final' @immutable;
COMMENT IS 'Internal. The number of rows kept, and their labels.';
CREATE AGGREGATE _bayes_keep_rows(part int, request bayes_pass, VARIADIC "any") (
  SFUNC = _bayes_keep_rows_transition, STYPE = internal, SSPACE = 67108864,
  FINALFUNC = _bayes_keep_rows_final, FINALFUNC_MODIFY = READ_WRITE
);
COMMENT IS 'Keeps rows in this session until the transaction ends, for a fit that runs on another '
  'server and calls this through postgres_fdw; returns their numbers and labels. Called by '
  'functions of a query under option push_down, and by nobody else. 22P03 for a request that no '
  'fit has made; 22023 for one of another version of pg_bayes.';

CREATE FUNCTION _bayes_make_pass_transition(state internal, boolean) RETURNS internal
  AS 'MODULE_PATHNAME', 'bayes_make_pass_transition' @immutable;
COMMENT IS 'Internal. Does nothing.';
CREATE FUNCTION _bayes_make_pass_final(state internal, part int, request bayes_pass)
  RETURNS bayes_pass
  AS 'MODULE_PATHNAME', 'bayes_make_pass_final' @immutable;
COMMENT IS 'Internal. Makes the pass.';
CREATE AGGREGATE _bayes_make_pass(part int, request bayes_pass ORDER BY boolean) (
  SFUNC = _bayes_make_pass_transition, STYPE = internal, SSPACE = 32768,
  FINALFUNC = _bayes_make_pass_final, FINALFUNC_MODIFY = READ_WRITE
);
COMMENT IS 'Makes a pass over the rows that _bayes_keep_rows has kept in this session, and returns '
  'its sums; NULL in the answer if there are none. The rows of its own query do not matter. Called '
  'by functions of a query under option push_down, and by nobody else. Errors are those of '
  '_bayes_keep_rows, and of the pass.';

-- The same over the shards of a table that Citus distributes. Its workers get the aggregate, whose
-- state is of a type of its own and which has one argument; the functions in this argument do what
-- there is to do. They keep rows in the session, and so are VOLATILE and not parallel safe.

CREATE FUNCTION _bayes_current_request() RETURNS bayes_pass
  AS 'MODULE_PATHNAME', 'bayes_current_request' @volatile;
COMMENT IS 'Internal. The request of the pass that a fit of this session is making; NULL if there '
  'is none.';
CREATE FUNCTION _bayes_keep_shard(shard oid, request bayes_pass, VARIADIC "any") RETURNS bayes_pass
  AS 'MODULE_PATHNAME', 'bayes_keep_shard' @volatile;
COMMENT IS 'Keeps a row of a shard in this session until the transaction ends, for a fit over a '
  'distributed table of Citus, whose functions alone call this. For the first row of each shard it '
  'returns the number of the shard, else NULL. 22004 without a request; 22P03 for one that no fit '
  'has made, or a table that is no shard; 22023 for one of another version of pg_bayes.';
CREATE FUNCTION _bayes_pass_over_shard(shard oid, request bayes_pass) RETURNS bayes_pass
  AS 'MODULE_PATHNAME', 'bayes_pass_over_shard' @volatile;
COMMENT IS 'Makes a pass over the rows of a shard that _bayes_keep_shard has kept in this session, '
  'and returns its sums; NULL in the answer if there are none. Errors are those of '
  '_bayes_keep_shard, and of the pass.';
CREATE FUNCTION _bayes_join_answers(bayes_pass, bayes_pass) RETURNS bayes_pass
  AS 'MODULE_PATHNAME', 'bayes_join_answers' @strict;
COMMENT IS 'Internal. The answers of several shards. 22P03 for what are no such lists.';
CREATE AGGREGATE _bayes_answers(bayes_pass) (
  SFUNC = _bayes_join_answers, STYPE = bayes_pass, SSPACE = 65536,
  COMBINEFUNC = _bayes_join_answers, PARALLEL = SAFE
);
COMMENT IS 'Puts the answers of several shards together, for a fit over a distributed table of '
  'Citus. 22P03 for what are no answers of _bayes_keep_shard or _bayes_pass_over_shard.';
CREATE FUNCTION _bayes_first_rows(internal) RETURNS tsm_handler
  AS 'MODULE_PATHNAME', 'bayes_first_rows' @strict;
COMMENT IS 'TABLESAMPLE _bayes_first_rows(n): the first n rows of a table that there are, or of '
  'each of its partitions; reads no more than these.';
