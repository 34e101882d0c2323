-- Linear regression: statistics and their plans, fits against PostgreSQL's own regr_slope and
-- certified values, records with labels, windows, predictions, values that are missing.
SELECT plan(92);
\ir ../lib/checks.sql
SET client_min_messages = error;

CREATE TABLE many AS
SELECT i, i % 7 AS g, (i % 13 - 6) * 0.5 + 1e6 AS a, (i * 7919 % 101) / 10.0 AS b,
  (ARRAY['red', 'green', 'blue', 'black'])[1 + i / 3 % 4] AS color, i % 3 = 0 AS odd,
  (i % 13) * 0.25 + (i * 7919 % 101) / 20.0 + sin(i) AS y
FROM generate_series(1, 20000) AS i;
ANALYZE many;

-- ---- one predictor, against PostgreSQL's own ----

CREATE FUNCTION flat(options jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql IMMUTABLE
  RETURN '{"prior": {"c": 0, "a": 0, "b": 0}}'::jsonb || options;
SELECT ok((SELECT abs(c.mean / regr_slope - 1) < 1e-11
  FROM (SELECT linreg_fit(y, b, flat()) AS m, regr_slope(y, b) FROM many) AS f,
    bayes_coefficients(m) AS c WHERE term = 'x1'), 'the slope');
SELECT ok((SELECT abs(c.mean / regr_intercept - 1) < 1e-11
  FROM (SELECT linreg_fit(y, b, flat()) AS m, regr_intercept(y, b) FROM many) AS f,
    bayes_coefficients(m) AS c WHERE term = '(intercept)'), 'the intercept');
SELECT ok((SELECT abs(n.value / ((regr_syy - regr_sxy ^ 2 / regr_sxx) / (count - 4)) - 1) < 1e-9
  FROM (SELECT linreg_fit(y, b, flat()) AS m, regr_syy(y, b), regr_sxy(y, b), regr_sxx(y, b),
      count(*) FROM many) AS f, bayes_parameters(m) AS n
  WHERE parameter = 'noise_variance'), 'the variance of the noise');

-- ---- certified values ----

CREATE TABLE nist (dataset text, y float8, x1 float8, x2 float8, x3 float8, x4 float8, x5 float8,
  x6 float8);
\copy nist FROM 'tests/data/nist_linear.csv' CSV HEADER
CREATE TABLE certified (dataset text, degree int, term text, estimate float8, sd float8);
\copy certified FROM 'tests/data/nist_certified.csv' CSV HEADER
CREATE TABLE nist_fits AS
SELECT dataset, linreg_fit(y, CASE degree WHEN -1 THEN ARRAY[x1, x2, x3, x4, x5, x6]
    ELSE (SELECT array_agg(x1 ^ k ORDER BY k)
      FROM generate_series(1, greatest(degree, 1)) AS k) END,
  flat(jsonb_build_object('intercept', degree <> 0))) AS model
FROM nist JOIN (SELECT DISTINCT dataset, degree FROM certified) AS d USING (dataset)
GROUP BY dataset, degree;
SELECT is(array_agg(DISTINCT dataset ORDER BY dataset)::text,
  '{filip,longley,noint1,noint2,norris,pontius,wampler1,wampler2,wampler3,wampler4,wampler5}',
  'all eleven regressions of the NIST have coefficients with the certified digits')
FROM (SELECT f.dataset FROM nist_fits AS f, bayes_coefficients(model) AS c
    JOIN certified USING (term) WHERE certified.dataset = f.dataset
  GROUP BY f.dataset
  HAVING max(abs(c.mean / estimate - 1)) < CASE f.dataset WHEN 'filip' THEN 5e-8
    ELSE 1e-13 END) AS d;

-- ---- plans ----

CREATE FUNCTION plan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; out text := '';
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP out := out || line || E'\n'; END LOOP;
  RETURN out;
END $$;
SET max_parallel_workers_per_gather = 2;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SELECT matches(plan_of('SELECT linreg_stats(y, ARRAY[a, b]) FROM many'), 'Partial Aggregate',
  'statistics are collected in parallel');
SELECT matches(plan_of('SELECT linreg_fit(y, ROW(a, color)) FROM many'), 'Partial Aggregate',
  'so are those of a fit');
CREATE TABLE in_parallel AS SELECT linreg_stats(y, r) AS stats, linreg_fit(y, r) AS model
FROM many, LATERAL (SELECT a, b, color, odd) AS r;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE alone AS SELECT linreg_stats(y, r) AS stats, linreg_fit(y, r) AS model
FROM many, LATERAL (SELECT a, b, color, odd) AS r;
SELECT results_eq('SELECT c.* FROM in_parallel, bayes_coefficients(model) AS c',
  'SELECT c.* FROM alone, bayes_coefficients(model) AS c', 'with the same result');
SELECT results_eq('SELECT c.* FROM in_parallel, bayes_coefficients(linreg_fit(stats)) AS c',
  'SELECT c.* FROM alone, bayes_coefficients(model) AS c', 'a fit of statistics is one of rows');
SELECT results_eq($$SELECT c.* FROM bayes_coefficients((SELECT linreg_fit(bayes_rollup(s)) FROM
    (SELECT linreg_stats(y, r) AS s FROM many, LATERAL (SELECT a, b, color, odd) AS r
     GROUP BY g) AS f)) AS c$$,
  'SELECT c.* FROM alone, bayes_coefficients(model) AS c', 'rollup adds up groups');
SELECT is((SELECT i FROM alone, linreg_stats_info(stats) AS i)::text, '(20000,0,20000,4,7)',
  'what statistics are of');

-- ---- forms ----

SELECT is(stats::text::linreg_stats::text, stats::text, 'text is read back') FROM alone;
SELECT is(stats::jsonb::linreg_stats::text, stats::text, 'so is jsonb') FROM alone;
SELECT throws_ok($$SELECT '{"rows": 3}'::linreg_stats$$, '22P02', NULL, 'not any text');
SELECT throws_ok($$SELECT '[1]'::linreg_stats$$, '22P02', NULL, 'an array is none');
SELECT throws_like($$SELECT (stats::jsonb || '{"rows": 0.5}')::linreg_stats FROM alone$$,
  'invalid linreg_stats: member "rows"%', 'members are checked, and named');
SELECT throws_ok($$SELECT jsonb_set(stats::jsonb, '{sums,2}', '-1')::linreg_stats FROM alone$$,
  '22P02', NULL, 'squares are not negative');
CREATE TABLE copied (stats linreg_stats);
SELECT lives_ok($$INSERT INTO copied SELECT stats FROM alone$$, 'statistics are stored');
SELECT is((SELECT count(*) FROM copied, alone WHERE copied.stats::text = alone.stats::text),
  1::bigint, 'and are what they were');

-- ---- records ----

SELECT results_eq('SELECT term FROM alone, bayes_coefficients(model)',
  $$VALUES ('(intercept)'), ('a'), ('b'), ('color=blue'), ('color=green'), ('color=red'),
    ('odd')$$, 'terms have names');
SELECT results_eq($$SELECT term FROM bayes_coefficients((SELECT linreg_fit(y, r,
    '{"reference": {"color": "red"}, "intercept": false}')
    FROM many, LATERAL (SELECT color, b) AS r))$$,
  $$VALUES ('color=black'), ('color=blue'), ('color=green'), ('b')$$, 'another reference');
SELECT throws_like($$SELECT linreg_fit(y, r, '{"reference": {"color": "rad"}}')
    FROM many, LATERAL (SELECT color, b) AS r$$,
  'column "color" has no label "rad"%', 'a reference that is no label');
SELECT throws_like($$SELECT linreg_fit(y, r, '{"reference": {"b": "red"}}')
    FROM many, LATERAL (SELECT color, b) AS r$$,
  'option "reference" names column "b"%', 'or of a column of numbers');
SELECT is((SELECT linreg_predict(model, r) IS NULL
  FROM alone, (SELECT 1e6 AS a, 2 AS b, 'violet' AS color, true AS odd) AS r), true,
  'a label that is new has no prediction');
SELECT is((SELECT linreg_predict(model, r) IS NULL
  FROM alone, (SELECT 1e6 AS a, NULL::float8 AS b, 'red' AS color, true AS odd) AS r), true,
  'nor has a NULL');
SELECT ok((SELECT p.lower < p.mean_lower AND p.mean_lower < p.mean AND p.mean < p.mean_upper
    AND p.mean_upper < p.upper AND p.mean_sd < p.sd
  FROM alone, (SELECT true AS odd, 'red' AS color, 1e6 AS a, 2 AS b, 'more' AS c) AS r,
    linreg_predict(model, r) AS p), 'columns are matched by name');
SELECT throws_ok($$SELECT linreg_predict(m, ROW('violet'::text)) FROM (SELECT linreg_fit(y,
    ROW(color), '{"missing": "error"}') AS m FROM many) AS f$$, '22023', NULL,
  'with missing = error that is an error');
SELECT ok((SELECT (linreg_predict(m, r, 0.5)).upper < (linreg_predict(m, r, 0.9)).upper
  FROM (SELECT linreg_fit(y, b) AS m FROM many) AS f, (VALUES (3.0)) AS v(r)), 'levels');
SELECT throws_ok($$SELECT linreg_predict(model, r, 1) FROM alone,
  (SELECT a, b, color, odd FROM many LIMIT 1) AS r$$, '22023', NULL, 'a level of 1 is none');

-- ---- what is missing ----

SELECT is((SELECT (i.rows, i.skipped, i.weight)::text FROM (SELECT linreg_stats(y, x, NULL, w) AS s
    FROM (VALUES (1, 2, 1), (NULL, 2, 1), (1, NULL, 1), (1, 2, NULL), (2, 3, 0), (3, 5, 2.5))
      AS v(y, x, w)) AS f, linreg_stats_info(s) AS i), '(2,4,3.5)', 'rows that count');
SELECT is((SELECT (i.rows, i.skipped)::text FROM (SELECT linreg_stats(y, x) AS s
    FROM (VALUES (1, ARRAY[1, NULL]), (2, ARRAY[1, 2]), (3, NULL), (4, '{3,4}')) AS v(y, x)) AS f,
    linreg_stats_info(s) AS i), '(2,2)', 'elements that are NULL');
SELECT ok((SELECT linreg_stats(y, y) IS NULL FROM many WHERE false), 'no rows');
SELECT ok((SELECT linreg_stats(NULL, y) IS NULL FROM many), 'none that counts');
SELECT is((SELECT linreg_fit(NULL::float8, y) FROM many), NULL, 'nor a model');
SELECT is(linreg_fit(NULL::linreg_stats), NULL, 'of no statistics either');
SELECT ok((SELECT bayes_rollup(s) IS NULL FROM (VALUES (NULL::linreg_stats)) AS v(s)),
  'rollup of nothing');
SELECT throws_like($$SELECT linreg_stats(1, ARRAY[1, 'NaN'::float8])$$, '%element 2 of row 1%',
  'a NaN is an error');
SELECT throws_like($$SELECT linreg_stats('NaN'::float8, 1)$$, '%the response of row 1%',
  'as a response too');
SELECT throws_like($$SELECT linreg_stats(1, 1, NULL, '-1')$$, '%weight of row 1%',
  'a negative weight');
SELECT throws_ok($$SELECT linreg_fit(NULL, 1::float8, '{"missing": "error"}')$$, '22004', NULL,
  'with missing = error a NULL is one');
SELECT throws_ok($$SELECT linreg_stats(y, x)
  FROM (VALUES (1, ARRAY[1, 2]), (2, ARRAY[1])) AS v(y, x)$$,
  '2202E', NULL, 'rows of different length');
SELECT throws_ok($$SELECT bayes_rollup(s)
  FROM (SELECT linreg_stats(y, ARRAY[a]) AS s FROM many
  UNION ALL SELECT linreg_stats(y, ARRAY[a, b]) FROM many) AS f$$, '2202E', NULL, 'statistics too');
SELECT throws_ok($$SELECT bayes_rollup(s) FROM (SELECT linreg_stats(y, r) AS s FROM many,
  LATERAL (SELECT a) AS r UNION ALL SELECT linreg_stats(y, r) FROM many,
  LATERAL (SELECT b) AS r) AS f$$, '22023', NULL, 'or of other columns');
SELECT is((SELECT linreg_fit(y, b, '{"on_error": "null", "prior": {"c": 0, "a": 0, "b": 0}}')
  FROM many WHERE i < 2), NULL, 'on_error = null');
SELECT throws_ok($$SELECT linreg_fit(y, b, '{"prior": {"c": 0, "a": 0, "b": 0}}')
  FROM many WHERE i < 2$$, '22003', NULL, 'one row tells no noise');
SELECT is((SELECT linreg_fit(y, b) FROM many WHERE i < 2), NULL, 'nor does a default prior');
SELECT is((SELECT array_agg(p.*)::text FROM linreg_predict((SELECT linreg_fit(1e-3, b) FROM many
    WHERE i < 10), 0.3) AS p), '{"(0.001,0,0.001,0.001,0,0.001,0.001)"}',
  'a response without variance has intervals without width');
SELECT is((SELECT linreg_fit(1e-3, b, '{"method": "gibbs"}') FROM many WHERE i < 10), NULL,
  'or no model, where lambda is learned');

-- ---- sizes ----

SELECT ok(abs(c.mean - a.y) < 1e-12, 'no predictors: the mean')
FROM (SELECT linreg_fit(y, '{}'::float8[], flat()) AS m, avg(y) AS y FROM many) AS a,
  bayes_coefficients(m) AS c;
SELECT ok((SELECT (linreg_predict(m, '{}'::float8[])).sd > 0
  FROM (SELECT linreg_fit(y, '{}'::float8[]) AS m FROM many) AS f), 'which predicts');
SET plan_cache_mode = force_generic_plan;  -- another plan would have a copy of it
SELECT lives_ok($$DO $do$
DECLARE none float8[] := '{}'; sd float8;
BEGIN
  SELECT (linreg_predict(linreg_fit(y, none), none)).sd INTO sd FROM many;
  ASSERT sd > 0;
END $do$ $$, 'an array may be a variable of PL/pgSQL');
RESET plan_cache_mode;
CREATE TABLE wide AS SELECT i, (SELECT array_agg(sin(i * j * j)) FROM generate_series(1, 1000) AS j)
  AS x FROM generate_series(1, 30) AS i;
SELECT is((SELECT count(*) FROM bayes_coefficients((SELECT linreg_fit(i, x) FROM wide))),
  1001::bigint, '1000 predictors of 30 rows');
SELECT throws_like($$SELECT linreg_stats(i, r) FROM generate_series(1, 100000) AS i,
    LATERAL (SELECT 'label ' || i AS label) AS r$$,
  'a regression can have at most 5000 terms', '100000 labels are refused');
SELECT throws_ok($$SELECT linreg_stats(1, array_fill(1.0, ARRAY[5001]))$$, '54000', NULL,
  'so are 5001 numbers');
SELECT ok((SELECT abs(c.mean / 3 - 1) < 1e-12 FROM (SELECT linreg_fit(3e148 * i - 9e149,
    1e148 * i + 1e149, flat()) AS m FROM generate_series(1, 9) AS i) AS f,
  bayes_coefficients(m) AS c WHERE term = 'x1'), 'values of 1e150');
SELECT throws_ok($$SELECT linreg_stats(1, 1e151)$$, '22003', NULL, 'larger ones are refused');
SELECT is((SELECT count(*) FROM (SELECT i % 10000, linreg_stats(y, ARRAY[a, b]) FROM many
  GROUP BY 1) AS f), 10000::bigint, '10000 groups');

-- ---- windows ----

CREATE FUNCTION fit_text(stats linreg_stats) RETURNS text LANGUAGE sql IMMUTABLE
  RETURN (SELECT string_agg(coalesce(mean::numeric(30, 7)::text, 'NULL'), ' ')
          FROM bayes_coefficients(linreg_fit(stats, '{"prior": {"c": 0, "a": 1, "b": 1}}')));
CREATE TABLE series AS SELECT i, 1e7 + sin(i) + i % 5 AS x,
  CASE WHEN i % 11 > 0 THEN cos(i) END AS y,
  CASE WHEN i % 40 = 0 THEN 'rare' WHEN i % 2 = 0 THEN 'even' ELSE 'odd' END AS label
FROM generate_series(1, 400) AS i;
CREATE TABLE moving AS SELECT i, linreg_stats(y, x) OVER w AS s, linreg_stats(y, r) OVER w AS l
FROM (SELECT i, y, x, (SELECT r FROM (SELECT x, label) AS r) AS r FROM series) AS f
WINDOW w AS (ORDER BY i ROWS 30 PRECEDING);
SELECT is((SELECT count(*) FROM moving WHERE fit_text(s) <> (SELECT fit_text(linreg_stats(y, x))
    FROM series WHERE series.i BETWEEN moving.i - 30 AND moving.i) AND i > 5), 0::bigint,
  'windows are what would be computed anew');
SELECT is((SELECT count(*) FROM moving WHERE (SELECT i FROM linreg_stats_info(l) AS i)
    <> (SELECT i FROM series AS one, LATERAL (SELECT linreg_stats(y, r) AS a FROM series AS f,
          LATERAL (SELECT x, label) AS r WHERE f.i BETWEEN moving.i - 30 AND moving.i) AS s,
        linreg_stats_info(a) AS i WHERE one.i = moving.i)), 0::bigint,
  'labels go when their rows have gone');
SELECT is((SELECT count(*) FROM moving WHERE i > 40 AND fit_text(l) <> (SELECT fit_text(
    linreg_stats(y, r)) FROM series AS f, LATERAL (SELECT x, label) AS r
    WHERE f.i BETWEEN moving.i - 30 AND moving.i)), 0::bigint, 'with the same coefficients');
SELECT is((SELECT count(*) FROM (SELECT linreg_stats(y, x) OVER (ORDER BY i ROWS BETWEEN
    CURRENT ROW AND UNBOUNDED FOLLOWING) AS s FROM series) AS f WHERE s IS NULL), 0::bigint,
  'frames that shrink to a row');
SELECT is((SELECT array_agg(DISTINCT columns) FROM (SELECT linreg_stats(sin(i), r) OVER (ORDER BY i
      ROWS 29 PRECEDING) AS s, i FROM (SELECT i, (SELECT r FROM (SELECT i::text AS label) AS r) AS r
      FROM generate_series(1, 6000) AS i) AS f) AS f, linreg_stats_info(s) WHERE i > 30), '{30}',
  'frames of few labels, of which there are many in all');

-- ---- methods ----

CREATE TABLE methods AS SELECT method, linreg_fit(progression, x,
  jsonb_build_object('method', method)) AS model
FROM diabetes, unnest(ARRAY['exact', 'em', 'laplace', 'vi', 'gibbs']) AS method GROUP BY method;
SELECT is((SELECT array_agg(i.method ORDER BY i.method)::text FROM methods, bayes_info(model) AS i
  WHERE i.converged AND i.family = 'linreg' AND i.rows = 442 AND i.components = 11
    AND abs(i.observations - 442) < 1e-9), '{em,exact,gibbs,laplace,vi}', 'what bayes_info says');
SELECT ok(max(abs(a.mean - b.mean) / b.sd) < 0.8, 'all methods agree of diabetes')
FROM methods AS m, bayes_coefficients(m.model) AS a, methods AS e,
  bayes_coefficients(e.model) AS b
WHERE e.method = 'exact' AND a.term = b.term;
SELECT ok((SELECT count(*) = 11 FROM methods, bayes_coefficients(model) AS c
  WHERE method = 'em' AND c.sd IS NULL AND c.lower IS NULL AND c.upper IS NULL),
  'a point estimate has no intervals');
SELECT ok((SELECT bool_and(p.mean_sd IS NULL = (method = 'em') AND p.lower < p.mean
    AND p.mean < p.upper) FROM methods, diabetes AS d, linreg_predict(model, d.x) AS p
  WHERE d.id = 1), 'all predict');
SELECT is((SELECT string_agg(DISTINCT quantity, ' ' ORDER BY quantity) FROM methods,
    bayes_draws(model) WHERE method = 'gibbs'),
  'alpha lambda log_joint x1 x10 x2 x3 x4 x5 x6 x7 x8 x9', 'draws of Gibbs sampling');
SELECT is((SELECT count(*) FROM methods WHERE model::text::bayes_model <> model), 0::bigint,
  'models are read back');
SELECT throws_ok($$SELECT linreg_fit(1, 1, '{"method": "ml"}')$$, '22023', NULL,
  'a method that there is not');
SELECT throws_like($$SELECT linreg_fit(1, 1, '{"prior": {"lamda": 1}}')$$, '%"prior.lamda"%',
  'a key that there is not');
SELECT throws_ok($$SELECT * FROM bayes_coefficients((SELECT gmm_fit(x, 1) FROM faithful))$$,
  '42804', NULL, 'a model of another family');

-- ---- warnings ----

SELECT ok((SELECT count(*) = 1 FROM bayes_coefficients((SELECT linreg_fit(y, ARRAY[b, 2 * b],
  flat()) FROM many)) WHERE mean IS NULL), 'a collinear predictor is left out by a flat prior');
SELECT ok((SELECT count(*) = 0 FROM bayes_coefficients((SELECT linreg_fit(y, ARRAY[b, 2 * b])
  FROM many)) WHERE mean IS NULL), 'and kept by a proper one');
SELECT ok((SELECT (linreg_predict(m, ARRAY[3, 4])).mean IS NOT NULL FROM (SELECT linreg_fit(y,
  ARRAY[b, 5], flat()) AS m FROM many) AS f), 'a constant one does not matter');
-- ---- groups of other columns and labels ----

SELECT results_eq($$SELECT k, (bayes_info(linreg_fit(y, r))).rows
    FROM (VALUES (1, ROW(1, 2), 1.5), (1, ROW(2, 2), 2), (1, ROW(3, 1), 2.5),
      (2, ROW('a'::text, 2), 1), (2, ROW('b'::text, 1), 2), (2, ROW('b'::text, 3), 4))
      AS v(k, r, y) GROUP BY k ORDER BY k$$,
  'VALUES (1, 3::bigint), (2, 3)', 'each group has columns of its own');
SELECT is(count(model), 4000::bigint, 'and labels of its own, but one of a single row')
FROM (SELECT i / 6 AS k, linreg_fit(sin(i), ROW(cos(i), 'label ' || i / 2)) AS model
      FROM generate_series(0, 24000) AS i GROUP BY k) AS groups;
SELECT throws_ok('SELECT linreg_fit(i, sin(i), NULL, 2 - i) FROM generate_series(1, 9) AS i',
  '22023', 'weight of row 3 is -1', 'a negative weight');


-- ---- what does not tell anything ----

CREATE TABLE alone_methods AS SELECT m AS method, ard
FROM unnest(ARRAY['em', 'laplace', 'vi', 'gibbs']) AS m, unnest(ARRAY[true, false]) AS ard;
CREATE FUNCTION of_method(method text, ard bool) RETURNS jsonb LANGUAGE sql IMMUTABLE
  RETURN jsonb_build_object('method', method, 'ard', ard);
CREATE TABLE with_constant AS SELECT method, ard, linreg_fit(y, ARRAY[b, 7], of_method(method, ard))
  AS m FROM alone_methods, (SELECT * FROM many WHERE i < 100) AS f GROUP BY 1, 2;
SELECT is((SELECT count(*) FROM with_constant, bayes_coefficients(m) AS c WHERE term = 'x2'
  AND num_nulls(c.mean, c.sd, c.lower, c.upper) = 4), 8::bigint,
  'a constant predictor is NULL in a stored model');
SELECT is((SELECT count(*) FROM with_constant, bayes_coefficients(m) AS c WHERE term = 'x1'
  AND c.mean BETWEEN 0.3 AND 0.7), 8::bigint, 'which does not matter for others');
SELECT is((SELECT count(*) FROM with_constant WHERE m::text::bayes_model <> m), 0::bigint,
  'and is read back');
SELECT is((SELECT count(*) FROM (SELECT linreg_fit(y, x, of_method(method, ard)) AS m
    FROM alone_methods, (SELECT y, '{}'::float8[] AS x FROM many WHERE i < 100) AS f
    GROUP BY method, ard) AS f, bayes_coefficients(m) AS c WHERE mean IS NOT NULL), 8::bigint,
  'no predictors, all methods');
SELECT is((SELECT count(*) FROM (SELECT linreg_fit(y, r, of_method(method, ard)) AS m
    FROM alone_methods, many, LATERAL (SELECT 'one'::text AS label, 5 AS k) AS r WHERE i < 100
    GROUP BY method, ard) AS f, bayes_coefficients(m) AS c WHERE mean IS NOT NULL), 8::bigint,
  'a label alone and a constant');
SELECT throws_like(format('SELECT linreg_fit(1, 2, %L)', of_method(method, ard)
  || '{"prior": {"a": 1, "b": 1}}'),
  'there are not enough rows%', 'one row by ' || method) FROM alone_methods WHERE ard;
SELECT is((SELECT objective FROM bayes_info((SELECT linreg_fit(y, b, flat()) FROM many))), NULL,
  'a flat prior has no evidence');
SELECT throws_ok($$SELECT linreg_fit(y, b, NULL, 1e-5) FROM many$$, '22003', NULL,
  'weights that add up to a fraction');
SELECT throws_ok($$SELECT bayes_rollup(s) FROM (SELECT linreg_stats(1e150, 1.0, NULL, 3e7) AS s
  FROM generate_series(1, 6) AS i GROUP BY i) AS f$$, '22003', NULL, 'sums that overflow');
SELECT throws_ok($$SELECT linreg_fit(y * 1e-200, b) FROM many$$, '22003', NULL,
  'a response that is too small');
SELECT throws_like($$SELECT linreg_fit(y, ARRAY[b, b], '{"method": "laplace", "ard": true}')
  FROM many WHERE i < 30$$, 'the posterior of the coefficients is not positive definite',
  'a saddle between two equal predictors');
SELECT throws_like($$SELECT bayes_rollup(m)
  FROM (SELECT linreg_fit(y, b) AS m FROM many GROUP BY g) AS f$$,
  'models of family "linreg" cannot be merged', 'models do not add up');
SELECT ok((SELECT bool_and(upper < 'Infinity') FROM bayes_coefficients((SELECT linreg_fit(y, b)
  FROM many), 0.9999999999999999)), 'a level next to 1');
SELECT * FROM finish();
