-- Columns of pgvector's types are rows, without a cast: vector and halfvec as arrays of real,
-- sparsevec as documents and as rows of tables.
SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector') AS available \gset
\if :available
\else
  SELECT '1..0 # SKIP there is no pgvector for this PostgreSQL (package postgresql-N-pgvector)';
  \quit
\endif
SELECT plan(78);
\ir ../lib/checks.sql
SET client_min_messages = error;
CREATE SCHEMA pgvector;
CREATE EXTENSION vector SCHEMA pgvector;
SET search_path = public, pgvector;

CREATE TABLE items AS
SELECT id, x, x::vector AS v, x::halfvec AS h, x::halfvec::real[] AS hx, x::sparsevec AS s,
  (SELECT jsonb_object_agg(j, e::float8) FILTER (WHERE e <> 0)
    FROM unnest(x) WITH ORDINALITY AS t(e, j)) AS words
FROM (SELECT i AS id, ARRAY[i % 3 * (1 + i / 60.0), i % 5, 0.1 * (i * i % 7), i % 2]::real[] AS x
  FROM generate_series(1, 60) AS i) AS t;
CREATE DOMAIN embedding AS vector;
CREATE DOMAIN sparse AS sparsevec;

-- ---- fits and scores have the same bits as those of arrays ----

CREATE FUNCTION fitted(call text, source text DEFAULT 'items') RETURNS text LANGUAGE plpgsql AS $$
DECLARE model text;
BEGIN
  EXECUTE format('SELECT md5(timeless(%s)) FROM %s', call, source) INTO model;
  RETURN model;
END $$;
CREATE TABLE kinds(type text, have text, want text);
INSERT INTO kinds VALUES ('vector', 'v', 'x'), ('halfvec', 'h', 'hx'),
  ('domain', 'v::embedding', 'x');
SELECT same(fitted(format(call, have)), fitted(format(call, want)), format(call, type))
FROM kinds, (VALUES ('gmm_fit(%s, 2)'), ('gmm_fit(%s, 2, NULL, id)'), ('linreg_fit(id, %s)'),
  ('logreg_fit(id %% 2 = 0, %s)'), ('nb_fit(id %% 2, %s)'), ('nmf_fit(%s, 2 ORDER BY id)'))
  AS c(call);
SELECT same(fitted(format(call, have)), fitted(format(call, want)), format(call, 'the type'))
FROM (VALUES ('nmf_fit(%s, 2 ORDER BY id)', 's', 'x'),
  ('nmf_fit(%s, 2 ORDER BY id)', 's::sparse', 'x'),
  ('nmf_fit(%s, 2, ''{"absent": "missing"}'' ORDER BY id)', 's', 'x'),
  ('lda_fit(%s, 2)', 's', 'words'), ('lda_fit(%s, 2)', 's::sparse', 'words'))
  AS c(call, have, want);
SELECT same(fitted(format(call, f, have), '(SELECT) AS one'),
  fitted(format(call, f, want), '(SELECT) AS one'),
  format('%s of a query of %s', f, have))
FROM (VALUES ('gmm_model', 'v', 'x'), ('gmm_model', 'h', 'hx'), ('nmf_model', 'v', 'x'),
  ('nmf_model', 'id, h', 'id, hx'), ('nmf_model', 's', 'x'), ('nmf_model', 'id, s', 'id, x'),
  ('pmf_model', 'id, s', 'id, x'), ('lda_model', 's', 'words'), ('lda_model', 'id, s', 'id, words'))
  AS c(f, have, want), (VALUES ('%s(''SELECT %s FROM items ORDER BY id'', 2)')) AS d(call);

CREATE TABLE models AS SELECT gmm_fit(x, 2) AS gmm, nmf_fit(x, 2 ORDER BY id) AS nmf,
  lda_fit(words, 2) AS lda FROM items;
SELECT never(format('SELECT (%s)::text IS DISTINCT FROM (%s)::text AS wrong FROM models, items',
  format(call, have), format(call, want)), format(call, have))
FROM (VALUES ('gmm_predict(gmm, %s)', 'v', 'x'), ('bayes_log_density(gmm, %s)', 'h', 'hx'),
  ('bayes_log_density(gmm, %s)', 'v::embedding', 'x'), ('nmf_transform(nmf, %s)', 'v', 'x'),
  ('nmf_transform(nmf, %s)', 'h', 'hx'), ('nmf_transform(nmf, %s)', 's', 'x'),
  ('nmf_transform_sd(nmf, %s)', 's::sparse', 'x'), ('lda_proportions(lda, %s)', 's', 'words'))
  AS c(call, have, want);
