-- The units of columns: what does not depend on them, and what does.
SELECT plan(31);
\ir ../lib/checks.sql
\ir ../lib/errors.sql
SET client_min_messages = error;

-- ---- priors and starting points have the units of the columns ----

-- Minutes of eruptions in seconds, of waiting in days.
CREATE VIEW units AS SELECT id, x, ARRAY[60 * x[1], x[2] / 1440] AS other FROM faithful;
CREATE TABLE shift AS SELECT 272 * ln(60.0 / 1440) AS of_density;
CREATE TABLE fits AS SELECT method, covariance, gmm_fit(x, 2, o) AS a, gmm_fit(other, 2, o) AS b
FROM unnest('{em,map,vi}'::text[]) AS method,
  unnest('{full,diagonal,tied,spherical}'::text[]) AS covariance, LATERAL (SELECT
    jsonb_build_object('method', method, 'covariance', covariance, 'tol', 1e-9) AS o) AS p, units
GROUP BY 1, 2;
SELECT ok(abs(j.log_likelihood - i.log_likelihood + of_density) < 0.01, format('%s %s: the density '
  'alone has a unit', fits.method, covariance))
FROM fits, bayes_info(a) AS i, bayes_info(b) AS j, shift WHERE covariance <> 'spherical'
ORDER BY fits.method, covariance;
SELECT is((SELECT count(*) FROM units WHERE gmm_predict(a, x) <> gmm_predict(b, other)), 0::bigint,
  format('%s %s: the same labels', method, covariance)) FROM fits WHERE covariance <> 'spherical'
ORDER BY method, covariance;
SELECT cmp_ok((SELECT count(*) FROM units WHERE gmm_predict(a, x) <> gmm_predict(b, other)), '>',
  0::bigint, method || ': spheres have those of the columns') FROM fits
WHERE covariance = 'spherical' ORDER BY method;
SELECT ok(near((p #>> '{B,0,1}')::float8 / 24, (q #>> '{B,0,1}')::float8)
  AND near((p #>> '{B,0,0}')::float8 * 3600, (q #>> '{B,0,0}')::float8)
  AND near((p #>> '{m,1}')::float8 / 1440, (q #>> '{m,1}')::float8)
  AND p -> 'a' = q -> 'a' AND p -> 'c' = q -> 'c', 'dpmm: a prior in their units')
FROM (SELECT dpmm_fit(x, '{"draws": 2}') AS a, dpmm_fit(other, '{"draws": 2}') AS b
      FROM units) AS f,
  LATERAL (SELECT i.options -> 'prior' AS p, j.options -> 'prior' AS q
           FROM bayes_info(a) AS i, bayes_info(b) AS j) AS o;
-- Clusters far from each other have one optimum.
SELECT ok(abs(j.objective - i.objective + 200 * ln(60.0 / 1440)) < 0.01, format('dpmm %s', o))
FROM (SELECT o, dpmm_fit(ARRAY[x, y], o) AS a, dpmm_fit(ARRAY[60 * x, y / 1440], o) AS b
  FROM (SELECT sin(i) + 30 * (i % 2) AS x, cos(2 * i) - 20 * (i % 2) AS y
        FROM generate_series(1, 200) AS i) AS r,
    (VALUES ('{"method": "vi", "covariance": "diagonal"}'::jsonb),
      ('{"method": "vi", "likelihood": ["normal", "normal"]}')) AS v(o)
  GROUP BY o) AS f, bayes_info(a) AS i, bayes_info(b) AS j ORDER BY o;
SELECT ok(abs(j.log_likelihood - i.log_likelihood + of_density) < 0.01, 'hmm')
FROM (SELECT hmm_fit(a, 2) AS a, hmm_fit(b, 2) AS b FROM (SELECT array_agg(x ORDER BY id) AS a,
    array_agg(other ORDER BY id) AS b FROM units) AS s) AS f, bayes_info(a) AS i,
  bayes_info(b) AS j, shift;

-- ---- k-means ----

CREATE TABLE standard AS SELECT id, x, (SELECT array_agg((v - m) / s ORDER BY j)
  FROM unnest(x) WITH ORDINALITY AS e(v, j) JOIN (SELECT j, avg(v) AS m, stddev_pop(v) AS s
    FROM wine, unnest(x) WITH ORDINALITY AS e(v, j) GROUP BY j) AS moments USING (j)) AS z
FROM wine;
CREATE TABLE deviations AS SELECT array_agg(s ORDER BY j) AS s, array_agg(m ORDER BY j) AS m
FROM (SELECT j, stddev_pop(v) AS s, avg(v) AS m
  FROM wine, unnest(x) WITH ORDINALITY AS e(v, j) GROUP BY j) AS moments;
CREATE TABLE clustered AS SELECT
  gmm_fit(x, 3, '{"method": "kmeans", "scale": true}') AS scaled,
  gmm_fit(x, 3, '{"method": "kmeans"}') AS plain, gmm_fit(z, 3, '{"method": "kmeans"}') AS by_hand
FROM standard;
SELECT ok(near(i.objective, j.objective, 1e-9) AND i.options ->> 'scale' = 'true'
  AND i.parameters = j.parameters, 'distances are those of standardised columns')
FROM clustered, bayes_info(scaled) AS i, bayes_info(by_hand) AS j;
SELECT never($$SELECT id, gmm_predict(scaled, x) <> gmm_predict(by_hand, z)
  OR NOT near(bayes_log_density(scaled, x) + (SELECT sum(ln(v)) FROM deviations, unnest(s) AS v),
              bayes_log_density(by_hand, z), 1e-9) AS wrong FROM standard, clustered$$,
  'so are labels, and densities but for the unit');
SELECT never($$SELECT a.component, j, NOT near(a.mean[j], b.mean[j] * s[j] + m[j], 1e-9)
    OR NOT near(a.covariance[j][j], b.covariance[j][j] * s[j] ^ 2, 1e-9) AS wrong
  FROM clustered, deviations, gmm_components(scaled) AS a, generate_series(1, 13) AS j,
    gmm_components(by_hand) AS b WHERE a.component = b.component$$,
  'centres have the units of the columns');
SELECT is((SELECT count(*) > 30 FROM standard
  WHERE gmm_predict(plain, x) <> gmm_predict(scaled, x)),
  true, 'without the option the largest column decides') FROM clustered;
SELECT is(i.options ->> 'scale', 'true', 'a refit has the option of its start')
FROM (SELECT gmm_fit(x, scaled) AS m FROM standard, clustered) AS f, bayes_info(m) AS i;
SELECT is(complaint($$SELECT gmm_fit(x, 2, '{"scale": true}') FROM wine$$),
  '22023 option "scale" does not apply to method vi', 'other methods have no use for it');

SELECT * FROM finish();
