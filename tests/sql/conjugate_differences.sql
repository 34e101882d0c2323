-- bayes_difference and bayes_best: how far apart two posteriors are, and which of several is the
-- largest.
SELECT plan(31);
\ir ../lib/checks.sql
SET client_min_messages = error;

CREATE TABLE pairs (family text, name text, a bayes_model, b bayes_model);
INSERT INTO pairs
SELECT 'beta_bernoulli', name, (SELECT beta_bernoulli_fit(s, NULL, n) FROM (VALUES (true, x),
    (false, y)) AS v(s, n)), (SELECT beta_bernoulli_fit(s, NULL, n) FROM (VALUES (true, z),
    (false, w)) AS v(s, n))
FROM (VALUES ('even', 20.0, 180.0, 25.0, 175.0), ('few', 1, 1, 2, 5),
  ('many', 1e6, 9e6, 1.001e6, 9e6), ('unequal', 3, 4, 400, 500), ('reversed', 400, 500, 3, 4),
  ('rare', 0, 1e7, 3, 1e7)) AS t(name, x, y, z, w);
INSERT INTO pairs
SELECT 'gamma_poisson', name, (SELECT gamma_poisson_fit(x, NULL, e)),
  (SELECT gamma_poisson_fit(z, NULL, f))
FROM (VALUES ('even', 20, 10.0, 30, 12.0), ('few', 0, 1, 3, 2), ('unequal', 3, 1, 30000, 10000))
  AS t(name, x, e, z, f) GROUP BY name, x, e, z, f;
INSERT INTO pairs
SELECT 'normal_inverse_gamma', name, (SELECT normal_inverse_gamma_fit(m + s * i) FROM
    generate_series(-n, n) AS i), (SELECT normal_inverse_gamma_fit(u + t * i) FROM
    generate_series(-k, k) AS i)
FROM (VALUES ('even', 5.0, 1.0, 5, 6.0, 1.5, 7), ('narrow', 1e6, 1e-3, 20, 1e6 + 0.3, 1.0, 3),
  ('few', 0, 1, 1, 1, 1, 1)) AS t(name, m, s, n, u, t, k);

-- What bayes_greater says is where the interval of the difference ends at 0.
CREATE TABLE differences AS
SELECT p.*, g, level, d.* FROM pairs AS p, LATERAL (SELECT CASE family
    WHEN 'beta_bernoulli' THEN bayes_greater(CASE family WHEN 'beta_bernoulli' THEN a END,
      CASE family WHEN 'beta_bernoulli' THEN b END)
    WHEN 'gamma_poisson' THEN bayes_greater(CASE family WHEN 'gamma_poisson' THEN a END,
      CASE family WHEN 'gamma_poisson' THEN b END)
    ELSE bayes_greater(CASE family WHEN 'normal_inverse_gamma' THEN a END,
      CASE family WHEN 'normal_inverse_gamma' THEN b END) END AS g) AS x,
  LATERAL (SELECT abs(2 * g - 1) AS level) AS y,
  LATERAL (SELECT * FROM bayes_difference(a, b, level) WHERE family = 'beta_bernoulli'
    UNION ALL SELECT * FROM bayes_difference(a, b, level) WHERE family = 'gamma_poisson'
    UNION ALL SELECT * FROM bayes_difference(a, b, level)
      WHERE family = 'normal_inverse_gamma') AS d;
SELECT ok(abs(CASE WHEN g > 0.5 THEN lower ELSE upper END) < 1e-7 * (upper - lower),
  family || ' ' || name || ': the interval ends at 0') FROM differences ORDER BY family, name;
SELECT ok(near(mean, bayes_mean(a) - bayes_mean(b))
    AND near(sd, sqrt(21 * 181 / (202.0 ^ 2 * 203) + 26 * 176 / (202.0 ^ 2 * 203))),
  'mean and standard deviation') FROM differences WHERE family ~ 'beta' AND name = 'even';
