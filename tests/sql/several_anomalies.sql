-- How strange rows are to several models: bayes_anomaly(models, row) and bayes_surprise(models,
-- row). tests/core/several_anomalies_test.cpp has the mathematics. Draws have fixed seeds; the two
-- checks of uniform probabilities have a false-alarm rate of 1e-5 over the choice of a seed.
SELECT plan(28);
\ir ../lib/checks.sql
SET client_min_messages = error;

\ir ../lib/customers.sql

CREATE TABLE detectors AS
SELECT ARRAY[gmm_fit(x, 2), gmm_fit(x, 1), gmm_fit(x, 1, '{"covariance": "diagonal"}')] AS models
FROM faithful;
-- Kolmogorov and Smirnov's distance of probabilities from the uniform distribution.
CREATE FUNCTION gap(p float8[]) RETURNS float8 LANGUAGE sql AS $$
  SELECT max(greatest(i / n - u, u - (i - 1) / n))
  FROM (SELECT u, cardinality(p)::float8 AS n, row_number() OVER (ORDER BY u) AS i
        FROM unnest(p) AS u) AS s $$;

-- ---- a probability ----

SELECT ok(gap(array_agg(bayes_anomaly(models, s.x))) < 2.47 * (1 / sqrt(3000) + 1 / sqrt(10000)),
  'rows of the first model are uniform')
FROM detectors, bayes_sample(models[1], 3000, 5) AS s;
SELECT ok(gap(array_agg(bayes_anomaly(models, ARRAY[NULL, s.x[2]])))
  < 2.47 * (1 / sqrt(3000) + 1 / sqrt(1000)), 'and of what is observed of them')
FROM detectors, bayes_sample(models[1], 3000, 5) AS s;
SELECT ok(count(*) FILTER (WHERE least < 0.1) > 400,
  'the least of three probabilities is not')
FROM (SELECT (SELECT min(anomaly) FROM detectors, bayes_surprise(models, s.x)) AS least
      FROM detectors, bayes_sample(models[1], 3000, 5) AS s) AS s;
SELECT never($$SELECT id, p, p < least OR p > 3 * least + 1e-12 OR p > 1 AS wrong
  FROM detectors, faithful, LATERAL (SELECT bayes_anomaly(models, x) AS p) AS a,
    LATERAL (SELECT min(anomaly) AS least FROM bayes_surprise(models, x)) AS s$$,
  'strange to any is between the least probability and that times the number of models');
SELECT never($$SELECT id, NOT near(bayes_anomaly(models[1:1], x),
    bayes_anomaly(ARRAY[models[1], models[1]], x), 1e-3) AS wrong FROM detectors, faithful$$,
  'one model twice is asked once');
SELECT never($$SELECT id, NOT abs(bayes_anomaly(models[2:2], x) - bayes_anomaly(models[2], x))
    < 0.025 AS wrong FROM detectors, faithful$$,
  'one model of one component alone is as bayes_anomaly of a model');
SELECT is(bayes_anomaly(models, '{NULL,NULL}'::float8[]), 1::float8, 'a row of NULLs has 1')
FROM detectors;
SELECT same_rows($$SELECT bayes_anomaly(models, x) FROM detectors, faithful ORDER BY id$$,
  $$SELECT bayes_anomaly(models, x) FROM detectors, (SELECT * FROM faithful ORDER BY id DESC) AS f
    ORDER BY id$$, 'whichever rows were asked before');
SELECT same_rows($$SELECT bayes_anomaly(CASE WHEN id % 2 = 0 THEN models ELSE models[2:3] END, x)
    FROM detectors, faithful ORDER BY id$$,
  $$SELECT p FROM (SELECT id, bayes_anomaly(models, x) AS p FROM detectors, faithful
      WHERE id % 2 = 0 UNION ALL SELECT id, bayes_anomaly(models[2:3], x) FROM detectors, faithful
      WHERE id % 2 = 1) AS a ORDER BY id$$, 'and whichever models');

-- ---- who found it ----

-- Between the clusters, and in no keeping with the line of all.
SELECT results_eq($$SELECT (SELECT model FROM bayes_surprise(models, x) ORDER BY anomaly, tail
    LIMIT 1) FROM detectors, (VALUES (1, ARRAY[3.0, 50]), (2, ARRAY[1.8, 80])) AS r(i, x)
  ORDER BY i$$, 'VALUES (1), (2)', 'the model that finds it is named');
SELECT is(s.column_name, 'b', 'and the column')
FROM (SELECT ARRAY[gmm_fit(r, 1), gmm_fit(r, 1, '{"covariance": "diagonal"}')] AS models
      FROM faithful, LATERAL (SELECT x[1] AS a, x[2] AS b) AS r) AS m,
  LATERAL (SELECT * FROM bayes_surprise(models[2:2], (SELECT r FROM (SELECT 3.5 AS a, 200 AS b)
    AS r)) ORDER BY anomaly, tail LIMIT 1) AS s;
SELECT results_eq($$SELECT model, element, surprise, tail FROM detectors, faithful,
    bayes_surprise(models[2:3], x) WHERE id = 7 ORDER BY model, element$$,
  $$SELECT i, element, surprise, tail FROM detectors, faithful, generate_series(1, 2) AS i,
    bayes_surprise(models[i + 1], x) WHERE id = 7 ORDER BY i, element$$,
  'a model without rare components says what it says alone');
