-- Rows that miss elements, in mixtures of normals.
SELECT plan(57);
\ir ../lib/checks.sql
SET client_min_messages = error;

CREATE TABLE holes AS SELECT id, species, x AS whole, ARRAY[CASE WHEN id % 5 > 0 THEN x[1] END,
  CASE WHEN id % 11 > 0 THEN x[2] END, CASE WHEN id % 7 > 0 THEN x[3] END,
  x[4]]::float8[] AS x FROM iris;
CREATE TABLE o AS SELECT method, covariance, jsonb_strip_nulls(jsonb_build_object('missing',
  'marginalize', 'method', method, 'covariance', covariance)) || CASE WHEN method IN
  ('gibbs', 'collapsed') THEN '{"draws": 60, "warmup": 20, "chains": 2}' ELSE '{"restarts": 3}'
  END::jsonb AS o
  FROM (SELECT m AS method, c AS covariance FROM unnest('{em,map,vi,svi,gibbs,collapsed,mcem}'
    ::text[]) AS m, unnest('{full,diagonal,spherical,tied}'::text[]) AS c
    WHERE (m, c) <> ('collapsed', 'tied') UNION ALL VALUES ('kmeans', NULL)) AS a;
CREATE TABLE fits AS SELECT method, covariance, o, gmm_fit(x, 3, o) AS m FROM o, holes
  GROUP BY 1, 2, 3;

-- ---- fits ----

SELECT is((SELECT count(*) FROM fits, bayes_info(m) WHERE rows = 150 AND skipped = 0
  AND log_likelihood BETWEEN -500 AND -50 AND options ->> 'missing' = 'marginalize'), 28::bigint,
  'every method with every covariance uses all rows');
SELECT ok(all_true(incomplete = (SELECT count(*) FROM holes WHERE array_position(x, NULL) > 0)
  AND observations = 150), 'and counts those that miss elements')
FROM fits, bayes_info(m);
SELECT is(i.incomplete, 0::bigint, 'of which there may be none: ' || o::text) FROM (SELECT o,
    gmm_fit(x, 2, o) AS m FROM holes, unnest(ARRAY['{"missing": "skip"}', '{}']::jsonb[]) AS o
    WHERE id % 5 > 0 AND id % 7 > 0 AND id % 11 > 0 GROUP BY o) AS f, bayes_info(m) AS i;
SELECT is((SELECT count(*) FROM fits WHERE (m::text::bayes_model)::text = m::text), 28::bigint,
  'text and back');
SELECT ok(all_true((SELECT count(DISTINCT gmm_predict(m, x)) FROM holes) = 3),
  'all three components label rows') FROM fits WHERE method <> 'svi';
SELECT ok(all_true((SELECT bool_and(objective >= lag - 1e-8) FROM (SELECT objective,
  lag(objective) OVER (PARTITION BY restart ORDER BY iteration) AS lag FROM bayes_trace(m)) AS t)),
  method || ' rises')
  FROM fits WHERE method IN ('em', 'map', 'vi', 'kmeans') GROUP BY method ORDER BY method;
SELECT ok(gmm_fit(whole, 3, o)::jsonb - '{seconds,options}'::text[] = gmm_fit(whole, 3,
  o || '{"missing": "error"}')::jsonb - '{seconds,options}'::text[],
  'complete rows: the same model, ' || method)
FROM o, holes WHERE covariance = 'full' GROUP BY method, o ORDER BY method;
-- One component: nothing but the elements themselves for independent ones.
SELECT ok(near(mean[1], m1, 1e-8) AND near(covariance[1][1], v1, 1e-6) AND near(covariance[2][2],
  v2, 1e-6), 'one diagonal component has mean and variance of what is observed')
  FROM (SELECT gmm_fit(x, 1, '{"missing": "marginalize", "method": "em", "covariance": "diagonal",
    "tol": 1e-12}') AS m, avg(x[1]) AS m1, var_pop(x[1]) AS v1,
    var_pop(x[2]) AS v2 FROM holes) AS f, gmm_components(m);
SELECT ok(near(a.log_likelihood, b.log_likelihood) AND a.rows = b.rows + 7, 'rows without any '
  'element are no evidence') FROM (SELECT gmm_fit(x, 2, o) AS m1, gmm_fit(x, 2, o) FILTER
    (WHERE id <= 150) AS m2 FROM (SELECT id, x FROM holes UNION ALL SELECT 150 + i,
      array_fill(NULL::float8, ARRAY[4]) FROM generate_series(1, 7) AS i) AS r,
    (SELECT '{"method": "em", "missing": "marginalize"}'::jsonb AS o) AS o) AS f,
  bayes_info(m1) AS a, bayes_info(m2) AS b;
