-- Gaussian mixtures: the forms of a fit (aggregate, relation, window, selection, update) say the
-- same, and each keeps the manners of its kind.
SELECT plan(108);
\ir ../lib/checks.sql
SET client_min_messages = error;

-- All of a model that could differ.
CREATE FUNCTION bits(model bayes_model) RETURNS text RETURN (model::jsonb - 'seconds')::text;
-- The parameters alone.
CREATE FUNCTION parameters(model bayes_model) RETURNS jsonb RETURN model::jsonb
  - '{seconds,skipped,rows,options,trace,iterations}'::text[];
-- Components rounded, to compare fits whose sums were formed in another order.
CREATE FUNCTION rounded(model bayes_model) RETURNS text RETURN (
  SELECT string_agg(component || ': ' || round(weight::numeric, 6)
  || (SELECT string_agg(round(v::numeric, 6)::text, ' ') FROM unnest(mean || covariance) v),
  '; ' ORDER BY component) FROM gmm_components(model));
CREATE TABLE nothing (x float8[], w float8);

-- ---- the aggregate's manners ----

SELECT is((SELECT pg_typeof(gmm_fit(x, 2))::text FROM faithful), 'bayes_model',
  'the aggregate gives a model');
SELECT ok((SELECT gmm_fit(x, 2) FROM nothing) IS NULL, 'no rows: NULL');
SELECT ok((SELECT gmm_fit(x, 2, '{"method": "em"}', w) FROM nothing) IS NULL,
  'no rows with weights: NULL');
SELECT is_empty('SELECT gmm_fit(x, 2) FROM nothing GROUP BY w', 'no rows, no groups');
SELECT ok((SELECT gmm_fit(NULL::float8[], 2) FROM faithful) IS NULL, 'NULL rows only: NULL');
SELECT ok((SELECT gmm_fit(x, 2, NULL, NULL) FROM faithful) IS NULL, 'NULL weights only: NULL');
SELECT ok((SELECT gmm_fit(x, 2) FILTER (WHERE false) FROM faithful) IS NULL,
  'a filter that leaves nothing: NULL');
SELECT ok((SELECT gmm_fit(x, (SELECT gmm_fit(x, 2) FROM faithful)) FROM nothing) IS NULL,
  'no rows to refit: NULL');
SELECT ok((SELECT gmm_update(x, (SELECT gmm_fit(x, 2) FROM faithful)) FROM nothing) IS NULL,
  'no rows to learn from: NULL');
SELECT ok((SELECT gmm_select(x, '{1,2}') FROM nothing) IS NULL, 'no rows to choose from: NULL');
SELECT results_eq($$SELECT k FROM gmm_select('SELECT x FROM faithful', '{1,2,300}')$$,
  '{1,2}'::int[], 'a k that is impossible is left out');
SELECT results_eq($$SELECT k FROM gmm_select('SELECT x FROM faithful', '{300,1}')$$, '{1}'::int[],
  'also if it comes first');
SELECT same((SELECT bits(gmm_fit(x, 2, NULL)) FROM faithful),
  (SELECT bits(gmm_fit(x, 2)) FROM faithful), 'options NULL are options left out');
SELECT same((SELECT bits(gmm_fit(x, 2, '{"method": null, "prior": null, "tol": null}'))
  FROM faithful), (SELECT bits(gmm_fit(x, 2)) FROM faithful), 'so is a key whose value is null');
SELECT same((SELECT bits(gmm_fit(x, 2, '{}', 1)) FROM faithful),
  (SELECT bits(gmm_fit(x, 2, '{}', 1.0)) FROM faithful), 'a weight may be an integer');
SELECT same_rows(
  'SELECT species, rounded(gmm_fit(x, 2)) FROM iris GROUP BY species ORDER BY species',
  'SELECT s, rounded((SELECT gmm_fit(x, 2) FROM iris WHERE species = s)) FROM (SELECT DISTINCT '
    'species AS s FROM iris) AS d ORDER BY s', 'GROUP BY');
SELECT same_rows(
  'SELECT species, rounded(gmm_fit(x, 1)) FROM iris GROUP BY ROLLUP (species) ORDER BY species',
  'SELECT species, rounded(gmm_fit(x, 1)) FROM iris GROUP BY species UNION ALL SELECT NULL, '
    'rounded(gmm_fit(x, 1)) FROM iris ORDER BY 1', 'ROLLUP');
