-- Logistic and probit regression from SQL: the interface, rows of every kind, coefficients against
-- published ones, predictions, missing values, plans, and errors.
SELECT plan(70);
\ir ../lib/checks.sql
SET client_min_messages = error;

-- ---- published coefficients: birth weights (Venables and Ripley; glm of R) ----

CREATE TYPE mother AS (age float8, lwt float8, race text, smoke boolean, ptl int, ht int, ui int,
  ftv int);
CREATE VIEW births AS SELECT low, ROW(age, lwt, race, smoke = 1, ptl, ht, ui, ftv)::mother AS b
FROM birthwt;
CREATE TABLE flat AS SELECT
  logreg_fit(low, b, '{"prior": {"c": 1e6, "c_intercept": 1e6}}') AS logit,
  probit_fit(low = 1, b, '{"prior": {"lambda": 1e-6, "lambda_intercept": 1e-6}}') AS probit
FROM births;
SELECT results_eq($$SELECT term, round(mean::numeric, 3), round(sd::numeric, 3)
  FROM flat, bayes_coefficients(logit)$$, $$VALUES
  ('(intercept)', 0.481, 1.197), ('age', -0.030, 0.037), ('lwt', -0.015, 0.007),
  ('race=2', 1.272, 0.527), ('race=3', 0.880, 0.441), ('smoke', 0.939, 0.402),
  ('ptl', 0.543, 0.345), ('ht', 1.863, 0.698), ('ui', 0.768, 0.459), ('ftv', 0.065, 0.172)$$,
  'those of glm as the prior flattens');
SELECT ok(abs(log_likelihood + 100.642) < 0.001, 'its deviance of 201.28, too')
FROM flat, bayes_info(logit);
SELECT ok(bool_and(abs(p.mean - l.mean * 0.6) < 0.1 * abs(l.mean) + 0.05),
  'those of the probit are about 0.6 as large')
FROM flat, bayes_coefficients(logit) AS l JOIN LATERAL
  (SELECT * FROM flat, bayes_coefficients(probit)) AS p USING (term) WHERE term <> '(intercept)';

-- ---- what bayes_info and bayes_columns say ----

CREATE TABLE models AS SELECT logreg_fit(low, b) AS model FROM births;
SELECT is((i.family, i.method, i.rows, i.skipped, i.dimension, i.components, i.converged,
  i.parameters, i.observations), ('logreg'::text, 'laplace'::text, 189::bigint, 0::bigint, 8, 1,
  true, 10::float8, 189::float8), 'bayes_info') FROM models, bayes_info(model) AS i;
SELECT is(options, '{"tol": 1e-10, "seed": 1, "prior": {"c": 6.25, "c_intercept": 100.0}, "method":
  "laplace", "missing": "skip", "max_iter": 10000, "on_error": "error", "intercept": true,
  "reference": {"race": "1"}, "standardize": true}'::jsonb, 'options in force')
FROM models, bayes_info(model);
SELECT ok(abs(bic - (-2 * log_likelihood + 10 * ln(189))) < 1e-9, 'bic') FROM models,
  bayes_info(model);
SELECT is(string_agg(DISTINCT name, ' ' ORDER BY name), 'age ftv ht lwt ptl race smoke ui',
  'bayes_columns') FROM models, bayes_columns(model);
SELECT ok(count(*) > 3 AND max(objective) = (array_agg(objective ORDER BY iteration DESC))[1],
  'the trace rises') FROM models, bayes_trace(model);
SELECT ok((model::text::bayes_model) = model AND (model::jsonb::bayes_model) = model,
  'text and jsonb read back to the same model') FROM models;

-- ---- predictions ----

SELECT ok(p.mean BETWEEN p.lower AND p.upper AND p.sd > 0
  AND p.mean = (bayes_probabilities(model, b))[2],
  'a prediction') FROM models, births, logreg_predict(model, b) AS p LIMIT 1;
SELECT is((SELECT count(*) FROM models, births, logreg_predict(model, b, 0.5) AS half,
    logreg_predict(model, b, 0.99) AS most
  WHERE most.lower < half.lower AND half.lower < half.mean AND half.upper < most.upper
    AND half.mean = most.mean), 189::bigint, 'intervals of several levels');
