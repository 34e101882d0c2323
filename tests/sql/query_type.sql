-- Only what is meant as a query is run: a literal is, or what is cast to bayes_query. What happens
-- to be a text is not, as the forms of a query share their names with aggregates and windows of
-- rows.
SELECT plan(44);
SET client_min_messages = error;
\ir ../lib/checks.sql
\ir ../lib/errors.sql

-- ---- texts ----

-- Whoever runs such a text leaves a lock behind, even where it fails later.
CREATE DOMAIN note AS text;
CREATE DOMAIN short_note AS varchar(100) CHECK (value <> '');
CREATE TYPE choice AS ENUM ('SELECT pg_try_advisory_lock(42)::int, random()');
CREATE TABLE upload AS
  SELECT q AS t, q::varchar AS v, q::char(60) AS c, q::name AS n, q::note AS d, q::short_note AS s,
    q::choice AS e, to_json(q) AS j, to_jsonb(q) AS b, ARRAY[q] AS a
  FROM (VALUES ('SELECT pg_try_advisory_lock(42)::int, random()'::text)) AS texts(q);
CREATE TABLE forms (form text);
INSERT INTO forms VALUES ('gmm_fit(%s, 1)'), ('gmm_fit(%s, 1, ''{"seed": 2}'')'),
  ('gmm_fit(query => %s, k => 1)'), ('gmm_fit(k => 1, query => %s, options => NULL)'),
  ('gmm_select(%s, ''{1}'')'), ('gmm_select(%s, ''{1}'', NULL)'), ('gmm_select(%s, ARRAY[1])'),
  ('bmm_fit(%s, 1)'), ('bmm_fit(%s, 1, NULL)'), ('bmm_select(%s, ''{1}'')'),
  ('bmm_select(%s, ''{1}'', NULL)'), ('dpmm_cluster(%s)'), ('dpmm_cluster(%s, ''{"draws": 4}'')'),
  ('dpmm_similarity(%s)'), ('dpmm_similarity(%s, ''{"draws": 4}'')'), ('hmm_decode(%s, 2)'),
  ('hmm_decode(%s, 2, ''{}'')'), ('hmm_decode(query => %s, k => 2)');
-- PostgreSQL knows no such function, or takes the text for a row.
CREATE FUNCTION refusal() RETURNS text IMMUTABLE RETURN '^42883 function .* does not exist$'
  '|^42804 a row is of type .*$|^42804 elements of an array|^42803 aggregate functions are not '
  'allowed in functions in FROM$|^42809 window function dpmm_cluster requires an OVER clause$';
