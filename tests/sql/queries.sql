-- Query texts: what they may be, what they may not, and that they do nothing but read, as the
-- caller.
SELECT plan(107);
SET client_min_messages = error;

\ir ../lib/errors.sql
CREATE TABLE given (a int);
CREATE TABLE written (a int);
CREATE FUNCTION writes() RETURNS int LANGUAGE sql AS 'INSERT INTO written VALUES (1) RETURNING a';
CREATE SEQUENCE counter;

-- ---- queries ----

SELECT is(complaint(statement), said, statement) FROM (VALUES
  ($q$SELECT * FROM gmm_fit('', 2)$q$, '22023 query is empty'),
  ($q$SELECT * FROM gmm_fit(' ; ', 2)$q$, '22023 query is empty'),
  ($q$SELECT * FROM gmm_fit('-- nothing', 2)$q$, '22023 query is empty'),
  ($q$SELECT * FROM gmm_fit(NULL, 2)$q$, '22004 query must not be NULL'),
  ($q$SELECT * FROM gmm_fit('SELEC x FROM faithful', 2)$q$,
    '42601 syntax error at or near "SELEC"'),
  ($q$SELECT * FROM gmm_fit('SELECT y FROM faithful', 2)$q$, '42703 column "y" does not exist'),
  ($q$SELECT * FROM gmm_fit('SELECT x FROM nowhere', 2)$q$,
    '42P01 relation "nowhere" does not exist'),
  ($q$SELECT * FROM gmm_fit('SELECT x FROM faithful; SELECT x FROM faithful', 2)$q$,
    '22023 query has several statements'),
  ($q$SELECT * FROM gmm_fit('SELECT x FROM faithful; DROP TABLE faithful', 2)$q$,
    '22023 query has several statements'),
  ($q$SELECT * FROM gmm_fit('INSERT INTO given DEFAULT VALUES', 2)$q$,
    '22023 query is not a SELECT'),
  ($q$SELECT * FROM gmm_fit('DELETE FROM faithful RETURNING x', 2)$q$,
    '22023 query is not a SELECT'),
  ($q$SELECT * FROM gmm_fit('UPDATE iris SET species = species RETURNING x', 2)$q$,
    '22023 query is not a SELECT'),
  ($q$SELECT * FROM gmm_fit('WITH gone AS (DELETE FROM iris RETURNING x) SELECT x FROM gone', 2)$q$,
    '22023 query changes data'),
  ($q$SELECT * FROM gmm_fit('DROP TABLE faithful', 2)$q$, '22023 query is not a SELECT'),
  ($q$SELECT * FROM gmm_fit('TRUNCATE faithful', 2)$q$, '22023 query is not a SELECT'),
  ($q$SELECT * FROM gmm_fit('CREATE TABLE t AS SELECT 1', 2)$q$, '22023 query is not a SELECT'),
  ($q$SELECT * FROM gmm_fit('SELECT x INTO t FROM faithful', 2)$q$, '22023 query is not a SELECT'),
  ($q$SELECT * FROM gmm_fit('SELECT x FROM faithful FOR UPDATE', 2)$q$, '22023 query locks rows'),
  ($q$SELECT * FROM gmm_fit('SELECT x FROM faithful FOR SHARE', 2)$q$, '22023 query locks rows'),
  ($q$SELECT * FROM gmm_fit('COMMIT', 2)$q$, '22023 query is not a SELECT'),
  ($q$SELECT * FROM gmm_fit('BEGIN', 2)$q$, '22023 query is not a SELECT'),
  ($q$SELECT * FROM gmm_fit('SET work_mem = 1000', 2)$q$, '22023 query is not a SELECT'),
  ($q$SELECT * FROM gmm_fit('SHOW work_mem', 2)$q$, '22023 query is not a SELECT'),
  ($q$SELECT * FROM gmm_fit('EXPLAIN SELECT 1', 2)$q$, '22023 query is not a SELECT'),
  ($q$SELECT * FROM gmm_fit('EXPLAIN ANALYZE DELETE FROM iris', 2)$q$,
    '22023 query is not a SELECT'),
  ($q$SELECT * FROM gmm_fit('COPY faithful TO STDOUT', 2)$q$, '22023 query is not a SELECT'),
  ($q$SELECT * FROM gmm_fit('VACUUM', 2)$q$, '22023 query is not a SELECT'),
  ($q$SELECT * FROM gmm_fit('CALL nothing()', 2)$q$, '42883 procedure nothing() does not exist'),
  ($q$SELECT * FROM gmm_fit('DO $$ BEGIN END $$', 2)$q$, '22023 query is not a SELECT'),
  ($q$SELECT * FROM gmm_fit('SELECT FROM faithful', 2)$q$, '22023 query returns no columns'),
  ($q$SELECT * FROM gmm_fit('SELECT species FROM iris', 2)$q$,
    '22023 column "species" contains labels, but must contain numbers'),
  ($q$SELECT * FROM gmm_fit('SELECT x, species FROM iris', 2)$q$,
    '22023 column "species" of the query is of type text'),
  ($q$SELECT * FROM gmm_fit('SELECT id, x FROM iris', 2)$q$,
    '22023 column "x" is of type double precision[]'),
  ($q$SELECT * FROM gmm_fit('SELECT x, x FROM iris', 2)$q$,
    '22023 column "x" of the query is of type double precision[]'),
  ($q$SELECT * FROM gmm_fit('SELECT x, id, id FROM iris', 2)$q$,
    '22023 query returns an array and 2 more columns'),
  ($q$SELECT * FROM gmm_fit('SELECT ARRAY[species] FROM iris', 2)$q$,
    '22023 column "array" of the query is of type text[]'),
  ($q$SELECT * FROM gmm_fit('SELECT NULL', 2)$q$,
    '22023 column "?column?" contains labels, but must contain numbers'),
  ($q$SELECT * FROM gmm_fit('SELECT now()', 2)$q$,
    '22023 column "now" is of type timestamp with time zone'),
  ($q$SELECT * FROM gmm_fit('SELECT iris FROM iris', 2)$q$,
    '22023 column "x" is of type double precision[]'),
  ($q$SELECT * FROM gmm_fit('SELECT true AS b', 2)$q$,
    '22023 column "b" contains booleans, but must contain numbers'),
  ($q$SELECT * FROM gmm_fit('SELECT $1', 2)$q$, '42P02 there is no parameter $1'),
  ($q$SELECT * FROM gmm_fit('SELECT 1 / (id - 7), 2 FROM faithful', 2)$q$,
    '22012 division by zero'),
  ($q$SELECT * FROM gmm_fit(
    'SELECT CASE WHEN id = 7 THEN NULL ELSE waiting END, eruptions FROM faithful', 2,
    '{"missing": "error"}')$q$,
    '22004 column "waiting" of row 7 is NULL'),
  ($q$SELECT * FROM gmm_fit(
    'SELECT waiting, CASE WHEN id = 7 THEN ''NaN'' ELSE eruptions END FROM faithful', 2)$q$,
    '22023 column "eruptions" of row 7 is NaN'),
  ($q$SELECT * FROM gmm_fit('SELECT x, 3 - id FROM faithful', 2)$q$, '22023 weight of row 4 is -1'),
  ($q$SELECT * FROM gmm_fit('SELECT x, 0 FROM faithful', 2)$q$, '22023 all weights are zero'),
  ($q$SELECT * FROM gmm_fit('SELECT x FROM faithful LIMIT 1', 2)$q$,
    '22023 k is 2, but there is only 1 distinct row'),
  ($q$SELECT * FROM gmm_fit('SELECT x[1:1 + id % 2] FROM faithful', 2)$q$,
    '2202E row 2 has 1 element, but the first row has 2'),
  ($q$SELECT * FROM gmm_fit('SELECT x FROM faithful', 0)$q$,
    '22023 k is 0, but must be a whole number from 1 to 10000'),
  ($q$SELECT * FROM gmm_fit('SELECT x FROM faithful', NULL::int)$q$,
    '22004 the number of components, states, topics or factors is missing'),
  ($q$SELECT * FROM gmm_fit('SELECT x FROM faithful', 2, '{"metod": "em"}')$q$,
    '22023 unknown option "metod"'),
  ($q$SELECT * FROM gmm_select('SELECT x FROM faithful', '{}')$q$,
    '2202E ks must be a one-dimensional array of at least one number of components'),
  ($q$SELECT * FROM gmm_select('SELECT x FROM faithful', '{0}')$q$,
    '22023 k is 0, but must be a whole number from 1 to 10000'),
  ($q$SELECT * FROM gmm_select('DELETE FROM faithful', '{1}')$q$, '22023 query is not a SELECT'),
  ($q$SELECT * FROM gmm_select(NULL, '{1}')$q$, '22004 query must not be NULL'),
  ($q$SELECT * FROM gmm_fit('SELECT writes(), 1', 1)$q$,
    '25006 cannot execute INSERT in a read-only transaction'),
  ($q$SELECT * FROM gmm_fit('SELECT nextval(''counter''), 1', 1)$q$,
    '25006 cannot execute nextval() in a read-only transaction')) AS c(statement, said);

