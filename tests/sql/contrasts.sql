-- Linear combinations of coefficients, of all regressions; densities of linear regression.
SELECT plan(25);
\ir ../lib/checks.sql
\ir ../lib/errors.sql
SET client_min_messages = error;

CREATE TYPE mother AS (lwt int, smoker boolean, race text);
CREATE TABLE babies AS SELECT bwt::float8 AS y, low = 1 AS low,
  ROW(lwt, smoke = 1, (ARRAY['white', 'black', 'other'])[race])::mother AS b FROM birthwt;
CREATE TABLE fits AS
SELECT 'linreg ' || options AS name, 'linreg' AS family, linreg_fit(y, b, options::jsonb) AS model
FROM babies, unnest('{"{}","{\"prior\": {\"lambda\": 1e-8}, \"noise_variance\": 4e5}",
  "{\"method\": \"vi\"}","{\"method\": \"gibbs\", \"draws\": 300}","{\"intercept\": false}"}'
    ::text[]) AS options GROUP BY options
UNION ALL SELECT 'logreg ' || method, 'logreg', logreg_fit(low, b, jsonb_build_object(
    'method', method)) FROM babies, unnest('{laplace,gibbs}'::text[]) AS method GROUP BY method
UNION ALL SELECT 'probit ' || method, 'probit', probit_fit(low, b, jsonb_build_object(
    'method', method)) FROM babies, unnest('{laplace,vi,gibbs}'::text[]) AS method GROUP BY method;

-- One term by itself is its coefficient. After gibbs the deviation is that of the stored draws.
SELECT never($$SELECT name, term, NOT near(a.mean, b.mean, 1e-9) OR NOT near(a.sd, b.sd, room)
    OR NOT near(a.lower, b.lower, room * 10) OR NOT near(a.upper, b.upper, room * 10) AS wrong
  FROM fits, bayes_coefficients(model) AS b,
    bayes_contrast(model, jsonb_build_object(b.term, 1)) AS a,
    LATERAL (SELECT CASE WHEN name ~ 'gibbs' THEN 0.05 ELSE 1e-9 END AS room) AS r$$,
  'one term');
-- Twice as much is twice as much, and turned round it is turned round.
SELECT never($$SELECT name, NOT (near(b.mean, -2 * a.mean, 1e-9) AND near(b.sd, 2 * a.sd, 1e-9)
    AND near(b.upper, -2 * a.lower, 1e-9)) AS wrong
  FROM fits, bayes_contrast(model, '{"race=other": 1, "race=white": -1, "lwt": 3}') AS a,
    bayes_contrast(model, '{"race=other": -2, "race=white": 2, "lwt": -6}') AS b$$, 'a scale');
-- The coefficient of the reference label is 0.
SELECT never($$SELECT name, NOT (near(a.mean, b.mean) AND near(a.sd, b.sd)) AS wrong
  FROM fits, bayes_contrast(model, '{"race=black": 1, "race=white": -1}') AS a,
    bayes_contrast(model, '{"race=white": -1}') AS b$$, 'a reference label');
-- A row's terms as weights are what is predicted for it.
SELECT never($$SELECT name, NOT near(a.mean, p.mean, 1e-9) OR NOT near(a.sd, p.mean_sd, room)
    OR NOT near(a.lower, p.mean_lower, room) OR NOT near(a.upper, p.mean_upper, room) AS wrong
  FROM fits, bayes_contrast(model, '{"(intercept)": 1, "lwt": 120, "smoker": 1, "race=white": 1}')
    AS a, LATERAL (SELECT 120 AS lwt, true AS smoker, 'white' AS race) AS r,
    linreg_predict(model, r) AS p, LATERAL (SELECT CASE WHEN name ~ 'gibbs' THEN 0.05 ELSE 1e-9 END
      AS room) AS t
  WHERE family = 'linreg' AND name !~ 'intercept'$$, 'a row');
-- Under a flat prior the reference does not matter: what is a contrast under one is a coefficient
-- under another.
SELECT ok(near(a.mean, b.mean, 1e-6) AND near(a.sd, b.sd, 1e-6) AND near(a.lower, b.lower, 1e-6),
  'the other reference of ' || family)
FROM (SELECT 'linreg' AS family, linreg_fit(y, b, '{"prior": {"lambda": 1e-12},
    "noise_variance": 4e5}') AS one, linreg_fit(y, b, '{"prior": {"lambda": 1e-12},
    "noise_variance": 4e5, "reference": {"race": "white"}}') AS other FROM babies
  UNION ALL SELECT 'logreg', logreg_fit(low, b, '{"prior": {"c": 1e9}}'), logreg_fit(low, b,
    '{"prior": {"c": 1e9}, "reference": {"race": "white"}}') FROM babies) AS f,
  bayes_contrast(one, '{"race=other": 1, "race=white": -1}') AS a,
  bayes_coefficients(other) AS b WHERE term = 'race=other';
SELECT ok(near(b.upper - b.lower, (a.upper - a.lower) / 1.959963984540054 * 0.6744897501960817,
  1e-6), 'a level') FROM fits, bayes_contrast(model, '{"smoker": 1}') AS a,
  bayes_contrast(model, '{"smoker": 1}', 0.5) AS b WHERE name = 'logreg laplace';
