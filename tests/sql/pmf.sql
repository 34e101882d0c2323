-- Probabilistic matrix factorization: ratings of which the means and the intervals are known, what
-- is recommended, keys, cells that are repeated, and errors.
SELECT plan(60);
\ir ../lib/checks.sql
\ir ../lib/ratings.sql
SET client_min_messages = error;

CREATE TABLE all_ratings AS SELECT u.id AS u, f.id AS f, 3.5 + u.own + f.own + u.one * f.one
  + u.two * f.two AS truth, 3.5 + u.own + f.own + u.one * f.one + u.two * f.two
  + 0.4 * normal(3, u.id, f.id) AS x, uniform(4, u.id, f.id) < 0.25 AS known
FROM vectors AS u, vectors AS f WHERE u.side = 1 AND f.side = 2 AND f.id <= 80;
CREATE TABLE ratings AS SELECT u, f, x FROM all_ratings WHERE known;
CREATE TABLE fitted AS SELECT pmf_fit(u, f, x, 2) AS model FROM ratings;

-- ---- what is found ----

SELECT is((i.family, i.method, i.rows, i.skipped, i.dimension, i.components, i.iterations,
  i.converged), ('pmf'::text, 'gibbs'::text, (SELECT count(*) FROM ratings), 0::bigint, 80, 2, 200,
  true),
  'what bayes_info says') FROM fitted, bayes_info(model) AS i;
SELECT is((i.draws, i.stored_draws), (400::bigint, 400::bigint), 'draws of four chains')
FROM fitted, bayes_info(model) AS i;
SELECT is(string_agg(DISTINCT quantity, ' ' ORDER BY quantity), 'c log_joint noise_sd norm rmse',
  'quantities of the draws') FROM fitted, bayes_draws(model);
SELECT ok(abs(avg(value) - 0.4) < 0.02, 'the noise') FROM fitted, bayes_draws(model)
WHERE quantity = 'noise_sd';
CREATE TABLE predicted AS SELECT r.*, mean, sd FROM fitted, all_ratings AS r,
  pmf_predict(model, u, f) WHERE NOT known;
SELECT ok(sqrt(avg((x - mean) ^ 2)) < 1.2 * sqrt(avg((x - truth) ^ 2)),
  'predictions are near the truth') FROM predicted;
SELECT ok(corr(mean, truth) > 0.95, 'of which they tell most') FROM predicted;
SELECT ok(abs(avg((abs(x - mean) < 0.674490 * sd)::int) - 0.5) < 0.02, 'half of them within 50 %')
FROM predicted;
SELECT ok(abs(avg((abs(x - mean) < 1.644854 * sd)::int) - 0.9) < 0.02, '90 % of them within 90 %')
FROM predicted;
CREATE TABLE others AS SELECT what, pmf_fit(u, f, x, 2, o || '{"chains": 2}') AS model
FROM ratings, (VALUES ('known noise', '{"prior": {"noise_variance": 0.16, "c": 0.49}}'::jsonb),
  ('hierarchical', '{"prior": {"hierarchical": true}}'),
  ('priors of precisions', '{"prior": {"noise_variance": {"shape": 2, "rate": 0.3},
    "c": {"shape": 3, "rate": 2}}}'), ('another seed', '{"seed": 7}')) AS v(what, o) GROUP BY what;
SELECT ok(sqrt(avg((p.mean - q.mean) ^ 2)) < 0.1 AND abs(avg(p.sd / q.sd) - 1) < 0.05,
  what || ': about the same') FROM others, predicted AS q, pmf_predict(model, u, f) AS p
GROUP BY what ORDER BY what;
SELECT is((sd_given, sd_learned), (1::bigint, 200::bigint), 'noise that is given is not drawn')
FROM (SELECT count(DISTINCT value) FILTER (WHERE what = 'known noise') AS sd_given,
      count(DISTINCT value) FILTER (WHERE what = 'another seed') AS sd_learned
      FROM others, bayes_draws(model) WHERE quantity = 'noise_sd') AS c;
SELECT ok(sqrt(avg((x - p.mean) ^ 2)) BETWEEN 0.45 AND 0.9, 'without means')
FROM (SELECT pmf_fit(u, f, x, 4, '{"means": false}') AS model FROM ratings) AS m, predicted,
  pmf_predict(model, u, f) AS p;

-- ---- keys that the model does not know ----

SELECT ok(abs(p.mean - a.mean) < 0.15 AND p.sd BETWEEN 0.8 * a.sd AND 1.25 * a.sd,
  'neither row nor column') FROM fitted, pmf_predict(model, 'nobody', 'nothing') AS p,
  (SELECT avg(x) AS mean, stddev(x) AS sd FROM ratings) AS a;
SELECT ok(corr(p.mean, a.mean) > 0.97 AND min(p.sd) > 0.5, 'columns for a new row')
FROM fitted, (SELECT f, avg(truth) AS mean FROM all_ratings GROUP BY f) AS a,
  pmf_predict(model, 'nobody', f) AS p;