SELECT ok((SELECT count(DISTINCT c) = 3 AND count(c) = 150 FROM (SELECT gmm_cluster(x, 3,
  '{"missing": "marginalize", "method": "em"}') OVER () AS c FROM holes) AS w), 'a window');
SELECT ok(purity > 0.9, 'which finds the species') FROM (SELECT sum(most) / 150 AS purity FROM
  (SELECT max(n) AS most FROM (SELECT c, species, count(*) AS n FROM (SELECT species, gmm_cluster(x,
    3, '{"missing": "marginalize", "method": "em"}') OVER () AS c FROM holes) AS w GROUP BY 1, 2)
  AS a GROUP BY c)
  AS b) AS p;
SELECT is((SELECT count(*) FROM gmm_fit('SELECT x FROM holes', 3, '{"missing": "marginalize"}')),
  3::bigint, 'a query');
SELECT is((SELECT count(*) FROM gmm_fit($$SELECT nullif(eruptions, 4.5), CASE WHEN waiting < 90
  THEN waiting END FROM faithful$$, 2, '{"missing": "marginalize"}')), 2::bigint, 'of columns');
SELECT is((SELECT array_agg(k ORDER BY k) FROM gmm_select('SELECT x FROM holes', '{1,2}',
  '{"missing": "marginalize", "restarts": 2}')), '{1,2}', 'a selection');
SELECT ok(i.rows = 150 AND i.options ->> 'missing' = 'marginalize', 'an update')
  FROM (SELECT gmm_update(h.x, f.m, '{"missing": "marginalize"}') AS m FROM fits AS f, holes AS h
    WHERE f.method = 'vi' AND f.covariance = 'full') AS u, bayes_info(m) AS i;

-- ---- scores ----

SELECT ok(all_true(near(d, 0, 1e-9)), 'nothing observed: density 1') FROM (SELECT
  bayes_log_density(m, '{NULL,NULL,NULL,NULL}') AS d FROM fits) AS s;
SELECT ok(all_true(near(bayes_probabilities(m, '{NULL,NULL,NULL,NULL}'), weights, 1e-3)),
  'and probabilities the weights') FROM (SELECT m, array_agg(weight ORDER BY component) AS weights
  FROM fits, gmm_components(m) WHERE method NOT IN ('gibbs', 'collapsed') GROUP BY m) AS w;
-- Of one element the normals of the mixture are known.
SELECT ok(all_true(near(bayes_log_density(m, '{NULL,3.1,NULL,NULL}'), expected)),
  'the marginal density') FROM (SELECT m, ln(sum(weight * exp((3.1 - mean[2]) ^ 2 / -2 /
    c.covariance[2][2]) / sqrt(2 * pi() * c.covariance[2][2]))) AS expected FROM fits,
    gmm_components(m) AS c WHERE method IN ('em', 'map', 'mcem') GROUP BY m) AS e;
SELECT ok(all_true(abs(p[1] + p[2] + p[3] - 1) < 1e-12), 'probabilities sum to 1')
  FROM fits, holes, bayes_probabilities(m, x) AS p;
SELECT ok(all_true(bayes_log_density_mcse(m, '{5,NULL,4,NULL}') BETWEEN 1e-6 AND 1), 'their errors')
  FROM fits WHERE method IN ('gibbs', 'collapsed');
-- What is missing in a row to be scored means what option missing said of the fit.
SELECT is(gmm_predict(gmm_fit(x, 2), '{2,NULL}'), 2, 'a model of complete rows takes others')
FROM faithful;
SELECT throws_ok($$SELECT gmm_predict(gmm_fit(x, 2, '{"missing": "error"}'), '{1,NULL}')
  FROM faithful$$, '22004', NULL, 'unless they are an error');
SELECT is(num_nulls(gmm_predict(m, r), bayes_probabilities(m, r), bayes_log_density(m, r),
  bayes_log_density_mcse(m, r), bayes_probabilities_mcse(m, r)), 5, 'skip: no score of ' || r::text)
FROM (SELECT gmm_fit(x, 2, '{"missing": "skip", "method": "gibbs", "draws": 20}') AS m
      FROM faithful) AS f,
  (VALUES ('{NULL,1}'::float8[]), ('{NaN,1}'), ('{1,Infinity}')) AS v(r);

-- ---- errors ----

SELECT throws_ok($$SELECT gmm_fit(ARRAY[id, NULL], 2, '{"missing": "marginalize"}') FROM iris$$,
  '22023', 'element 2 is missing in every row', 'an element that is never observed');
SELECT throws_ok($$SELECT gmm_fit(ARRAY[id, 'Infinity'::float8], 2, '{"missing": "marginalize"}')
  FROM iris$$, NULL, 'element 2 of row 1 is Infinity', 'infinity is no missing element');