-- Of draws it is the contrast of each, not of their moments: without the correlation 0.63 for 0.69.
SELECT never($$SELECT name, NOT near(a.sd, e.sd, 0.02) AS wrong FROM fits,
    bayes_contrast(model, '{"smoker": 1, "race=white": -1}') AS a,
    LATERAL (SELECT stddev_pop(w) AS sd FROM (SELECT chain, draw, sum(value * CASE term
        WHEN 'smoker' THEN 1 WHEN 'race=white' THEN -1 ELSE 0 END) AS w
      FROM bayes_coefficients(model) AS c
        JOIN bayes_draws(model) AS d ON d.quantity = term GROUP BY 1, 2) AS t) AS e
  WHERE name = 'logreg gibbs'$$, 'draws of a contrast');

-- Weights of any size: their squares may be beyond doubles.
SELECT never($$SELECT name, size, NOT (near(a.mean / size, b.mean) AND near(a.sd / size, b.sd)
    AND near(a.lower / size, b.lower) AND near(a.upper / size, b.upper)) AS wrong
  FROM fits, unnest('{1e-170,1e170}'::float8[]) AS size,
    bayes_contrast(model, jsonb_build_object('smoker', size)) AS a,
    bayes_contrast(model, '{"smoker": 1}') AS b$$, 'tiny and huge weights');
SELECT ok(mean IS NOT NULL AND sd IS NULL AND lower IS NULL, 'a point estimate')
FROM (SELECT linreg_fit(y, b, '{"method": "em"}') AS m FROM babies) AS f,
  bayes_contrast(m, '{"smoker": 1}');
SELECT results_eq($$SELECT mean IS NULL, sd IS NULL FROM (SELECT linreg_fit(y, r,
    '{"prior": {"c": 0}}') AS m FROM babies, LATERAL (SELECT (b).lwt, 7 AS same) AS r) AS f,
  LATERAL (VALUES (1, '{"lwt": 1}'::jsonb), (2, '{"lwt": 1, "same": 2}')) AS v(n, weights),
  bayes_contrast(m, weights) ORDER BY n$$, 'VALUES (false, false), (true, true)',
  'a term without a coefficient');
SELECT is((SELECT count(*) FROM bayes_contrast(NULL, '{"a": 1}')), 0::bigint, 'NULL');
SELECT is(complaint(format('SELECT bayes_contrast(model, %L) FROM fits WHERE name = ''linreg {}''',
    weights)), said, weights)
FROM (VALUES ('{"smokr": 1}', '22023 the model has no term "smokr"'),
  ('{}', '22023 the contrast has no terms'), ('[1]', '22023 a contrast is not an object'),
  ('3', '22023 a contrast is not an object'),
  ('{"lwt": "1"}', '22023 the weight of term "lwt" is "1"'),
  ('{"lwt": null}', '22023 the weight of term "lwt" is null'),
  ('{"lwt": 1e308, "smoker": 1e308}', '22003 a contrast overflows')) AS v(weights, said);
SELECT is(complaint('SELECT bayes_contrast(model, ''{"lwt": 1}'') FROM fits
  WHERE name = ''linreg {}'''), 'no error', 'a regression has contrasts');
SELECT is(complaint('SELECT bayes_contrast(gmm_fit(1.0, 1), ''{"lwt": 1}'')'),
  '42804 a model of family gmm has no coefficients', 'a mixture has none');

-- ---- densities ----

-- Of a proper prior the evidence is a product of predictive densities.
CREATE TABLE proper AS SELECT n, linreg_fit(y, x, '{"prior": {"c": 0.3, "a": 2, "b": 3},
  "intercept": false}') AS model
FROM generate_series(10, 11) AS n, generate_series(1, n) AS i,
  LATERAL (SELECT sin(i * 1.7) * 3 + i / 5.0::float8 AS y, ARRAY[cos(i), i % 4] AS x) AS r
GROUP BY n;
SELECT ok(near(bayes_log_density(model, sin(11 * 1.7) * 3 + 11 / 5.0, ARRAY[cos(11), 3]),
  (SELECT objective FROM proper AS p, bayes_info(p.model) WHERE n = 11) - objective, 1e-10),
  'a row more') FROM proper, bayes_info(model) WHERE n = 10;
-- The density integrates to 1, and its moments are those of the prediction.
SELECT never($$SELECT name, NOT near(total, 1, 1e-4) OR NOT near(mean_, p.mean, 1e-2)
    OR NOT near(sd_, p.sd, 2e-2) AS wrong
  FROM fits, LATERAL (SELECT 120 AS lwt, true AS smoker, 'white' AS race) AS r,
    linreg_predict(model, r) AS p, LATERAL (SELECT sum(d) AS total, sum(d * y) AS mean_,
      sqrt(sum(d * y * y) - sum(d * y) ^ 2) AS sd_
      FROM (SELECT y, exp(bayes_log_density(model, y, r)) * p.sd / 20 AS d
        FROM generate_series(-240, 240) AS i, LATERAL (SELECT p.mean + p.sd * i / 20 AS y) AS a)
        AS b) AS t WHERE family = 'linreg'$$, 'densities');
SELECT ok(bayes_log_density(model, 3, r) IS NULL, 'a row that misses something') FROM fits,
  (SELECT NULL::int AS lwt, true AS smoker, 'white' AS race) AS r WHERE name = 'linreg {}';
SELECT is(complaint('SELECT bayes_log_density(model, ''Infinity'', b) FROM fits, babies
  WHERE name = ''linreg {}'''), '22023 the response is Infinity', 'an infinite response');
SELECT * FROM finish();