SELECT same((SELECT rounded(gmm_fit(x, 2) FILTER (WHERE species = 'setosa')) FROM iris),
  (SELECT rounded(gmm_fit(x, 2)) FROM iris WHERE species = 'setosa'), 'FILTER');
SELECT results_eq($$SELECT species, gmm_fit(x, 1) FILTER (WHERE species <> 'setosa') IS NULL
  FROM iris GROUP BY species ORDER BY species$$, $$VALUES ('setosa', true), ('versicolor', false),
  ('virginica', false)$$, 'FILTER that empties a group');
SELECT same((SELECT bits(gmm_fit(x, 3 ORDER BY id DESC)) FROM iris),
  (SELECT bits(gmm_fit(x, 3 ORDER BY id)) FROM iris),
  'the order of few rows does not matter, to the last bit');
SELECT same((SELECT bits(gmm_fit(x, 3 ORDER BY md5(id::text))) FROM iris),
  (SELECT bits(gmm_fit(x, 3)) FROM iris), 'nor does any other order');
SELECT same((SELECT rounded(gmm_fit(DISTINCT x, 3, '{"method": "em", "tol": 1e-12}')) FROM iris),
  (SELECT rounded(gmm_fit(x, 3, '{"method": "em", "tol": 1e-12}'))
  FROM (SELECT DISTINCT x FROM iris) AS d), 'DISTINCT');
SELECT is((SELECT count(*) FROM iris GROUP BY () HAVING gmm_fit(x, 2) IS NOT NULL), 150::bigint,
  'HAVING');
SELECT same_rows(
  'SELECT id, rounded(gmm_fit(x, 1) OVER (ORDER BY id ROWS BETWEEN 20 PRECEDING AND CURRENT ROW)) '
  'FROM faithful WHERE id <= 60 ORDER BY id',
  'SELECT f.id, rounded((SELECT gmm_fit(x, 1) FROM faithful g WHERE g.id BETWEEN f.id - 20 AND '
    'f.id)) FROM faithful f WHERE id <= 60 ORDER BY id',
    'as a window aggregate over moving frames');
SELECT same_rows(
  'SELECT id, rounded(gmm_fit(x, 1) OVER (ORDER BY id)) FROM faithful WHERE id <= 60 ORDER BY id',
  'SELECT f.id, rounded((SELECT gmm_fit(x, 1) FROM faithful g WHERE g.id <= f.id)) FROM faithful '
    'f WHERE id <= 60 ORDER BY id', 'and over a growing one: a state goes on after it was fitted');

-- ---- rows of every type of number ----

SELECT same((SELECT parameters(gmm_fit(ARRAY[depth::int, stations], 2)) FROM quakes),
  (SELECT parameters(gmm_fit(ARRAY[depth::int, stations]::float8[], 2)) FROM quakes), 'int[]');
SELECT same((SELECT parameters(gmm_fit(ARRAY[depth::bigint, stations], 2)) FROM quakes),
  (SELECT parameters(gmm_fit(ARRAY[depth::bigint, stations]::float8[], 2)) FROM quakes),
  'bigint[]');
SELECT same((SELECT parameters(gmm_fit(ARRAY[depth::smallint, stations::smallint], 2)) FROM quakes),
  (SELECT parameters(gmm_fit(ARRAY[depth::smallint, stations::smallint]::float8[], 2)) FROM quakes),
  'smallint[]');
SELECT same((SELECT parameters(gmm_fit(x::numeric[], 2)) FROM faithful),
  (SELECT parameters(gmm_fit(x, 2)) FROM faithful), 'numeric[]');
SELECT same((SELECT parameters(gmm_fit(x::real[], 2)) FROM faithful),
  (SELECT parameters(gmm_fit(x::real[]::float8[], 2)) FROM faithful), 'real[]');
CREATE DOMAIN measurements AS float8[];
SELECT same((SELECT parameters(gmm_fit(x::measurements, 2)) FROM faithful),
  (SELECT parameters(gmm_fit(x, 2)) FROM faithful), 'a domain');