SELECT ok(abs(sum((bayes_probabilities(model, b))[2]) - sum(low)) < 1.5,
  'probabilities add up to about the number of cases') FROM models, births;
SELECT is((bayes_probabilities(model, r))[2], (bayes_probabilities(model, s))[2],
  'columns go by their names')
FROM models, (SELECT 30 AS age, 120 AS lwt, '2' AS race, true AS smoke, 0 AS ptl, 0 AS ht, 1 AS ui,
    1 AS ftv) AS r, (SELECT 1 AS ftv, 1 AS ui, 0 AS ht, 0 AS ptl, true AS smoke, '2' AS race,
    120 AS lwt, 30 AS age, 'more' AS other) AS s;
SELECT is((bayes_probabilities(model, r))[2], NULL, 'a label that the model does not know')
FROM models, (SELECT 30 AS age, 120 AS lwt, '4' AS race, true AS smoke, 0 AS ptl, 0 AS ht, 1 AS ui,
    1 AS ftv) AS r;
SELECT is(logreg_predict(model, r), NULL, 'a NULL')
FROM models, (SELECT 30 AS age, NULL::int AS lwt, '1' AS race, true AS smoke, 0 AS ptl, 0 AS ht,
    1 AS ui, 1 AS ftv) AS r;
CREATE TABLE strict AS SELECT logreg_fit(low, b, '{"missing": "error"}') AS model
FROM (SELECT low, r AS b FROM birthwt, LATERAL (SELECT age, race::text AS race) AS r) AS b;
SELECT throws_ok($$SELECT (bayes_probabilities(model, r))[2] FROM strict,
  (SELECT 30 AS age, '4' AS race) AS r$$, '22023', NULL, 'is an error if the fit was told so');
SELECT throws_ok($$SELECT (bayes_probabilities(model, r))[2] FROM strict,
  (SELECT NULL::int AS age, '1' AS race) AS r$$, '22004', NULL, 'so is a NULL');

-- ---- rows ----

CREATE TABLE t AS SELECT i, (i * 7919 % 101) / 25.0 - 2 AS a, (i * 104729 % 97) / 20.0 AS b,
  (i * 7919 % 101) / 25.0 - 2 + (i * 31 % 59) / 10.0 > 3 AS y, 1 + i % 3 AS w
FROM generate_series(1, 500) AS i;
CREATE FUNCTION said(model bayes_model) RETURNS text LANGUAGE sql RETURN
  (SELECT string_agg(round(mean::numeric, 9)::text || ' ' || round(sd::numeric, 9)::text, ' ')
   FROM bayes_coefficients(model));
SELECT is(said(logreg_fit(y, r)), said(logreg_fit(y::int, ARRAY[t.a, t.b])),
  'records of numbers and arrays, booleans and numbers')
FROM t, LATERAL (SELECT a, b) AS r;
SELECT is(said(logreg_fit(y, a)), said(logreg_fit(y::int::numeric, ARRAY[a])), 'a single number')
FROM t;
SELECT is(said(logreg_fit(y, ARRAY[a, b], NULL, w)), (SELECT said(logreg_fit(y, ARRAY[a, b]))
  FROM t, generate_series(1, w)), 'a weight is how often a row counts') FROM t;
SELECT is(said(logreg_fit(y, ARRAY[a, b] ORDER BY i)), said(logreg_fit(y, ARRAY[a, b] ORDER BY b)),
  'their order is nothing') FROM t;
SELECT is((i.rows, i.skipped), (400::bigint, 100::bigint), 'rows with a NULL are counted')
FROM (SELECT logreg_fit(CASE WHEN i % 10 > 0 THEN y END, ARRAY[a, CASE WHEN i % 10 <> 5 THEN b END])
      AS m FROM t) AS f, bayes_info(m) AS i;
SELECT is(logreg_fit(y, a), NULL, 'no rows') FROM t WHERE i < 0;
SET client_min_messages = error;
SELECT is(logreg_fit(NULL::boolean, a), NULL, 'no responses') FROM t;
SELECT is(probit_fit(y, ROW(a, NULL::float8)), NULL, 'no complete rows') FROM t;
RESET client_min_messages;
SELECT ok(abs(mean - ln(4)) < 0.01 AND term = '(intercept)' AND parameters = 1,
  'without a column that varies')
