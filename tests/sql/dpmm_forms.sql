-- Dirichlet process mixtures: the forms of fits, rows left out, rows that are alike, and ids.
-- See dpmm.sql for how numbers are compared.
SELECT plan(49);
\ir ../lib/checks.sql
SET client_min_messages = error;

-- All of a model that could differ.
CREATE FUNCTION bits(model bayes_model) RETURNS text RETURN (model::jsonb - 'seconds')::text;
CREATE TABLE nothing (id int, x float8[]);

-- ---- the forms say the same ----

SELECT never($$SELECT o, id, c IS DISTINCT FROM cluster AS wrong
  FROM unnest(ARRAY['{"draws": 30}', '{"draws": 30, "method": "gibbs"}',
  '{"draws": 30, "method": "slice", "covariance": "diagonal"}', '{"method": "vi"}',
  '{"draws": 30, "estimate": "binder", "seed": 7}']::jsonb[]) o,
  LATERAL (SELECT w.id, w.c, r.cluster FROM (SELECT id, dpmm_cluster(x, o) OVER (ORDER BY id) AS c
    FROM faithful) w FULL JOIN dpmm_cluster('SELECT id, x FROM faithful ORDER BY id', o) r ON r.id
    = w.id::text) l$$, 'window = relation');
SELECT never($$SELECT o, cluster, count IS DISTINCT FROM n
  OR (count > 50 AND NOT near(mean, its_mean, 0.01)) AS wrong
  FROM unnest(ARRAY['{"draws": 30}', '{"draws": 30, "method": "gibbs"}',
  '{"draws": 30, "method": "slice"}', '{"method": "vi"}']::jsonb[]) o,
  LATERAL (SELECT dpmm_fit(x, o ORDER BY id) AS m FROM faithful) f,
    LATERAL (SELECT cluster, c.count, n, c.mean, r.mean AS its_mean FROM dpmm_clusters(m) c
    FULL JOIN (SELECT cluster, count(*) AS n, ARRAY[avg(eruptions), avg(waiting)] AS mean
    FROM dpmm_cluster('SELECT id, x FROM faithful ORDER BY id', o) l JOIN faithful
    ON faithful.id::text = l.id GROUP BY 1) r USING (cluster)) l$$, 'relation = aggregate');
SELECT same_rows($$SELECT * FROM dpmm_cluster('SELECT id, eruptions, waiting '
  'FROM faithful ORDER BY id', '{"draws": 20}')$$,
  $$SELECT * FROM dpmm_cluster('SELECT id, x FROM faithful ORDER BY id', '{"draws": 20}')$$,
  'columns = array');
SELECT same_rows($$SELECT * FROM dpmm_cluster('SELECT id, eruptions::real::numeric, '
  'waiting::numeric(5,1), id::smallint, id::bigint FROM faithful ORDER BY faithful.id',
  '{"draws": 20}')$$, $$SELECT * FROM dpmm_cluster('SELECT id, ARRAY[eruptions::real::numeric, '
  'waiting, id, id] FROM faithful ORDER BY id', '{"draws": 20}')$$, 'of several types of numbers');
SELECT same_rows($$SELECT * FROM dpmm_cluster('SELECT id, x FROM galaxies ORDER BY id',
  '{"draws": 20}')$$, $$SELECT * FROM dpmm_cluster('SELECT id, x[1] FROM galaxies ORDER BY id',
  '{"draws": 20}')$$, 'one column');
SELECT same_rows($$SELECT cluster, probability
  FROM dpmm_cluster('SELECT NULL, x FROM galaxies ORDER BY id', NULL)$$,
  $$SELECT cluster, probability FROM dpmm_cluster('SELECT id, x FROM galaxies ORDER BY id')$$,
  'options NULL are options left out');
SELECT same((SELECT bits(dpmm_fit(x, NULL ORDER BY id)) FROM galaxies),
  (SELECT bits(dpmm_fit(x ORDER BY id)) FROM galaxies), 'in an aggregate too');
SELECT same((SELECT bits(dpmm_fit(x, '{"method": null, "draws": null, "concentration": null, '
  '"prior": null, "likelihood": null, "level": null}' ORDER BY id)) FROM galaxies),
  (SELECT bits(dpmm_fit(x ORDER BY id)) FROM galaxies), 'so is a key whose value is null');