SELECT same((SELECT parameters(gmm_fit(('[7:8]={' || eruptions || ',' || waiting || '}')::float8[],
  2)) FROM faithful), (SELECT parameters(gmm_fit(x, 2)) FROM faithful),
  'lower bounds other than 1');
CREATE TABLE long_rows AS SELECT id, array_fill(eruptions, '{700}') || array_agg(sin(id * i)) AS x
  FROM faithful, generate_series(1, 20) i WHERE id <= 50 GROUP BY id;
SELECT same((SELECT parameters(gmm_fit(x, 1, '{"covariance": "diagonal"}')) FROM long_rows),
  (SELECT parameters(gmm_fit(array_fill(eruptions, '{700}') || s, 1, '{"covariance": "diagonal"}'))
  FROM faithful JOIN (SELECT id, x[701:720] AS s FROM long_rows) l USING (id)), 'toasted rows');
SELECT lives_ok($$SELECT gmm_fit(array_fill(id::float8, '{1600}'), 2,
  '{"covariance": "diagonal", "restarts": 1}') FROM faithful WHERE id <= 10$$, 'the longest rows');
SELECT is((SELECT i.dimension FROM (SELECT gmm_fit(ARRAY[waiting], 2) AS m FROM faithful) f,
  bayes_info(m) i), 1, 'the shortest rows');
SELECT results_eq($$SELECT i.rows, i.components, c.mean, c.weight
  FROM (SELECT gmm_fit(ARRAY[1, 2], 1) AS m) f, bayes_info(m) i, gmm_components(m) c$$,
  $$VALUES (1::bigint, 1, '{1,2}'::float8[], 1::float8)$$, 'one row');
SELECT is((SELECT count(*) FROM unnest('{em,map,vi,svi,kmeans}'::text[]) m,
  LATERAL (SELECT gmm_fit(ARRAY[a], 1, jsonb_build_object('method', m)) AS model
  FROM (VALUES (5.5)) v(a)) f, gmm_components(model) c
WHERE c.mean = '{5.5}' AND c.covariance[1][1] > 0), 5::bigint, 'one row by every method');
SELECT is((SELECT count(*) FROM unnest('{full,diagonal,spherical,tied}'::text[]) s,
  unnest('{em,map,vi}'::text[]) m,
  LATERAL (SELECT gmm_fit(ARRAY[1, i % 3], 2,
  jsonb_build_object('covariance', s, 'method', m)) AS model FROM generate_series(1, 30) i) f
WHERE model IS NOT NULL), 12::bigint, 'a column that is constant');
SELECT is((SELECT gmm_fit(ARRAY[i % 3], 3, '{"method": "em"}') IS NOT NULL
  FROM generate_series(1, 30) i), true, 'as many components as distinct rows');

-- ---- weights and left-out rows ----

CREATE TABLE weighted AS SELECT id, x, 1 + id % 3 AS w FROM faithful;
SELECT same((SELECT rounded(gmm_fit(x, 2, o, w)) FROM weighted),
  (SELECT rounded(gmm_fit(x, 2, o)) FROM weighted, generate_series(1, w)),
  'a weight is a number of repetitions: ' || (o->>'method'))
  FROM unnest('{"{\"method\": \"em\", \"tol\": 1e-12}","{\"method\": \"map\",
    \"tol\": 1e-12}","{\"method\": \"vi\",
    \"tol\": 1e-12}","{\"method\": \"kmeans\"}"}'::jsonb[]) o;
SELECT same((SELECT parameters(gmm_fit(x, 2, '{}', CASE WHEN id % 4 > 0 THEN 1 ELSE 0 END))
  FROM faithful), (SELECT parameters(gmm_fit(x, 2, '{}', 1)) FROM faithful WHERE id % 4 > 0),
  'a weight of 0 leaves the row out');
SELECT same((SELECT parameters(gmm_fit(x, 2, '{}', CASE WHEN id % 4 > 0 THEN 1 END)) FROM faithful),
  (SELECT parameters(gmm_fit(x, 2, '{}', 1)) FROM faithful WHERE id % 4 > 0),
  'so does a NULL weight');
SELECT same((SELECT rounded(gmm_fit(x, 2, '{"method": "em", "tol": 0}', 1e-6)) FROM faithful),
  (SELECT rounded(gmm_fit(x, 2, '{"method": "em", "tol": 0}')) FROM faithful),
  'equal weights, however small, do not matter to maximum likelihood');