FROM (SELECT logreg_fit(i % 5 > 0, 0.0) AS m FROM t) AS f, bayes_coefficients(m), bayes_info(m)
LIMIT 1;
SELECT ok(abs(p - 0.8) < 0.001, 'without a column')
FROM (SELECT logreg_fit(i % 5 > 0, '{}'::float8[]) AS m FROM t) AS f,
  unnest((bayes_probabilities(m, '{}'::float8[]))[2:]) AS p;
SET plan_cache_mode = force_generic_plan;  -- another plan would have a copy of it
SELECT lives_ok($$DO $do$
DECLARE none float8[] := '{}'; p float8;
BEGIN
  SELECT (bayes_probabilities(logreg_fit(i % 5 > 0, none), none))[2] INTO p FROM t;
  ASSERT abs(p - 0.8) < 0.001;
END $do$ $$, 'nor one in an array that is a variable of PL/pgSQL');
RESET plan_cache_mode;
SELECT throws_ok($$SELECT logreg_fit(y, CASE WHEN i = 9 THEN ARRAY[a] ELSE '{}' END) FROM t$$,
  '2202E', NULL, 'but then in no row');
SELECT throws_ok($$SELECT logreg_fit(y, CASE WHEN i = 9 THEN '{}' ELSE ARRAY[a] END) FROM t$$,
  '2202E', NULL, 'or in every row');
SELECT is(count(*), 2::bigint, 'without an intercept')
FROM (SELECT logreg_fit(y, ARRAY[a, b], '{"intercept": false}') AS m FROM t) AS f,
  bayes_coefficients(m);

-- ---- methods of the probit ----

CREATE TABLE probits AS SELECT method, probit_fit(y, ARRAY[a, b], o) AS m FROM t,
  (VALUES ('laplace', '{}'::jsonb), ('em', '{"method": "em"}'), ('vi', '{"method": "vi"}'),
    ('gibbs', '{"method": "gibbs", "draws": 600, "chains": 2}')) AS v(method, o) GROUP BY method;
SELECT ok(bool_and(abs(c.mean - l.mean) < 0.5 * l.sd), 'all agree on the coefficients')
FROM probits, bayes_coefficients(m) AS c JOIN LATERAL
  (SELECT * FROM probits AS p, bayes_coefficients(p.m) WHERE p.method = 'laplace') AS l
  USING (term);
SELECT is(string_agg(DISTINCT method, ' '), 'em', 'em has no deviations')
FROM probits, bayes_coefficients(m) WHERE sd IS NULL;
SELECT is(string_agg(DISTINCT quantity, ' ' ORDER BY quantity),
  '(intercept) log_joint log_likelihood x1 x2', 'draws of the coefficients')
FROM probits, bayes_draws(m) WHERE method = 'gibbs';
SELECT is((draws, stored_draws), (600::bigint, 500::bigint), 'some of which are stored')
FROM probits, bayes_info(m) AS i WHERE i.method = 'gibbs';
SELECT is(probit_predict(m, ARRAY[0, 1]), ((bayes_probabilities(m, ARRAY[0, 1]))[2], NULL, NULL,
  NULL)
  ::bayes_probability, 'a prediction by a point') FROM probits WHERE method = 'em';

-- ---- what a NaN is in a prediction, and a NULL ----

CREATE TABLE number AS SELECT logreg_fit(y, t.a) AS l, probit_fit(y, t.a) AS p,
  logreg_fit(y, ARRAY[t.a, t.b]) AS arrays, logreg_fit(y, r) AS record,
  logreg_fit(y, t.a, '{"missing": "error"}') AS strict, linreg_fit(t.b, t.a) AS linear
