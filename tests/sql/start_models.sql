-- Fits of Dirichlet process mixtures and of probabilistic factorizations that start from a model.
SELECT plan(33);
\ir ../lib/checks.sql
\ir ../lib/errors.sql
SET client_min_messages = error;

-- Four groups of rows, as arrays and as columns with a label: of sizes 24, 18, 12 and 6, and in
-- the other order of size for the start models.
CREATE TABLE normal AS SELECT i, sqrt(-2 * ln(u)) * cos(2 * pi() * v) AS a,
  sqrt(-2 * ln(u)) * sin(2 * pi() * v) AS b
FROM generate_series(1, 100) AS i,
  LATERAL (SELECT 1 - (i * 0.6180339887) % 1 AS u, (i * 0.7548776662) % 1 AS v) AS s;
CREATE TABLE groups AS
SELECT i, k, ARRAY[15 * k + a, 9 * (k % 2) + b] AS x, 15 * k + a AS place, chr(96 + k) AS label
FROM generate_series(1, 5) AS k, normal;
CREATE TABLE before AS SELECT * FROM groups WHERE i <= 12 * k AND k < 5;
CREATE TABLE points AS SELECT * FROM groups WHERE i <= 30 - 6 * k;
CREATE TABLE more AS TABLE points;
INSERT INTO more SELECT i, 5, x, place, 'new' FROM groups WHERE k = 5 AND i <= 40;

CREATE TABLE options (method text, o jsonb);
INSERT INTO options VALUES ('vi', '{"method": "vi", "truncation": 8, "restarts": 3}'),
  ('slice', '{"method": "slice", "draws": 40, "chains": 2}');
CREATE TABLE starts AS SELECT method, o, dpmm_fit(x, o) AS arrays,
  dpmm_fit((SELECT r FROM (SELECT place, label) AS r), o) AS records
FROM options, before GROUP BY method, o;
CREATE FUNCTION refit(method text, rows regclass, OUT arrays bayes_model, OUT records bayes_model)
LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('SELECT dpmm_fit(x, arrays, o - ''restarts''), dpmm_fit((SELECT r FROM '
    '(SELECT place, label) AS r), records, o - ''restarts'') FROM %s, starts WHERE method = %L',
    rows, method) INTO arrays, records;
END $$;
CREATE TABLE fits AS SELECT method, r.* FROM options, refit(method, 'points') AS r;

SELECT is((bayes_info(model)).components, 4, method || ' finds the clusters')
FROM fits, unnest(ARRAY[arrays, records]) AS model;
-- By the place of each: largest first in the start model, smallest first now.
SELECT results_eq(format('SELECT count, round(mean[1] / 15) FROM fits, dpmm_clusters(%I) '
  'WHERE method = %L ORDER BY cluster', form, method),
  'VALUES (6::bigint, 4::float8), (12, 3), (18, 2), (24, 1)',
  method || ': clusters have the numbers that they had, ' || form)
FROM fits, unnest('{arrays,records}'::text[]) AS form;

-- A new cluster comes last, even if it is the largest; a new label is added.
CREATE TABLE later AS SELECT method, r.* FROM options, refit(method, 'more') AS r;
SELECT is((SELECT array_agg(count ORDER BY cluster) FROM dpmm_clusters(model)),
  '{6,12,18,24,40}'::bigint[], method || ': a new cluster has the next number')
FROM later, unnest(ARRAY[arrays, records]) AS model;
SELECT is((SELECT array_agg(label ORDER BY code) FROM bayes_columns(records) WHERE label <> ''),
  '{a,b,c,d,new}'::text[], method || ': a new label') FROM later;

-- A refit of the same rows stays where it is.
SELECT ok(b.objective > a.objective - 1e-3 AND b.iterations < a.iterations AND near(b.objective,
  a.objective, 1e-5), 'vi: same objective, in fewer iterations')
FROM (SELECT dpmm_fit(x, '{"method": "vi"}') AS m FROM points) AS f, bayes_info(m) AS a,
  LATERAL (SELECT dpmm_fit(x, m, NULL) AS n FROM points) AS g, bayes_info(n) AS b;
SELECT ok(b.options->>'truncation' = '6' AND b.method = 'vi'
  AND b.options->>'covariance' = 'diagonal' AND b.options->'prior'->'a' = a.options->'prior'->'a'
  AND b.options->'concentration' = a.options->'concentration',
  'options of the start hold')