-- Completed by means the rows are equal.
SELECT ok(gmm_fit(x, 2) IS NOT NULL AND gmm_fit(x, 2, '{"method": "kmeans"}') IS NOT NULL,
  'rows that differ by what they miss alone')
FROM (VALUES ('{1,0}'::float8[]), ('{NULL,0}')) AS r(x);
SELECT ok(dpmm_fit(x, o) IS NOT NULL, 'and of Dirichlet processes: ' || o::text) FROM
  (VALUES ('{"draws": 4, "likelihood": "categorical"}'::jsonb), ('{"method": "vi"}')) AS o(o),
  (VALUES ('{1,0}'::float8[]), ('{NULL,0}')) AS r(x) GROUP BY o;

-- ---- Dirichlet processes ----

CREATE TABLE processes AS SELECT method, dpmm_fit(x, jsonb_build_object('missing', 'marginalize',
  'method', method) || CASE method WHEN 'vi' THEN '{"restarts": 2}' ELSE
  '{"draws": 60, "warmup": 20, "chains": 2}' END::jsonb) AS m
  FROM unnest('{collapsed,gibbs,slice,vi}'::text[]) AS method, holes GROUP BY 1;
SELECT ok(all_true(rows = 150 AND components > 1 AND num_nulls(parameters, bic, observations) = 3
  AND incomplete = (SELECT incomplete FROM fits, bayes_info(m) LIMIT 1)), 'they use all rows')
  FROM processes, bayes_info(m);
SELECT ok(all_true(near(bayes_log_density(m, '{NULL,NULL,NULL,NULL}'), 0, 1e-9)),
  'nothing observed: density 1') FROM processes;
SELECT ok(all_true(dpmm_predict(m, x) BETWEEN 1 AND 20), 'and label them') FROM processes, holes;
SELECT is(dpmm_predict(dpmm_fit(x, '{"draws": 40}'), '{2,NULL}'), 2,
  'a model of complete rows takes others') FROM faithful;
SELECT throws_ok($$SELECT dpmm_predict(dpmm_fit(x, '{"draws": 4, "missing": "error"}'), '{1,NULL}')
  FROM faithful$$, '22004', NULL, 'unless they are an error');
SELECT ok(a - '{seconds,options}'::text[] = b - '{seconds,options}'::text[]
  AND a #>> '{options,missing}' = 'marginalize', 'complete rows: the same model, ' || name)
FROM (SELECT name, dpmm_fit(x, o)::jsonb AS a, dpmm_fit(x, o || '{"missing": "error"}')::jsonb AS b
  FROM iris, jsonb_each('{"collapsed": {"draws": 20}, "gibbs": {"method": "gibbs", "draws": 20},
    "slice": {"method": "slice", "draws": 20}, "vi": {"method": "vi", "restarts": 2},
    "of columns": {"draws": 20, "likelihood": ["normal", "normal", "exponential", "normal"]}}')
    AS o(name, o) GROUP BY 1) AS f;

-- Rows of which nothing is known have a cluster too, and may have one of their own.
CREATE TABLE empty_rows AS SELECT method, dpmm_fit(x, jsonb_build_object('method', method) ||
    CASE method WHEN 'vi' THEN '{}' ELSE '{"draws": 40}' END::jsonb) AS m
FROM unnest('{collapsed,gibbs,slice,vi}'::text[]) AS method,
  (SELECT x FROM faithful WHERE id <= 3 UNION ALL
  SELECT '{NULL,NULL}' FROM generate_series(1, 5)) AS r GROUP BY 1;
SELECT is(sum(count), 8::numeric, method || ': every row is in a cluster')
FROM empty_rows, dpmm_clusters(m) GROUP BY method ORDER BY method;
SELECT ok(all_true(m = m::text::bayes_model), 'and models come back') FROM empty_rows;
SELECT throws_ok($$SELECT dpmm_fit(x, '{"estimate": "map"}') FROM holes$$, '22023',
  'option "estimate" is "map", but values are missing', 'no joint density, no map');
SELECT ok(near(covariance[1][1], squares / observed), 'kmeans: the variance of what is observed')
FROM (SELECT gmm_fit(x, 1, '{"method": "kmeans"}') AS m FROM holes) AS f, gmm_components(m),
  (SELECT sum((v - mean) ^ 2) AS squares, count(*) AS observed FROM (SELECT v,
      avg(v) OVER (PARTITION BY j) AS mean FROM holes, unnest(x) WITH ORDINALITY AS u(v, j)
      WHERE v IS NOT NULL) AS e) AS o;

SELECT * FROM finish();