SELECT same((SELECT parameters(gmm_fit(CASE WHEN id % 4 > 0 THEN x END, 2)) FROM faithful),
  (SELECT parameters(gmm_fit(x, 2)) FROM faithful WHERE id % 4 > 0), 'NULL rows leave no trace');
SELECT same((SELECT parameters(gmm_fit(CASE id % 4 WHEN 0 THEN ARRAY[eruptions, NULL]
  WHEN 1 THEN ARRAY['NaN', waiting] WHEN 2 THEN ARRAY['-Infinity', 'Infinity']::float8[] ELSE x END,
  2, '{"missing": "skip"}')) FROM faithful),
  (SELECT parameters(gmm_fit(x, 2)) FROM faithful WHERE id % 4 = 3),
  'nor do incomplete ones with missing = skip');
SELECT same_rows($$SELECT i.rows, i.skipped
  FROM (SELECT gmm_fit(CASE id % 4 WHEN 0 THEN ARRAY[eruptions, NULL] WHEN 1 THEN NULL ELSE x END,
  2, '{"missing": "skip"}', CASE WHEN id % 8 = 2 THEN 0 ELSE 1 END) AS m FROM faithful) f,
  bayes_info(m) i$$,
  $$SELECT count(*) FILTER (WHERE id % 4 > 1 AND id % 8 <> 2),
    count(*) FILTER (WHERE NOT (id % 4 > 1 AND id % 8 <> 2)) FROM faithful$$,
    'all of them are counted');
SELECT ok((SELECT gmm_fit(ARRAY[NULL, id]::float8[], 2, '{"missing": "skip"}')
  FROM faithful) IS NULL, 'nothing but incomplete rows: NULL');

-- ---- the relation form ----

SELECT results_eq($$SELECT pg_typeof(component)::text, pg_typeof(weight)::text,
  pg_typeof(mean)::text, pg_typeof(covariance)::text, pg_typeof(count)::text
  FROM gmm_fit('SELECT x FROM faithful', 1)$$,
  $$VALUES ('integer', 'double precision', 'double precision[]', 'double precision[]',
    'double precision')$$, 'types of the relation');
SELECT same_rows(format('SELECT * FROM gmm_fit(%L, 2, %L)', 'SELECT x FROM faithful', o),
  format('SELECT c.* FROM (SELECT gmm_fit(x, 2, %L) AS m FROM faithful) f, gmm_components(m) c', o),
  'relation = aggregate: ' || o)
  FROM unnest(ARRAY['{}', '{"method": "em"}', '{"method": "map", "covariance": "tied"}',
    '{"method": "svi"}', '{"method": "kmeans"}', '{"covariance": "diagonal", "seed": 9}']) o;
SELECT same_rows($$SELECT * FROM gmm_fit('SELECT eruptions, waiting FROM faithful', 2)$$, $$SELECT *
  FROM gmm_fit('SELECT x FROM faithful', 2)$$, 'columns = array');
SELECT same_rows($$SELECT *
  FROM gmm_fit('SELECT eruptions::real, waiting::numeric(5,1), id::smallint FROM faithful', 2)$$,
  $$SELECT * FROM gmm_fit('SELECT ARRAY[eruptions::real, waiting, id] FROM faithful', 2)$$,
  'columns of several types');
SELECT same_rows($$SELECT * FROM gmm_fit('SELECT x, 1 + id % 3 FROM faithful', 2)$$, $$SELECT c.*
  FROM (SELECT gmm_fit(x, 2, NULL, 1 + id % 3) AS m FROM faithful) f, gmm_components(m) c$$,
  'array and weight');
SELECT same_rows($$SELECT *
  FROM gmm_fit('SELECT x, w FROM (SELECT x::numeric[], (1 + id % 3)::numeric AS w FROM faithful) s',
  2)$$, $$SELECT * FROM gmm_fit('SELECT x, 1 + id % 3 FROM faithful', 2)$$, 'of any type');
SELECT same_rows($$SELECT * FROM gmm_fit('VALUES (1, 2), (3, 4), (5, 7)', 1)$$, $$SELECT *
  FROM gmm_fit('SELECT a, b FROM (VALUES (1, 2), (3, 4), (5, 7)) v(a, b)', 1)$$, 'VALUES');
