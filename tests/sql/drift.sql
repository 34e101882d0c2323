-- bayes_drift: a model keeps what it needs of its rows; drift is found where there is some, and
-- hardly ever where there is none. (That p is uniform is tested in tests/core/drift_test.cpp.)
SELECT plan(41);
\ir ../lib/checks.sql
\ir ../lib/errors.sql
SET client_min_messages = error;

-- Pseudo-random numbers named by row and column, the same on every version.
CREATE FUNCTION u(id bigint, stream int) RETURNS float8 IMMUTABLE
  RETURN ((hashint8extended(id, stream) & ((1::bigint << 52) - 1)) + 0.5) / 2.0 ^ 52;
CREATE FUNCTION normal(id bigint, stream int) RETURNS float8 IMMUTABLE
  RETURN sqrt(-2 * ln(u(id, stream))) * cos(2 * pi() * u(id, stream + 1000));
CREATE TABLE rows AS
SELECT id, normal(id, 1) + CASE WHEN u(id, 2) < 0.3 THEN 4 ELSE 0 END AS a,
  normal(id, 3) * 2 + 1e6 AS b, floor(-3 * ln(u(id, 4))) AS n, u(id, 5) < 0.2 AS flag,
  CASE WHEN u(id, 6) < 0.9 THEN (ARRAY['x', 'y', 'y', 'z'])[1 + floor(4 * u(id, 7))::int] END
    AS label
FROM generate_series(1, 20000) AS id;
CREATE VIEW fitted AS SELECT a, b, n, flag, label FROM rows WHERE id <= 10000;
CREATE VIEW later AS SELECT a, b, n, flag, label FROM rows WHERE id > 10000;

CREATE TABLE models (family text, model bayes_model);
INSERT INTO models SELECT 'bmm', bmm_fit(f, 2, '{"likelihood": {"n": "geometric"}}')
  FROM fitted AS f;
INSERT INTO models SELECT 'gmm', gmm_fit(f, 2) FROM (SELECT a, b FROM fitted) AS f;
INSERT INTO models SELECT 'dpmm', dpmm_fit(f, '{"method": "vi"}')
  FROM (SELECT a, b FROM fitted LIMIT 2000) AS f;
INSERT INTO models SELECT 'nb', nb_fit(flag, f)
  FROM (SELECT a, b, n, label, flag FROM fitted) AS t, LATERAL (SELECT a, b, n, label) AS f;
INSERT INTO models SELECT 'linreg', linreg_fit(n, f)
  FROM fitted AS t, LATERAL (SELECT a, flag, coalesce(label, 'none') AS label) AS f;
INSERT INTO models SELECT 'logreg', logreg_fit(flag, f)
  FROM fitted AS t, LATERAL (SELECT a, b) AS f;
INSERT INTO models SELECT 'probit', probit_fit(flag, f)
  FROM fitted AS t, LATERAL (SELECT a, b) AS f;

-- ---- every family that takes rows ----

CREATE VIEW drifts AS SELECT family, d.* FROM models,
  LATERAL (SELECT bayes_drift(model, l) AS drifts
    FROM (SELECT a, b, n, flag, CASE WHEN family = 'linreg' THEN coalesce(label, 'none')
      ELSE label END AS label FROM later) AS l) AS x, unnest(x.drifts) AS d;
CREATE TABLE none AS SELECT * FROM drifts;
SELECT results_eq($$SELECT family, count(*), string_agg(column_name, ' ' ORDER BY element),
    bool_and((element IS NULL) = (column_name IS NULL)), min(rows), max(rows)
  FROM none GROUP BY 1 ORDER BY 1$$,
  $$VALUES ('bmm', 6::bigint, 'a b n flag label', true, 10000::bigint, 10000::bigint),
    ('dpmm', 3, 'a b', true, 10000, 10000), ('gmm', 3, 'a b', true, 10000, 10000),
    ('linreg', 4, 'a flag label', true, 10000, 10000), ('logreg', 3, 'a b', true, 10000, 10000),
    ('nb', 5, 'a b n label', true, 10000, 10000), ('probit', 3, 'a b', true, 10000, 10000)$$,
  'one row for whole rows, and one for each column');
SELECT never('SELECT *, NOT (p > 0.001) AS wrong FROM none WHERE element IS NOT NULL',
  'there is no drift in any column');
