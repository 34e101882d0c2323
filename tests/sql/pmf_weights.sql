-- Weights of cells in probabilistic matrix factorizations.
SELECT plan(24);
\ir ../lib/checks.sql
\ir ../lib/ratings.sql
SET client_min_messages = error;

CREATE TABLE ratings AS SELECT u.id AS u, f.id AS f, 3.5 + u.own + f.own + u.one * f.one
  + u.two * f.two + 0.4 * normal(3, u.id, f.id) AS x, 0.5 + 3 * uniform(5, u.id, f.id) AS w
FROM vectors AS u, vectors AS f WHERE u.side = 1 AND f.side = 2 AND f.id <= 40 AND u.id <= 60
  AND uniform(4, u.id, f.id) < 0.4;

-- ---- what a weight says ----

SELECT same(timeless(pmf_fit(u, f, x, 2, '{"draws": 10}', 1.0)),
  timeless(pmf_fit(u, f, x, 2, '{"draws": 10}')), 'weights of 1 are as none') FROM ratings;
SELECT same(timeless(pmf_fit(u, f, x, 2, '{"draws": 10}', 1.0)),
  timeless(pmf_fit(u, f, x, 2, '{"draws": 10}')), 'where the keys of both sides are equal')
FROM ratings WHERE u <= 40;
SELECT same(timeless(pmf_fit(u, f, x, 2, NULL, 1)), timeless(pmf_fit(u, f, x, 2)),
  'without options') FROM ratings WHERE u < 5;
CREATE FUNCTION same_noise(v float8) RETURNS jsonb RETURN jsonb_build_object('draws', 10, 'prior',
  jsonb_build_object('noise_variance', v, 'c', 0.5));
SELECT never($$SELECT p.mean, q.mean AS other, NOT near(p.mean, q.mean, 1e-7)
    OR NOT near(p.sd, sqrt(q.sd ^ 2 - 0.2 + 0.8), 1e-6) AS wrong
  FROM (SELECT pmf_fit(u, f, x, 2, same_noise(0.8), 4) AS m,
    pmf_fit(u, f, x, 2, same_noise(0.2)) AS n FROM ratings) AS f, (SELECT * FROM ratings
    LIMIT 50) AS r, pmf_predict(m, u, f) AS p, pmf_predict(n, u, f) AS q$$,
  'four times the weight is a quarter of the noise, of a new number all of it');
SELECT never($$SELECT chain, draw, quantity, NOT near(a.value,
    CASE quantity WHEN 'noise_sd' THEN 2 ELSE 1 END * b.value, 1e-6) AS wrong
  FROM (SELECT pmf_fit(u, f, x, 2, same_noise(0.8), 4) AS m,
    pmf_fit(u, f, x, 2, same_noise(0.2)) AS n FROM ratings) AS f, bayes_draws(m) AS a
    JOIN bayes_draws(n) AS b USING (chain, draw, quantity)$$, 'and the same density');
SELECT ok(abs(p.mean - 9) < 0.2 AND abs(q.mean - 1) < 0.2, 'the heavier of two says more')
FROM (SELECT pmf_fit(r, c, x, 1, '{"repeated": "last"}', CASE WHEN c = 'heavy' THEN 100 ELSE 0.01
    END) AS m FROM (SELECT i AS r, c, CASE WHEN (c = 'heavy') = (i % 2 = 0) THEN 9 ELSE 1 END AS x
    FROM generate_series(1, 60) AS i, unnest('{heavy,light,faint}'::text[]) AS c) AS v) AS f,
  pmf_predict(m, 10, 'heavy') AS p, pmf_predict(m, 11, 'heavy') AS q;
SELECT never($$SELECT u, f, NOT near(p.mean, q.mean, 1e-9) AS wrong
  FROM (SELECT pmf_fit(u, f, x, 2, '{"draws": 10}', w) AS m,
    pmf_fit(f, u, x, 2, '{"draws": 10}', w) AS n FROM ratings) AS fits, ratings,
    pmf_predict(m, u, f) AS p, pmf_predict(n, f, u) AS q$$, 'the transposed table');
SELECT same(timeless(pmf_fit(u, f, x, 2, '{"draws": 10}', w ORDER BY x)),
  timeless(pmf_fit(u, f, x, 2, '{"draws": 10}', w ORDER BY w)), 'in any order') FROM ratings;
CREATE FUNCTION at_memory(kilobytes int) RETURNS text LANGUAGE plpgsql
  SET work_mem = '64kB' AS $$
DECLARE out text;
BEGIN
  PERFORM set_config('maintenance_work_mem', kilobytes || 'kB', true);
  SELECT timeless(pmf_fit(u, f, i + x, 1, '{"draws": 2, "warmup": 1, "chains": 1}', w)) INTO out
  FROM (SELECT u + 100 * (i % 30) AS u, f + 100 * (i / 30) AS f, i, x, w
    FROM ratings, generate_series(0, 89) AS i) AS many;
  RETURN out;