SELECT same_rows($$SELECT * FROM gmm_fit('SELECT x FROM faithful;  -- that is all', 2)$$, $$SELECT *
  FROM gmm_fit('SELECT x FROM faithful', 2)$$, 'a semicolon and a comment at the end');
SELECT same_rows($$SELECT * FROM gmm_fit('WITH w AS (SELECT x FROM faithful) SELECT x FROM w', 2)$$,
  $$SELECT * FROM gmm_fit('SELECT x FROM faithful', 2)$$, 'WITH');
SELECT is_empty($$SELECT * FROM gmm_fit('SELECT x FROM nothing', 2)$$,
  'a query without rows: no components');
SELECT is_empty($$SELECT * FROM gmm_fit('SELECT NULL::float8[] FROM faithful', 2)$$,
  'a query of NULLs: no components');
SELECT same_rows($$SELECT c.weight
  FROM gmm_fit('SELECT c.mean FROM gmm_fit(''SELECT x FROM iris'', 5) c', 2) c$$, $$SELECT c.weight
  FROM gmm_fit('SELECT c.mean FROM gmm_fit(''SELECT x FROM iris'', 5) c', 2) c$$,
  'a fit within a fit');
SELECT same_rows($$SELECT s.k, c.weight FROM generate_series(1, 3) AS s(k),
  gmm_fit('SELECT x FROM iris', s.k) c ORDER BY 1, 2$$, $$SELECT s.k, c.weight
  FROM generate_series(1, 3) AS s(k), LATERAL (SELECT gmm_fit(x, s.k) AS m FROM iris) f,
  gmm_components(m) c ORDER BY 1, 2$$, 'called laterally');
BEGIN;
CREATE TABLE fresh AS SELECT x FROM faithful;
SELECT is((SELECT sum(count)::numeric(9,3) FROM gmm_fit('SELECT x FROM fresh', 2)), 272.000,
  'a query sees what its own transaction did');
ROLLBACK;

-- ---- the window form ----

SELECT never($$SELECT id, a IS DISTINCT FROM b AS wrong
  FROM (SELECT id, gmm_cluster(x, 3) OVER () AS a,
  gmm_predict((SELECT gmm_fit(x, 3) FROM iris), x) AS b FROM iris) AS s$$,
  'window = aggregate and prediction');
SELECT never($$SELECT id, a IS DISTINCT FROM b AS wrong
  FROM (SELECT id, gmm_cluster(x, 2, '{"method": "em"}') OVER (PARTITION BY species) AS a,
  gmm_predict(m, x) AS b FROM iris
  JOIN (SELECT species, gmm_fit(x, 2, '{"method": "em"}') AS m FROM iris GROUP BY species) AS g
  USING (species)) AS s$$, 'in partitions');
SELECT never($$SELECT id, a <> b AS wrong
  FROM (SELECT id, gmm_cluster(x, 3) OVER () AS a, gmm_cluster(x, 3)
  OVER (ORDER BY id ROWS BETWEEN 5 PRECEDING AND CURRENT ROW) AS b FROM iris) AS s$$,
  'frames do not matter');
SELECT is((SELECT pg_typeof(gmm_cluster(x, 1) OVER ())::text FROM iris LIMIT 1), 'integer',
  'a label is an integer');
SELECT never($$SELECT id, a IS DISTINCT FROM CASE WHEN NOT gone THEN b END AS wrong
  FROM (SELECT id, id % 5 = 0 AS gone, gmm_cluster(CASE WHEN id % 5 > 0 THEN x END, 2) OVER () AS a,
  gmm_predict((SELECT gmm_fit(x, 2) FROM iris WHERE id % 5 > 0), x) AS b FROM iris) AS s$$,
  'NULL rows have no label and no say');
SELECT never($$SELECT id, (a IS NULL) <> (id % 5 = 0) AS wrong
  FROM (SELECT id,
  gmm_cluster(CASE WHEN id % 5 > 0 THEN x ELSE '{NULL,1,2,NaN}' END, 2, '{"missing": "skip"}')
  OVER () AS a FROM iris) AS s$$, 'nor have incomplete ones that are skipped');