SELECT ok(d.lower < e.lower AND e.upper < d.upper, 'a level, 0.95 by default')
FROM pairs, bayes_difference(a, b) AS d, bayes_difference(a, b, 0.5) AS e
WHERE family ~ 'beta' AND name = 'even';
SELECT is((d.mean, d.sd, d.lower, d.upper)::text, '(,,,)', 'no posterior, no difference')
FROM (SELECT normal_inverse_gamma_fit(1) AS one FROM generate_series(1, 1)) AS m,
  bayes_difference(one, one) AS d;

-- Closed forms: of Cauchy distributions (two rows each), of uniform ones (triangular), and of gamma
-- distributions with shape 1/2, whose difference has the density K0(|z|) / pi.
SELECT never($$SELECT level, NOT near(lower / (-2 * tan(pi() * level / 2)), 1, 1e-7)
    OR NOT near(upper, -lower, 1e-6 * upper) AS wrong
  FROM (SELECT normal_inverse_gamma_fit(x) AS m FROM (VALUES (0.0), (2.0)) AS v(x)) AS f,
    unnest('{0.5,0.9,0.95,0.99,0.999,0.9999,0.9999999}'::float8[]) AS level,
    bayes_difference(m, m, level)$$, 'of Cauchy distributions');
SELECT ok(near(lower, sqrt(0.1) - 1, 1e-8) AND near(upper, 1 - sqrt(0.1), 1e-8), 'of uniform ones')
FROM (SELECT beta_bernoulli_fit(s, '{"prior": {"a": 0.5, "b": 0.5}}', 0.5) AS m
  FROM (VALUES (true), (false)) AS v(s)) AS f, bayes_difference(m, m, 0.9);
SELECT ok(near(upper, 1.5951037, 1e-7) AND near(lower, -upper, 1e-7), 'of gamma distributions')
FROM (SELECT gamma_poisson_fit(0, NULL, 1.0) AS m) AS f, bayes_difference(m, m, 0.9);
-- A posterior and itself: symmetric.
SELECT never($$SELECT family, name, level, NOT near((lower + upper) / (upper - lower), 0, 1e-7)
    AS wrong
  FROM (SELECT family, name, a FROM pairs
    UNION ALL SELECT 'beta_bernoulli', 'none of ' || n, beta_bernoulli_fit(false, NULL, n)
      FROM unnest('{10,1000}'::float8[]) AS n GROUP BY n
    UNION ALL SELECT 'gamma_poisson', 'none', gamma_poisson_fit(0, NULL, 1.0)) AS m,
    unnest('{0.5,0.95,0.999}'::float8[]) AS level,
    LATERAL (SELECT * FROM bayes_difference(a, a, level) WHERE family = 'beta_bernoulli'
      UNION ALL SELECT * FROM bayes_difference(a, a, level) WHERE family = 'gamma_poisson'
      UNION ALL SELECT * FROM bayes_difference(a, a, level)
        WHERE family = 'normal_inverse_gamma') AS d$$, 'a posterior and itself');

-- Which is best.
SELECT never($$SELECT name, NOT near((bayes_best(ARRAY[a, b]))[1],
    bayes_greater(a, b), 1e-10) AS wrong FROM pairs WHERE family = 'beta_bernoulli'$$,
  'of two: P(a > b)');
SELECT never($$SELECT name, NOT near((bayes_best(ARRAY[a, b]))[1],
    bayes_greater(a, b), 1e-10) AS wrong FROM pairs
  WHERE family = 'normal_inverse_gamma'
  UNION ALL SELECT name, NOT near((bayes_best(ARRAY[a, b]))[1],
    bayes_greater(a, b), 1e-10) FROM pairs WHERE family = 'gamma_poisson'$$,
  'of other families');
SELECT ok(near(bayes_best(ARRAY[a, a, a]), array_fill(1 / 3.0::float8, '{3}'), 1e-10),
  'equal ones')