SELECT ok(corr(p.mean, a.mean) > 0.9 AND min(p.sd) > 0.5, 'rows for a new column')
FROM fitted, (SELECT u, avg(truth) AS mean FROM all_ratings GROUP BY u) AS a,
  pmf_predict(model, u, 'nothing') AS p;

-- ---- recommendations ----

SELECT same_rows($$SELECT key::int, mean, sd FROM fitted, pmf_recommend(model, 17, 10)$$,
  $$SELECT f, mean, sd FROM predicted WHERE u = 17 ORDER BY mean DESC LIMIT 10$$,
  'the best of those without a number');
SELECT is(count(*), (SELECT count(*) FROM all_ratings WHERE u = 17 AND NOT known),
  'there are no more than these') FROM fitted, pmf_recommend(model, 17, 100);
SELECT is(array_agg(mean), array_agg(mean ORDER BY mean DESC), 'in descending order')
FROM fitted, pmf_recommend(model, 17, 100);
SELECT is(count(*), 80::bigint, 'all of them') FROM fitted, pmf_recommend(model, '17', 100, true);
SELECT is(count(*), 80::bigint, 'for nobody') FROM fitted, pmf_recommend(model, 'nobody', 100);
SELECT is(key, (SELECT f::text FROM fitted, generate_series(1, 80) AS f,
  pmf_predict(model, 'nobody', f) ORDER BY mean DESC LIMIT 1), 'who gets what is best for all')
FROM fitted, pmf_recommend(model, 'nobody', 1);
SELECT throws_ok($$SELECT r.* FROM (SELECT pmf_fit(u, f, x, 1, '{"draws": 4, "rated": false}') AS m
  FROM ratings) AS f, pmf_recommend(m, 1, 3) AS r$$, '22023',
  'the model does not store which cells had numbers', 'rated = false');
SELECT is(count(*), 3::bigint, 'but all can be asked for')
FROM (SELECT pmf_fit(u, f, x, 1, '{"draws": 4, "rated": false}') AS m FROM ratings) AS f,
  pmf_recommend(m, 1, 3, true);

-- ---- similar keys ----

SELECT ok(corr(similarity, (a.one * b.one + a.two * b.two) / sqrt((a.one ^ 2 + a.two ^ 2)
  * (b.one ^ 2 + b.two ^ 2))) > 0.9, 'columns are similar as their vectors are')
FROM fitted, pmf_similar(model, 5, 100) AS s, vectors AS a, vectors AS b
WHERE a.side = 2 AND a.id = 5 AND b.side = 2 AND b.id = key::int;
SELECT is((count(*), bool_and(key <> '5'), array_agg(similarity)),
  (79::bigint, true, array_agg(similarity ORDER BY similarity DESC)), 'all others, in order')
FROM fitted, pmf_similar(model, 5, 100);
SELECT is(count(*), 119::bigint, 'of rows') FROM fitted, pmf_similar(model, 5, 1000, 'row');
SELECT ok(bool_and(sd BETWEEN 0 AND 1 AND similarity BETWEEN -1 AND 1), 'within their range')
FROM others, pmf_similar(model, 5, 1000, 'row');
SELECT is(count(*), 0::bigint, 'none to what is not known')
FROM fitted, pmf_similar(model, 'nothing', 10);

-- ---- keys, cells ----

SELECT same(timeless(pmf_fit(u, f, x, 2, '{"draws": 10}' ORDER BY x)),
  timeless(pmf_fit(u::text, f::bigint, x, 2, '{"draws": 10}' ORDER BY x DESC)),
  'neither the order of cells matters nor the type of keys') FROM ratings;
CREATE FUNCTION turned(model bayes_model, what text) RETURNS SETOF text LANGUAGE sql AS $$
  SELECT format('%s %s %s %s', u, f, round(mean::numeric, 9), round(sd::numeric, 9))
  FROM ratings, pmf_predict(model, CASE what WHEN 'turned' THEN f ELSE u END,
    CASE what WHEN 'turned' THEN u ELSE f END) WHERE u < 20 $$;
SELECT same_rows($$SELECT turned(pmf_fit(u, f, x, 2, '{"draws": 10}'), '') FROM ratings$$,
  $$SELECT turned(pmf_fit(f, u, x, 2, '{"draws": 10}'), 'turned') FROM ratings$$,
  'the transposed table has the transposed result');
SELECT same_rows($$SELECT turned(pmf_fit(u, f, x, 2, '{"draws": 10}'), '') FROM ratings
  WHERE u <= 80$$, $$SELECT turned(pmf_fit(f, u, x, 2, '{"draws": 10}'), 'turned') FROM ratings
  WHERE u <= 80$$, 'of as many rows as columns too');
SELECT is((i.rows, i.skipped, i.dimension), (3::bigint, 3::bigint, 3),
  'a NULL number tells that row and column exist')
FROM (SELECT pmf_fit(r, c, v, 1, '{"draws": 4}') AS m FROM (VALUES ('a', 'x', 1), ('b', 'x', NULL),
  ('d', NULL, 2), (NULL, 'y', 3), ('e', 'z', 0), ('e', 'x', 0)) AS v(r, c, v)) AS f,
  bayes_info(m) AS i;