SELECT results_eq('SELECT gmm_cluster(x, 1) OVER () FROM (VALUES (ARRAY[1.5])) v(x)', 'VALUES (1)',
  'one row');
SELECT results_eq('SELECT gmm_cluster(x, 1) OVER () FROM (VALUES (NULL::float8[]), (NULL)) v(x)',
  'VALUES (NULL::int), (NULL)', 'no rows but NULL ones');
SELECT is_empty('SELECT gmm_cluster(x, 1) OVER () FROM nothing', 'no rows at all');
SELECT results_eq($$SELECT g, count(DISTINCT c)
  FROM (SELECT g, gmm_cluster(CASE WHEN g <> 2 THEN ARRAY[i] END, 2) OVER (PARTITION BY g) AS c
  FROM generate_series(1, 3) g, generate_series(1, 9) i) s GROUP BY g ORDER BY g$$,
  $$VALUES (1, 2::bigint), (2, 0), (3, 2)$$, 'a partition of NULLs between others');
SELECT results_eq($$SELECT g, max(c)
  FROM (SELECT g, gmm_cluster(ARRAY[i], g) OVER (PARTITION BY g) AS c FROM generate_series(1, 3) g,
  generate_series(1, 60) i) s GROUP BY g ORDER BY g$$, $$VALUES (1, 1), (2, 2), (3, 3)$$,
  'each partition may have its own k');
SELECT results_eq($$SELECT id
  FROM (SELECT id, gmm_cluster(x, 2) OVER (ORDER BY waiting), row_number() OVER () FROM faithful) s
  LIMIT 0$$, 'SELECT 1 WHERE false', 'beside other window functions');

-- ---- selection ----

SELECT is((SELECT pg_typeof(gmm_select(x, '{1}'))::text FROM iris), 'gmm_selection[]',
  'the aggregate gives an array');
SELECT results_eq($$SELECT k, covariance, method
  FROM (SELECT gmm_select(x, '{2,1}', '{"covariance": ["tied", "full"], "method": "em"}') AS a
  FROM iris) s, unnest(a)$$, $$VALUES (2, 'tied', 'em'), (1, 'tied', 'em'), (2, 'full', 'em'),
  (1, 'full', 'em')$$, 'each covariance with each k');
SELECT same_rows($$SELECT k, covariance, objective, bic, icl, elbo, bits(model)
  FROM gmm_select('SELECT x FROM iris', '{1,3}', '{"covariance": ["full", "diagonal"],
    "models": true}')$$, $$SELECT k, covariance, objective, bic, icl, elbo, bits(model)
  FROM (SELECT gmm_select(x, '{1,3}', '{"covariance": ["full", "diagonal"], "models": true}') AS a
  FROM iris) s, unnest(a)$$, 'relation = aggregate');
SELECT is((SELECT count(model) FROM gmm_select('SELECT x FROM iris', '{1}', '{"models": false}'))
  + (SELECT count((unnest).model) FROM (SELECT unnest(gmm_select(x, '{1}')) FROM iris) AS s),
  0::bigint, 'models come on request only');
CREATE TABLE selection AS SELECT s.* FROM unnest('{em,map,vi,kmeans}'::text[]) m,
  LATERAL gmm_select('SELECT x FROM iris', '{1,2,3}',
  CASE m WHEN 'kmeans' THEN '{"method": "kmeans"}' ELSE jsonb_build_object('method', m,
  'covariance', '["full","diagonal","spherical","tied"]'::jsonb) END || '{"models": true}') s;
SELECT never($$SELECT *, s.k <> i.components OR s.method <> i.method OR s.objective <> i.objective
  OR s.log_likelihood <> i.log_likelihood OR s.converged <> i.converged
  OR s.parameters <> i.parameters OR s.bic <> i.bic OR i.observations <> 150 OR i.incomplete <> 0
  OR s.degenerate <> (i.degenerate <> '{}') OR s.covariance
  <> coalesce(i.options->>'covariance', 'spherical') AS wrong FROM selection s,
  bayes_info(model) i$$, 'each line is its model''s');
SELECT never($$SELECT s.k, s.method, bits(m) <> bits(model) AS wrong FROM selection s,
  LATERAL (SELECT gmm_fit(x, s.k, CASE s.method WHEN 'kmeans' THEN '{"method": "kmeans"}'
  ELSE jsonb_build_object('method', s.method, 'covariance', s.covariance) END) AS m FROM iris) f$$,
  'and that of a fit alone');