SELECT never('SELECT *, NOT (distance > 0 AND distance < 0.06) AS wrong FROM none
  WHERE element IS NOT NULL', 'the distance is small');
SELECT never($$SELECT *, coalesce(NOT (p > 0.001 AND abs(z) < 3.3
    AND sign(z) = sign(log_density - log_density_fit) AND distance < 0.06),
    family !~ 'linreg|logreg|probit') AS wrong FROM none WHERE element IS NULL$$,
  'nor of whole rows, except for regressions, which have no density');
SELECT never($$SELECT *, log_density IS NOT NULL OR log_density_fit IS NOT NULL AS wrong FROM none
  WHERE element IS NOT NULL OR family ~ 'linreg|logreg|probit'$$,
  'columns have no log density of their own');
SELECT never($$SELECT n.*, NOT near(n.log_density, (SELECT avg(bayes_log_density(model, l))
    FROM models AS m, later AS l WHERE m.family = n.family), 1e-12) AS wrong
  FROM none AS n WHERE element IS NULL AND family IN ('gmm', 'bmm')$$,
  'log_density is the mean of bayes_log_density');
SELECT never($$SELECT *, NOT near(nulls, (SELECT avg((label IS NULL)::int) FROM later), 1e-12)
    OR NOT abs(nulls_fit - 0.1) < 0.03 AS wrong
  FROM none WHERE family = 'bmm' AND (column_name = 'label' OR element IS NULL)$$,
  'shares of NULLs');
SELECT never($$SELECT *, (unknown IS NOT NULL) <> (family IN ('bmm', 'nb', 'linreg')
    AND coalesce(column_name = 'label', true)) OR coalesce(unknown <> 0, false) AS wrong
  FROM none$$,
  'unknown labels, where there are labels');

-- ---- a shift of a fifth of a standard deviation, in one column ----

CREATE OR REPLACE VIEW later AS
SELECT a, b + 0.4 AS b, n, flag, label FROM rows WHERE id > 10000;
CREATE TABLE shifted AS SELECT * FROM drifts;
SELECT results_eq($$SELECT DISTINCT ON (family) family, column_name FROM shifted
  WHERE element IS NOT NULL AND family <> 'linreg' ORDER BY family, p$$,
  $$VALUES ('bmm', 'b'), ('dpmm', 'b'), ('gmm', 'b'), ('logreg', 'b'), ('nb', 'b'),
    ('probit', 'b')$$, 'it is named');
SELECT never($$SELECT *, NOT (p < 1e-4 AND z > 3.5) AS wrong FROM shifted
  WHERE column_name = 'b'$$, 'and beyond doubt');
SELECT never($$SELECT s.*, (s.p, s.distance) IS DISTINCT FROM (n.p, n.distance) AS wrong
  FROM shifted AS s JOIN none AS n USING (family, column_name) WHERE column_name <> 'b'$$,
  'the other columns are what they were');

-- ---- unknown labels, NULLs, constants ----

CREATE OR REPLACE VIEW later AS
SELECT CASE WHEN id % 8 > 0 THEN a END AS a, b, n, true AS flag,
  CASE WHEN id % 4 = 0 THEN 'new' ELSE label END AS label FROM rows WHERE id > 19800;
CREATE TABLE news AS SELECT * FROM drifts;
SELECT never($$SELECT *, NOT near(unknown, 0.25) OR NOT p < 1e-9 AS wrong FROM news
  WHERE column_name = 'label' AND family = 'bmm'$$, 'labels that the model does not know');
SELECT never($$SELECT *, NOT near(nulls, 0.125) OR nulls_fit <> 0 OR NOT p < 1e-6 AS wrong
  FROM news WHERE column_name = 'a' AND family = 'bmm'$$, 'NULLs where there were none');
SELECT never($$SELECT *, nulls_fit IS NOT NULL OR NOT p > 0.001 AS wrong FROM news
  WHERE column_name = 'a' AND family = 'logreg'$$,
  'but not where the fit leaves out rows with a NULL');
SELECT never($$SELECT *, NOT p < 1e-9 AS wrong FROM news WHERE column_name = 'flag'$$,
  'a flag that is always set');

-- ---- few rows ----

CREATE TABLE few AS
SELECT given, d.* FROM models, unnest(ARRAY[1, 5, 20]) AS given, LATERAL (SELECT
    bayes_drift(model, l) AS drifts FROM (SELECT a, b, n, flag, label FROM rows
      WHERE id > 20000 - given) AS l) AS x, unnest(x.drifts) AS d
WHERE family = 'bmm';
SELECT never('SELECT *, coalesce(p < 0.001, false) AS wrong FROM few',
  'a few rows are no reason for an alarm');
SELECT never($$SELECT *, (p IS NULL) <> (given < 10) AS wrong FROM few
  WHERE column_name IN ('a', 'b')$$, 'too few rows have no p');

-- ---- far beyond ----

CREATE TABLE further AS SELECT shift, (d).* FROM unnest('{0.2,0.3,0.5,1,2,3}'::float8[])
    AS shift, LATERAL (SELECT unnest(bayes_drift(model, l)) AS d FROM models,
      (SELECT a + shift AS a, b FROM rows WHERE id > 10000) AS l WHERE family = 'gmm') AS t
WHERE (d).element = 1;
SELECT never($$SELECT shift, p, z, NOT z > lag(z, 1, 0) OVER (ORDER BY shift) AS wrong
  FROM further$$,
  'z grows with a shift, also where p does not differ from 0');
SELECT is((SELECT p FROM further WHERE shift = 3), 0::float8, 'which it comes to');
SELECT never($$SELECT d.*, NOT (p BETWEEN 0 AND 1) OR z IS NULL OR z = 'NaN' AS wrong
  FROM unnest((SELECT bayes_drift(model, l) FROM models, (SELECT CASE id WHEN 20000 THEN 1e99
    ELSE a END AS a, b FROM rows WHERE id > 19000) AS l WHERE family = 'gmm')) AS d$$,
  'one number that is far from all others');

-- ---- what is no row, and whose rows they are ----

SELECT is((SELECT bayes_drift(model, l) FROM later AS l, models WHERE false), NULL, 'no rows');
SELECT is((SELECT bayes_drift(NULL, l) FROM later AS l), NULL, 'no model');
SELECT is((SELECT (bayes_drift(model, CASE WHEN i > 3 THEN ARRAY[1.5, i] END))[1].rows
  FROM models, generate_series(1, 10) AS i WHERE family = 'gmm'), 7::bigint,
  'rows that are NULL are left out');
SELECT is(whole_complaint('SELECT bayes_drift(model, l) FROM models, later AS l
  WHERE family IN (''gmm'', ''dpmm'')'),
  '22023 the rows have different models | Group the rows by the model: GROUP BY model.',
  'rows of several models');
SELECT is((SELECT string_agg(family, ' ' ORDER BY family) FROM (SELECT family,
    bayes_drift(model, l) AS d FROM models, (SELECT a, b FROM later) AS l
    WHERE family IN ('gmm', 'logreg') GROUP BY family, model) AS g WHERE d IS NOT NULL),
  'gmm logreg', 'but one group for each');
SELECT is(complaint('SELECT bayes_drift(hmm, ARRAY[1]) FROM (SELECT hmm_fit(ARRAY[1, 2, 1, 1, 2,
    2], 2) AS hmm) AS m'),
  '42804 a model of family hmm takes sequences, not rows of columns', 'families without rows');