SELECT same_rows($$SELECT id, c FROM (SELECT id, dpmm_cluster(x) OVER (ORDER BY id) AS c
  FROM galaxies) s ORDER BY id$$, $$SELECT id::int, cluster
  FROM dpmm_cluster('SELECT id, x FROM galaxies ORDER BY id')$$, 'and a window without');
SELECT never($$SELECT id, a <> b AS wrong FROM (SELECT id, dpmm_cluster(x, '{"draws": 20}')
  OVER (ORDER BY id) AS a, dpmm_cluster(x, '{"draws": 20}')
  OVER (ORDER BY id ROWS BETWEEN 5 PRECEDING AND CURRENT ROW) AS b FROM galaxies) s$$,
  'frames do not matter');
SELECT never($$SELECT w.id, c IS DISTINCT FROM cluster AS wrong
  FROM (SELECT species, id, dpmm_cluster(x, '{"draws": 20}') OVER (PARTITION BY species
  ORDER BY id) AS c FROM iris) w FULL JOIN (SELECT r.* FROM (SELECT DISTINCT species FROM iris) s,
  LATERAL dpmm_cluster(
  format('SELECT id, x FROM iris WHERE species = %L ORDER BY id', species)::bayes_query,
  '{"draws": 20}') r) r ON r.id = w.id::text$$, 'partitions are fitted apart');
SELECT never($$SELECT *, b <> (SELECT bits(dpmm_fit(x, '{"draws": 20}' ORDER BY id)) FROM iris
  WHERE species = g.species) AS wrong FROM (SELECT species,
  bits(dpmm_fit(x, '{"draws": 20}' ORDER BY id)) AS b FROM iris GROUP BY 1) g$$, 'so are groups');
SELECT results_eq($$SELECT g, count(DISTINCT c), count(c)
  FROM (SELECT g, dpmm_cluster(CASE WHEN g <> 2 THEN ARRAY[i % 2 * 1000 + i] END, '{"draws": 200}')
  OVER (PARTITION BY g) AS c FROM generate_series(1, 3) g, generate_series(1, 20) i) s
  GROUP BY g ORDER BY g$$, $$VALUES (1, 2::bigint, 20::bigint), (2, 0, 0), (3, 2, 20)$$,
  'a partition of NULLs between others');
SELECT same_rows($$SELECT a.id FROM dpmm_cluster('SELECT id, x FROM galaxies', '{"draws": 10}') a
  JOIN dpmm_cluster('SELECT id, x FROM galaxies', '{"draws": 10}') b USING (id)
  ORDER BY a.id::int$$, 'SELECT id::text FROM galaxies ORDER BY galaxies.id', 'twice in one query');
SELECT is((SELECT count(*) FROM generate_series(1, 3) s,
  LATERAL dpmm_cluster('SELECT id, x FROM galaxies', jsonb_build_object('draws', 10, 'seed', s))),
  246::bigint, 'called laterally');
SELECT results_eq($$SELECT id, cluster IS NULL
  FROM dpmm_cluster('SELECT cluster, count(*) FROM dpmm_cluster(''SELECT id, x '
  'FROM galaxies'', ''{"draws": 10}'') GROUP BY 1 ORDER BY 1 LIMIT 1', '{"draws": 10}')$$,
  $$VALUES ('1', false)$$, 'a fit within a fit');
SELECT lives_ok($$SELECT (dpmm_cluster('SELECT id, x FROM galaxies', '{"draws": 4}')).*$$,
  'in a select list');
-- Volatile arguments are looked at once.
SELECT never($$SELECT g, count(c) NOT BETWEEN 3 AND 47 AS wrong
  FROM (SELECT g, dpmm_cluster(CASE WHEN random() < 0.5 THEN ARRAY[random()] END, '{"draws": 4}')
  OVER (PARTITION BY g) AS c FROM generate_series(1, 20) g, generate_series(1, 50) i) s
  GROUP BY g$$, 'volatile rows');

-- ---- rows left out, rows that are alike, ids ----

SELECT ok((SELECT dpmm_fit(x) FROM nothing) IS NULL AND (SELECT dpmm_fit(x, '{}') FROM nothing) IS
  NULL, 'no rows: NULL');
SELECT ok((SELECT dpmm_fit(NULL::float8[]) FROM galaxies) IS NULL
  AND (SELECT dpmm_fit(x) FILTER (WHERE false) FROM galaxies) IS NULL, 'NULL rows only: NULL');
