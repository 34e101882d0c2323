-- Rows and columns that were not fitted, by some of their numbers; Monte Carlo errors.
SELECT plan(17);
\ir ../lib/checks.sql
\ir ../lib/ratings.sql
SET client_min_messages = error;

CREATE TABLE all_ratings AS SELECT u.id AS u, f.id AS f, 3.5 + u.own + f.own + u.one * f.one
  + u.two * f.two + 0.4 * normal(3, u.id, f.id) AS x, uniform(4, u.id, f.id) < 0.25 AS known
FROM vectors AS u, vectors AS f WHERE u.side = 1 AND f.side = 2 AND f.id <= 80;
-- The fits have rows above 20; of those up to 20 some numbers are known.
CREATE TABLE fitted AS SELECT o AS options, pmf_fit(u, f, x, 2, o) AS model,
    pmf_fit(f, u, x, 2, o) AS turned
FROM all_ratings, (VALUES ('{}'::jsonb), ('{"prior": {"hierarchical": true}}'),
  ('{"means": false}')) AS v(o) WHERE known AND u > 20 GROUP BY o;
CREATE TABLE given AS SELECT u, jsonb_object_agg(f, x) AS cells FROM all_ratings
WHERE u <= 20 AND known GROUP BY u;

-- ---- the distribution of a new row ----

SELECT ok(bool_and(near(n.mean, p.mean, 1e-10) AND near(n.sd, p.sd, 1e-10)
    AND near(coalesce(n.mcse, 0), coalesce(p.mcse, 0), 1e-8)),
    options::text || ': without cells a key that is not known')
FROM fitted, generate_series(0, 80) AS f, pmf_predict(model, 'nobody', f) AS p,
  pmf_predict_new(model, '{}', f) AS n GROUP BY options ORDER BY options;
SELECT ok(bool_and(near(a.mean, b.mean, 1e-9) AND near(a.sd, b.sd, 1e-9)),
  options::text || ': a column of the transposed table')
FROM fitted, given, generate_series(0, 80, 8) AS f, pmf_predict_new(model, cells, f) AS a,
  pmf_predict_new(turned, cells, f, 'column') AS b GROUP BY options ORDER BY options;

-- Beside a fit of all: the new rows are a sixth of it, so what it says of the columns differs.
CREATE TABLE refits AS SELECT pmf_fit(u, f, x, 2) AS model FROM all_ratings WHERE known;
CREATE TABLE beside AS SELECT a.u, a.f, a.x, n.mean, n.sd, r.mean AS refit, r.sd AS refit_sd,
    p.mean AS nobody
FROM fitted, refits, given JOIN all_ratings AS a USING (u),
  pmf_predict_new(fitted.model, cells, a.f) AS n, pmf_predict(refits.model, a.u, a.f) AS r,
  pmf_predict(fitted.model, 'nobody', a.f) AS p WHERE options = '{}' AND NOT known;
SELECT ok(sqrt(avg((mean - refit) ^ 2)) < 0.15 AND abs(avg(sd / refit_sd) - 1) < 0.05,
  'much as a fit with these cells has it') FROM beside;
SELECT ok(sqrt(avg((x - mean) ^ 2)) < 1.1 * sqrt(avg((x - refit) ^ 2))
  AND sqrt(avg((x - mean) ^ 2)) < 0.7 * sqrt(avg((x - nobody) ^ 2)), 'and about as well')
FROM beside;
SELECT ok(abs(avg((abs(x - mean) < 1.644854 * sd)::int) - 0.9) < 0.03, '90 % within 90 %')
FROM beside;
SELECT ok(bool_and(b.sd < a.sd), 'a number more, and less is unknown')
FROM fitted, pmf_predict_new(model, '{"1": 3, "2": 5}', 9) AS a,
  pmf_predict_new(model, '{"1": 3, "2": 5, "3": 4}', 9) AS b;
SELECT same_rows($$SELECT key, r.mean, r.sd FROM fitted, pmf_recommend_new(model,
    '{"1": 3, "2": 5}', 5) AS r WHERE options = '{}'$$,
  $$SELECT f::text, p.mean, p.sd FROM fitted, generate_series(3, 80) AS f,
    pmf_predict_new(model, '{"1": 3, "2": 5}', f) AS p WHERE options = '{}'
    ORDER BY mean DESC LIMIT 5$$, 'recommended are the largest, without those that are known');
SELECT is(count(*), 98::bigint, 'rows for a new column')
FROM fitted, pmf_recommend_new(model, '{"30": 3, "31": 5, "9": 1, "32": null}', 1000, 'column')
WHERE options = '{}';

-- ---- errors ----

SELECT throws_ok($$SELECT p.* FROM fitted, pmf_predict_new(model, '{"1": 1e300}', 2) AS p$$,
  '22003', 'a number is 1e+300, out of proportion to the fitted table');
SELECT throws_ok($$SELECT p.* FROM fitted, pmf_predict_new(model, '[1, 2]', 2) AS p$$, '22023',
  'cells are an array');
SELECT throws_ok($$SELECT p.* FROM fitted, pmf_recommend_new(model, '{"1": 2}', 0) AS p$$, '22023',
  'n is 0, but must be at least 1');

-- ---- Monte Carlo errors ----

-- Fits with other seeds differ by their errors: the mean square of 80 standard normal numbers,
-- which are correlated; the seeds are fixed.
SELECT ok(avg((a.mean - b.mean) ^ 2 / (a.mcse ^ 2 + b.mcse ^ 2)) BETWEEN 0.4 AND 2.5,
  'the error of the mean')
FROM refits, (SELECT pmf_fit(u, f, x, 2, '{"seed": 5}') AS other FROM all_ratings WHERE known) AS o,
  generate_series(1, 80) AS f, pmf_predict(model, f, f) AS a, pmf_predict(other, f, f) AS b;
SELECT is(mcse, NULL, 'not known from few draws')
FROM (SELECT pmf_fit(u, f, x, 1, '{"draws": 4}') AS m FROM all_ratings WHERE known) AS f,
  pmf_predict(m, 1, 2);

SELECT * FROM finish();
