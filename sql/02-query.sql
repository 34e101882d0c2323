-- The type of query texts, which are run. Functions of a query share their names with aggregates of
-- rows, so a text must not be taken for a query by mistake: SELECT gmm_fit(x, 2) FROM t, where x is
-- text, would run the contents of the rows. So this type is not text, and only a literal, a
-- parameter without a type, and an explicit cast can become a query. As the type is in the string
-- category, a literal is resolved to it even if the function also exists for arrays.

CREATE TYPE bayes_query;

DEFINE @as_text = LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
-- stable only, since the client's encoding is a setting
DEFINE @as_client_text = LANGUAGE internal STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _bayes_query_in(cstring) RETURNS bayes_query
  AS 'textin' @as_text;
COMMENT IS 'Input function of bayes_query: any text. It is parsed when it is run.';
CREATE FUNCTION _bayes_query_out(bayes_query) RETURNS cstring
  AS 'textout' @as_text;
COMMENT IS 'Output function of bayes_query: its text.';
CREATE FUNCTION _bayes_query_recv(internal) RETURNS bayes_query
  AS 'textrecv' @as_client_text;
COMMENT IS 'Binary input function of bayes_query: the text in the client''s encoding.';
CREATE FUNCTION _bayes_query_send(bayes_query) RETURNS bytea
  AS 'textsend' @as_client_text;
COMMENT IS 'Binary output function of bayes_query: the text in the client''s encoding.';

CREATE TYPE bayes_query (
  INPUT = _bayes_query_in, OUTPUT = _bayes_query_out,
  RECEIVE = _bayes_query_recv, SEND = _bayes_query_send,
  LIKE = text, CATEGORY = 'S'
);
COMMENT ON TYPE bayes_query IS
  'The text of a query, which functions like gmm_fit(query, k) run with the privileges of the '
  'caller. A literal is resolved to this type; any other text must be cast: '
  'format(...)::bayes_query.';

-- Explicit casts: without them PostgreSQL would assign any string to a column of this type.
CREATE CAST (text AS bayes_query) WITHOUT FUNCTION;
COMMENT ON CAST (text AS bayes_query) IS 'explicit cast only: the text will be run';
CREATE CAST (varchar AS bayes_query) WITHOUT FUNCTION;
COMMENT ON CAST (varchar AS bayes_query) IS 'explicit cast only: the text will be run';
CREATE CAST (bpchar AS bayes_query) WITH INOUT;
COMMENT ON CAST (bpchar AS bayes_query) IS 'explicit cast only: the text will be run';
CREATE CAST (name AS bayes_query) WITH INOUT;
COMMENT ON CAST (name AS bayes_query) IS 'explicit cast only: the text will be run';
CREATE CAST (bayes_query AS text) WITHOUT FUNCTION AS ASSIGNMENT;
COMMENT ON CAST (bayes_query AS text) IS 'the text of the query';

-- ---- equality of queries: of their texts, byte by byte ----

-- What GROUP BY, DISTINCT and logical replication of a column need; other comparisons are those of
-- the text.
DEFINE @bytes = LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _bayes_query_eq(bayes_query, bayes_query) RETURNS boolean
  AS 'byteaeq' @bytes;
COMMENT IS 'Whether two queries have the same text.';
CREATE FUNCTION _bayes_query_hash(bayes_query) RETURNS int
  AS 'hashvarlena' @bytes;
COMMENT IS 'Hash of the query''s text.';

CREATE OPERATOR = (FUNCTION = _bayes_query_eq,
  LEFTARG = bayes_query, RIGHTARG = bayes_query, COMMUTATOR = =,
  RESTRICT = eqsel, JOIN = eqjoinsel, HASHES);
COMMENT ON OPERATOR = (bayes_query, bayes_query) IS 'equal';
CREATE OPERATOR CLASS bayes_query_ops DEFAULT FOR TYPE bayes_query USING hash AS
  OPERATOR 1 =, FUNCTION 1 _bayes_query_hash(bayes_query);

-- of functions of a query
DEFINE @from_start =
  ' start: a model to start from, given by name (start => model) in place of the number: what the '
  'model has keeps its numbers. 42804 for a model of another family.';