SELECT is(gmm_predict(gmm, NULL::halfvec), NULL, 'NULL') FROM models;
SELECT is(nmf_fit(NULL::sparsevec, 2), NULL, 'no rows') FROM items;
SELECT is(lda_fit(NULL::sparsevec, 2), NULL, 'no documents') FROM items;
SELECT same(fitted('nmf_fit(CASE WHEN id > 30 THEN s END, 2 ORDER BY id)'),
  fitted('nmf_fit(CASE WHEN id > 30 THEN x END, 2 ORDER BY id)'), 'rows that are NULL');

SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT same(fitted('gmm_fit(v, 2)'), fitted('gmm_fit(x, 2)'), 'in workers');
SELECT same(fitted('gmm_fit(h, 2)'), fitted('gmm_fit(hx, 2)'), 'whatever the type');
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;

SELECT throws_ok($$SELECT nmf_fit(s, 2) FROM (VALUES ('{1:1}/3'::sparsevec), ('{1:1}/4')) AS t(s)$$,
  '2202E', 'row 2 has 4 elements, but row 1 has 3 elements', 'rows of two lengths');
SELECT throws_ok('SELECT nmf_fit(''{1:-1}/3''::sparsevec, 2)', '22023',
  'number of row 1 and column 1 is -1', 'negative numbers');
SELECT throws_ok('SELECT lda_fit(''{2:-1}/3''::sparsevec, 2)', '22023',
  'count of term "2" of document 1 is -1', 'negative counts');
SELECT throws_ok('SELECT nmf_transform(nmf, ''{1:1}/5''::sparsevec) FROM models', '2202E',
  'the array has 5 elements, but the model has 4 columns', 'another length than the model''s');
SELECT throws_ok('SELECT nmf_fit(''{}/1000000000''::sparsevec, 2)', '54000',
  'table has more than 10000000 rows and columns together', 'more columns than fit into memory');
SELECT throws_ok('SELECT gmm_fit(s, 2) FROM items', '42804', 'a row is of type sparsevec',
  'rows of mixtures are dense');

-- ---- values that only a superuser can make ----

CREATE CAST (bytea AS sparsevec) WITHOUT FUNCTION;
-- Bytes as they lie in memory, those of a number with the lowest first.
CREATE FUNCTION in_memory(bytes bytea) RETURNS bytea LANGUAGE sql RETURN (
  SELECT string_agg(substr(bytes, i, 1), '' ORDER BY i DESC)
  FROM generate_series(1, length(bytes)) AS i);
CREATE FUNCTION forged(header int[], numbers real[]) RETURNS sparsevec LANGUAGE sql RETURN (
  coalesce((SELECT string_agg(in_memory(int4send(n)), '' ORDER BY i)
    FROM unnest(header) WITH ORDINALITY AS t(n, i)), '') ||
  coalesce((SELECT string_agg(in_memory(float4send(n)), '' ORDER BY i)
    FROM unnest(numbers) WITH ORDINALITY AS t(n, i)), ''))::sparsevec;
SELECT same(nmf_transform(nmf, forged('{4,2,0,0,3}', '{1,2}')),
  nmf_transform(nmf, '{1,0,0,2}'::int[]),
  'the layout of a value') FROM models;
CREATE TABLE forgeries(name text, s sparsevec);
INSERT INTO forgeries VALUES ('empty', forged('{}', '{}')),
  ('cut in the header', forged('{4,0}', '{}')), ('cut', forged('{4,2,0,0,3}', '{1}')),
  ('too long', forged('{4,1,0,0}', '{1,2}')),
  ('more entries than bytes', forged('{2147483647,2147483647,0,0}', '{1}')),
  ('more entries than the dimension', forged('{1,2,0,0,1}', '{1,2}')),
  ('negative number of entries', forged('{4,-1,0,0}', '{1}')),
  ('dimension 0', forged('{0,0,0}', '{}')), ('negative dimension', forged('{-4,0,0}', '{}')),
  ('index beyond the dimension', forged('{4,1,0,4}', '{1}')),
  ('negative index', forged('{4,1,0,-1}', '{1}')), ('unsorted', forged('{4,2,0,3,0}', '{1,2}')),
  ('twice the same', forged('{4,2,0,3,3}', '{1,2}')), ('unknown field', forged('{4,1,1,0}', '{1}'));