FROM (SELECT dpmm_fit(x, '{"method": "vi", "truncation": 6, "covariance": "diagonal",
  "prior": {"a": 7}, "concentration": 2}') AS m FROM points) AS f, bayes_info(m) AS a,
  LATERAL (SELECT dpmm_fit(x, m, NULL) AS n FROM points) AS g, bayes_info(n) AS b;
SELECT is((bayes_info(n)).components, 4, a.method || ' from ' || b.method)
FROM starts AS a, starts AS b, LATERAL (SELECT dpmm_fit(x, b.arrays, a.o) AS n FROM points) AS f
WHERE a.method <> b.method;

SELECT is(complaint(format(call, 'SELECT arrays FROM starts WHERE method = ''vi''')), said, call)
FROM (VALUES
  ('SELECT dpmm_fit(ARRAY[i], (%s), NULL) FROM points',
    '2202E row 1 has 1 element, but the model has 2'),
  ($q$SELECT dpmm_fit(x, (%s), '{"covariance": "diagonal"}') FROM points$q$,
    '22023 option "covariance" is "diagonal", but that of the start model is "full"'),
  ($q$SELECT dpmm_fit(x, (%s), '{"likelihood": "poisson"}') FROM points$q$,
    '22023 option "likelihood" differs from the likelihood of the start model'),
  ($q$SELECT dpmm_fit(x, (%s), '{"likelihood": ["normal", "normal"]}') FROM points$q$,
    '22023 option "likelihood" differs from the likelihood of the start model'),
  ($q$SELECT dpmm_fit(x, (%s), '{"truncation": 3}') FROM points$q$,
    '22023 option "truncation" is 3, but must be a whole number from 4 to 10000'),
  ($q$SELECT dpmm_fit(x, (%s), '{"method": "gibbs", "init": "one"}') FROM points$q$,
    '22023 option "init" does not apply to a fit that starts from a model by method gibbs'),
  ('SELECT dpmm_fit(x, (SELECT gmm_fit(x, 1) FROM points), NULL) FROM points, (%s) AS s',
    '42804 model is of family gmm, expected dpmm'),
  ('SELECT pmf_fit(i, k, place, (%s)) FROM points',
    '42804 model is of family dpmm, expected pmf')) AS c(call, said);

-- ---- pmf ----

CREATE TABLE cells AS
SELECT r, c, 50 + 10 * (sin(r) * cos(c) + sin(2 * r) * sin(3 * c)) + sin(r * c * 7) AS v
FROM generate_series(1, 40) AS r, generate_series(1, 25) AS c WHERE (r * c) % 3 > 0;
CREATE TABLE factors AS SELECT pmf_fit(r, c, v, 2, '{"draws": 200, "seed": 3}') AS model FROM cells;
-- The quantities of the first draws from a start are those at the end of its chains.
CREATE TABLE again AS SELECT pmf_fit(r, c, v, model, '{"draws": 3, "warmup": 0}') AS model
FROM factors, cells GROUP BY model;
CREATE TABLE afresh AS SELECT pmf_fit(r, c, v, 2, '{"draws": 3, "warmup": 0}') AS model FROM cells;
CREATE FUNCTION quantity(model bayes_model, what text) RETURNS float8 LANGUAGE sql
RETURN (SELECT avg(value) FROM bayes_draws(model) WHERE quantity = what);
SELECT ok(quantity(a.model, 'log_joint') > quantity(f.model, 'log_joint') - 60
  AND quantity(b.model, 'log_joint') < quantity(f.model, 'log_joint') - 200,
  'chains begin where the model is probable')
FROM factors AS f, again AS a, afresh AS b;
SELECT ok(near(quantity(a.model, 'rmse'), quantity(f.model, 'rmse'), 0.1)
  AND near(quantity(a.model, 'noise_sd'), quantity(f.model, 'noise_sd'), 0.1), 'and fits')
FROM factors AS f, again AS a;
-- Other units, new rows and columns, exchanged sides.
SELECT ok(near(quantity(a.model, 'rmse'), 3 * quantity(f.model, 'rmse'), 0.3), name)
FROM factors AS f, LATERAL (
  SELECT 'other units' AS name,
    pmf_fit(r, c, 3 * v + 10, f.model, '{"draws": 3, "warmup": 0}') AS model
  FROM cells
  UNION ALL SELECT 'new rows and columns', pmf_fit(r, c, 3 * v, f.model,
    '{"draws": 6, "warmup": 3}') FROM (TABLE cells UNION ALL SELECT 100 + r, c, v FROM cells
      WHERE r < 9 UNION ALL SELECT r, 200 + c, v FROM cells WHERE c < 20) AS n) AS a;
SELECT is((SELECT count(*) FROM pmf_keys(n)), 38::bigint, 'keys without cells are left out')
FROM (SELECT pmf_fit(r, c, v, model) AS n FROM factors, cells WHERE r > 8 GROUP BY model) AS f;
SELECT ok(i.components = 2 AND i.options->>'means' = 'false' AND i.options->>'rated' = 'false'
  AND i.options->'prior'->>'hierarchical' = 'true', 'options of the start hold')
FROM (SELECT pmf_fit(r, c, v, 2, '{"draws": 20, "means": false, "rated": false,
  "prior": {"hierarchical": true}}') AS m FROM cells) AS f,
  LATERAL (SELECT pmf_fit(r, c, v, m, '{"draws": 20}') AS n FROM cells WHERE r < 30) AS g,
  bayes_info(n) AS i;
SELECT is((bayes_info(n)).options->'prior', '{"hierarchical": false}'::jsonb, 'another prior')
FROM (SELECT pmf_fit(r, c, v, model, '{"draws": 4, "prior": {}}') AS n FROM factors, cells
  GROUP BY model) AS f;

SELECT * FROM finish();