SELECT ok((SELECT dpmm_fit(ARRAY[NULL, id]::float8[], '{"missing": "skip"}') FROM galaxies) IS NULL,
  'nothing but incomplete rows: NULL');
SELECT is_empty('SELECT dpmm_cluster(x) OVER () FROM nothing', 'no rows, no labels');
SELECT is_empty($$SELECT * FROM dpmm_cluster('SELECT id, x FROM nothing')$$, 'nor in a relation');
SELECT results_eq('SELECT dpmm_cluster(x) OVER () FROM (VALUES (NULL::float8[]), (NULL)) v(x)',
  'VALUES (NULL::int), (NULL)', 'NULL rows have no label');
SELECT results_eq($$SELECT * FROM dpmm_cluster('VALUES (1, NULL::float8[]), (2, NULL)')$$,
  $$VALUES ('1', NULL::int, NULL::float8, NULL::float8), ('2', NULL, NULL, NULL)$$,
  'but a row in the relation');
SELECT never($$SELECT w.id, c IS DISTINCT FROM cluster AS wrong
  FROM (SELECT id, dpmm_cluster(CASE WHEN id % 4 > 0 THEN x END, '{"draws": 20}')
  OVER (ORDER BY id) AS c FROM faithful) w FULL
  JOIN dpmm_cluster('SELECT id, x FROM faithful WHERE id % 4 > 0 ORDER BY id', '{"draws": 20}') r
  ON r.id = w.id::text$$, 'and no say: window');
SELECT never($$SELECT w.id, c IS DISTINCT FROM cluster AS wrong
  FROM (SELECT id, dpmm_cluster(CASE id % 4 WHEN 0 THEN ARRAY[NULL, 1]
  WHEN 1 THEN ARRAY['NaN', waiting]::float8[] WHEN 2 THEN '{-Infinity,1}' ELSE x END,
  '{"draws": 20, "missing": "skip"}') OVER (ORDER BY id) AS c FROM faithful) w
  FULL JOIN dpmm_cluster('SELECT id, x FROM faithful WHERE id % 4 = 3 ORDER BY id', '{"draws": 20}')
  r ON r.id = w.id::text$$, 'nor have incomplete ones that are skipped');
SELECT never($$SELECT a.id, (a.cluster, a.probability) IS DISTINCT FROM (b.cluster, b.probability)
  AS wrong FROM dpmm_cluster('SELECT id, CASE WHEN id % 4 > 0 THEN x ELSE ARRAY[1, NULL] END '
  'FROM faithful ORDER BY id', '{"draws": 20, "missing": "skip"}') a
  FULL JOIN dpmm_cluster('SELECT id, x FROM faithful WHERE id % 4 > 0 ORDER BY id', '{"draws": 20}')
  b USING (id)$$, 'nor in a relation: array');
SELECT never($$SELECT a.id, (a.cluster, a.probability) IS DISTINCT FROM (b.cluster, b.probability)
  AS wrong FROM dpmm_cluster('SELECT id, eruptions, CASE WHEN id % 4 > 0 THEN waiting END '
  'FROM faithful ORDER BY id', '{"draws": 20, "missing": "skip"}') a
  FULL JOIN dpmm_cluster('SELECT id, x FROM faithful WHERE id % 4 > 0 ORDER BY id', '{"draws": 20}')
  b USING (id)$$, 'columns');
SELECT same_rows($$SELECT i.rows, i.skipped FROM (SELECT dpmm_fit(CASE id % 4
  WHEN 0 THEN ARRAY[NULL, 1] WHEN 1 THEN NULL ELSE x END, '{"missing": "skip", "draws": 4}') AS m
  FROM faithful) f, bayes_info(m) i$$, $$SELECT count(*) FILTER (WHERE id % 4 > 1),
  count(*) FILTER (WHERE id % 4 <= 1) FROM faithful$$, 'rows left out are counted');
SELECT same_rows($$SELECT f.method, i.rows, e.clusters, c.mean, c.covariance[1][1] > 0
  FROM (SELECT method, dpmm_fit('{5.5,-2}'::float8[], jsonb_build_object('method', method)) AS m
  FROM unnest('{collapsed,gibbs,slice,vi}'::text[]) method GROUP BY 1) f, bayes_info(m) i,
  dpmm_estimate(m) e, dpmm_clusters(m) c ORDER BY 1$$,
  $$SELECT m, 1::bigint, 1, '{5.5,-2}'::float8[], true
    FROM unnest('{collapsed,gibbs,slice,vi}'::text[]) m ORDER BY 1$$, 'one row, by every method');