SELECT is(advice(statement),
  said || ' | Select columns (SELECT a, b, c FROM ...), or one array of numbers for each row '
  '(SELECT x FROM ...), or an array and a weight (SELECT x, w FROM ...).', statement) FROM (VALUES
  ($q$SELECT * FROM gmm_fit('', 2)$q$, 'It must be one SELECT.'),
  ($q$SELECT * FROM gmm_fit(' ; ', 2)$q$, 'It must be one SELECT.'),
  ($q$SELECT * FROM gmm_fit('-- nothing', 2)$q$, 'It must be one SELECT.'),
  ($q$SELECT * FROM gmm_fit('SELECT x FROM faithful; SELECT x FROM faithful', 2)$q$,
    'It must be one SELECT.'),
  ($q$SELECT * FROM gmm_fit('SELECT x FROM faithful; DROP TABLE faithful', 2)$q$,
    'It must be one SELECT.'),
  ($q$SELECT * FROM gmm_fit('INSERT INTO given DEFAULT VALUES', 2)$q$,
    'It must be one SELECT that returns rows.'),
  ($q$SELECT * FROM gmm_fit('DELETE FROM faithful RETURNING x', 2)$q$,
    'It must be one SELECT that returns rows.'),
  ($q$SELECT * FROM gmm_fit('UPDATE iris SET species = species RETURNING x', 2)$q$,
    'It must be one SELECT that returns rows.'),
  ($q$SELECT * FROM gmm_fit('WITH gone AS (DELETE FROM iris RETURNING x) SELECT x FROM gone', 2)$q$,
    'A query that gives rows to a fit is run read-only.'),
  ($q$SELECT * FROM gmm_fit('DROP TABLE faithful', 2)$q$,
    'It must be one SELECT that returns rows.'),
  ($q$SELECT * FROM gmm_fit('TRUNCATE faithful', 2)$q$, 'It must be one SELECT that returns rows.'),
  ($q$SELECT * FROM gmm_fit('CREATE TABLE t AS SELECT 1', 2)$q$,
    'It must be one SELECT that returns rows.'),
  ($q$SELECT * FROM gmm_fit('SELECT x INTO t FROM faithful', 2)$q$,
    'It must be one SELECT that returns rows.'),
  ($q$SELECT * FROM gmm_fit('SELECT x FROM faithful FOR UPDATE', 2)$q$,
    'A query that gives rows to a fit is run read-only, without FOR UPDATE or FOR SHARE.'),
  ($q$SELECT * FROM gmm_fit('SELECT x FROM faithful FOR SHARE', 2)$q$,
    'A query that gives rows to a fit is run read-only, without FOR UPDATE or FOR SHARE.'),
  ($q$SELECT * FROM gmm_fit('COMMIT', 2)$q$, 'It must be one SELECT that returns rows.'),
  ($q$SELECT * FROM gmm_fit('BEGIN', 2)$q$, 'It must be one SELECT that returns rows.'),
  ($q$SELECT * FROM gmm_fit('SET work_mem = 1000', 2)$q$,
    'It must be one SELECT that returns rows.'),
  ($q$SELECT * FROM gmm_fit('SHOW work_mem', 2)$q$, 'It must be one SELECT that returns rows.'),
  ($q$SELECT * FROM gmm_fit('EXPLAIN SELECT 1', 2)$q$, 'It must be one SELECT that returns rows.'),
  ($q$SELECT * FROM gmm_fit('EXPLAIN ANALYZE DELETE FROM iris', 2)$q$,
    'It must be one SELECT that returns rows.'),
  ($q$SELECT * FROM gmm_fit('COPY faithful TO STDOUT', 2)$q$,
    'It must be one SELECT that returns rows.'),
  ($q$SELECT * FROM gmm_fit('VACUUM', 2)$q$, 'It must be one SELECT that returns rows.'),
  ($q$SELECT * FROM gmm_fit('DO $$ BEGIN END $$', 2)$q$,
    'It must be one SELECT that returns rows.'),
  ($q$SELECT * FROM gmm_fit('SELECT FROM faithful', 2)$q$, 'There is nothing to fit.'),
  ($q$SELECT * FROM gmm_fit('SELECT x, species FROM iris', 2)$q$,
    'The column after an array is its weight, which must be a number.'),
  ($q$SELECT * FROM gmm_fit('SELECT x, x FROM iris', 2)$q$,
    'The column after an array is its weight, which must be a number.'),
  ($q$SELECT * FROM gmm_fit('SELECT x, id, id FROM iris', 2)$q$,
    'After the array at most one column may follow, the weight.'),
  ($q$SELECT * FROM gmm_fit('SELECT ARRAY[species] FROM iris', 2)$q$,
    'The elements of the array must be numbers.'),
  ($q$SELECT * FROM gmm_select('DELETE FROM faithful', '{1}')$q$,
    'It must be one SELECT that returns rows.')) AS c(statement, said);