FROM pairs WHERE name = 'few' AND family = 'beta_bernoulli';
SELECT ok(abs(best[1] - p) < 0.01 AND near((SELECT sum(b) FROM unnest(best) AS b), 1),
  'of three: as of draws')
FROM (SELECT bayes_best(array_agg(beta_bernoulli_fit ORDER BY n)) AS best
    FROM (SELECT n, (SELECT beta_bernoulli_fit(s, NULL, w) FROM (VALUES (true, n), (false, 50.0))
      AS v(s, w)) FROM unnest('{10,11,12}'::float8[]) AS n) AS m) AS m,
  (SELECT avg((x > y AND x > z)::int) AS p FROM ROWS FROM (beta_draws(50000, 11, 51, 1),
    beta_draws(50000, 12, 51, 2), beta_draws(50000, 13, 51, 3)) AS d(x, y, z)) AS draws;
-- Several arms in rows.
SELECT never($$SELECT name, arm, NOT near(loss, CASE arm WHEN 1 THEN bayes_loss(a, b)
      ELSE bayes_loss(b, a) END, 1e-6) AND abs(loss - CASE arm WHEN 1 THEN bayes_loss(a, b)
      ELSE bayes_loss(b, a) END) > 1e-9 * r.sd AS wrong
    FROM pairs, bayes_arms(ARRAY[a, b]) AS r WHERE loss IS NOT NULL$$, 'the loss of two arms');
SELECT never($$SELECT name, arm, NOT near(best, (bayes_best(ARRAY[a, b]))[arm], 1e-12) OR NOT
      near(r.mean, bayes_mean(CASE arm WHEN 1 THEN a ELSE b END), 1e-12) OR (lower, upper) IS
      DISTINCT FROM (SELECT (i.lower, i.upper) FROM bayes_interval(CASE arm WHEN 1 THEN a ELSE b
        END, 0.8) AS i) AS wrong
    FROM pairs, bayes_arms(ARRAY[a, b], 0.8) AS r WHERE best IS NOT NULL$$,
  'the probability to be best, the mean and the interval');
SELECT ok(bool_and(abs(loss - drawn[arm]) < 0.0004), 'the loss of three arms: as of draws')
FROM (SELECT array_agg(beta_bernoulli_fit ORDER BY n) AS models
    FROM (SELECT n, (SELECT beta_bernoulli_fit(s, NULL, w) FROM (VALUES (true, n), (false, 50.0))
      AS v(s, w)) FROM unnest('{10,11,12}'::float8[]) AS n) AS m) AS m, bayes_arms(models),
  (SELECT ARRAY[avg(most - x), avg(most - y), avg(most - z)] AS drawn
    FROM ROWS FROM (beta_draws(50000, 11, 51, 1), beta_draws(50000, 12, 51, 2),
      beta_draws(50000, 13, 51, 3)) AS d(x, y, z), LATERAL (SELECT greatest(x, y, z) AS most) AS g)
    AS draws;
SELECT is((SELECT count(loss) FROM bayes_arms(ARRAY[m, m])), 0::bigint,
  'tails that are too heavy for a loss') FROM (SELECT normal_inverse_gamma_fit(x, '{"prior":
    {"m": 0, "c": 1, "a": 0.3, "b": 1}}') AS m FROM (VALUES (1.0)) AS v(x)) AS f;
SELECT throws_ok('SELECT bayes_arms(ARRAY[a, NULL]) FROM pairs', '22004', NULL, 'no model at all');
SELECT throws_ok('SELECT bayes_arms(ARRAY[a, b], 1) FROM pairs', '22023', NULL, 'no level');
SELECT throws_ok('SELECT bayes_best(ARRAY[a, NULL]) FROM pairs WHERE family ~ ''beta''',
  '22004', 'model 2 is NULL', 'no model');
SELECT throws_ok($$SELECT bayes_best(ARRAY[p.a, q.b]) FROM pairs AS p, pairs AS q
  WHERE p.family ~ 'gamma_p' AND q.family ~ 'beta'$$, '42804', NULL, 'models of two families');
SELECT * FROM finish();