SELECT same_rows($$SELECT f.method, sum(c.count)::int, all_true(near(c.mean, '{5.5,-2}')
  AND c.covariance[1][1] > 0) FROM (SELECT method,
  dpmm_fit('{5.5,-2}'::float8[], jsonb_build_object('method', method) || CASE method
  WHEN 'vi' THEN '{}' ELSE '{"draws": 50}'::jsonb END) AS m
  FROM unnest('{collapsed,gibbs,slice,vi}'::text[]) method, generate_series(1, 30) GROUP BY 1) f,
  dpmm_clusters(m) c GROUP BY 1 ORDER BY 1$$,
  $$SELECT m, 30, true FROM unnest('{collapsed,gibbs,slice,vi}'::text[]) m ORDER BY 1$$,
    'rows that are all alike, by every method');
SELECT is((SELECT count(*) FROM unnest('{collapsed,gibbs,slice,vi}'::text[]) m,
  unnest('{full,diagonal,spherical}'::text[]) c,
  LATERAL (SELECT dpmm_fit(ARRAY[7, i % 3, 7], jsonb_build_object('method', m, 'covariance', c)
  || CASE m WHEN 'vi' THEN '{}' ELSE '{"draws": 20}'::jsonb END) AS model
  FROM generate_series(1, 30) i) f WHERE model IS NOT NULL), 12::bigint,
  'columns that are constant');
SELECT results_eq($$SELECT id, cluster, probability FROM dpmm_cluster('SELECT ''only'', 3')$$,
  $$VALUES ('only', 1, 1::float8)$$, 'one row is one cluster of one');
SELECT is((SELECT array_agg(id) FROM dpmm_cluster(statement::bayes_query, '{"draws": 4}')),
  ids::text[], 'ids: ' || statement) FROM (VALUES
  ('VALUES (1, 5), (1, 6), (NULL, 7)', '{1,1,NULL}'),
  ('VALUES (''a b'', 5), ('''', 6), (''é'', 7)', '{a b,"",é}'),
  ('VALUES (true, 5), (false, 6)', '{t,f}'),
  ('VALUES (1.50, 5), (''NaN'', 6)', '{1.50,NaN}'),
  ('SELECT date ''2026-11-21'' + i, i FROM generate_series(1, 2) i', '{2026-11-22,2026-11-23}'),
  ('SELECT ''00000000-0000-0000-0000-000000000001''::uuid, 1',
    '{00000000-0000-0000-0000-000000000001}'),
  ('SELECT ARRAY[i, NULL], i FROM generate_series(1, 2) i', '{"{1,NULL}","{2,NULL}"}'),
  ('SELECT (i, ''x''), i FROM generate_series(1, 2) i', '{"(1,x)","(2,x)"}'),
  ('SELECT ''{"a": 1}''::jsonb, 1', '{"{\"a\": 1}"}'),
  ('SELECT repeat(''x'', 20), 1', '{xxxxxxxxxxxxxxxxxxxx}')) v(statement, ids);
SELECT is((SELECT sum(length(id)) FROM dpmm_cluster('SELECT repeat(''long'', 100000), i '
  'FROM generate_series(1, 3) i', '{"draws": 4}')), 1200000::bigint, 'long ids');
SELECT is((SELECT count(*) FROM dpmm_cluster('SELECT gmm_fit(x, 1), 1 FROM galaxies',
  '{"draws": 4}')), 1::bigint, 'even a model');
-- Names go to disk when there are many, and are not left there.
SET work_mem = '64kB';
SELECT is((SELECT count(DISTINCT id)
  FROM dpmm_cluster('SELECT repeat(''x'', 50) || i, NULL::float8[] '
  'FROM generate_series(1, 20000) i')), 20000::bigint, 'many ids in little memory');
SELECT is_empty($$SELECT * FROM dpmm_similarity('SELECT repeat(''x'', 50) || i, NULL::float8[] '
  'FROM generate_series(1, 20000) i')$$, 'of which nothing can be said');
SELECT is((SELECT count(*) FROM dpmm_similarity('SELECT repeat(''x'', 50) || i, CASE '
  'WHEN i % 500 = 0 THEN ARRAY[i] END FROM generate_series(1, 20000) i', '{"draws": 4}')),
  780::bigint, 'or of some');
RESET work_mem;

SELECT * FROM finish();