SELECT is_empty($$SELECT s.* FROM detectors, bayes_surprise(models, '{NULL,NULL}'::float8[]) AS s$$,
  'NULLs are no surprise');

-- ---- components of strange rows ----

CREATE TABLE settled AS
SELECT gmm_fit(x, 3) AS model
FROM (SELECT x FROM faithful UNION ALL SELECT ARRAY[8 + i / 100.0, 20 + i / 10.0]
      FROM generate_series(1, 15) AS i) AS r;
SELECT ok(alone > 0.01 AND left_out < 1e-6 AND usual > 0.05,
  'a component of few rows that are all alike does not make them usual')
FROM settled, LATERAL (SELECT bayes_anomaly(model, ARRAY[8.05, 20.5]) AS alone,
  bayes_anomaly(ARRAY[model], ARRAY[8.05, 20.5]) AS left_out,
  bayes_anomaly(ARRAY[model], ARRAY[4.4, 80]) AS usual) AS a;

-- ---- records, labels, families ----

CREATE TABLE pairs AS
SELECT a.name, b.name AS other, ARRAY[a.model, b.model] AS models
FROM named AS a, named AS b
WHERE a.family IN ('bmm', 'dpmm') AND b.family IN ('bmm', 'dpmm')
  OR a.family = 'gmm' AND b.family = 'gmm' OR a.name = 'nb' AND b.name = 'nb';
SELECT is(count(*), 26::bigint, 'pairs of models of the same columns') FROM pairs;
SELECT never($$SELECT name, other, a.*, NOT (strange < 0.002 AND usual > 0.01 AND usual <= 1
    AND nothing = 1) AS wrong
  FROM pairs, LATERAL (SELECT bayes_anomaly(models, c) AS usual,
    bayes_anomaly(models, (SELECT r FROM (SELECT c.age, c.plan, c.member, 5000 AS spend, c.visits)
      AS r)) AS strange, bayes_anomaly(models, (SELECT r FROM (SELECT NULL::int AS age) AS r))
      AS nothing FROM customers AS c WHERE id = 1) AS a$$, 'strange rows are found');
SELECT never($$SELECT p, NOT (p >= 0.003 AND p < 0.2) AS wrong
  FROM (SELECT bayes_anomaly(ARRAY[model, model], (SELECT r FROM (SELECT 'gold' AS plan) AS r)) AS p
        FROM named WHERE name = 'bmm vi') AS a$$,
  'a label that the models do not know is as probable as such labels are');

-- ---- what is refused ----

CREATE FUNCTION refused(models text, x text, state text, message text, name text) RETURNS text
LANGUAGE sql AS $$
  SELECT throws_ok(format('SELECT bayes_anomaly(%s, %s) FROM detectors', models, x), state, message,
    name) $$;
SELECT refused('''{}''::bayes_model[]', 'ARRAY[1.0, 2]', '22023',
  'an array of models without a model', 'no models');
SELECT is(bayes_anomaly(ARRAY[models[1], NULL], ARRAY[3.0, 70]), NULL, 'NULL if a model is')
FROM detectors;
SELECT is(bayes_anomaly(NULL::bayes_model[], ARRAY[3.0, 70]), NULL, 'or all of them');
SELECT is_empty($$SELECT s.* FROM detectors,
  bayes_surprise(ARRAY[NULL, models[1]], ARRAY[3.0, 70]) AS s$$, 'which is no surprise');
SELECT refused('models', 'ARRAY[1.0, 2, 3]', '2202E', NULL, 'a row of another length');
SELECT refused('ARRAY[models[1], model_of(''iris'')]', 'ARRAY[1.0, 2]', '22023',
  'models of different columns', 'models of other numbers of columns');
SELECT refused('ARRAY[models[1], model_of(''gmm vi'')]', 'ARRAY[1.0, 2]', '22023',
  'models of different columns', 'of named columns and of arrays');
SELECT throws_ok($$SELECT bayes_anomaly(ARRAY[gmm_fit(r, 1), gmm_fit(s, 1)],
    (SELECT r FROM (SELECT 30 AS age) AS r))
  FROM customers AS c, LATERAL (SELECT c.age, c.visits) AS r,
    LATERAL (SELECT c.age, c.spend) AS s$$, '22023', 'models of different columns',
  'of other names');
SELECT refused('ARRAY[models[1], (SELECT linreg_fit(x[1], x[2:2]) FROM faithful)]',
  'ARRAY[1.0, 2]', '42804', NULL, 'a model that is no distribution over rows');
SELECT throws_ok($$SELECT bayes_anomaly(ARRAY[gmm_fit(r, 1), bmm_fit(r, 1, '{"likelihood":
    {"visits": "poisson"}}')], (SELECT r FROM (SELECT 30 AS age, 2 AS visits) AS r))
  FROM customers, LATERAL (SELECT age, visits) AS r$$, '22023',
  'rows of model 1 cannot be rows of model 2', 'counts of a model whose rows have fractions');
SELECT lives_ok($$SELECT bayes_anomaly(ARRAY[bmm_fit(r, 1, '{"likelihood": {"visits":
    "poisson"}}'), gmm_fit(r, 1)], (SELECT r FROM (SELECT 30 AS age, 2 AS visits) AS r))
  FROM customers, LATERAL (SELECT age, visits) AS r$$, 'the other way round they are numbers');

SELECT finish();