SELECT never($$SELECT k, covariance, parameters, parameters <> k - 1 + 4 * k + CASE covariance
  WHEN 'full' THEN 10 * k WHEN 'diagonal' THEN 4 * k WHEN 'spherical' THEN k ELSE 10 END AS wrong
  FROM selection WHERE method <> 'kmeans'$$, 'free parameters');
SELECT same_rows($$SELECT bic, icl, log_likelihood < 0 FROM gmm_select('SELECT x FROM iris', '{2}',
  '{"method": "gibbs", "draws": 20, "chains": 1}')$$, 'SELECT NULL::float8, NULL::float8, true',
  'no bic of an average over draws');
SELECT never($$SELECT *, NOT near(bic, -2 * log_likelihood + parameters * ln(150)) AS wrong
  FROM selection$$, 'bic');
SELECT never($$SELECT s.k, s.method,
  NOT near(icl, bic + 2 * (SELECT -sum(CASE WHEN p > 0 THEN p * ln(p) ELSE 0 END) FROM iris,
  unnest(bayes_probabilities(model, x)) p), 1e-6) AS wrong FROM selection s
WHERE method IN ('em', 'map')$$, 'icl');
SELECT never($$SELECT s.k, s.method, NOT near(entropy, 1 - (SELECT -sum(p * ln(nullif(p, 0)))
    FROM iris, unnest(bayes_probabilities(model, x)) AS p) / nullif(150 * ln(s.k), 0), 1e-6)
    IS DISTINCT FROM CASE s.k WHEN 1 THEN NULL ELSE false END AS wrong
  FROM selection AS s, bayes_info(model) WHERE s.method IN ('em', 'map')$$, 'entropy');
SELECT never($$SELECT *, elbo IS DISTINCT FROM CASE WHEN method = 'vi' THEN objective END AS wrong
  FROM selection$$, 'elbo for vi only');
SELECT is((SELECT k FROM selection WHERE method = 'em' ORDER BY bic LIMIT 1), 2,
  'by BIC iris has two species, as is known');
SELECT results_eq($$SELECT species, best.k
  FROM (SELECT species, gmm_select(x, '{1,2}') AS tried FROM iris GROUP BY species) s,
  LATERAL (SELECT * FROM unnest(tried) ORDER BY elbo DESC LIMIT 1) best ORDER BY 1$$,
  $$VALUES ('setosa', 1), ('versicolor', 1), ('virginica', 1)$$, 'selection under GROUP BY');
SELECT is_empty($$SELECT * FROM gmm_select('SELECT x FROM nothing', '{1,2}')$$,
  'nothing to choose from');
SELECT results_eq($$SELECT k FROM gmm_select('SELECT x FROM iris', '[5:6]={1,2}')$$,
  'VALUES (1), (2)', 'lower bounds of ks do not matter');

-- ---- going on from a model ----

CREATE TABLE begun AS SELECT method, gmm_fit(x, 2, jsonb_build_object('method', method)) AS model
  FROM faithful, unnest('{em,map,vi,svi,kmeans}'::text[]) method GROUP BY method;
SELECT never($$SELECT begun.method, i.iterations, i.objective, o.objective,
  i.method <> o.method
  OR (begun.method <> 'svi'
  AND (i.iterations > 2 OR i.objective < o.objective - 1e-9 * abs(o.objective))) AS wrong
FROM begun, LATERAL (SELECT gmm_fit(x, model) AS m FROM faithful) f, bayes_info(m) i,
  bayes_info(model) o$$, 'a fit goes on where the model ended, by its method');
SELECT never($$SELECT a.method, b.method, i.method <> b.method OR i.components <> 2 OR i.rows
  <> 272 AS wrong FROM begun a, begun b,
  LATERAL (SELECT gmm_fit(x, a.model, jsonb_build_object('method', b.method)) AS m FROM faithful) f,
  bayes_info(m) i$$, 'or by any other');