SELECT is(pmf_fit(u, f, x, 2), NULL, 'no cells, no model') FROM ratings WHERE false;
SELECT ok(bool_and(p.sd > 0 AND p.mean IS NOT NULL), 'zeros are numbers')
FROM (SELECT pmf_fit(u, f, 0, 2, '{"draws": 20}') AS m FROM ratings WHERE u < 5) AS f,
  pmf_predict(m, 3, 'x') AS p;
SELECT ok(abs(p.mean / 1e300 - 2) < 3 AND p.sd < 1e301, 'large numbers')
FROM (SELECT pmf_fit(i % 7, i % 5, (i % 3 + 1) * 1e299, 2, '{"draws": 20, "repeated": "last"}') AS m
      FROM generate_series(1, 35) AS i) AS f, pmf_predict(m, 3, 'x') AS p;
SELECT ok(abs(p.mean / 1e-300 - 2) < 3 AND p.sd BETWEEN 1e-302 AND 1e-298, 'small numbers')
FROM (SELECT pmf_fit(i % 7, i % 5, (i % 3 + 1) * 1e-300, 2, '{"draws": 20}') AS m
      FROM generate_series(1, 35) AS i) AS f, pmf_predict(m, 3, 'x') AS p;
SELECT ok(p.sd > 0, 'one cell, and a rank of more than the keys')
FROM (SELECT pmf_fit('a', 'b', 3, 5, '{"draws": 20}') AS m) AS f, pmf_predict(m, 'a', 'b') AS p;

-- ---- cells that occur more than once ----

CREATE TABLE twice AS SELECT u, f, x + d AS x, d FROM ratings, (VALUES (-1), (1)) AS v(d);
SELECT throws_like('SELECT pmf_fit(1, 2, i, 1) FROM generate_series(3, 4) AS i',
  'there is more than one number of row "1" and column "2": 3 and 4', 'are refused');
SELECT ok(bool_and(abs(p.mean - q.mean) < 1e-6), 'are averaged')
FROM (SELECT pmf_fit(u, f, x, 2, '{"draws": 8, "repeated": "average"}') AS m FROM twice) AS a,
  (SELECT pmf_fit(u, f, x, 2, '{"draws": 8}') AS n FROM ratings) AS b, (SELECT * FROM ratings
  LIMIT 50) AS r, pmf_predict(m, u, f) AS p, pmf_predict(n, u, f) AS q;
SELECT same(timeless(pmf_fit(u, f, x, 2, '{"draws": 8, "repeated": "last"}' ORDER BY d)),
  timeless(pmf_fit(u, f, x, 2, '{"draws": 8, "repeated": "last"}') FILTER (WHERE d = 1)),
  'the last of them counts') FROM twice;

-- ---- errors ----

SELECT throws_like(format('SELECT pmf_fit(u, f, x, 2, %L) FROM ratings', o), said, o)
FROM (VALUES ('{"draw": 3}', 'unknown option "draw"'),
  ('{"method": "vi"}', 'option "method" is "vi"%'),
  ('{"prior": {"c": -1}}', 'option "prior.c" is -1, but must be a number greater than 0%'),
  ('{"prior": {"a": 1}}', 'unknown option "prior.a"'),
  ('{"prior": {"hierarchical": true, "c": 1}}',
   'option "prior.c" does not apply to a hierarchical prior'),
  ('{"prior": {"noise_variance": 1e-30}}', '%is out of proportion to the numbers'),
  ('{"repeated": "sum"}', 'option "repeated" is "sum"%'),
  ('{"means": "no"}', 'option "means" is "no"%'),
  ('{"warmup": 200}', 'option "warmup" is 200, but must be below option "draws"%'))
  AS v(o, said);
SELECT throws_like(format('SELECT pmf_fit(%s) FROM ratings', arguments), said, arguments)
FROM (VALUES ('u, f, x, 0', 'the rank is 0, but must be from 1 to 1000'),
  ('u, f, x, NULL::int', 'rank must not be NULL'),
  ('u, f, x, u', 'rank must be the same for all rows of one fit'),
  ('u, f, NULL, 2', 'there are no numbers to fit'),
  ('u, f, ''NaN'', 2', 'number of row "%" and column "%" is NaN'),
  ('u, f, 2e300, 2', 'the number of row "%", column "%" is 2e+300, but numbers must be within%'))
  AS v(arguments, said);
SELECT throws_like('SELECT r.* FROM fitted, pmf_recommend(model, 1, 0) AS r',
  'n is 0, but must be at least 1', 'none to recommend');
SELECT throws_like('SELECT r.* FROM fitted, pmf_similar(model, 1, 2, ''rows'') AS r',
  'side is "rows", but must be "row" or "column"', 'neither side');
SELECT throws_ok('SELECT r.* FROM (SELECT gmm_fit(x, 1) AS m FROM iris) AS f,
  pmf_predict(m, 1, 2) AS r', '42804', NULL, 'a model of another family');

SELECT * FROM finish();