CREATE FUNCTION state_of(call text, value sparsevec) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('SELECT %s FROM models', call) USING value;
  RETURN 'none';
EXCEPTION WHEN others THEN RETURN SQLSTATE;
END $$;
SELECT is((SELECT array_agg(DISTINCT state_of(call, s)) FROM (VALUES ('nmf_fit($1, 2)'),
    ('lda_fit($1, 2)'), ('nmf_transform(nmf, $1)'), ('lda_proportions(lda, $1)')) AS c(call)),
  '{XX001}', name) FROM forgeries;
SELECT is(state_of(call, forged('{4,1,0,0}', ARRAY[number]::real[])), '22023',
  format('%s of %s', call, number))
FROM (VALUES ('nmf_fit($1, 2)'), ('lda_fit($1, 2)'), ('nmf_transform(nmf, $1)')) AS c(call),
  unnest('{NaN,Infinity}'::real[]) AS number;
DROP CAST (bytea AS sparsevec);

-- ---- types that are only named so ----

CREATE SCHEMA fake;
CREATE TYPE fake.halfvec;
CREATE FUNCTION fake.halfvec_in(cstring) RETURNS fake.halfvec LANGUAGE internal IMMUTABLE STRICT
  AS 'textin';
CREATE FUNCTION fake.halfvec_out(fake.halfvec) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT
  AS 'textout';
CREATE TYPE fake.halfvec (INPUT = fake.halfvec_in, OUTPUT = fake.halfvec_out, LIKE = text);
CREATE TYPE fake.sparsevec;
CREATE FUNCTION fake.sparsevec_in(cstring) RETURNS fake.sparsevec LANGUAGE internal IMMUTABLE STRICT
  AS 'textin';
CREATE FUNCTION fake.sparsevec_out(fake.sparsevec) RETURNS cstring LANGUAGE internal
  IMMUTABLE STRICT AS 'textout';
CREATE TYPE fake.sparsevec (INPUT = fake.sparsevec_in, OUTPUT = fake.sparsevec_out, LIKE = text);
-- The owner of an extension may add types to it, though no base types.
CREATE SCHEMA added;
CREATE TYPE added.halfvec AS ENUM ('{1,2,3,4}');
CREATE TYPE added.sparsevec AS (dimension int, entries int);
ALTER EXTENSION vector ADD TYPE added.halfvec;
ALTER EXTENSION vector ADD TYPE added.sparsevec;
CREATE FUNCTION fake.hostile(fake.halfvec) RETURNS real[] LANGUAGE plpgsql
  AS $$BEGIN RAISE EXCEPTION 'run as %', current_user; END$$;
CREATE FUNCTION fake.hostile(added.halfvec) RETURNS real[] LANGUAGE plpgsql
  AS $$BEGIN RAISE EXCEPTION 'run as %', current_user; END$$;
CREATE CAST (fake.halfvec AS real[]) WITH FUNCTION fake.hostile(fake.halfvec) AS ASSIGNMENT;
CREATE CAST (added.halfvec AS real[]) WITH FUNCTION fake.hostile(added.halfvec) AS ASSIGNMENT;
CREATE FUNCTION state_of(call text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('SELECT %s FROM models', call);
  RETURN 'none';
EXCEPTION WHEN others THEN RETURN SQLSTATE;
END $$;
SELECT is((SELECT array_agg(DISTINCT state_of(format(call, value, type))) FROM (VALUES
    ('nmf_fit(%L::%s, 2)'), ('lda_fit(%L::%s, 2)'), ('nmf_transform(nmf, %L::%s)'),
    ('lda_proportions(lda, %L::%s)')) AS c(call)), '{42804}', type)
FROM (VALUES ('{1,2,3,4}', 'fake.halfvec'), ('{1:1}/4', 'fake.sparsevec'),
  ('{1,2,3,4}', 'added.halfvec'), ('(4,1)', 'added.sparsevec')) AS t(value, type);
SELECT is(state_of('gmm_predict(gmm, ''{1,2,3,4}''::fake.halfvec)'), '42804',
  'nor by mixtures');

SELECT * FROM finish();