END $$;
SELECT same(at_memory(1024), at_memory(65536), 'in files too');

SELECT same(timeless(pmf_model('SELECT u, f, x, w FROM ratings', 2, '{"draws": 10}')),
  timeless(pmf_fit(u, f, x, 2, '{"draws": 10}', w)), 'the fourth column of a query') FROM ratings;
SELECT same(timeless(pmf_model('SELECT u, f, x, w::numeric(3, 1) FROM ratings', 2,
  '{"draws": 10}')), timeless(pmf_fit(u, f, x, 2, '{"draws": 10}', w::numeric(3, 1))),
  'of any type of number') FROM ratings;
SELECT throws_ok(format('SELECT pmf_model(%L, 2)', query), '22023', said, query)
FROM (VALUES ('SELECT u, f, x, f::text FROM ratings', 'column "f" of the query is of type text'),
  ('SELECT u, f, x, w, w FROM ratings', 'query returns 5 columns, but must return one to four'))
  AS v(query, said);
SELECT throws_ok($$SELECT nmf_model('SELECT u, f, 1, w FROM ratings', 2)$$, '22023',
  'query returns 4 columns, but must return one to three', 'not of nmf');

-- ---- from a model to the next ----

SELECT same(timeless(pmf_fit(u, f, x, m, '{"draws": 10}', 1)),
  timeless(pmf_fit(u, f, x, m, '{"draws": 10}')), 'from a start model, weights of 1')
FROM ratings, (SELECT pmf_fit(u, f, x, 2, '{"draws": 10}') AS m FROM ratings) AS s;
SELECT throws_ok($$SELECT pmf_fit(u, f, x, m, '{"resume": true}', 2 * w) FROM ratings, (SELECT
    pmf_fit(u, f, x, 2, '{"draws": 10, "resumable": true, "max_seconds": 1e-9}', w) AS m
    FROM ratings) AS s$$, '22023', NULL, 'a fit is resumed with its weights');
SELECT is((i.rows, i.skipped, i.components), ((SELECT count(*) FROM ratings WHERE u > 3),
  (SELECT count(*) FROM ratings WHERE u <= 3), 2), 'weights of 0 and NULL leave cells out')
FROM (SELECT pmf_fit(u, f, x, m, '{"draws": 10}', CASE WHEN u = 1 THEN 0 WHEN u > 3 THEN w END)
    AS n FROM ratings, (SELECT pmf_fit(u, f, x, 2, '{"draws": 10}') AS m FROM ratings) AS s) AS f,
  bayes_info(n) AS i;
SELECT is((SELECT count(*) FROM pmf_keys(m) WHERE side = 'row' AND key::int <= 3), 0::bigint,
  'and their keys') FROM (SELECT pmf_fit(u, f, x, 2, '{"draws": 4}',
    CASE WHEN u > 3 THEN w END) AS m FROM ratings) AS f;

-- ---- cells that occur twice, errors ----

CREATE TABLE twice AS SELECT u, f, x + d AS x, w * (2 + d) AS w, d
FROM ratings, (VALUES (-1), (1)) AS v(d);
SELECT throws_like('SELECT pmf_fit(1, 2, i, 1, NULL, 1.5) FROM generate_series(3, 4) AS i',
  'there is more than one number of row "1" and column "2": 3 and 4', 'are refused');
SELECT same(timeless(pmf_fit(u, f, x, 2, '{"draws": 8, "repeated": "last"}', w ORDER BY d)),
  timeless(pmf_fit(u, f, x, 2, '{"draws": 8, "repeated": "last"}', w) FILTER (WHERE d = 1)),
  'the last number with its weight') FROM twice;
SELECT ok(bool_and(near(p.mean, q.mean, 1e-6)), 'the averages of numbers and of weights')
FROM (SELECT pmf_fit(u, f, x, 2, '{"draws": 8, "repeated": "average"}', w) AS m FROM twice) AS a,
  (SELECT pmf_fit(u, f, x, 2, '{"draws": 8}', 2 * w) AS n FROM ratings) AS b, (SELECT * FROM ratings
  LIMIT 50) AS r, pmf_predict(m, u, f) AS p, pmf_predict(n, u, f) AS q;
SELECT throws_ok(format('SELECT pmf_fit(u, f, x, 2, NULL, %s) FROM ratings', w), '22023', said, w)
FROM (VALUES ('-1', 'weight of cell 1 is -1'), ('''NaN''', 'weight of cell 1 is NaN'),
  ('0', 'all weights are zero')) AS v(w, said);
SELECT * FROM finish();