FROM t, LATERAL (SELECT a, b) AS r;
CREATE FUNCTION said_by(expression text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE answer text;
BEGIN
  EXECUTE 'SELECT (' || expression || ')::text FROM number' INTO answer;
  RETURN answer;
EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE || ' ' || SQLERRM;
END$$;
SELECT is(said_by(expression), said, expression) FROM (VALUES
  ('(bayes_probabilities(l, ''NaN''::float8))[2]', '22023 x is NaN'),
  ('probit_predict(p, ''-Infinity''::float8)', '22023 x is -Infinity'),
  ('linreg_predict(linear, ''NaN''::float8)', '22023 x is NaN'),
  ('linreg_predict(linear, 1e300)', '22003 x is 1e+300, too large to compute with'),
  ('logreg_predict(arrays, ''{1,NaN}''::float8[])', '22023 element 2 of the array is NaN'),
  ('logreg_predict(arrays, ''{1,NULL}''::float8[])', NULL),
  ('(bayes_probabilities(arrays, ''{NULL,Infinity}''::float8[]))[2]', NULL),
  ('logreg_predict(record, (SELECT r FROM (SELECT 1 AS a, ''NaN''::float4 AS b) AS r))',
    '22023 column "b" is NaN'),
  ('logreg_predict(record, (SELECT r FROM (SELECT 1 AS a, NULL::float4 AS b) AS r))', NULL),
  ('(bayes_probabilities(strict, ARRAY[NULL]::float8[]))[2]',
  '22004 element 1 of the array is NULL')
) AS v(expression, said);

-- ---- plans ----

CREATE TABLE large AS SELECT i, (i * 7919 % 10007) / 5000.0 AS a, chr(97 + i % 5) AS c,
  (i * 7919 % 10007) + (i * 31 % 7919) > 9000 AS y FROM generate_series(1, 20000) AS i;
ANALYZE large;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
CREATE FUNCTION plan_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS
  $$BEGIN RETURN QUERY EXECUTE 'EXPLAIN (COSTS off) ' || query; END$$;
SELECT ok(bool_or(line LIKE '%Partial Aggregate%'), 'rows are collected by parallel workers')
FROM plan_of('SELECT logreg_fit(y, r) FROM (SELECT y, ROW(a, c) AS r FROM large) AS l') AS line;
CREATE TABLE two AS SELECT logreg_fit(y, r) AS m FROM (SELECT y, ROW(a, c) AS r FROM large) AS l;
SET max_parallel_workers_per_gather = 0;
INSERT INTO two SELECT logreg_fit(y, r) FROM (SELECT y, ROW(a, c) AS r FROM large ORDER BY c) AS l;
SELECT is(count(DISTINCT said(m)), 1::bigint, 'with the same result') FROM two;
SELECT is(count(DISTINCT m::jsonb - 'seconds'), 1::bigint, 'to the last bit') FROM two;

-- ---- errors ----

SELECT throws_ok($$SELECT logreg_fit('yes'::text, a) FROM t$$, '42804', NULL, 'a text');
SELECT throws_ok($$SELECT logreg_fit(i, a) FROM t$$, '22023', NULL, 'a number that is neither');
SELECT throws_ok($$SELECT logreg_fit(y, ARRAY[a, 'NaN']) FROM t$$, '22023', NULL, 'a NaN');
SELECT throws_ok($$SELECT logreg_fit(y, ARRAY[a, 'Infinity']) FROM t$$, '22023', NULL, 'infinity');
SELECT throws_ok($$SELECT logreg_fit(y, ARRAY[a, NULL], '{"missing": "error"}') FROM t$$, '22004',
  NULL, 'a NULL');
SELECT throws_ok($$SELECT logreg_fit(NULL::boolean, a, '{"missing": "error"}') FROM t$$, '22004',
  NULL, 'a NULL response');
SELECT throws_ok($$SELECT logreg_fit(y, CASE WHEN i > 3 THEN ARRAY[a] ELSE ARRAY[a, b] END) FROM
  t$$, '2202E', NULL, 'rows of different length');
SELECT throws_ok($$SELECT logreg_fit(y, r) FROM (SELECT i % 2 = 0 AS y, ROW(i::text) AS r
  FROM generate_series(1, 100000) AS i) AS s$$, '54000', NULL, 'too many labels');
SELECT throws_ok($$SELECT logreg_fit(y, a, '{"method": "vi"}') FROM t$$, '22023', NULL,
  'a method of the other family');
SELECT throws_ok($$SELECT logreg_fit(y, a, '{"prior": {"lambda": 2}}') FROM t$$, '22023', NULL,
  'a key of the other family');
SELECT throws_ok($$SELECT probit_fit(y, a, '{"method": "gibbs", "draws": 10}', 2) FROM t$$, '22023',
  NULL, 'weights of a sampler');
SELECT throws_ok($$SELECT logreg_predict(m, 1.0) FROM probits$$, '42804', NULL,
  'a model of another family');
SELECT throws_ok($$SELECT logreg_predict(model, b, 1) FROM models, births$$, '22023', NULL,
  'a level');
SELECT ok(finite, 'weights of which the smaller are lost') FROM (
  SELECT bool_and(mean BETWEEN -1e6 AND 1e6) AS finite
  FROM (SELECT logreg_fit(i > 500, a, NULL, CASE WHEN i < 498 THEN 1 ELSE 1e150 END) AS m FROM t)
    AS f, bayes_coefficients(m)) AS all_of_them;
SELECT ok(bool_and(mean BETWEEN -1e6 AND 1e6), 'of a probit too')
FROM (SELECT probit_fit(i > 100, a, NULL, CASE WHEN i < 498 THEN 1 ELSE 1e150 END) AS m FROM t)
  AS f, bayes_coefficients(m);

-- ---- draws of the logistic regression ----

CREATE TABLE drawn AS SELECT name, logreg_fit(i > 3, i - 3.5, options::jsonb) AS m
  FROM generate_series(1, 6) AS i, (VALUES ('laplace', '{"intercept": false}'),
    ('gibbs', '{"intercept": false, "method": "gibbs", "seed": 5}')) AS f(name, options)
  GROUP BY name;
SELECT is((SELECT draws FROM drawn, bayes_info(m) WHERE name = 'gibbs'), 2000::bigint,
  'logreg has draws');
-- All rows are on their side of 0, so that the prior alone bounds the slope.
SELECT never($$SELECT g.mean, l.mean AS mode, NOT (g.mean > l.mean + 0.1 * l.sd
    AND g.mean - g.lower < g.upper - g.mean AND g.lower > 0) AS wrong
  FROM drawn AS a, bayes_coefficients(a.m) AS g, drawn AS b, bayes_coefficients(b.m) AS l
  WHERE a.name = 'gibbs' AND b.name = 'laplace'$$, 'a skewed posterior is drawn as it is');
SELECT never($$SELECT p, NOT (near(p.mean, ((bayes_probabilities(m, 2))[2]), 1e-12)
    AND p.lower < p.mean AND p.mean < p.upper) AS wrong
  FROM drawn, logreg_predict(m, 2) AS p WHERE name = 'gibbs'$$,
  'predictions are averages of draws');

-- ---- probabilities that underflow ----

CREATE TABLE far AS SELECT i, sin(i * i) AS x, sin(i * i) + sin(i) > 0 AS y
FROM generate_series(1, 300) AS i UNION ALL SELECT 0, -3000, true;
SELECT never($$SELECT fit, NOT (abs((s).log_density) < 1e6 AND abs((d).log_density) < 1e6) AS wrong
  FROM (SELECT m.fit, bayes_score(model, y, ARRAY[x]) AS s,
      bayes_score_difference(model, other, y, ARRAY[x]) AS d
    FROM (SELECT 'logreg' AS fit, logreg_fit(y, x) AS model,
        logreg_fit(y, x, '{"prior": {"c": 1}}') AS other FROM far WHERE i > 0
      UNION ALL SELECT 'logreg gibbs', logreg_fit(y, x, '{"method": "gibbs", "draws": 100}'),
        logreg_fit(y, x) FROM far WHERE i > 0
      UNION ALL SELECT method, probit_fit(y, x, jsonb_build_object('method', method)),
        probit_fit(y, x) FROM far, unnest('{laplace,em,vi}'::text[]) AS method WHERE i > 0
        GROUP BY method) AS m, far GROUP BY 1) AS f$$, 'scores are finite');
SELECT is((SELECT (bayes_info(logreg_fit(y, x, '{"method": "gibbs", "draws": 100}'))).objective
  FROM far WHERE i > 0), NULL, 'draws have no evidence');
SELECT throws_ok('SELECT logreg_fit(1 + i % 2, sin(i)) FROM generate_series(1, 9) AS i', '22023',
  'the response of row 1 is 2', 'a response of 1 and 2');
SELECT * FROM finish();