SELECT is(whole_complaint('SELECT bayes_drift((model::jsonb - ''row_reference'')::bayes_model, l)
  FROM models, later AS l WHERE family = ''gmm'''),
  '22023 the model keeps nothing of the rows of its fit | Models that were merged or updated, '
  'made by bayes_condition, or stored by an earlier version, do not; nor do linear and naive Bayes '
  'models of statistics, of many rows with weights, and models that predict a response or label '
  'from more than 256 columns. | Fit it again to all of its rows, with fewer columns or without '
  'weights.',
  'models without a reference');
SELECT is(complaint('SELECT bayes_drift(m, ARRAY[a, b]) FROM (SELECT bayes_rollup(m) AS m FROM
    (SELECT nb_fit(flag, ARRAY[a, b]) AS m FROM fitted GROUP BY n > 2) AS g) AS r, later AS l'),
  '22023 the model keeps nothing of the rows of its fit', 'merged ones');
SELECT is(complaint('SELECT bayes_drift(m, ARRAY[a]) FROM (SELECT linreg_fit(linreg_stats(b,
    ARRAY[a])) AS m FROM fitted) AS r, later'),
  '22023 the model keeps nothing of the rows of its fit', 'those of statistics');
SELECT is(complaint('SELECT bayes_drift(m, ARRAY[a, b]) FROM (SELECT nb_update(flag,
    ARRAY[a, b], (SELECT nb_fit(flag, ARRAY[a, b]) FROM fitted)) AS m FROM fitted) AS r, later'),
  '22023 the model keeps nothing of the rows of its fit', 'and updates');

-- ---- the reference ----

SELECT never($$SELECT family, (model::jsonb->'row_reference'->>'rows')::float8 <> CASE family
    WHEN 'dpmm' THEN 2000 ELSE 2048 END AS wrong FROM models$$, 'is of a sample');
SELECT never($$SELECT family, model <> (model::text)::bayes_model
    OR model <> (model::jsonb)::bayes_model AS wrong FROM models$$, 'is read as it was written');
SELECT same((SELECT gmm_fit(f, 2, '{"max_iter": 3}')::jsonb->'row_reference' FROM
    (SELECT a, b FROM fitted ORDER BY b) AS f),
  (SELECT gmm_fit(f, 2, '{"max_iter": 3}')::jsonb->'row_reference' FROM
    (SELECT a, b FROM fitted ORDER BY a) AS f), 'does not depend on the order of rows');
SELECT never($$SELECT k, NOT (model::jsonb ? 'row_reference') AS wrong
  FROM gmm_select('SELECT a, b FROM fitted LIMIT 500', ARRAY[1, 2], '{"models": true}')$$,
  'models of a selection have one');
SELECT is((SELECT gmm_fit(x, 1, '{"covariance": "diagonal"}')::jsonb->'row_reference' ? 'columns'
  FROM (SELECT array_agg(u(i * 1000 + j, 9) ORDER BY j) AS x FROM generate_series(1, 40) AS i,
    generate_series(1, 257) AS j GROUP BY i) AS wide), false,
  'of rows with many columns it is of whole rows alone');
-- Weights are numbers of rows.
CREATE TABLE heavy AS SELECT b - 1e6 AS b, n::int + 1 AS weight FROM fitted WHERE a > 5.5;
SELECT same((SELECT gmm_fit(ARRAY[b], 1, '{}', weight)::jsonb->'row_reference'->'columns'
    FROM heavy), (SELECT gmm_fit(ARRAY[b], 1)::jsonb->'row_reference'->'columns' FROM heavy,
      generate_series(1, weight)), 'and so are weights');

-- ---- parallel workers ----

ANALYZE rows;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
CREATE FUNCTION plan_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN RETURN QUERY EXECUTE 'EXPLAIN (COSTS off) ' || query; END $$;
CREATE FUNCTION model_of(wanted text) RETURNS bayes_model STABLE PARALLEL SAFE
  RETURN (SELECT model FROM models WHERE family = wanted);
SELECT isnt((SELECT count(*) FROM plan_of($$SELECT bayes_drift(model_of('bmm'), r)
  FROM rows AS r$$) AS l WHERE l ~ 'Partial Aggregate'), 0::bigint, 'workers count rows');
CREATE TABLE in_parallel AS SELECT d.* FROM (SELECT bayes_drift(model_of('bmm'), r) AS drifts
  FROM rows AS r) AS x, unnest(drifts) AS d;
CREATE TABLE fits_in_parallel AS SELECT
  (SELECT nb_fit(flag, r) FROM (SELECT a, label, flag FROM rows WHERE id <= 1900) AS t,
    LATERAL (SELECT a, label) AS r)::jsonb->'row_reference' AS nb,
  (SELECT linreg_fit(n, r) FROM (SELECT a, flag, n FROM rows) AS t,
    LATERAL (SELECT a, flag) AS r) AS linreg;
SET max_parallel_workers_per_gather = 0;
SELECT same_rows('SELECT * FROM in_parallel ORDER BY element',
  $$SELECT d.* FROM (SELECT bayes_drift(model_of('bmm'), r) AS drifts FROM rows AS r) AS x,
    unnest(drifts) AS d ORDER BY element$$, 'with the same result');
SELECT same((SELECT nb FROM fits_in_parallel), (SELECT nb_fit(flag, r) FROM (SELECT a, label, flag
    FROM rows WHERE id <= 1900) AS t, LATERAL (SELECT a, label) AS r)::jsonb->'row_reference',
  'samples of workers are put together');
SELECT never($$SELECT d.*, NOT p > 0.001 AS wrong FROM (SELECT bayes_drift(linreg, r) AS drifts
    FROM rows AS r, fits_in_parallel) AS x, unnest(drifts) AS d WHERE element > 0$$,
  'also of many rows');

-- ---- 200 models of groups, and other rows of the same distribution ----

CREATE TABLE groups AS
SELECT id % 200 AS g, id / 200 % 2 = 0 AS old, normal(id, 1) AS a,
  normal(id, 1) * 0.5 - ln(u(id, 3)) AS b
FROM generate_series(1, 80000) AS id;
-- A share of 0.05 of 200 has a standard error of 0.015.
SELECT results_eq($$SELECT element, count(*), avg((p < 0.05)::int) BETWEEN 0.01 AND 0.1,
    avg((p < 0.5)::int) BETWEEN 0.4 AND 0.6
  FROM (SELECT g, gmm_fit(f, 1) AS model FROM groups, LATERAL (SELECT a, b) AS f WHERE old
      GROUP BY g) AS fits
    JOIN LATERAL (SELECT bayes_drift(model, f) AS drifts FROM groups AS r,
      LATERAL (SELECT a, b) AS f WHERE r.g = fits.g AND NOT old) AS x ON true,
    unnest(drifts) AS d
  GROUP BY 1 ORDER BY 1 NULLS FIRST$$,
  'VALUES (NULL::int, 200::bigint, true, true), (1, 200, true, true), (2, 200, true, true)',
  'p is as often small as it should be');

SELECT * FROM finish();