SELECT never($$SELECT c, i.options->>'covariance' <> c AS wrong
  FROM unnest('{full,diagonal,spherical,tied}'::text[]) c,
  LATERAL (SELECT gmm_fit(x, (SELECT model FROM begun WHERE method = 'vi'),
  jsonb_build_object('covariance', c)) AS m FROM faithful) f, bayes_info(m) i$$,
  'with any other covariance');
SELECT never($$SELECT *, NOT near(a.weight, b.weight, 1e-5) OR NOT near(a.mean[2], b.mean[2], 1e-5)
  OR NOT near(a.covariance[2][2], b.covariance[2][2], 1e-5) AS wrong
  FROM (SELECT (gmm_components(gmm_fit(x, 2, '{"method": "em", "tol": 1e-12}'))).* FROM faithful) a
  JOIN (SELECT (gmm_components(
    gmm_fit(x, (SELECT gmm_fit(x, 2, '{"method": "em", "max_iter": 1, "seed": 3}') FROM faithful),
    '{"tol": 1e-12}'))).* FROM faithful) b USING (component)$$,
    'a fit in two halves reaches the same optimum');
SELECT same((SELECT parameters(gmm_fit(x, model, '{}', 1)) FROM faithful, begun
  WHERE method = 'vi'),
  (SELECT parameters(gmm_fit(x, model, NULL, 1)) FROM faithful, begun WHERE method = 'vi'),
  'with weights');
-- One component, linked prior: learning in two steps is exact.
SELECT never($$
  WITH prior AS (SELECT i.options->'prior' AS p
    FROM (SELECT gmm_fit(x, 1) AS m FROM faithful WHERE id <= 100) f, bayes_info(m) i),
    first AS (SELECT gmm_fit(x, 1) AS m FROM faithful WHERE id <= 100),
      then_rest AS (SELECT gmm_update(x, (SELECT m FROM first)) AS m FROM faithful WHERE id > 100),
    at_once AS (SELECT gmm_fit(x, 1, jsonb_build_object('prior', (SELECT p FROM prior))) AS m
      FROM faithful)
  SELECT p.component,
    NOT (near(p.alpha, q.alpha) AND near(p.a, q.a) AND near(p.c, q.c) AND near(p.m[1], q.m[1])
    AND near(p.m[2], q.m[2]) AND near(p.b[1][1], q.b[1][1], 1e-8)
    AND near(p.b[1][2], q.b[1][2], 1e-8) AND near(p.b[2][2], q.b[2][2], 1e-8)) AS wrong
  FROM then_rest a, at_once b, gmm_posterior(a.m) p, gmm_posterior(b.m) q$$,
    'update = all rows at once, for one component');
SELECT is((SELECT sum(p.alpha - 1)::numeric(9,4)
  FROM (SELECT gmm_update(x, (SELECT gmm_fit(x, 2) FROM faithful WHERE id <= 100)) AS m
  FROM faithful WHERE id > 100) f, gmm_posterior(m) p), 272.0000,
  'an update counts the old rows too');
SELECT is((SELECT i.rows
  FROM (SELECT gmm_update(x, (SELECT model FROM begun WHERE method = 'vi'), '{"method": "svi"}',
  1) AS m FROM faithful WHERE id <= 3) f, bayes_info(m) i), 3::bigint,
  'fewer new rows than components will do');
SELECT same_rows($$SELECT g, i.rows
  FROM (SELECT id % 3 AS g, gmm_update(x, (SELECT model FROM begun WHERE method = 'vi')) AS m
  FROM faithful GROUP BY 1) f, bayes_info(m) i ORDER BY 1$$, $$SELECT id % 3, count(*) FROM faithful
GROUP BY 1 ORDER BY 1$$, 'groups learn apart');

-- extremes
SELECT throws_like($$SELECT gmm_fit(array_fill(g::float8, '{1600}'), 30)
  FROM generate_series(1, 40) g$$,
  'fitting 30 components of dimension 1600 takes about % MB in addition to the rows, but the '
    'limit is 1024 MB', 'parameters that would fill the memory');
SELECT is((SELECT count(*)
  FROM (SELECT gmm_fit(ARRAY[id], 2, '{"method": "em"}', 1e-300) AS m FROM faithful) f,
  gmm_components(m) c WHERE abs(c.mean[1] - 136.5) > 30), 2::bigint,
  'em does not care about the unit of weights');

SELECT * FROM finish();