-- Where the query is wrong, the error says so: a line of CONTEXT, and the position in the query.
CREATE FUNCTION context(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE context text;
BEGIN
  EXECUTE statement;
  RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS context = PG_EXCEPTION_CONTEXT;
  RETURN split_part(context, E'\n', 1);
END $$;
SELECT is(context($q$SELECT * FROM gmm_fit('SELECT 1 / (id - 7), 2 FROM faithful', 2)$q$),
  'SQL statement "SELECT 1 / (id - 7), 2 FROM faithful"', 'an error inside the query quotes it');

-- ---- nothing was changed ----

SELECT is((SELECT count(*) FROM faithful), 272::bigint, 'no rows were deleted');
SELECT is((SELECT count(*) FROM iris), 150::bigint, 'nor others');
SELECT is_empty('SELECT * FROM written', 'nothing was written');
SELECT hasnt_table('t', 'no table was made');
SELECT is((SELECT is_called FROM counter), false, 'no sequence was moved');
SELECT is(current_setting('transaction_read_only'), 'off', 'and the session may write');
SELECT lives_ok('INSERT INTO written VALUES (2)', 'and does');
DO $$ BEGIN PERFORM * FROM gmm_fit('SELECT writes(), 1', 1);
EXCEPTION WHEN OTHERS THEN INSERT INTO written VALUES (3); END $$;
SELECT is((SELECT count(*) FROM written), 2::bigint,
  'also after an error in a query, in the same transaction');
BEGIN READ ONLY;
SELECT lives_ok($$SELECT * FROM gmm_fit('SELECT x FROM faithful', 2)$$,
  'a query text needs no more than a read-only transaction');
SELECT is(current_setting('transaction_read_only'), 'on', 'which stays one');
COMMIT;

-- A query text that comes back to itself: PostgreSQL's limit of the stack ends it, and nothing
-- hangs over.
CREATE FUNCTION itself() RETURNS int LANGUAGE sql AS $$ SELECT count(*)::int
  FROM gmm_fit('SELECT itself(), 1', 1) $$;
SELECT throws_ok('SELECT itself()', '54001', NULL, 'endless recursion is an error');
SELECT is(current_setting('transaction_read_only'), 'off', 'after which the session may write');

-- ---- as the caller ----

SELECT is(complaint($q$SELECT * FROM gmm_select('SELECT eruptions FROM faithful', '{1}',
    (SELECT jsonb_object_agg('k' || i, i) FROM generate_series(1, 300000) AS i))$q$),
  '22023 unknown option "k1"', 'options of any number are read in one pass');
DROP ROLE IF EXISTS bayes_test_nobody;
CREATE ROLE bayes_test_nobody;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO bayes_test_nobody;
GRANT SELECT (id, eruptions) ON faithful TO bayes_test_nobody;
SET ROLE bayes_test_nobody;
SELECT is(complaint($q$SELECT * FROM gmm_fit('SELECT x FROM iris', 2)$q$),
  '42501 permission denied for table iris', 'a role reads no table that it has no right to');
SELECT is(complaint($q$SELECT * FROM gmm_fit('SELECT x FROM faithful', 2)$q$),
  '42501 permission denied for table faithful', 'nor a column');
SELECT is(complaint($q$SELECT * FROM gmm_select('SELECT x FROM iris', '{1}')$q$),
  '42501 permission denied for table iris', 'nor by selection');
SELECT is(complaint($q$SELECT * FROM gmm_fit('SELECT eruptions FROM faithful', 2)$q$), 'no error',
  'but what it may read');
RESET ROLE;
CREATE FUNCTION lent() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS $$ SELECT count(*)
  FROM gmm_fit('SELECT x FROM public.iris', 2) $$;
SET ROLE bayes_test_nobody;
SELECT is(lent(), 2::bigint, 'inside a SECURITY DEFINER function the caller is its owner');
RESET ROLE;
ALTER TABLE iris ENABLE ROW LEVEL SECURITY;
CREATE POLICY setosa ON iris FOR SELECT TO bayes_test_nobody USING (species = 'setosa');
GRANT SELECT ON iris TO bayes_test_nobody;
SET ROLE bayes_test_nobody;
SELECT is((SELECT round(sum(count)) FROM gmm_fit('SELECT x FROM iris', 2)), 50::float8,
  'row security holds');
RESET ROLE;
DROP OWNED BY bayes_test_nobody;
DROP ROLE bayes_test_nobody;

SELECT * FROM finish();