CREATE TABLE texts (text text);
INSERT INTO texts SELECT unnest('{t,v,c,n,d,s,e,j}'::text[]);
INSERT INTO texts VALUES ('b'), ('format(''%s'', t)'), ('t || '''''), ('upper(t)'), ('(a)[1]'),
  ('coalesce(t, ''SELECT 1'')'), ('concat(''SELECT '', 1)'),
  ('CASE WHEN true THEN ''SELECT 1'' END'), ('(SELECT u.t FROM upload AS u)'),
  ('(VALUES (''SELECT 1''))'), ('''SELECT 1''::varchar'), ('current_user'), ('now()'),
  ('j ->> 0'), ('quote_ident(t)');

SELECT never($$SELECT form, text, said, said !~ refusal() AS wrong
  FROM forms, texts,
    complaint(format('SELECT %s FROM upload', replace(form, '%s', text))) AS said$$,
  'no text of any type is a query where an aggregate may stand');
SELECT never($$SELECT form, text, said, said !~ refusal() AS wrong
  FROM forms, texts,
    complaint(format('SELECT * FROM upload, %s', replace(form, '%s', text))) AS said$$,
  'nor where a relation may');
SELECT never($$SELECT form, said, said !~ refusal() AS wrong FROM forms,
  complaint(format('SELECT %s FROM (SELECT ''SELECT 1'' AS x) AS u', replace(form, '%s', 'x')))
    AS said$$, 'nor a literal that has become a column');
SELECT never($$SELECT said, said !~ refusal() AS wrong FROM
  complaint('SELECT dpmm_cluster(t) OVER () FROM upload') AS said$$, 'nor in a window');
SELECT is(complaint('SELECT gmm_fit(t, 2) FROM upload'),
  '42804 a row is of type text', 'the message');
SELECT is(advice('SELECT gmm_fit(t, 2) FROM upload'),
  'A row is a record, an array of numbers, a number or a boolean. | If the text is a query, cast '
  'it to bayes_query. Give columns as a record: SELECT f(r) FROM (SELECT a, b FROM t) AS r.',
  'and its advice');
SELECT is((SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()),
  0::bigint, 'nothing of all that was run');
SELECT is(complaint('SELECT gmm_fit(t::bayes_query, 1) FROM upload'), 'no error',
  'what is cast is a query');
SELECT is((SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()),
  1::bigint, 'and run');
SELECT pg_advisory_unlock_all();

-- ---- queries ----

SELECT is((SELECT round(sum(weight)::numeric, 9) FROM gmm_fit(q, 2)), 1.0, what) FROM (VALUES
  ('a literal that is cast', 'SELECT x FROM faithful'::bayes_query),
  ('a text', 'SELECT x FROM faithful'::text::bayes_query),
  ('CAST', CAST('SELECT x FROM faithful'::text AS bayes_query)),
  ('a varchar', 'SELECT x FROM faithful'::varchar::bayes_query),
  ('a short varchar', 'SELECT x FROM faithful, nowhere'::varchar(22)::bayes_query),
  ('a char', 'SELECT x FROM faithful'::char(30)::bayes_query),
  ('a name', 'SELECT x FROM faithful'::name::bayes_query),
  ('a domain', 'SELECT x FROM faithful'::note::bayes_query),
  ('a domain over varchar', 'SELECT x FROM faithful'::short_note::bayes_query),
  ('format', format('SELECT x FROM %I', 'faithful')::bayes_query)) AS v(what, q);

PREPARE untyped AS SELECT count(*) FROM gmm_fit($1, 2);
SELECT is((SELECT parameter_types::text[] FROM pg_prepared_statements WHERE name = 'untyped'),
  '{bayes_query}', 'a parameter without a type is a query');
SELECT results_eq($$EXECUTE untyped('SELECT x FROM faithful')$$, 'VALUES (2::bigint)',
  'and gets a literal');
SELECT is(complaint($$EXECUTE untyped(format('SELECT x FROM %I', 'faithful'))$$),
  '42804 parameter $1 of type text cannot be coerced to the expected type bayes_query',
  'but no text');
SELECT results_eq($$EXECUTE untyped(format('SELECT x FROM %I', 'faithful')::bayes_query)$$,
  'VALUES (2::bigint)', 'unless cast');
SELECT is(complaint('PREPARE typed(text) AS SELECT count(*) FROM gmm_fit($1, 2)'),
  '42803 aggregate functions are not allowed in functions in FROM',
  'a parameter of type text is none');

CREATE FUNCTION by_literal() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN
  RETURN count(*) FROM gmm_fit('SELECT x FROM faithful', 2);
END $$;
SELECT is(complaint('SELECT by_literal()'), 'no error', 'a literal in PL/pgSQL');
CREATE FUNCTION by_text() RETURNS bigint LANGUAGE plpgsql AS $$ DECLARE
  q text := 'SELECT x FROM faithful';
BEGIN RETURN count(*) FROM gmm_fit(q, 2); END $$;
SELECT is(complaint('SELECT by_text()'),
  '42803 aggregate functions are not allowed in functions in FROM',
  'a variable of type text');
CREATE FUNCTION by_variable(name text) RETURNS bigint LANGUAGE plpgsql AS $$ DECLARE
  q bayes_query := format('SELECT x FROM %I', name);
BEGIN RETURN count(*) FROM gmm_fit(q, 2); END $$;
SELECT is(complaint($$SELECT by_variable('faithful')$$), 'no error',
  'a variable that was declared as a query');
CREATE FUNCTION by_using(q text) RETURNS bigint LANGUAGE plpgsql AS $$ DECLARE result bigint;
BEGIN
  EXECUTE 'SELECT count(*) FROM gmm_fit($1, 2)' INTO result USING q;
  RETURN result;
END $$;
SELECT is(complaint($$SELECT by_using('SELECT x FROM faithful')$$),
  '42803 aggregate functions are not allowed in functions in FROM', 'EXECUTE ... USING a text');
CREATE FUNCTION by_cast(q text) RETURNS bigint LANGUAGE plpgsql AS $$ DECLARE result bigint;
BEGIN
  EXECUTE 'SELECT count(*) FROM gmm_fit($1, 2)' INTO result USING q::bayes_query;
  RETURN result;
END $$;
SELECT is(complaint($$SELECT by_cast('SELECT x FROM faithful')$$), 'no error',
  'EXECUTE ... USING a query');
SELECT is(complaint($$CREATE FUNCTION in_sql(q text) RETURNS bigint LANGUAGE sql AS
  'SELECT count(*) FROM gmm_fit(q, 2)'$$),
  '42803 aggregate functions are not allowed in functions in FROM',
  'an SQL function with a text');
SELECT is(complaint($$CREATE FUNCTION in_sql(q bayes_query) RETURNS bigint LANGUAGE sql AS
  'SELECT count(*) FROM gmm_fit(q, 2)'$$), 'no error', 'one with a query');
SELECT is(in_sql('SELECT x FROM faithful'), 2::bigint, 'which is called with a literal');

-- ---- the type ----

CREATE TABLE queries (id int GENERATED ALWAYS AS IDENTITY, q bayes_query, said text);
SELECT is(complaint(format('INSERT INTO queries (q) VALUES (%s)', given)),
  CASE WHEN type IS NULL THEN 'no error' ELSE format(
    '42804 column "q" is of type bayes_query but expression is of type %s', type) END,
  'stored: ' || given)
FROM (VALUES ('''SELECT x FROM faithful''', NULL), ('format(''SELECT 1'')', 'text'),
  ('''SELECT 1''::varchar', 'character varying'), ('''SELECT 1''::char(8)', 'character'),
  ('current_user', 'name'), ('''SELECT 1''::text::bayes_query', NULL)) AS v(given, type);
DELETE FROM queries WHERE id > 1;
SELECT is((SELECT sum(weight) FROM queries, gmm_fit(q, 1)), 1::float8,
  'a column of queries is a column of queries');
UPDATE queries SET said = q;
SELECT results_eq('SELECT q::text, said FROM queries',
  $$VALUES ('SELECT x FROM faithful', 'SELECT x FROM faithful')$$,
  'a query is a text on assignment and request');
SELECT is(complaint('SELECT upper(q) FROM queries'),
  '42883 function upper(bayes_query) does not exist', 'but on no other occasion');
SELECT is(_bayes_query_send('SELECT ''é'''), convert_to('SELECT ''é''', 'UTF8'),
  'in binary it is its text');

-- A view keeps what it calls when its text is read again.
CREATE VIEW found AS SELECT component, weight FROM gmm_fit('SELECT x FROM faithful', 2);
SELECT matches(pg_get_viewdef('found'), 'gmm_fit\(''SELECT x FROM faithful''::bayes_query, 2\)',
  'the text of a view');
DO $$ BEGIN EXECUTE 'CREATE VIEW found_again AS ' || pg_get_viewdef('found'); END $$;
SELECT same_rows('SELECT * FROM found_again', 'SELECT * FROM found', 'which makes the same view');

SELECT * FROM finish();
